/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/fabricdevice-channel.h"
#include "ns3/fabricdevice-helper.h"
#include "ns3/fabricdevice-net-device.h"
#include "ns3/facade-simulation.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/global-value.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/lossless-ecn-marking.h"
#include "ns3/lossless-fabric.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/test.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

/**
 * @file
 * @ingroup fabricdevice-tests
 * ns-3's Internet stack over a fabric, against closed forms and counts made elsewhere.
 */

namespace ns3
{
namespace fabricdevice
{
namespace tests
{

using lossless::Fabric;
using lossless::Frame;
using lossless::FrameKind;
using lossless::Port;

constexpr int64_t RATE = 10'000'000'000;  //!< of every link (bit/s)
constexpr int64_t PS_PER_BYTE = 800;      //!< at that rate
constexpr int64_t DELAY = 1'000'000;      //!< of every link (ps)
constexpr int64_t LATENCY = 300'000;      //!< of every switch (ps)
constexpr int64_t OVERHEAD = 20;          //!< preamble and gap (bytes)
constexpr uint32_t SEGMENT = 1448;        //!< TCP payload that fills a packet of 1500 bytes
constexpr uint32_t SEGMENT_WIRE = 1538;   //!< 1448 + TCP 32 + IP 20 + Ethernet 18 + overhead 20
constexpr uint8_t LOSSLESS_TOS = 26 << 2; //!< DSCP 26, by its class selector in class 3

/// A fabric with a device on every host, and the Internet stack on it.
class Lan
{
  public:
    /// Start empty, with PFC. @param flowControl of every port.
    explicit Lan(const std::string& flowControl = "ns3::pfc::Pfc")
        : fabric(CreateObject<Fabric>())
    {
        fabric->AddFlowControl(flowControl);
        fabric->SetAttribute("ns3::lossless::Switch", "Latency", std::to_string(LATENCY) + "ps");
        stack.SetIpv4ArpJitter(false);
        stack.SetIpv6NsRsJitter(false);
        stack.SetIpv6StackInstall(false);
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    }

    ~Lan()
    {
        Simulator::Destroy();
        fabric->Dispose();
        Config::Reset();
    }

    /// Add hosts with devices; they are the first nodes of the fabric. @param n how many
    void Hosts(uint32_t n)
    {
        nodes.Create(n);
        devices = helper.Install(fabric, nodes);
    }

    /// Join two nodes. @param a node. @param b node.
    void Link(uint32_t a, uint32_t b)
    {
        fabric->AddLink(a, b, DataRate(RATE), TimeStep(DELAY));
    }

    /// A switch with hosts on it, ready to run.
    /// @param n how many hosts. @param caches fill the neighbour caches.
    void Star(uint32_t n, bool caches = true)
    {
        Hosts(n);
        const uint32_t center = fabric->AddSwitch("s");
        for (uint32_t host = 0; host < n; ++host)
        {
            Link(host, center);
        }
        Start(caches);
    }

    /// All is linked: build the fabric and put the stack on the nodes.
    /// @param caches fill the neighbour caches
    void Start(bool caches)
    {
        fabric->Build();
        problems = fabric->Check();
        stack.Install(nodes);
        if (ipv6)
        {
            Ipv6AddressHelper addresses("2001:db8::", Ipv6Prefix(64));
            v6 = addresses.Assign(devices);
        }
        else
        {
            Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
            v4 = addresses.Assign(devices);
        }
        if (caches)
        {
            NeighborCacheHelper().PopulateNeighborCache(devices);
        }
    }

    /// One device. @param host number. @return device.
    FabricNetDevice& Device(uint32_t host) const
    {
        return dynamic_cast<FabricNetDevice&>(*devices.Get(host));
    }

    /// Send bytes by TCP.
    /// @param src host. @param dst host. @param bytes how many; 0: endless. @param tos type of
    /// service. @return the sink.
    Ptr<PacketSink> Tcp(uint32_t src, uint32_t dst, uint64_t bytes, uint8_t tos)
    {
        const auto port = static_cast<uint16_t>(1000 + src);
        PacketSinkHelper sinks("ns3::TcpSocketFactory",
                               InetSocketAddress(Ipv4Address::GetAny(), port));
        auto sink = sinks.Install(nodes.Get(dst)).Get(0);
        BulkSendHelper senders("ns3::TcpSocketFactory",
                               InetSocketAddress(v4.GetAddress(dst), port));
        senders.SetAttribute("MaxBytes", UintegerValue(bytes));
        senders.SetAttribute("SendSize", UintegerValue(64 * SEGMENT));
        senders.SetAttribute("Tos", UintegerValue(tos));
        senders.Install(nodes.Get(src));
        return DynamicCast<PacketSink>(sink);
    }

    /// Send UDP packets that are answered.
    /// @param src host. @param dst host. @param bytes payload. @param n how many packets.
    /// @param tos type of service. @return the client.
    Ptr<Application> Echo(uint32_t src, uint32_t dst, uint32_t bytes, uint32_t n, uint8_t tos)
    {
        UdpEchoServerHelper server(7);
        server.Install(nodes.Get(dst));
        const Address to = ipv6 ? Address(Inet6SocketAddress(v6.GetAddress(dst, 1), 7))
                                : Address(InetSocketAddress(v4.GetAddress(dst), 7));
        UdpEchoClientHelper client(to);
        client.SetAttribute("PacketSize", UintegerValue(bytes));
        client.SetAttribute("MaxPackets", UintegerValue(n));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(100)));
        client.SetAttribute("Tos", UintegerValue(tos));
        auto application = client.Install(nodes.Get(src)).Get(0);
        application->SetStartTime(Seconds(1));
        return application;
    }

    /// Run, and see that no frame is missing. @param until end
    void Run(Time until)
    {
        Simulator::Stop(until);
        Simulator::Run();
        problems += fabric->Finish();
    }

    /// Frames dropped in the fabric.
    /// @return count
    uint64_t Dropped() const
    {
        uint64_t dropped = 0;
        for (uint32_t node = 0; node < fabric->GetNNodes(); ++node)
        {
            dropped += fabric->GetNode(node).GetCounters().dropped;
        }
        return dropped;
    }

    /// Packets dropped by devices and by the queue discs above them.
    /// @return count
    uint64_t DroppedAbove() const
    {
        uint64_t dropped = 0;
        for (uint32_t host = 0; host < devices.GetN(); ++host)
        {
            for (uint32_t cause = 0; cause < N_DEVICE_DROPS; ++cause)
            {
                dropped += Device(host).GetDrops(static_cast<DeviceDrop>(cause));
            }
            const auto control = nodes.Get(host)->GetObject<TrafficControlLayer>();
            const auto root = control->GetRootQueueDiscOnDevice(devices.Get(host));
            for (std::size_t i = 0; i < root->GetNQueueDiscClasses(); ++i)
            {
                dropped +=
                    root->GetQueueDiscClass(i)->GetQueueDisc()->GetStats().nTotalDroppedPackets;
            }
        }
        return dropped;
    }

    /// Pauses sent by a switch. @param node its number. @return count.
    uint64_t Pauses(uint32_t node) const
    {
        uint64_t pauses = 0;
        for (uint16_t port = 0; port < fabric->GetNode(node).GetNPorts(); ++port)
        {
            pauses += fabric->GetNode(node).GetPort(port).GetCounters().pausesSent;
        }
        return pauses;
    }

    Ptr<Fabric> fabric;           //!< the network
    FabricNetDeviceHelper helper; //!< makes devices
    InternetStackHelper stack;    //!< puts the stack on nodes
    bool ipv6{false};             //!< IPv6 instead of IPv4
    NodeContainer nodes;          //!< of the hosts
    NetDeviceContainer devices;   //!< of the hosts
    Ipv4InterfaceContainer v4;    //!< addresses
    Ipv6InterfaceContainer v6;    //!< addresses
    std::string problems;         //!< found by Check and Finish
};

/// Time of a frame from host to host over one switch. @param bytes its size with FCS. @return ps.
constexpr int64_t
OneWay(int64_t bytes)
{
    return 2 * ((bytes + OVERHEAD) * PS_PER_BYTE + DELAY) + LATENCY;
}

/// @ingroup fabricdevice-tests
/// @brief The time of an echo, to the picosecond.
class EchoTest : public TestCase
{
  public:
    /// What is tried.
    struct Case
    {
        const char* name; //!< in words
        uint32_t payload; //!< of UDP (bytes)
        int64_t bytes;    //!< frame that results, worked out on paper
        bool tagged;      //!< 802.1Q
        bool ipv6;        //!< IPv6
        bool caches;      //!< neighbour caches are filled
    };

    /// Make it. @param what is tried
    explicit EchoTest(const Case& what)
        : TestCase(std::string("the round trip of an echo is the closed form: ") + what.name),
          m_case(what)
    {
    }

  private:
    void NoteSent(Ptr<const Packet> /* packet */)
    {
        m_sent = Simulator::Now();
    }

    void NoteReceived(Ptr<const Packet> /* packet */)
    {
        m_times.push_back((Simulator::Now() - m_sent).GetPicoSeconds());
    }

    void DoRun() override
    {
        Lan lan;
        lan.ipv6 = m_case.ipv6;
        lan.stack.SetIpv6StackInstall(m_case.ipv6);
        lan.stack.SetIpv4StackInstall(!m_case.ipv6);
        lan.helper.SetDeviceAttribute("Tagged", BooleanValue(m_case.tagged));
        lan.Star(3, m_case.caches);
        auto client = lan.Echo(0, 2, m_case.payload, 2, 0);
        client->TraceConnectWithoutContext("Tx", MakeCallback(&EchoTest::NoteSent, this));
        client->TraceConnectWithoutContext("Rx", MakeCallback(&EchoTest::NoteReceived, this));
        lan.Run(Seconds(2));
        NS_TEST_ASSERT_MSG_EQ(m_times.size(), 2, "answers");
        // The first waits for ARP, which takes a request and an answer of least size, and so does
        // its echo: ns-3's ARP does not learn from requests.
        const int64_t resolution = m_case.caches ? 0 : 4 * OneWay(m_case.tagged ? 68 : 64);
        NS_TEST_ASSERT_MSG_EQ(m_times[0], resolution + 2 * OneWay(m_case.bytes), "first");
        NS_TEST_ASSERT_MSG_EQ(m_times[1], 2 * OneWay(m_case.bytes), "second");
        NS_TEST_ASSERT_MSG_EQ(lan.problems, "", "conserved");
    }

    Case m_case;                  //!< what is tried
    Time m_sent;                  //!< when the last packet was sent
    std::vector<int64_t> m_times; //!< round trips (ps)
};

/// @ingroup fabricdevice-tests
/// @brief TCP in a lossless class: PFC keeps every frame, and the bottleneck busy.
class LosslessIncastTest : public TestCase
{
  public:
    LosslessIncastTest()
        : TestCase("TCP from four hosts to one in a lossless class: no loss, and line rate")
    {
    }

  private:
    void DoRun() override
    {
        Lan lan;
        lan.fabric->SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
        lan.fabric->SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "40000");
        lan.fabric->SetAttribute("ns3::lossless::SharedBuffer", "Xon", "37000");
        lan.Star(5);
        std::vector<Ptr<PacketSink>> sinks;
        for (uint32_t src = 1; src < 5; ++src)
        {
            sinks.push_back(lan.Tcp(src, 0, 0, LOSSLESS_TOS));
        }
        const auto total = [&sinks]() {
            uint64_t bytes = 0;
            for (const auto& sink : sinks)
            {
                bytes += sink->GetTotalRx();
            }
            return bytes;
        };
        FlowMonitorHelper monitors;
        const auto monitor = monitors.Install(lan.nodes);
        const int64_t interval = 5'000'000'000; // ps
        uint64_t before = 0;
        Simulator::Schedule(MilliSeconds(5), [&]() { before = total(); });
        lan.Run(MilliSeconds(5) + TimeStep(interval));
        const double bytes = static_cast<double>(total() - before);
        // Every frame on the busy link brings a segment; two may be cut by the ends of the
        // interval.
        const double expected =
            static_cast<double>(interval / PS_PER_BYTE) * SEGMENT / SEGMENT_WIRE;
        NS_TEST_ASSERT_MSG_EQ_TOL(bytes, expected, 2.0 * SEGMENT, "line rate less headers");
        NS_TEST_ASSERT_MSG_EQ(lan.problems, "", "lossless and conserved");
        NS_TEST_ASSERT_MSG_EQ(lan.Dropped(), 0, "no frame lost");
        NS_TEST_ASSERT_MSG_EQ(lan.DroppedAbove(), 0, "no packet lost above");
        NS_TEST_ASSERT_MSG_GT(lan.Pauses(5), 0, "since the switch paused the senders");
        monitor->CheckForLostPackets();
        for (const auto& [flow, stats] : monitor->GetFlowStats())
        {
            NS_TEST_ASSERT_MSG_EQ(stats.lostPackets, 0, "FlowMonitor agrees, flow " << flow);
        }
    }
};

/// @ingroup fabricdevice-tests
/// @brief TCP in a lossy class: losses, recovery, and three counts of the same packets.
class LossyIncastTest : public TestCase
{
  public:
    LossyIncastTest()
        : TestCase("TCP in a lossy class loses and recovers; FlowMonitor, devices and switches "
                   "count the same")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t BYTES = 500'000;
        Lan lan;
        lan.fabric->SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", "60000");
        lan.Star(5);
        std::vector<Ptr<PacketSink>> sinks;
        for (uint32_t src = 1; src < 5; ++src)
        {
            sinks.push_back(lan.Tcp(src, 0, BYTES, 0));
        }
        FlowMonitorHelper monitors;
        const auto monitor = monitors.Install(lan.nodes);
        lan.Run(Seconds(20));
        for (const auto& sink : sinks)
        {
            NS_TEST_ASSERT_MSG_EQ(sink->GetTotalRx(), BYTES, "everything arrives in the end");
        }
        NS_TEST_ASSERT_MSG_EQ(lan.problems, "", "conserved");
        uint64_t lossy = 0;
        for (uint32_t node = 0; node < lan.fabric->GetNNodes(); ++node)
        {
            lossy += lan.fabric->GetNode(node)
                         .GetCounters()
                         .byCause[static_cast<std::size_t>(lossless::DropCause::LOSSY)];
        }
        NS_TEST_ASSERT_MSG_GT(lossy, 0, "frames were lost");
        NS_TEST_ASSERT_MSG_EQ(lossy, lan.Dropped(), "for want of room only");
        NS_TEST_ASSERT_MSG_EQ(lan.DroppedAbove(), 0, "and in the switch only");
        monitor->CheckForLostPackets(Seconds(0));
        uint64_t sent = 0;
        uint64_t received = 0;
        uint64_t lost = 0;
        for (const auto& [flow, stats] : monitor->GetFlowStats())
        {
            sent += stats.txPackets;
            received += stats.rxPackets;
            lost += stats.lostPackets;
        }
        uint64_t deviceSent = 0;
        uint64_t deviceReceived = 0;
        for (uint32_t host = 0; host < 5; ++host)
        {
            deviceSent += lan.Device(host).GetSent();
            deviceReceived += lan.Device(host).GetReceived();
        }
        NS_TEST_ASSERT_MSG_EQ(deviceSent, sent, "packets sent");
        NS_TEST_ASSERT_MSG_EQ(deviceReceived, received, "packets received");
        NS_TEST_ASSERT_MSG_EQ(lossy, lost, "packets lost");
        NS_TEST_ASSERT_MSG_EQ(deviceSent, deviceReceived + lossy, "none is missing");
    }
};

/// @ingroup fabricdevice-tests
/// @brief A host's link is shared by its queue pairs and its device.
class ShareTest : public TestCase
{
  public:
    ShareTest()
        : TestCase("TCP and a queue pair of one host in one lossless class send in turn")
    {
    }

  private:
    void Note(const Port& /* port */, const Frame& frame)
    {
        ++m_frames[frame.kind];
    }

    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
        {
            facade::Simulation sim(1);
            sim.AddFlowControl("ns3::pfc::Pfc");
            const std::vector<uint8_t> kinds{0, 0, 1};
            sim.AddNodes(kinds.data(), "h0\nh1\ns0", 3);
            const std::vector<uint32_t> a{0, 1};
            const std::vector<uint32_t> b{2, 2};
            const std::vector<uint64_t> rates(2, RATE);
            const std::vector<int64_t> delays(2, DELAY);
            sim.AddLinks(a.data(), b.data(), rates.data(), delays.data(), 2);
            const uint32_t src = 0;
            const uint32_t dst = 1;
            const uint64_t zero = 0;
            const int64_t start = 0;
            const int64_t never = -1;
            const uint8_t cls = 3;
            sim.AddFlows(&src, &dst, &zero, &start, &never, &cls, &zero, &zero, 1);
            const Ptr<Fabric> fabric(&sim.GetFabric());
            NodeContainer nodes(2);
            NetDeviceContainer devices;
            const FabricNetDeviceHelper helper;
            devices.Add(helper.Install(fabric, 0, nodes.Get(0)));
            devices.Add(helper.Install(fabric, 1, nodes.Get(1)));
            sim.Build();
            NS_TEST_ASSERT_MSG_EQ(sim.Check(), "", "possible");
            InternetStackHelper stack;
            stack.SetIpv6StackInstall(false);
            stack.Install(nodes);
            Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
            const auto v4 = addresses.Assign(devices);
            NeighborCacheHelper().PopulateNeighborCache(devices);
            PacketSinkHelper sinks("ns3::TcpSocketFactory",
                                   InetSocketAddress(Ipv4Address::GetAny(), 9));
            sinks.Install(nodes.Get(1));
            BulkSendHelper senders("ns3::TcpSocketFactory", InetSocketAddress(v4.GetAddress(1), 9));
            senders.SetAttribute("SendSize", UintegerValue(64 * SEGMENT));
            senders.SetAttribute("Tos", UintegerValue(LOSSLESS_TOS));
            senders.Install(nodes.Get(0));
            constexpr int64_t SETTLED = 5'000'000'000; // ps: TCP's window is open
            sim.Run(SETTLED);
            fabric->GetNode(0).GetPort(0).TraceConnectWithoutContext(
                "Transmit",
                MakeCallback(&ShareTest::Note, this));
            constexpr int64_t INTERVAL = 4'000'000'000; // ps
            sim.Run(SETTLED + INTERVAL);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "lossless and conserved");
        }
        Config::Reset();
        const auto data = static_cast<double>(m_frames[FrameKind::DATA]);
        const auto packets = static_cast<double>(m_frames[FrameKind::PACKET]);
        NS_TEST_ASSERT_MSG_EQ_TOL(data, packets, 1.0, "frame by frame");
        // the link is busy: 1048 B frames of the queue pair, 1518 B frames of TCP
        const double pair = (1048 + 1518 + 2 * OVERHEAD) * PS_PER_BYTE;
        NS_TEST_ASSERT_MSG_EQ_TOL(data, 4e9 / pair, 1.0, "all the time");
    }

    std::map<FrameKind, uint64_t> m_frames; //!< sent by host 0
};

/// @ingroup fabricdevice-tests
/// @brief What switches do to a frame reaches the IP header.
class HeaderTest : public TestCase
{
  public:
    HeaderTest()
        : TestCase("marks of switches and routed hops reach the IP header, whose checksum holds")
    {
    }

  private:
    /// What arrived.
    struct Arrived
    {
        uint32_t packets{0}; //!< count
        uint32_t marked{0};  //!< of them, with congestion experienced
        uint32_t ttl{0};     //!< of the last
    };

    void Note(const Ipv4Header& header, Ptr<const Packet> /* packet */, uint32_t /* interface */)
    {
        ++m_arrived.packets;
        m_arrived.marked += header.GetEcn() == Ipv4Header::ECN_CE;
        m_arrived.ttl = header.GetTtl();
    }

    /// Send ten packets over one switch that marks whatever it can.
    /// @param tos type of service. @param routed the switch counts as a router. @param ttl the
    /// sender's. @return what arrived.
    Arrived Send(uint8_t tos, bool routed, uint8_t ttl)
    {
        m_arrived = {};
        Lan lan;
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        Config::SetDefault("ns3::Ipv4L3Protocol::DefaultTtl", UintegerValue(ttl));
        lan.helper.SetDeviceAttribute("RoutedHops", BooleanValue(routed));
        lan.fabric->AddAgent("ns3::lossless::EcnMarking");
        lan.fabric->SetAttribute("ns3::lossless::EcnMarking", "At", "Enqueue");
        lan.fabric->SetAttribute("ns3::lossless::EcnMarking", "Kmin", "0");
        lan.fabric->SetAttribute("ns3::lossless::EcnMarking", "Kmax", "0");
        lan.Star(2);
        lan.Echo(0, 1, 100, 10, tos);
        lan.nodes.Get(1)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            MakeCallback(&HeaderTest::Note, this));
        lan.Run(Seconds(2));
        m_ttlDrops = lan.fabric->GetNode(2)
                         .GetCounters()
                         .byCause[static_cast<std::size_t>(lossless::DropCause::TTL)];
        const auto& agent =
            dynamic_cast<const lossless::EcnMarking&>(*lan.fabric->GetNode(2).GetAgents().front());
        m_marked = agent.GetMarked();
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
        return m_arrived;
    }

    void DoRun() override
    {
        Arrived arrived = Send(2, false, 64); // ECT(0)
        NS_TEST_ASSERT_MSG_EQ(arrived.packets, 10, "all arrive: checksums hold");
        NS_TEST_ASSERT_MSG_EQ(arrived.marked, 10, "all marked");
        NS_TEST_ASSERT_MSG_EQ(m_marked, 10, "the answers are not capable");
        NS_TEST_ASSERT_MSG_EQ(arrived.ttl, 64, "a bridge leaves the TTL");
        arrived = Send(0, true, 64);
        NS_TEST_ASSERT_MSG_EQ(arrived.packets, 10, "all arrive");
        NS_TEST_ASSERT_MSG_EQ(arrived.marked, 0, "none is capable of ECN");
        NS_TEST_ASSERT_MSG_EQ(arrived.ttl, 63, "a router takes one off");
        arrived = Send(1, true, 1);
        NS_TEST_ASSERT_MSG_EQ(arrived.packets, 0, "a router drops what has no hop left");
        NS_TEST_ASSERT_MSG_EQ(m_ttlDrops, 10, "and says why");
    }

    Arrived m_arrived;      //!< of the present run
    uint64_t m_marked{0};   //!< by the switch
    uint64_t m_ttlDrops{0}; //!< by the switch
};

/// @ingroup fabricdevice-tests
/// @brief DCTCP sees the marks and so loses nothing.
class DctcpTest : public TestCase
{
  public:
    DctcpTest()
        : TestCase("DCTCP in a lossy class answers the marks of the switch and loses nothing")
    {
    }

  private:
    void Note(const Ipv4Header& header, Ptr<const Packet> /* packet */, uint32_t /* interface */)
    {
        m_marked += header.GetEcn() == Ipv4Header::ECN_CE;
    }

    /// Three senders, and a switch that marks above 30 KB.
    /// @param dctcp DCTCP, else ns-3's default, which ignores marks. @return frames lost.
    uint64_t Run(bool dctcp)
    {
        constexpr uint64_t BYTES = 1'000'000;
        m_marked = 0;
        Lan lan;
        if (dctcp)
        {
            Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                               TypeIdValue(TcpDctcp::GetTypeId()));
        }
        lan.fabric->SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", "400000");
        lan.fabric->AddAgent("ns3::lossless::EcnMarking");
        lan.fabric->SetAttribute("ns3::lossless::EcnMarking", "Kmin", "30000");
        lan.fabric->SetAttribute("ns3::lossless::EcnMarking", "Kmax", "30000");
        lan.Star(4);
        std::vector<Ptr<PacketSink>> sinks;
        for (uint32_t src = 1; src < 4; ++src)
        {
            sinks.push_back(lan.Tcp(src, 0, BYTES, 0));
        }
        lan.nodes.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            MakeCallback(&DctcpTest::Note, this));
        lan.Run(Seconds(20));
        for (const auto& sink : sinks)
        {
            NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), BYTES, "everything arrives");
        }
        NS_TEST_EXPECT_MSG_EQ(lan.problems, "", "conserved");
        const auto& agent =
            dynamic_cast<const lossless::EcnMarking&>(*lan.fabric->GetNode(4).GetAgents().front());
        NS_TEST_EXPECT_MSG_EQ(m_marked, agent.GetMarked(), "every mark arrives");
        NS_TEST_EXPECT_MSG_EQ((m_marked > 0), dctcp, "DCTCP alone is marked");
        return lan.Dropped();
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Run(true), 0, "nothing lost");
        NS_TEST_ASSERT_MSG_GT(Run(false), 0, "while TCP without ECN fills the buffer");
    }

    uint64_t m_marked{0}; //!< packets that arrived marked
};

/// @ingroup fabricdevice-tests
/// @brief A broadcast reaches everybody once, though the network has loops.
class FloodTest : public TestCase
{
  public:
    FloodTest()
        : TestCase("in a fat-tree an ARP request crosses 35 links once; with filled caches none")
    {
    }

  private:
    void Note(const Port& port, const Frame& frame)
    {
        if (frame.dst == lossless::ALL_NODES)
        {
            ++m_received[{frame.src, &port}];
        }
    }

    /// Echo once across a k = 4 fat-tree. @param caches they are filled
    void Run(bool caches)
    {
        constexpr uint32_t HOSTS = 16;
        m_received.clear();
        Lan lan;
        lan.Hosts(HOSTS);
        std::vector<uint32_t> switches;
        for (uint32_t i = 0; i < 20; ++i)
        {
            switches.push_back(lan.fabric->AddSwitch(std::string("s").append(std::to_string(i))));
        }
        const auto edge = [&](uint32_t i) { return switches[i]; };
        const auto aggregation = [&](uint32_t i) { return switches[8 + i]; };
        const auto core = [&](uint32_t i) { return switches[16 + i]; };
        for (uint32_t host = 0; host < HOSTS; ++host)
        {
            lan.Link(host, edge(host / 2));
        }
        for (uint32_t pod = 0; pod < 4; ++pod)
        {
            for (uint32_t i = 0; i < 2; ++i)
            {
                for (uint32_t j = 0; j < 2; ++j)
                {
                    lan.Link(edge(2 * pod + i), aggregation(2 * pod + j));
                    lan.Link(aggregation(2 * pod + i), core(2 * i + j));
                }
            }
        }
        lan.Start(caches);
        for (uint32_t node = 0; node < lan.fabric->GetNNodes(); ++node)
        {
            for (uint16_t port = 0; port < lan.fabric->GetNode(node).GetNPorts(); ++port)
            {
                lan.fabric->GetNode(node).GetPort(port).TraceConnectWithoutContext(
                    "Receive",
                    MakeCallback(&FloodTest::Note, this));
            }
        }
        auto client = lan.Echo(0, 15, 100, 1, 0);
        uint32_t answers = 0;
        client->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>>([&answers](Ptr<const Packet>) { ++answers; }));
        lan.Run(Seconds(2));
        NS_TEST_ASSERT_MSG_EQ(answers, 1, "the echo comes back");
        NS_TEST_ASSERT_MSG_EQ(lan.problems, "", "conserved");
        // A tree that spans 36 nodes has 35 links; all hosts but the asker get the request. Client
        // and server ask once each.
        NS_TEST_ASSERT_MSG_EQ(m_received.size(), (caches ? 0 : 2 * 35), "links crossed");
        for (const auto& [port, frames] : m_received)
        {
            NS_TEST_ASSERT_MSG_EQ(frames, 1, "once");
        }
        for (const uint32_t asker : {0U, HOSTS - 1})
        {
            for (uint32_t host = 0; host < HOSTS; ++host)
            {
                const Port* port = &lan.fabric->GetNode(host).GetPort(0);
                NS_TEST_ASSERT_MSG_EQ(m_received.count({asker, port}),
                                      (caches || host == asker ? 0 : 1),
                                      "host " << host << " asked by " << asker);
            }
        }
    }

    void DoRun() override
    {
        Run(false);
        Run(true);
    }

    std::map<std::pair<uint32_t, const Port*>, uint32_t> m_received; //!< frames for all, by sender
                                                                     //!< and receiving port
};

/// @ingroup fabricdevice-tests
/// @brief DSCP or priority choose the class, which the tag carries.
class ClassTest : public TestCase
{
  public:
    ClassTest()
        : TestCase("code points and socket priorities choose class, queue and tag")
    {
    }

  private:
    void Note(const Port& /* port */, const Frame& frame)
    {
        if (frame.kind != FrameKind::PACKET || frame.dst == lossless::ALL_NODES)
        {
            return;
        }
        m_class = frame.cls;
        m_bytes.resize(18);
        frame.packet->CopyData(m_bytes.data(), 18);
    }

    /// Send one packet. @param tos type of service. @param classBy attribute. @param map attribute.
    void Send(uint8_t tos, const std::string& classBy, const std::string& map)
    {
        m_class = 99;
        Lan lan;
        lan.helper.SetDeviceAttribute("Tagged", BooleanValue(true));
        lan.helper.SetDeviceAttribute("Vlan", UintegerValue(0x123));
        lan.helper.SetDeviceAttribute("ClassBy", StringValue(classBy));
        lan.helper.SetDeviceAttribute("DscpMap", StringValue(map));
        lan.Star(2);
        lan.fabric->GetNode(0).GetPort(0).TraceConnectWithoutContext(
            "Transmit",
            MakeCallback(&ClassTest::Note, this));
        lan.Echo(0, 1, 100, 1, tos);
        lan.Run(Seconds(2));
        NS_TEST_EXPECT_MSG_EQ(lan.Device(1).GetReceived(), 1, "received without its tag");
    }

    void DoRun() override
    {
        for (const int dscp : {0, 8, 26, 46, 63})
        {
            Send(static_cast<uint8_t>(dscp << 2), "Dscp", "");
            NS_TEST_ASSERT_MSG_EQ(+m_class, dscp / 8, "class selector of DSCP " << dscp);
        }
        Send(46 << 2, "Dscp", "26:3,46:6");
        NS_TEST_ASSERT_MSG_EQ(+m_class, 6, "a code point that the map names");
        const std::vector<uint8_t> tag{0x81, 0x00, 0xc1, 0x23, 0x08, 0x00};
        NS_TEST_ASSERT_MSG_EQ(std::equal(tag.begin(), tag.end(), m_bytes.begin() + 12),
                              true,
                              "priority 6, VLAN 0x123, then IPv4");
        // Socket::IpTos2Priority: "interactive" for TOS 0x10, "interactive bulk" for 0x18
        Send(0x10, "Priority", "");
        NS_TEST_ASSERT_MSG_EQ(+m_class, 6, "socket priority, interactive");
        Send(0x18, "Priority", "");
        NS_TEST_ASSERT_MSG_EQ(+m_class, 4, "socket priority, interactive bulk");
    }

    uint8_t m_class{0};           //!< of the last packet sent
    std::vector<uint8_t> m_bytes; //!< its first 18
};

/// @ingroup fabricdevice-tests
/// @brief Nothing is dropped in silence.
class DropTest : public TestCase
{
  public:
    DropTest()
        : TestCase("what a device drops is counted and traced with its cause")
    {
    }

  private:
    void Note(Ptr<const Packet> /* packet */, DeviceDrop cause)
    {
        ++m_traced[cause];
    }

    void NoteTxDrop(Ptr<const Packet> /* packet */)
    {
        ++m_dropped;
    }

    void DoRun() override
    {
        // No stack, so that nothing above the device holds packets back
        Lan lan;
        lan.helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("4p"));
        lan.Hosts(2);
        const uint32_t center = lan.fabric->AddSwitch("s");
        lan.Link(0, center);
        lan.Link(1, center);
        lan.fabric->Build();
        FabricNetDevice& device = lan.Device(0);
        device.TraceConnectWithoutContext("Drop", MakeCallback(&DropTest::Note, this));
        device.TraceConnectWithoutContext("MacTxDrop", MakeCallback(&DropTest::NoteTxDrop, this));
        const Address to = lan.Device(1).GetAddress();
        uint32_t accepted = 0;
        Simulator::Schedule(Seconds(1), [&]() {
            for (int i = 0; i < 10; ++i)
            {
                accepted += device.Send(Create<Packet>(100), to, 0x1234);
            }
            device.Send(Create<Packet>(1501), to, 0x1234);
            device.Send(Create<Packet>(100), Mac48Address("00:11:22:33:44:55"), 0x1234);
            // a switch has no address
            device.Send(Create<Packet>(100), FabricNetDevice::GetMac(center), 0x1234);
        });
        lan.Run(Seconds(2));
        // One packet goes at once, four wait.
        NS_TEST_ASSERT_MSG_EQ(accepted, 5, "accepted");
        NS_TEST_ASSERT_MSG_EQ(device.GetSent(), 5, "sent");
        NS_TEST_ASSERT_MSG_EQ(lan.Device(1).GetReceived(), 5, "received");
        NS_TEST_ASSERT_MSG_EQ(device.GetDrops(DeviceDrop::QUEUE_FULL), 5, "queue full");
        NS_TEST_ASSERT_MSG_EQ(device.GetDrops(DeviceDrop::TOO_LARGE), 1, "above the MTU");
        NS_TEST_ASSERT_MSG_EQ(device.GetDrops(DeviceDrop::UNREACHABLE), 2, "no such host");
        NS_TEST_ASSERT_MSG_EQ(m_traced[DeviceDrop::QUEUE_FULL], 5, "traced");
        NS_TEST_ASSERT_MSG_EQ(m_traced[DeviceDrop::TOO_LARGE], 1, "traced");
        NS_TEST_ASSERT_MSG_EQ(m_traced[DeviceDrop::UNREACHABLE], 2, "traced");
        NS_TEST_ASSERT_MSG_EQ(m_dropped, 8, "the conventional trace has them all");
        NS_TEST_ASSERT_MSG_EQ(lan.problems + lan.fabric->Finish(), "", "conserved");
    }

    std::map<DeviceDrop, uint32_t> m_traced; //!< by cause
    uint32_t m_dropped{0};                   //!< by MacTxDrop
};

/// @ingroup fabricdevice-tests
/// @brief EnablePcap, EnableAscii, and paths of ns3::Config.
class TraceTest : public TestCase
{
  public:
    TraceTest()
        : TestCase("files of the helper have every packet once; queues, nodes and ports have paths "
                   "and names")
    {
    }

  private:
    /// Three packets from one device to another.
    /// @param prefix of the files. @return names of the files of both, without suffix.
    std::array<std::string, 2> Run(const std::string& prefix)
    {
        Lan lan;
        lan.Hosts(2);
        const uint32_t center = lan.fabric->AddSwitch("s");
        lan.Link(0, center);
        lan.Link(1, center);
        lan.fabric->Build();
        lan.fabric->AddNames();
        lan.helper.EnablePcap(prefix, lan.devices);
        lan.helper.EnableAscii(prefix, lan.devices);
        std::map<std::string, uint32_t> seen;
        const auto count = [&seen](const std::string& what) {
            return Callback<void, Ptr<const Packet>>(
                [&seen, what](Ptr<const Packet> /* packet */) { ++seen[what]; });
        };
        Config::ConnectWithoutContext(
            "/NodeList/0/DeviceList/0/$ns3::fabricdevice::FabricNetDevice/TxQueueList/0/Enqueue",
            count("queued"));
        const auto frames = [&seen](const std::string& what) {
            return Callback<void, const lossless::Port&, const lossless::Frame&>(
                [&seen, what](const lossless::Port& /* port */,
                              const lossless::Frame& /* frame */) { ++seen[what]; });
        };
        Config::ConnectWithoutContext("/FabricList/0/NodeList/2/PortList/1/Transmit",
                                      frames("by number"));
        Config::ConnectWithoutContext("/Names/s/PortList/1/Transmit", frames("by name"));
        Simulator::Schedule(Seconds(1), [&lan] {
            for (int i = 0; i < 3; ++i)
            {
                lan.Device(0).Send(Create<Packet>(100), lan.Device(1).GetAddress(), 0x1234);
            }
        });
        lan.Run(Seconds(2));
        for (const std::string what : {"queued", "by number", "by name"})
        {
            NS_TEST_EXPECT_MSG_EQ(seen[what], 3, what);
        }
        std::string refused;
        try
        {
            lan.fabric->AddNames();
        }
        catch (const std::invalid_argument& error)
        {
            refused = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(refused.find("rename one of the two"), std::string::npos, refused);
        NS_TEST_EXPECT_MSG_EQ(lan.Device(0).SupportsSendFrom(), false, "a bridge may not have it");
        std::array<std::string, 2> names;
        for (uint32_t host = 0; host < 2; ++host)
        {
            names[host] = prefix + "-" + std::to_string(lan.nodes.Get(host)->GetId()) + "-0";
        }
        return names;
    }

    void DoRun() override
    {
        const auto names = Run(CreateTempDirFilename("device")); // closes the files
        for (uint32_t host = 0; host < 2; ++host)
        {
            const std::string& name = names[host];
            std::ifstream ascii(name + ".tr");
            const std::string text{std::istreambuf_iterator<char>(ascii), {}};
            const char first = host == 0 ? '+' : 'r'; // queued and gone, or received
            NS_TEST_EXPECT_MSG_EQ(std::count(text.begin(), text.end(), '\n'),
                                  (host == 0 ? 6 : 3),
                                  text);
            // 24 B of the file, and for each packet 16 B, 14 B of Ethernet and 100 B
            NS_TEST_EXPECT_MSG_EQ(std::filesystem::file_size(name + ".pcap"),
                                  24 + 3 * (16 + 114),
                                  "three packets");
            NS_TEST_EXPECT_MSG_EQ(text.substr(0, 1), std::string(1, first), text);
        }
    }
};

/// @ingroup fabricdevice-tests
/// @brief A failed link holds packets back; the device reports it.
class LinkTest : public TestCase
{
  public:
    LinkTest()
        : TestCase("packets wait for a link that is down and go when it comes up")
    {
    }

  private:
    void DoRun() override
    {
        Lan lan;
        lan.Hosts(2);
        const uint32_t center = lan.fabric->AddSwitch("s");
        lan.Link(0, center);
        lan.Link(1, center);
        lan.fabric->FailLink(0, MilliSeconds(500), MilliSeconds(1500));
        lan.fabric->Build(); // without a stack: ARP forgets all when a link changes
        std::vector<std::pair<double, bool>> changes;
        FabricNetDevice& device = lan.Device(0);
        device.AddLinkChangeCallback(Callback<void>(
            [&]() { changes.emplace_back(Simulator::Now().GetSeconds(), device.IsLinkUp()); }));
        Simulator::Schedule(Seconds(1), [&]() {
            for (int i = 0; i < 3; ++i)
            {
                device.Send(Create<Packet>(100), lan.Device(1).GetAddress(), 0x1234);
            }
        });
        uint64_t early = 99;
        Simulator::Schedule(MilliSeconds(1499), [&]() { early = lan.Device(1).GetReceived(); });
        lan.Run(Seconds(2));
        const std::vector<std::pair<double, bool>> expected{{0.5, false}, {1.5, true}};
        NS_TEST_ASSERT_MSG_EQ((changes == expected), true, "notified of both");
        NS_TEST_ASSERT_MSG_EQ(early, 0, "nothing goes while the link is down");
        NS_TEST_ASSERT_MSG_EQ(lan.Device(1).GetReceived(), 3, "everything goes afterwards");
        NS_TEST_ASSERT_MSG_EQ(lan.problems, "", "nothing lost");
    }
};

/// @ingroup fabricdevice-tests
/// @brief Schemes that treat hosts and switches differently.
class HostRoleTest : public TestCase
{
  public:
    HostRoleTest()
        : TestCase("a host with a device only is a host to BFC and PFFC, as one with queue pairs")
    {
    }

  private:
    /// The ports of two hosts at a switch: of a host with a device, and of the switch to it.
    void Try(const std::string& flowControl,
             const std::function<void(const Port& host, const Port& hub)>& look)
    {
        Lan lan(flowControl);
        lan.Star(2);
        const uint32_t center = 2;
        NS_TEST_EXPECT_MSG_EQ(lan.fabric->GetNode(0).IsSwitch(), false, "a host");
        NS_TEST_EXPECT_MSG_EQ(lan.fabric->GetNode(center).IsSwitch(), true, "a switch");
        look(lan.fabric->GetNode(0).GetPort(0), lan.fabric->GetNode(center).GetPort(0));
    }

    void DoRun() override
    {
        Try("ns3::bfc::Bfc", [this](const Port& host, const Port& hub) {
            const std::size_t classes = lossless::N_CLASSES;
            NS_TEST_EXPECT_MSG_EQ(host.GetQueues().size(), classes * (1 + 256), "HostQueues");
            NS_TEST_EXPECT_MSG_EQ(hub.GetQueues().size(), classes * (1 + 32), "Queues");
        });
        Try("ns3::pffc::Pffc", [this](const Port& host, const Port& hub) {
            // Both links are alike; what comes from a host may be one frame more, which it had
            // made in advance.
            const auto headroom = [](const Port& port) {
                lossless::Summary summary;
                port.GetChain().GetMembers()[0]->Report(summary);
                return summary["pffc_flow_headroom_bytes"];
            };
            NS_TEST_EXPECT_MSG_EQ(headroom(hub) - headroom(host),
                                  host.GetLargestFrame(),
                                  "the switch expects one frame more from the host");
        });
    }
};

/// @ingroup fabricdevice-tests
/// @brief Tests of FabricNetDevice.
class FabricNetDeviceTestSuite : public TestSuite
{
  public:
    FabricNetDeviceTestSuite()
        : TestSuite("fabricdevice-net-device", Type::UNIT)
    {
        // first, because it has packets printed, which must be asked for before any is sent
        AddTestCase(new TraceTest, TestCase::Duration::QUICK);
        // payload + UDP 8 + IPv4 20 or IPv6 40 + Ethernet 14 + FCS 4, 64 at least; a tag adds 4
        for (const EchoTest::Case& what :
             {EchoTest::Case{"IPv4", 1000, 1046, false, false, true},
              EchoTest::Case{"IPv4, padded", 1, 64, false, false, true},
              EchoTest::Case{"IPv4, tagged", 1000, 1050, true, false, true},
              EchoTest::Case{"IPv4, tagged and padded", 1, 68, true, false, true},
              EchoTest::Case{"IPv4, after ARP", 1000, 1046, false, false, false},
              EchoTest::Case{"IPv4, after ARP, tagged", 1000, 1050, true, false, false},
              EchoTest::Case{"IPv6", 1000, 1066, false, true, true}})
        {
            AddTestCase(new EchoTest(what), TestCase::Duration::QUICK);
        }
        AddTestCase(new LosslessIncastTest, TestCase::Duration::QUICK);
        AddTestCase(new LossyIncastTest, TestCase::Duration::QUICK);
        AddTestCase(new ShareTest, TestCase::Duration::QUICK);
        AddTestCase(new HeaderTest, TestCase::Duration::QUICK);
        AddTestCase(new DctcpTest, TestCase::Duration::QUICK);
        AddTestCase(new FloodTest, TestCase::Duration::QUICK);
        AddTestCase(new ClassTest, TestCase::Duration::QUICK);
        AddTestCase(new DropTest, TestCase::Duration::QUICK);
        AddTestCase(new LinkTest, TestCase::Duration::QUICK);
        AddTestCase(new HostRoleTest, TestCase::Duration::QUICK);
    }
};

static FabricNetDeviceTestSuite g_fabricNetDeviceTestSuite; //!< registers the suite

} // namespace tests
} // namespace fabricdevice
} // namespace ns3
