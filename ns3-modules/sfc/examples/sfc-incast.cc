/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup sfc
 * @brief An incast with PFC alone, and with source flow control before it.
 *
 * The switch where the queue grows tells the sources how long to be silent, so that the queue is
 * short and PFC has little to do:
 *
 *     for s in 0 1; do sfc-incast --sfc=$s; done
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
    uint32_t senders = 8;
    ns3::DataRate rate("25Gbps");
    ns3::Time delay("500ns");
    ns3::Time duration("2ms");
    uint64_t threshold = 125'000;
    bool sfc = true;
    ns3::CommandLine command(__FILE__);
    command.AddValue("senders", "of the incast", senders);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("threshold", "above which a frame causes a message [B]", threshold);
    command.AddValue("sfc", "source flow control beside PFC", sfc);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    sim.AddFlowControl("ns3::pfc::Pfc");
    if (sfc)
    {
        sim.AddAgent("ns3::sfc::SfcCongestionPoint");
        sim.AddHostAgent("ns3::sfc::SfcReactionPoint");
        sim.SetAttribute("ns3::sfc::SfcCongestionPoint", "Threshold", std::to_string(threshold));
        sim.SetAttribute("ns3::sfc::SfcCongestionPoint", "Filter", "FirstAndExpiry");
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
              << sim.GetNumber("pauses_sent") << "\npause_time_us "
              << sim.GetNumber("pause_time_ps") / 1e6 << "\nsfc_messages "
              << sim.GetNumber("sfc_messages_sent") << "\nsfc_hold_time_us "
              << sim.GetNumber("sfc_hold_time_ps") / 1e6 << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
