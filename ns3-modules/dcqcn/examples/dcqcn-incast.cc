/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup dcqcn
 * @brief An incast with PFC alone, and with DCQCN before it.
 *
 * Switches mark packets where the queue grows, receivers tell the senders, and these send less, so
 * that PFC has less to do:
 *
 *     for d in 0 1; do dcqcn-incast --dcqcn=$d; done
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
    uint32_t senders = 4;
    ns3::DataRate rate("25Gbps");
    ns3::Time delay("1us");
    ns3::Time duration("2ms");
    bool dcqcn = true;
    ns3::CommandLine command(__FILE__);
    command.AddValue("senders", "of the incast", senders);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("dcqcn", "congestion control beside PFC", dcqcn);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    sim.AddFlowControl("ns3::pfc::Pfc");
    if (dcqcn)
    {
        sim.AddAgent("ns3::lossless::EcnMarking");
        sim.SetCongestionControl("ns3::dcqcn::Dcqcn");
    }
    ns3::facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(senders + 1);
    network.InstallLinks(hosts, network.InstallSwitches(1));
    for (uint32_t host = 0; host < senders; ++host)
    {
        sim.AddFlow(host, senders, 3);
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

    const double seconds = duration.GetSeconds();
    std::cout << "goodput_gbps " << sim.GetNumber("delivered_bytes") * 8e-9 / seconds
              << "\npeak_buffer_bytes " << sim.GetNumber("peak_buffer_bytes") << "\npauses_sent "
              << sim.GetNumber("pauses_sent") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
