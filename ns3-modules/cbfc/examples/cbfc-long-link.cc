/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup cbfc
 * @brief How much buffer credits need on a long link.
 *
 * One flow crosses a link whose length is a parameter. A sender may have as many bytes on their way
 * as its peer promised, so that with too small a buffer it waits for credits. The buffer over the
 * round trip, and over the period of the credits, bound its rate:
 *
 *     for b in 10000 20000 40000 80000; do cbfc-long-link --buffer=$b --delay=5us; done
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
    ns3::DataRate rate("40Gbps");
    ns3::Time delay("5us");
    uint64_t buffer = 40'000;
    ns3::Time period("2us");
    ns3::Time duration("2ms");
    ns3::CommandLine command(__FILE__);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of the long link, one way", delay);
    command.AddValue("buffer", "promised to each class of a peer [B]", buffer);
    command.AddValue("period", "between two credit messages", period);
    command.AddValue("duration", "of the run", duration);
    command.Parse(argc, argv);

    Simulation sim(ns3::RngSeedManager::GetRun());
    sim.AddFlowControl("ns3::cbfc::Credit");
    sim.SetAttribute("ns3::cbfc::Credit", "Buffer", std::to_string(buffer));
    sim.SetAttribute("ns3::cbfc::Credit", "Period", std::to_string(period.GetTimeStep()) + "ps");
    ns3::facade::NetworkHelper network(sim, rate, ns3::NanoSeconds(100));
    const auto hosts = network.InstallHosts(2);
    const auto switches = network.InstallSwitches(2);
    network.InstallLink(hosts[0], switches[0]);
    network.InstallLink(hosts[1], switches[1]);
    network.SetDelay(delay);
    network.InstallLink(switches[0], switches[1]);
    sim.AddFlow(0, 1, 3);
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
    const double trip = 2 * delay.GetSeconds();
    std::cout << "goodput_gbps " << sim.GetNumber("delivered_bytes") * 8e-9 / seconds
              << "\nline_gbps " << static_cast<double>(rate.GetBitRate()) / 1e9
              << "\nbuffer_over_period_gbps "
              << static_cast<double>(buffer) * 8e-9 / period.GetSeconds()
              << "\nbuffer_over_round_trip_gbps " << static_cast<double>(buffer) * 8e-9 / trip
              << "\ncredit_messages " << sim.GetNumber("cbfc_messages_sent")
              << "\npeak_queue_bytes " << sim.GetNumber("peak_queue_bytes") << "\ndropped_frames "
              << sim.GetNumber("dropped_frames") << "\n";
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
