/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup pffc
 * @brief What an incast leaves to a flow that only shares a link with it.
 *
 * Hosts 0 .. n - 1 send over one switch and a trunk to one host; another host sends over the same
 * trunk to a host of its own. PFC stops the trunk and the victim with it; PFFC stops the flows
 * that are congested:
 *
 *     for f in ns3::pfc::Pfc ns3::pffc::Pffc; do pffc-victim --flowControl=$f; done
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
    ns3::Time duration("4ms");
    std::string flowControl = "ns3::pffc::Pffc";
    ns3::CommandLine command(__FILE__);
    command.AddValue("senders", "of the incast", senders);
    command.AddValue("rate", "of a host's link; the trunk has (senders + 1) times that", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("flowControl", "TypeId on every port", flowControl);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    sim.AddFlowControl(flowControl);
    const bool pfc = flowControl == "ns3::pfc::Pfc";
    const std::string buffer = "ns3::lossless::SharedBuffer";
    sim.SetAttribute(buffer, "Size", "32000000");
    sim.SetAttribute(buffer, "Threshold", "Static");
    sim.SetAttribute(buffer, "Xoff", pfc ? "100000" : "2000000");
    sim.SetAttribute(buffer, "Xon", pfc ? "97000" : "1000000");
    // Hosts 0 .. senders - 1, the victim's source, the incast's destination, the victim's
    const uint32_t victim = senders;
    ns3::facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(senders + 3);
    const auto switches = network.InstallSwitches(2);
    for (const uint32_t host : hosts)
    {
        network.InstallLink(host, switches[host <= victim ? 0 : 1]);
    }
    network.SetRate(ns3::DataRate((senders + 1) * rate.GetBitRate()));
    network.InstallLink(switches[0], switches[1]);
    for (uint32_t host = 0; host < senders; ++host)
    {
        sim.AddFlow(host, senders + 1, 3);
    }
    const uint32_t flow = sim.AddFlow(victim, senders + 2, 3);
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
    const double all = sim.GetNumber("delivered_bytes");
    std::cout << "victim_gbps " << static_cast<double>(sim.GetDeliveredBytes(flow)) * 8e-9 / seconds
              << "\nincast_gbps "
              << (all - static_cast<double>(sim.GetDeliveredBytes(flow))) * 8e-9 / seconds
              << "\npeak_buffer_bytes " << sim.GetNumber("peak_buffer_bytes") << "\ncontrol_frames "
              << sim.GetNumber("control_frames_sent") << "\ndropped_frames "
              << sim.GetNumber("dropped_frames") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
