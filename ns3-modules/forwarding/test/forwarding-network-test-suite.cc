/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/facade-simulation.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-switch.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/test.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

/**
 * @file
 * @ingroup forwarding-tests
 * Policies, receivers and failures in a leaf-spine network.
 */

namespace ns3
{
namespace forwarding
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;

const char* const POLICIES[] = {"ns3::lossless::Ecmp",
                                "ns3::forwarding::Spray",
                                "ns3::forwarding::Flowlet",
                                "ns3::forwarding::LeastQueue"}; //!< all there are

/// A frame on a link.
struct Sent
{
    int64_t time;   //!< first bit (ps)
    uint32_t node;  //!< from
    uint32_t peer;  //!< to
    uint8_t kind;   //!< FrameKind
    uint32_t flow;  //!< number
    int64_t number; //!< of the packet

    auto operator<=>(const Sent&) const = default;
};

/// Hosts 0 .. 3 below leaf 8, 4 .. 7 below leaf 9, spines 10 .. 13, each a microsecond further
/// away.
class LeafSpine
{
  public:
    static constexpr uint32_t LEAF = 8;   //!< first leaf
    static constexpr uint32_t SPINE = 10; //!< first spine
    static constexpr uint32_t SPINES = 4; //!< how many
    static constexpr uint32_t UPLINK = 8; //!< first link between leaf and spine; leaf by leaf

    /// Choose a policy; the network comes with Nodes().
    /// @param policy TypeId name. @param seed of the run.
    explicit LeafSpine(const std::string& policy, uint64_t seed = 1)
        : sim(seed)
    {
        sim.AddFlowControl("ns3::pfc::Pfc");
        sim.SetForwarding(policy);
    }

    /// Add nodes and links.
    void Nodes()
    {
        std::vector<uint8_t> kinds(14, 1);
        std::fill_n(kinds.begin(), 8, 0);
        std::string names;
        for (std::size_t node = 0; node < kinds.size(); ++node)
        {
            names.append("n").append(std::to_string(node)).append("\n");
        }
        sim.AddNodes(kinds.data(), names, 14);
        const auto link = [this](uint32_t a, uint32_t b, int64_t delay) {
            const uint64_t rate = 10'000'000'000;
            sim.AddLinks(&a, &b, &rate, &delay, 1);
        };
        for (uint32_t host = 0; host < 8; ++host)
        {
            link(host, LEAF + host / 4, 1'000'000);
        }
        for (uint32_t leaf = 0; leaf < 2; ++leaf)
        {
            for (uint32_t spine = 0; spine < SPINES; ++spine)
            {
                link(LEAF + leaf, SPINE + spine, 1'000'000 * (1 + spine));
            }
        }
    }

    /// Add a message.
    /// @param src host. @param dst host. @param bytes size; 0: endless. @param start ps.
    /// @return flow.
    uint32_t Flow(uint32_t src, uint32_t dst, uint64_t bytes, int64_t start = 0)
    {
        const int64_t never = -1;
        const uint8_t cls = 3;
        const uint64_t none = 0;
        return sim.AddFlows(&src, &dst, &bytes, &start, &never, &cls, &none, &none, 1);
    }

    /// Build, run and finish. @param until ps. @return problems.
    std::string Run(int64_t until)
    {
        sim.Build();
        const uint32_t node = 0;
        const int64_t peer = 0;
        sim.Trace("frame", &node, &peer, 0, 0xff, 0);
        const std::string problems = sim.Check();
        if (!problems.empty())
        {
            return problems;
        }
        sim.Run(until);
        return sim.Finish();
    }

    /// A column.
    /// @tparam T type of its values. @param table name. @param column name. @return its values.
    template <class T>
    std::vector<T> Column(const std::string& table, const std::string& column) const
    {
        for (uint32_t t = 0; t < sim.GetNTables(); ++t)
        {
            for (uint32_t c = 0; sim.GetTableName(t) == table && c < sim.GetNColumns(t); ++c)
            {
                if (sim.GetColumnName(t, c) == column)
                {
                    const auto* data = reinterpret_cast<const T*>(sim.GetColumnData(t, c));
                    return {data, data + sim.GetNRows(t)};
                }
            }
        }
        return {};
    }

    /// All frames but those of MAC control.
    /// @return in the order in which they went
    std::vector<Sent> Frames() const
    {
        const auto time = Column<int64_t>("frame", "time_ps");
        const auto node = Column<uint32_t>("frame", "node");
        const auto peer = Column<uint32_t>("frame", "peer");
        const auto kind = Column<uint8_t>("frame", "kind");
        const auto flow = Column<uint32_t>("frame", "flow");
        const auto number = Column<int64_t>("frame", "psn");
        std::vector<Sent> frames;
        for (std::size_t i = 0; i < time.size(); ++i)
        {
            if (kind[i] != static_cast<uint8_t>(FrameKind::MAC))
            {
                frames.push_back({time[i], node[i], peer[i], kind[i], flow[i], number[i]});
            }
        }
        return frames;
    }

    /// How many frames of a kind of a flow each spine got from a leaf.
    /// @param leaf node. @param flow number. @param kind of the frames. @return by spine, those
    /// with any.
    std::map<uint32_t, uint32_t> Spines(uint32_t leaf, uint32_t flow, FrameKind kind) const
    {
        std::map<uint32_t, uint32_t> counts;
        for (const Sent& sent : Frames())
        {
            if (sent.node == leaf && sent.peer >= SPINE && sent.flow == flow &&
                sent.kind == static_cast<uint8_t>(kind))
            {
                ++counts[sent.peer];
            }
        }
        return counts;
    }

    facade::Simulation sim; //!< the run
};

/// ECMP that is not the plain hash of the switch: it goes the long way.
class LongEcmp : public lossless::Ecmp
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::forwarding::tests::LongEcmp")
                                .SetParent<lossless::Ecmp>()
                                .AddConstructor<LongEcmp>();
        return tid;
    }
};

NS_OBJECT_ENSURE_REGISTERED(LongEcmp);

/// A congestion control that does nothing but write down what receivers see, and a lossy wire.
class Ear : public rdma::CongestionControl
{
  public:
    /// A data frame that came.
    struct Came
    {
        int64_t time; //!< ps
        uint32_t psn; //!< packet
        bool repeat;  //!< sent before
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::forwarding::tests::Ear")
                                .SetParent<rdma::CongestionControl>()
                                .AddConstructor<Ear>();
        return tid;
    }

    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override
    {
        return std::make_unique<Half>();
    }

    /// What the receiver does.
    class Half : public rdma::CongestionReceiver
    {
      public:
        bool NotifyData(const Frame& frame) override
        {
            g_came[frame.flow].push_back({lossless::NowPs(), frame.psn, frame.repeat});
            return false;
        }
    };

    static std::map<uint32_t, std::vector<Came>> g_came; //!< by flow
};

std::map<uint32_t, std::vector<Ear::Came>> Ear::g_came;

NS_OBJECT_ENSURE_REGISTERED(Ear);

/// Loses every so-many-th data frame that goes.
class Thief : public lossless::SwitchAgent, public lossless::QueueAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::forwarding::tests::Thief")
                                .SetParent<lossless::SwitchAgent>()
                                .AddConstructor<Thief>();
        return tid;
    }

    void NotifyDequeue(lossless::Port& /* egress */, uint16_t /* queue */, Frame& frame) override
    {
        frame.lost = frame.kind == FrameKind::DATA && g_every > 0 && ++m_seen % g_every == 0;
    }

    static uint64_t g_every; //!< 0: none

  private:
    uint64_t m_seen{0}; //!< data frames
};

uint64_t Thief::g_every = 0;

NS_OBJECT_ENSURE_REGISTERED(Thief);

/// @ingroup forwarding-tests
/// @brief The hash is the same by the short and by the long way, and that of the formula.
class EcmpTest : public TestCase
{
  public:
    EcmpTest()
        : TestCase("ECMP: the formula, and the same frames whichever way the switch takes")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<Sent> frames[2];
        for (const bool plain : {true, false})
        {
            LeafSpine net(plain ? "ns3::lossless::Ecmp" : "ns3::forwarding::tests::LongEcmp");
            net.Nodes();
            for (uint32_t flow = 0; flow < 24; ++flow)
            {
                net.Flow(flow % 8, (flow * 5 + 3) % 8 == flow % 8 ? 7 : (flow * 5 + 3) % 8, 30'000);
            }
            NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", "nothing is lost");
            frames[plain] = net.Frames();
        }
        NS_TEST_ASSERT_MSG_GT(frames[0].size(), 2000, "there was traffic");
        NS_TEST_ASSERT_MSG_EQ((frames[0] == frames[1]), true, "frame by frame");

        lossless::Routes routes;
        routes.AddNode(true);
        routes.SetSalt(0, 12345);
        for (uint32_t hash = 1; hash < 3'000'000'000; hash = hash * 3 + 7)
        {
            // SplitMix64's finaliser of salt and hash; the upper bits choose
            uint64_t mixed = (uint64_t{12345} << 32 | hash) + 0x9e3779b97f4a7c15ULL;
            mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
            mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
            mixed = (mixed ^ mixed >> 31) & 0xffff'ffff;
            Frame frame;
            frame.hash = hash;
            for (const uint64_t count : {2, 3, 8})
            {
                NS_TEST_ASSERT_MSG_EQ(routes.HashTo(0, frame, count),
                                      (mixed * count >> 32),
                                      "hash " << hash);
            }
            if (hash > 1'000'000'000)
            {
                break;
            }
        }
    }
};

/// @ingroup forwarding-tests
/// @brief Every policy: shortest paths only, everything arrives, runs are repeatable.
class ConservationTest : public TestCase
{
  public:
    ConservationTest()
        : TestCase("every policy: no loops, nothing lost, each run repeatable")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string policy : POLICIES)
        {
            std::vector<Sent> before;
            for (int round = 0; round < 2; ++round)
            {
                LeafSpine net(policy);
                net.sim.SetAttribute("ns3::rdma::QueuePair", "ReorderWindow", "1000");
                net.Nodes();
                for (uint32_t src = 0; src < 4; ++src)
                {
                    net.Flow(src, 4 + src, 200'000);
                    net.Flow(4 + src, src, 200'000);
                    net.Flow(src, (src + 1) % 4, 50'000);
                    net.Flow(src, 4, 100'000, 50'000'000); // an incast, which pauses
                }
                NS_TEST_ASSERT_MSG_EQ(net.Run(3'000'000'000), "", policy << ": conserved");
                NS_TEST_ASSERT_MSG_EQ(net.sim.GetNumber("flows_unfinished"), 0, policy);
                NS_TEST_ASSERT_MSG_EQ(net.sim.GetNumber("retransmitted_bytes"), 0, policy);
                NS_TEST_ASSERT_MSG_EQ(net.sim.GetNumber("dropped_frames"), 0, policy);
                const auto frames = net.Frames();
                std::map<std::tuple<uint32_t, uint8_t, int64_t>, uint32_t> links;
                for (const Sent& sent : frames)
                {
                    if (sent.kind == static_cast<uint8_t>(FrameKind::DATA))
                    {
                        ++links[{sent.flow, sent.kind, sent.number}];
                    }
                }
                for (const auto& [packet, count] : links)
                {
                    const bool below = std::get<0>(packet) % 4 == 2; // one leaf
                    NS_TEST_ASSERT_MSG_EQ(count, (below ? 2 : 4), policy << ": the shortest way");
                }
                NS_TEST_ASSERT_MSG_EQ((round == 0 || frames == before), true, policy << ": again");
                before = frames;
            }
        }
    }
};

/// @ingroup forwarding-tests
/// @brief What has a path keeps it; answers go by the hash, unless a policy is to choose for them.
class PathTest : public TestCase
{
  public:
    PathTest()
        : TestCase("pinned flows and answers keep their paths under every policy")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string policy : POLICIES)
        {
            for (const bool answers : {false, true})
            {
                LeafSpine net(policy);
                net.sim.SetAttribute(policy, "Answers", answers ? "true" : "false");
                net.sim.SetAttribute("ns3::rdma::QueuePair", "ReorderWindow", "1000");
                if (policy == "ns3::forwarding::Flowlet")
                {
                    net.sim.SetAttribute(policy, "Gap", "0us"); // so that it sprays
                }
                net.Nodes();
                const uint32_t free = net.Flow(0, 4, 100'000);
                const uint32_t pinned = net.Flow(1, 5, 100'000);
                const uint32_t back = net.Flow(2, 6, 100'000);
                const uint32_t reverse = net.Flow(3, 7, 100'000);
                const std::vector<uint32_t> way{1, 8, 11, 9, 5};
                net.sim.SetPath(pinned, way.data(), 5);
                const std::vector<uint32_t> home{6, 9, 12, 8, 2};
                const uint32_t length = 5;
                net.sim.SetAckPaths(&back, &length, home.data(), 1);
                const uint8_t yes = 1;
                net.sim.SetAckRouting(&reverse, &yes, 1);
                NS_TEST_ASSERT_MSG_EQ(net.Run(2'000'000'000), "", policy);
                const auto data = [&](uint32_t flow) {
                    return net.Spines(8, flow, FrameKind::DATA);
                };
                const auto acks = [&](uint32_t flow) {
                    return net.Spines(9, flow, FrameKind::ACK);
                };
                const bool sprays = policy != POLICIES[0];
                NS_TEST_ASSERT_MSG_EQ(data(free).size(), (sprays ? 4 : 1), policy << " chooses");
                NS_TEST_ASSERT_MSG_EQ(data(pinned).size(), 1, policy);
                NS_TEST_ASSERT_MSG_EQ(data(pinned)[11], 100, policy << ": all on the path");
                NS_TEST_ASSERT_MSG_EQ(acks(pinned)[11], 100, policy << ": answers, too");
                NS_TEST_ASSERT_MSG_EQ(acks(back)[12], 100, policy << ": on a way of their own");
                NS_TEST_ASSERT_MSG_EQ(acks(reverse).size(), 1, policy << ": on one way");
                NS_TEST_ASSERT_MSG_EQ(acks(free).size(),
                                      (sprays && answers ? 4 : 1),
                                      policy << ": answers of a free flow");
            }
        }
    }
};

/// @ingroup forwarding-tests
/// @brief A link that fails is left when it is detected, and used again when it is back.
class FailureTest : public TestCase
{
  public:
    FailureTest()
        : TestCase("a failed link is left at once, after the detection, or with the new routes")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t DOWN = 100'000'000;
        constexpr int64_t UP = 600'000'000;
        constexpr int64_t DETECTION = 40'000'000;
        constexpr int64_t ROUTES = 200'000'000;
        for (const std::string policy : POLICIES)
        {
            for (const int64_t left : {int64_t{0}, DETECTION, ROUTES})
            {
                LeafSpine net(policy);
                net.sim.SetAllowLoss(true);
                net.sim.SetAttribute("ns3::lossless::Switch", "RouteDelay", "200us");
                if (left < ROUTES)
                {
                    net.sim.SetAttribute("ns3::lossless::Switch", "FastReroute", "true");
                    net.sim.SetAttribute("ns3::lossless::Switch",
                                         "DetectionDelay",
                                         std::to_string(left) + "ps");
                }
                net.sim.SetAttribute("ns3::rdma::QueuePair", "Retransmit", "None");
                net.Nodes();
                for (uint32_t flow = 0; flow < 40; ++flow)
                {
                    net.Flow(flow % 4, 4 + flow / 4 % 4, 0);
                }
                net.sim.FailLink(LeafSpine::UPLINK + 2, DOWN, UP); // of leaf 8 and spine 12
                NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", policy);
                const double lost = net.sim.GetNumber("dropped_link_down_frames");
                // What was in its queue and on its wire is lost in any case; of four links at full
                // rate one loses 1.2 frames a microsecond.
                const double meanwhile = static_cast<double>(left) / 1e6 * 1.2;
                NS_TEST_ASSERT_MSG_GT_OR_EQ(lost, 0.5 * meanwhile, policy << ", " << left << " ps");
                NS_TEST_ASSERT_MSG_LT(lost, 1.5 * meanwhile + 400, policy << ", " << left << " ps");
                int64_t last = 0;
                bool again = false;
                for (const Sent& sent : net.Frames())
                {
                    const bool there = sent.node == 8 && sent.peer == 12;
                    NS_TEST_ASSERT_MSG_EQ((there && sent.time > DOWN && sent.time < UP),
                                          false,
                                          policy << ": nothing goes while it is down");
                    again = again || (there && sent.time > UP + ROUTES);
                    last = sent.time;
                }
                // Flows without gaps have no reason to leave the link that they are on.
                const bool returns = policy != "ns3::forwarding::Flowlet";
                NS_TEST_ASSERT_MSG_EQ(again, returns, policy << ": and it is used again");
                NS_TEST_ASSERT_MSG_GT(last, UP + ROUTES, "the flows went on");
            }
        }
    }
};

/// @ingroup forwarding-tests
/// @brief A link that came back within the detection delay, and failed again, is left when its last
/// failure has been there for so long.
class FlapTest : public TestCase
{
  public:
    FlapTest()
        : TestCase("a link that flaps is left once it has been down for the detection delay")
    {
    }

  private:
    void DoRun() override
    {
        LeafSpine net("ns3::forwarding::Spray");
        net.sim.SetAllowLoss(true);
        net.sim.SetAttribute("ns3::lossless::Switch", "RouteDelay", "10ms");
        net.sim.SetAttribute("ns3::lossless::Switch", "FastReroute", "true");
        net.sim.SetAttribute("ns3::lossless::Switch", "DetectionDelay", "50us");
        net.sim.SetAttribute("ns3::rdma::QueuePair", "Retransmit", "None");
        net.Nodes();
        net.Flow(0, 4, 0);
        net.sim.FailLink(LeafSpine::UPLINK, 100'000'000, 120'000'000);
        net.sim.FailLink(LeafSpine::UPLINK, 140'000'000, 400'000'000);
        net.sim.Build();
        std::vector<double> lost;
        for (const int64_t until : {100, 120, 140, 150, 190, 400, 500})
        {
            net.sim.Run(until * 1'000'000);
            lost.push_back(net.sim.GetNumber("dropped_link_down_frames"));
        }
        net.sim.Finish();
        NS_TEST_ASSERT_MSG_EQ(lost[0], 0, "before");
        NS_TEST_ASSERT_MSG_GT(lost[1], lost[0], "the first failure");
        // on its wires of 1 us there may be a frame each
        NS_TEST_ASSERT_MSG_LT_OR_EQ(lost[2], lost[1] + 3, "up again");
        NS_TEST_ASSERT_MSG_GT(lost[4], lost[3], "the detection of the first does not count");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(lost[5], lost[4] + 3, "left");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(lost[6], lost[5] + 3, "used again");
    }
};

/// @ingroup forwarding-tests
/// @brief Receivers against one that keeps sets, and reordering against a search through all
/// frames.
class ReceiverTest : public TestCase
{
  public:
    ReceiverTest()
        : TestCase(
              "receivers: what is kept, acknowledged, counted as overtaken, and when all is there")
    {
    }

  private:
    /// Compare one flow.
    /// @param net that was run. @param flow number. @param packets of its message. @param window
    /// ReorderWindow. @param retransmit Retransmit. @param what for messages.
    void Compare(const LeafSpine& net,
                 uint32_t flow,
                 uint32_t packets,
                 uint32_t window,
                 const std::string& retransmit,
                 const std::string& what)
    {
        const bool keepsAll = retransmit != "GoBackN";
        int64_t reordered = 0;
        int64_t distance = 0;
        int64_t highest = -1;
        int64_t finish = -1;
        uint32_t expected = 0;
        std::set<uint32_t> kept;
        for (const Ear::Came& came : Ear::g_came[flow])
        {
            if (!came.repeat)
            {
                reordered += came.psn < highest;
                distance = std::max(distance, highest - int64_t{came.psn});
                highest = std::max(highest, int64_t{came.psn});
            }
            if (came.psn == expected || keepsAll || came.psn < uint64_t{expected} + window)
            {
                kept.insert(came.psn);
            }
            while (kept.contains(expected))
            {
                ++expected;
            }
            if (expected == packets && finish < 0)
            {
                finish = came.time;
            }
        }
        const auto column = [&](const char* name) {
            return net.Column<int64_t>("flow", name)[flow];
        };
        NS_TEST_ASSERT_MSG_EQ(column("reordered"), reordered, what);
        NS_TEST_ASSERT_MSG_EQ(column("reorder_distance"), distance, what);
        NS_TEST_ASSERT_MSG_EQ(column("finish_ps"), finish, what << ": complete");
        // without loss recovery each packet is sent once, and all that come count
        const auto came = static_cast<int64_t>(Ear::g_came[flow].size());
        const int64_t delivered = retransmit == "None" ? came : int64_t{expected};
        NS_TEST_ASSERT_MSG_EQ(column("delivered_bytes"), delivered * 1000, what);
        m_reordered += static_cast<uint64_t>(reordered);
        m_distance = std::max(m_distance, distance);
    }

    void DoRun() override
    {
        const std::vector<uint32_t> sizes{1, 2, 37, 300};
        for (const std::string retransmit : {"None", "GoBackN", "Selective"})
        {
            for (const uint32_t window : {0U, 1U, 8U, 1000U})
            {
                for (const uint32_t ackEvery : {1U, 4U})
                {
                    for (const uint64_t every : {0U, 97U})
                    {
                        const std::string what = retransmit + ", window " + std::to_string(window) +
                                                 ", ACK every " + std::to_string(ackEvery) +
                                                 ", lost every " + std::to_string(every);
                        Ear::g_came.clear();
                        Thief::g_every = every;
                        LeafSpine net("ns3::forwarding::Spray");
                        const auto set = [&](const char* name, const std::string& value) {
                            net.sim.SetAttribute("ns3::rdma::QueuePair", name, value);
                        };
                        set("Retransmit", retransmit);
                        set("ReorderWindow", std::to_string(window));
                        set("AckEvery", std::to_string(ackEvery));
                        set("Timeout", "300us");
                        net.sim.SetAllowLoss(true);
                        net.sim.AddAgent("ns3::forwarding::tests::Thief");
                        net.sim.SetCongestionControl("ns3::forwarding::tests::Ear");
                        net.Nodes();
                        for (uint32_t host = 0; host < sizes.size(); ++host)
                        {
                            net.Flow(host, 4 + host, sizes[host] * 1000);
                        }
                        NS_TEST_ASSERT_MSG_EQ(net.Run(40'000'000'000), "", what);
                        m_distance = 0;
                        for (uint32_t flow = 0; flow < sizes.size(); ++flow)
                        {
                            Compare(net,
                                    flow,
                                    sizes[flow],
                                    window,
                                    retransmit,
                                    what + ", flow " + std::to_string(flow));
                        }
                        NS_TEST_ASSERT_MSG_EQ(net.sim.GetNumber("reorder_distance"),
                                              m_distance,
                                              what);
                        if (retransmit != "None" || every == 0)
                        {
                            NS_TEST_ASSERT_MSG_EQ(net.sim.GetNumber("flows_unfinished"), 0, what);
                        }
                        if (window > m_distance && every == 0)
                        {
                            for (const char* none :
                                 {"retransmitted_bytes", "nacks", "timeouts", "flows_unfinished"})
                            {
                                NS_TEST_ASSERT_MSG_EQ(net.sim.GetNumber(none), 0, what << none);
                            }
                        }
                    }
                }
            }
        }
        Thief::g_every = 0;
        NS_TEST_ASSERT_MSG_GT(m_reordered, 1000, "much was overtaken");
    }

    uint64_t m_reordered{0}; //!< of all flows and runs
    int64_t m_distance{0};   //!< largest of a run
};

/// @ingroup forwarding-tests
/// @brief Which buffers depend on which: all ways count where flows take all of them.
class CycleTest : public TestCase
{
  public:
    CycleTest()
        : TestCase("cyclic buffer dependencies are those of all paths that frames may take")
    {
    }

  private:
    /// Flows around a ring of four switches, each to the one opposite: two ways for each.
    /// @param policy TypeId name. @param seed of the run. @param pinned all on the same way, which
    /// closes no cycle. @return length of the cycle; 0: none.
    static double Cycle(const std::string& policy, uint64_t seed, bool pinned)
    {
        facade::Simulation sim(seed);
        sim.AddFlowControl("ns3::pfc::Pfc");
        sim.SetForwarding(policy);
        const std::vector<uint8_t> kinds{0, 0, 0, 0, 1, 1, 1, 1};
        sim.AddNodes(kinds.data(), "a\nb\nc\nd\ns\nt\nu\nv\n", 8);
        const uint64_t rate = 10'000'000'000;
        const int64_t delay = 1'000'000;
        for (uint32_t i = 0; i < 4; ++i)
        {
            const uint32_t here = 4 + i;
            const uint32_t next = 4 + (i + 1) % 4;
            sim.AddLinks(&i, &here, &rate, &delay, 1);
            sim.AddLinks(&here, &next, &rate, &delay, 1);
        }
        for (uint32_t src = 0; src < 4; ++src)
        {
            const uint32_t flow = sim.AddFlow(src, (src + 2) % 4, 3);
            const uint32_t middle = src % 2 == 0 ? 5 : 6; // by t or by u: no circle
            const std::vector<uint32_t> way{src, 4 + src, middle, 4 + (src + 2) % 4, (src + 2) % 4};
            if (pinned)
            {
                sim.SetPath(flow, way.data(), 5);
            }
        }
        sim.Build();
        sim.Check();
        const double cycle = sim.GetNumber("flow_cycle_egresses");
        sim.Finish();
        return cycle;
    }

    void DoRun() override
    {
        uint32_t hashed = 0;
        for (uint64_t seed = 1; seed <= 8; ++seed)
        {
            hashed += Cycle("ns3::lossless::Ecmp", seed, false) > 0;
            NS_TEST_ASSERT_MSG_EQ(Cycle("ns3::forwarding::Spray", seed, false),
                                  4,
                                  "both ways round");
            NS_TEST_ASSERT_MSG_EQ(Cycle("ns3::forwarding::Spray", seed, true), 0, "as pinned");
        }
        NS_TEST_ASSERT_MSG_LT(hashed, 8, "a hash closes it only sometimes");
    }
};

/// @ingroup forwarding-tests
/// @brief Tests of policies in a network.
class NetworkTestSuite : public TestSuite
{
  public:
    NetworkTestSuite()
        : TestSuite("forwarding-network", Type::SYSTEM)
    {
        AddTestCase(new EcmpTest, TestCase::Duration::QUICK);
        AddTestCase(new ConservationTest, TestCase::Duration::QUICK);
        AddTestCase(new PathTest, TestCase::Duration::QUICK);
        AddTestCase(new FailureTest, TestCase::Duration::QUICK);
        AddTestCase(new FlapTest, TestCase::Duration::QUICK);
        AddTestCase(new ReceiverTest, TestCase::Duration::QUICK);
        AddTestCase(new CycleTest, TestCase::Duration::QUICK);
    }
};

static NetworkTestSuite g_networkTestSuite; //!< registers the suite

} // namespace tests
} // namespace forwarding
} // namespace ns3
