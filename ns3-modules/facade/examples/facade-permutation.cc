/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup facade
 * @brief A permutation on a fat-tree, with PFC, without Python.
 *
 * Every host sends one message to the host half-way round. It shows what a program of the modules
 * looks like (nodes, links, flows, attributes, results) and is what speed is measured with.
 *
 * Host i is on edge switch i / (k/2); in a pod every edge switch has a link to every aggregation
 * switch; aggregation switch j of a pod has links to cores j k/2 .. j k/2 + k/2 - 1.
 *
 *     facade-permutation --k=8 --size=2000000
 */

#include "ns3/command-line.h"
#include "ns3/data-rate.h"
#include "ns3/facade-simulation.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"
#include "ns3/rng-seed-manager.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using ns3::facade::Simulation;

namespace
{

/// A fat-tree as flat lists: hosts come first, then edge, aggregation and core switches.
struct FatTree
{
    std::vector<uint8_t> kinds; //!< 0 host, 1 switch
    std::string names;          //!< one a line
    std::vector<uint32_t> a;    //!< one end of each link
    std::vector<uint32_t> b;    //!< other end
    uint32_t hosts;             //!< how many
};

/**
 * Build a fat-tree.
 * @param k ports a switch, even.
 * @return nodes and links.
 */
FatTree
MakeFatTree(uint32_t k)
{
    const uint32_t half = k / 2;
    const uint32_t hosts = k * half * half;
    const uint32_t edge = hosts;
    const uint32_t aggregation = edge + k * half;
    const uint32_t core = aggregation + k * half;
    FatTree tree{{}, {}, {}, {}, hosts};
    const auto add = [&](uint8_t kind, const char* name, uint32_t n) {
        for (uint32_t i = 0; i < n; ++i)
        {
            tree.kinds.push_back(kind);
            tree.names.append(tree.names.empty() ? "" : "\n")
                .append(name)
                .append(std::to_string(i));
        }
    };
    const auto link = [&](uint32_t a, uint32_t b) {
        tree.a.push_back(a);
        tree.b.push_back(b);
    };
    add(0, "h", hosts);
    add(1, "edge", k * half);
    add(1, "agg", k * half);
    add(1, "core", half * half);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        link(host, edge + host / half);
    }
    for (uint32_t pod = 0; pod < k; ++pod)
    {
        for (uint32_t i = 0; i < half; ++i)
        {
            for (uint32_t j = 0; j < half; ++j)
            {
                link(edge + pod * half + i, aggregation + pod * half + j);
                link(aggregation + pod * half + i, core + i * half + j);
            }
        }
    }
    return tree;
}

/// @return CPU time of this process so far in seconds.
double
CpuSeconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// @return largest resident size of this process so far in MiB.
double
PeakMib()
{
    // Not getrusage: its maximum includes that of the process which started this one.
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind("VmHWM:", 0) == 0)
        {
            return std::stod(line.substr(6)) / 1024; // kB
        }
    }
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    ns3::lossless::UsePicoseconds(); // before times are read
    uint32_t k = 4;
    uint64_t size = 10'000'000;
    ns3::DataRate rate("100Gbps");
    ns3::Time delay("1us");
    std::string flowControl = "ns3::pfc::Pfc";
    uint32_t messages = 1;
    uint64_t buffer = 16'777'216;
    std::string trace;
    uint32_t threads = 1;
    ns3::CommandLine command(__FILE__);
    command.AddValue("k", "ports a switch, even", k);
    command.AddValue("size", "payload of each message [B]", size);
    command.AddValue("messages", "of each host, all at once, each on a queue pair", messages);
    command.AddValue("buffer", "of each switch [B]", buffer);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("flowControl", "TypeId on every port; empty: none", flowControl);
    command.AddValue("trace", "tables to record on change, as queue,pause", trace);
    command.AddValue("threads", "that run the cells", threads);
    command.Parse(argc, argv);
    if (k < 2 || k % 2 == 1)
    {
        std::cerr << "--k=" << k << ": a fat-tree needs an even number of ports a switch, from 2\n";
        return 2;
    }

    Simulation simulation(ns3::RngSeedManager::GetRun());
    simulation.SetThreads(threads);
    // Sizes as in the other simulators that are compared: 1000 B of payload are 1048 B on the wire.
    simulation.SetAttribute("ns3::lossless::Port", "Overhead", "0");
    simulation.SetAttribute("ns3::lossless::SharedBuffer", "Size", std::to_string(buffer));
    simulation.SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", "0");
    simulation.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "8");
    // What a link holds, there and back, and 12,500 B for the frames that are being sent.
    const auto onLink = static_cast<uint64_t>(2e-12 * static_cast<double>(delay.GetTimeStep()) *
                                              static_cast<double>(rate.GetBitRate()) / 8);
    simulation.SetAttribute("ns3::lossless::SharedBuffer",
                            "Headroom",
                            std::to_string(12'500 + onLink));
    simulation.SetAttribute("ns3::lossless::SharedBuffer", "Alpha", "0.125");
    simulation.SetAttribute("ns3::rdma::QueuePair", "AckSize", "60");
    simulation.SetAttribute("ns3::rdma::QueuePair", "MinFrameSize", "60");
    if (!flowControl.empty())
    {
        simulation.AddFlowControl(flowControl);
    }
    if (flowControl == "ns3::pfc::Pfc")
    {
        simulation.SetAttribute("ns3::pfc::Pfc", "Mode", "OnOff");
    }

    const FatTree tree = MakeFatTree(k);
    const auto nodes = static_cast<uint32_t>(tree.kinds.size());
    const auto links = static_cast<uint32_t>(tree.a.size());
    simulation.AddNodes(tree.kinds.data(), tree.names, nodes);
    const std::vector<uint64_t> rates(links, rate.GetBitRate());
    const std::vector<int64_t> delays(links, delay.GetTimeStep());
    simulation.AddLinks(tree.a.data(), tree.b.data(), rates.data(), delays.data(), links);

    const uint32_t flows = tree.hosts * messages;
    std::vector<uint32_t> src(flows);
    std::vector<uint32_t> dst(flows);
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        src[flow] = flow % tree.hosts;
        dst[flow] = (src[flow] + tree.hosts / 2) % tree.hosts;
    }
    const std::vector<uint64_t> sizes(flows, size);
    const std::vector<int64_t> starts(flows, 0);
    const std::vector<int64_t> stops(flows, -1);
    const std::vector<uint8_t> classes(flows, 3);
    const std::vector<uint64_t> none(flows, 0);
    simulation.AddFlows(src.data(),
                        dst.data(),
                        sizes.data(),
                        starts.data(),
                        stops.data(),
                        classes.data(),
                        none.data(),
                        none.data(),
                        flows);
    for (std::size_t at = 0; at < trace.size();)
    {
        const std::size_t comma = std::min(trace.find(',', at), trace.size());
        simulation.Trace(trace.substr(at, comma - at), nullptr, nullptr, 0, 0xff, 0);
        at = comma + 1;
    }
    simulation.SetStopWhenDone(true);
    simulation.Build();
    const std::string impossible = simulation.Check();
    if (!impossible.empty())
    {
        std::cerr << impossible;
        return 2;
    }

    const double before = CpuSeconds();
    const auto began = std::chrono::steady_clock::now();
    simulation.Run(INT64_MAX / 2);
    const double run = CpuSeconds() - before;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    const std::string wrong = simulation.Finish();
    std::map<std::string, double> summary;
    for (const auto& [name, value] : simulation.GetSummary())
    {
        summary[name] = value;
    }
    std::cout.precision(10);
    std::cout << "data_hops " << summary["data_hops"] << "\nevents " << simulation.GetEventCount()
              << "\nsimulated_us " << static_cast<double>(simulation.Now()) / 1e6 << "\npauses "
              << summary["pauses_sent"] << "\nunfinished " << summary["flows_unfinished"]
              << "\nsetup_cpu_s " << before << "\nrun_cpu_s " << run << "\nrun_wall_s "
              << wall.count() << "\npeak_rss_mib " << PeakMib() << "\n";
    if (!wrong.empty())
    {
        std::cerr << wrong;
        return 1;
    }
    return summary["flows_unfinished"] == 0 ? 0 : 1;
}
