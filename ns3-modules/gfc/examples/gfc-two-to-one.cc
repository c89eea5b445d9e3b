/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup gfc
 * @brief Two hosts send to a third under PFC or a kind of GFC.
 *
 * PFC stops and starts the hosts; GFC brings each to half the line rate, at which its queue stands
 * still:
 *
 *     for s in pfc multi-stage time-based; do gfc-two-to-one --scheme=$s; done
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
    ns3::DataRate rate("10Gbps");
    ns3::Time delay("1us");
    ns3::Time duration("20ms");
    uint64_t bm = 100'000;
    std::string scheme = "multi-stage";
    ns3::CommandLine command(__FILE__);
    command.AddValue("scheme", "pfc, multi-stage or time-based", scheme);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("bm", "Bm of multi-stage GFC, Buffer of time-based GFC, Xoff of PFC [B]", bm);
    command.AddValue("duration", "of the run", duration);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    uint64_t xoff = bm;
    if (scheme == "multi-stage")
    {
        const std::string type = "ns3::gfc::MultiStageGfc";
        sim.AddFlowControl(type);
        sim.SetAttribute(type, "Bm", std::to_string(bm));
        sim.SetAttribute(type, "B1", std::to_string(bm / 2));
        sim.AddFlowControl("ns3::pfc::Pfc"); // the backstop above Bm
        xoff = bm + 3000;
    }
    else if (scheme == "time-based")
    {
        const std::string type = "ns3::gfc::TimeBasedGfc";
        sim.AddFlowControl(type);
        sim.SetAttribute(type, "Buffer", std::to_string(bm));
        sim.SetAttribute(type, "B0", std::to_string(bm / 2));
        sim.SetAttribute(type, "Period", "10us");
        xoff = bm + bm / 10; // nobody acts on it: credits keep the queue below Buffer
    }
    else if (scheme == "pfc")
    {
        sim.AddFlowControl("ns3::pfc::Pfc");
    }
    else
    {
        std::cerr << "--scheme=" << scheme << ": give pfc, multi-stage or time-based\n";
        return 2;
    }
    const std::string buffer = "ns3::lossless::SharedBuffer";
    sim.SetAttribute(buffer, "Threshold", "Static");
    sim.SetAttribute(buffer, "Xoff", std::to_string(xoff));
    sim.SetAttribute(buffer, "Xon", std::to_string(xoff - 3000));
    ns3::facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(3);
    network.InstallLinks(hosts, network.InstallSwitches(1));
    sim.AddFlow(0, 2, 3);
    sim.AddFlow(1, 2, 3);
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
    std::cout << "goodput_h0_gbps "
              << static_cast<double>(sim.GetDeliveredBytes(0)) * 8e-9 / seconds
              << "\ngoodput_h1_gbps "
              << static_cast<double>(sim.GetDeliveredBytes(1)) * 8e-9 / seconds
              << "\npeak_queue_bytes " << sim.GetNumber("peak_queue_bytes") << "\npause_time_us "
              << sim.GetNumber("pause_time_ps") / 1e6 << "\ncontrol_frames "
              << sim.GetNumber("control_frames_sent") << "\ndropped_frames "
              << sim.GetNumber("dropped_frames") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
