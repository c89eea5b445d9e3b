/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

/**
 * @file
 * @ingroup fabricdevice
 * @brief TCP from several hosts to one, beside RDMA on the same links.
 *
 * Every host has queue pairs and a device with ns-3's Internet stack. The code point decides
 * whether TCP travels in a class that PFC keeps lossless (DSCP 26: class 3) or in a lossy one:
 *
 *     fabricdevice-incast --dscp=26
 *     fabricdevice-incast --dscp=0 --lossyPool=100000
 *     fabricdevice-incast --dscp=0 --lossyPool=2000000 --dctcp=1
 *     fabricdevice-incast --dscp=26 --rdma=1
 *     fabricdevice-incast --duration=1ms --pcap=incast-
 */

#include "ns3/applications-module.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/fabricdevice-module.h"
#include "ns3/facade-network-helper.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/global-value.h"
#include "ns3/internet-module.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"
#include "ns3/observe-pcap-helper.h"
#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;

int
main(int argc, char* argv[])
{
    lossless::UsePicoseconds(); // before times are read
    uint32_t senders = 4;
    DataRate rate("10Gbps");
    Time delay("1us");
    Time duration("20ms");
    uint32_t dscp = 26;
    uint64_t xoff = 100'000;
    uint64_t lossyPool = 1'000'000;
    std::string flowControl = "ns3::pfc::Pfc";
    bool rdmaToo = false;
    bool dctcp = false;
    bool caches = true;
    bool tagged = false;
    std::string pcap;
    CommandLine command(__FILE__);
    command.AddValue("senders", "of the incast", senders);
    command.AddValue("rate", "of every link", rate);
    command.AddValue("delay", "of every link, one way", delay);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("dscp", "code point of TCP; its class is dscp / 8, and 3 is lossless", dscp);
    command.AddValue("xoff", "queue above which PFC pauses a sender [B]", xoff);
    command.AddValue("lossyPool", "buffer of the lossy classes [B]", lossyPool);
    command.AddValue("flowControl", "TypeId on every port", flowControl);
    command.AddValue("rdma", "an endless RDMA flow from each sender too, in class 3", rdmaToo);
    command.AddValue("dctcp", "DCTCP, and switches that mark above 65 KB", dctcp);
    command.AddValue("caches", "fill the neighbour caches; else ARP asks by broadcast", caches);
    command.AddValue("tagged", "802.1Q tags on the frames of the devices", tagged);
    command.AddValue("pcap", "capture all ports into files whose names begin so", pcap);
    command.Parse(argc, argv);
    if (dscp > 63)
    {
        std::cerr << "--dscp=" << dscp << ": a code point is a number of 0..63\n";
        return 2;
    }

    // The network: hosts 0 .. senders - 1 send to host `senders`; the switch comes last.
    facade::Simulation sim(ns3::RngSeedManager::GetRun());
    const std::string buffer = "ns3::lossless::SharedBuffer";
    sim.SetAttribute(buffer, "LossyPool", std::to_string(lossyPool));
    sim.SetAttribute(buffer, "Threshold", "Static");
    sim.SetAttribute(buffer, "Xoff", std::to_string(xoff));
    sim.SetAttribute(buffer, "Xon", std::to_string(xoff - std::min<uint64_t>(xoff, 3000)));
    sim.AddFlowControl(flowControl);
    if (dctcp)
    {
        sim.AddAgent("ns3::lossless::EcnMarking");
        sim.SetAttribute("ns3::lossless::EcnMarking", "Kmin", "65000");
        sim.SetAttribute("ns3::lossless::EcnMarking", "Kmax", "65000");
    }
    facade::NetworkHelper network(sim, rate, delay);
    const auto hosts = network.InstallHosts(senders + 1);
    network.InstallLinks(hosts, network.InstallSwitches(1));
    for (uint32_t src = 0; rdmaToo && src < senders; ++src)
    {
        sim.AddFlow(src, senders, 3);
    }

    // A node with a device on every host, then the fabric, then the stack
    NodeContainer nodes(senders + 1);
    NetDeviceContainer devices;
    fabricdevice::FabricNetDeviceHelper helper;
    helper.SetDeviceAttribute("Tagged", BooleanValue(tagged));
    for (const uint32_t host : hosts)
    {
        devices.Add(helper.Install(&sim.GetFabric(), host, nodes.Get(host)));
    }
    sim.SetAttribute("ns3::observe::PcapTap", "Fcs", "true");
    sim.Build();
    const std::string impossible = sim.Check();
    if (!impossible.empty())
    {
        std::cerr << impossible;
        return 2;
    }
    observe::FabricPcapHelper captures(sim.GetFabric());
    if (!pcap.empty())
    {
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        if (!captures.EnablePcapAll(pcap))
        {
            std::cerr << "--pcap=" << pcap << ": files of this name cannot be written\n";
            return 2;
        }
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    // Not a second, as on the Internet: round trips here are microseconds.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(2)));
    if (dctcp)
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    }
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    if (caches)
    {
        NeighborCacheHelper().PopulateNeighborCache(devices);
    }

    // Applications
    const InetSocketAddress to(interfaces.GetAddress(senders), 9);
    PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    sinks.Install(nodes.Get(senders));
    BulkSendHelper bulk("ns3::TcpSocketFactory", to);
    bulk.SetAttribute("Tos", UintegerValue(dscp << 2));
    for (uint32_t src = 0; src < senders; ++src)
    {
        bulk.Install(nodes.Get(src));
    }
    FlowMonitorHelper monitors;
    const Ptr<FlowMonitor> monitor = monitors.Install(nodes);

    sim.Run(duration.GetTimeStep());
    const std::string wrong = sim.Finish() + captures.Close();
    const double seconds = duration.GetSeconds();
    monitor->CheckForLostPackets(MilliSeconds(5)); // younger ones may be on their way
    const auto classifier = DynamicCast<Ipv4FlowClassifier>(monitors.GetClassifier());
    for (const auto& [flow, stats] : monitor->GetFlowStats())
    {
        const auto tuple = classifier->FindFlow(flow);
        if (tuple.destinationPort == 9)
        {
            std::cout << tuple.sourceAddress << " tcp_gbps "
                      << static_cast<double>(stats.rxBytes) * 8e-9 / seconds << " lost_packets "
                      << stats.lostPackets << " mean_delay_us "
                      << stats.delaySum.GetSeconds() * 1e6 / std::max(stats.rxPackets, 1U) << "\n";
        }
    }
    for (const auto& [name, value] : sim.GetSummary())
    {
        if (name == "delivered_bytes")
        {
            std::cout << "rdma_gbps " << value * 8e-9 / seconds << "\n";
        }
        else if (name == "pauses_sent" || name == "marked_frames" || name == "dropped_frames" ||
                 name == "dropped_lossless_frames")
        {
            std::cout << name << " " << value << "\n";
        }
    }
    std::cerr << wrong;
    return wrong.empty() ? 0 : 1;
}
