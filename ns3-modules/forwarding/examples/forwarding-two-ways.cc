/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup forwarding
 * @brief Flows between two switches with several equally short ways, under a forwarding policy.
 *
 * A hash may put two flows on one way; spraying uses all of them alike, and needs receivers that
 * take packets out of order:
 *
 *     for p in Hash Spray Flowlet LeastQueue; do forwarding-two-ways --policy=$p; done
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
    uint32_t ways = 2;
    ns3::DataRate rate("25Gbps");
    ns3::Time delay("1us");
    ns3::Time duration("1ms");
    std::string policy = "Spray";
    ns3::CommandLine command(__FILE__);
    command.AddValue("ways", "switches between the two at the ends, and hosts at each", ways);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("policy", "Hash, Spray, Flowlet or LeastQueue", policy);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    sim.AddFlowControl("ns3::pfc::Pfc");
    sim.SetAttribute("ns3::rdma::QueuePair", "ReorderWindow", "10000");
    if (policy != "Hash")
    {
        sim.SetForwarding("ns3::forwarding::" + policy);
    }
    // Hosts of one end, those of the other, the two switches at the ends, those between them.
    ns3::facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(2 * ways);
    const auto ends = network.InstallSwitches(2);
    const auto between = network.InstallSwitches(ways);
    for (uint32_t i = 0; i < ways; ++i)
    {
        for (uint32_t end = 0; end < 2; ++end)
        {
            network.InstallLink(hosts[end * ways + i], ends[end]);
            network.InstallLink(ends[end], between[i]);
        }
    }
    for (uint32_t i = 0; i < ways; ++i)
    {
        sim.AddFlow(i, ways + i, 3);
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
              << "\npauses_sent " << sim.GetNumber("pauses_sent") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
