/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup dcfit
 * @brief A deadlock on a ring of switches, found in the data plane and broken.
 *
 * The host of every switch sends to that of the switch two further on, so that each link of the
 * ring carries two flows and waits for the next:
 *
 *     for c in None Drop Lossy; do dcfit-ring --cure=$c; done
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
#include <vector>

using ns3::facade::Simulation;

int
main(int argc, char* argv[])
{
    ns3::lossless::UsePicoseconds(); // before times are read
    uint32_t switches = 4;
    ns3::DataRate rate("40Gbps");
    ns3::Time delay("1us");
    ns3::Time duration("5ms");
    std::string cure = "Drop";
    ns3::CommandLine command(__FILE__);
    command.AddValue("switches", "on the ring, from 3", switches);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("cure",
                     "attribute Cure of ns3::dcfit::Dcfit: None, Drop, Reroute, Lossy",
                     cure);
    command.Parse(argc, argv);
    if (switches < 3)
    {
        std::cerr << "--switches=" << switches << ": a ring has three switches at least\n";
        return 2;
    }

    Simulation sim(ns3::RngSeedManager::GetRun());
    sim.AddFlowControl("ns3::pfc::Pfc");
    sim.AddAgent("ns3::dcfit::Dcfit");
    sim.SetAttribute("ns3::dcfit::Dcfit", "Cure", cure);
    const std::string buffer = "ns3::lossless::SharedBuffer";
    sim.SetAttribute(buffer, "Threshold", "Static");
    sim.SetAttribute(buffer, "Xoff", "100000");
    sim.SetAttribute(buffer, "Xon", "97000");
    // Host i on switch n + i
    const uint32_t n = switches;
    ns3::facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(n);
    const auto ring = network.InstallSwitches(n);
    for (uint32_t i = 0; i < n; ++i)
    {
        network.InstallLink(hosts[i], ring[i]);
    }
    for (uint32_t i = 0; i < n; ++i)
    {
        network.InstallLink(ring[i], ring[(i + 1) % n]);
    }
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint32_t flow = sim.AddFlow(i, (i + 2) % n, 3);
        const std::vector<uint32_t> path{i, n + i, n + (i + 1) % n, n + (i + 2) % n, (i + 2) % n};
        sim.SetPath(flow, path.data(), static_cast<uint32_t>(path.size()));
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
    const std::string notes = sim.Notes();
    const std::size_t first = notes.find("deadlock, formed");
    std::cout << notes.substr(0, notes.find('\n', first == std::string::npos ? 0 : first))
              << "\ngoodput_gbps " << sim.GetNumber("delivered_bytes") * 8e-9 / seconds
              << "\ndeadlocks " << sim.GetNumber("deadlock_episodes") << "\ndeadlocked_at_end "
              << sim.GetNumber("deadlocked_at_end") << "\ndetections "
              << sim.GetNumber("dcfit_detections") << "\nformed_us "
              << sim.GetNumber("deadlock_formed_ps") / 1e6 << "\nfirst_detection_us "
              << sim.GetNumber("dcfit_first_detection_ps") / 1e6 << "\ndropped_by_cure "
              << sim.GetNumber("cure_frames_dropped") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
