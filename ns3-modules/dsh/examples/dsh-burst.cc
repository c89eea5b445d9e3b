/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup dsh
 * @brief A burst into one port of a switch, with dynamic and shared headroom or a headroom a queue.
 *
 * One headroom a port leaves more of the buffer to be shared, so that a larger burst is taken
 * without a pause:
 *
 *     for d in 0 1; do dsh-burst --dsh=$d; done
 */

#include "ns3/command-line.h"
#include "ns3/data-rate.h"
#include "ns3/facade-network-helper.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"
#include "ns3/rng-seed-manager.h"

#include <cstdint>
#include <iostream>
#include <string>

using ns3::facade::Simulation;

int
main(int argc, char* argv[])
{
    ns3::lossless::UsePicoseconds(); // before times are read
    uint32_t senders = 16;
    ns3::DataRate rate("100Gbps");
    ns3::Time delay("2us");
    ns3::Time duration("200us");
    uint64_t burst = 83'886;
    bool dsh = true;
    ns3::CommandLine command(__FILE__);
    command.AddValue("senders", "of the burst", senders);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("burst", "of each sender [B]", burst);
    command.AddValue("dsh", "one headroom a port instead of one a queue", dsh);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    const std::string policy = dsh ? "ns3::dsh::Dsh" : "ns3::lossless::SharedBuffer";
    sim.SetBufferPolicy(policy);
    sim.AddFlowControl("ns3::pfc::Pfc");
    sim.SetAttribute(policy, "Size", "8388608");
    sim.SetAttribute(policy, "LossyPool", "0");
    sim.SetAttribute(policy, "LosslessClasses", "127");
    sim.SetAttribute(policy, "Alpha", "0.0625");
    ns3::facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(senders + 1);
    network.InstallLinks(hosts, network.InstallSwitches(1));
    for (uint32_t host = 0; host < senders; ++host)
    {
        sim.AddFlow(host, senders, 3, burst);
    }
    sim.Build();
    const std::string impossible = sim.Check();
    if (!impossible.empty())
    {
        std::cerr << impossible;
        return 2;
    }
    sim.Run(duration.GetTimeStep());
    const std::string wrong = sim.Finish();

    std::cout << "pauses_sent " << sim.GetNumber("pauses_sent") << "\npause_time_us "
              << sim.GetNumber("pause_time_ps") / 1e6 << "\npeak_buffer_bytes "
              << sim.GetNumber("peak_buffer_bytes") << "\npeak_headroom_bytes "
              << sim.GetNumber("peak_headroom_bytes") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
