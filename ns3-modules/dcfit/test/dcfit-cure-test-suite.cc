/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-test-network.h"

#include "ns3/dcfit-breaker.h"
#include "ns3/double.h"
#include "ns3/lossless-fabric.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <set>

/**
 * @file
 * @ingroup dcfit-tests
 * Cures: which frames they touch, that each opens the loop and that its loss is intended, and what
 * becomes of the initial trigger.
 */

namespace ns3
{
namespace dcfit
{
namespace tests
{

using lossless::Frame;
using lossless::FramePool;

/// @ingroup dcfit-tests
/// @brief A breaker that breaks on demand.
class HandBreaker : public Breaker
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::dcfit::tests::HandBreaker")
                                .SetParent<Breaker>()
                                .SetGroupName("tests")
                                .AddConstructor<HandBreaker>();
        return tid;
    }

    using Breaker::Break;
};

NS_OBJECT_ENSURE_REGISTERED(HandBreaker);

/// @ingroup dcfit-tests
/// @brief Frame by frame: what a cure takes out of a queue.
class ChoiceTest : public TestCase
{
  public:
    ChoiceTest()
        : TestCase("share, bytes and order choose the frames of the loop's ingress, and no others; "
                   "it goes on until the upstream may be resumed")
    {
    }

  private:
    static constexpr uint8_t CLS = 3;       //!< of all frames
    static constexpr uint16_t FRAME = 1000; //!< bytes of each

    /// Twenty frames of ingress 0 and ten of ingress 1 wait for port 2; break it.
    /// @param order of the cure. @param share of the cure. @param bytes of the cure. @param xon at
    /// which ingress 0 resumes (B) @param cure Drop, or Reroute by port 1. @return which of the
    /// frames of ingress 0 are left, by age.
    std::set<uint32_t> Left(const std::string& order,
                            double share,
                            uint32_t bytes,
                            int64_t xon,
                            const std::string& cure = "Drop")
    {
        lossless::UsePicoseconds();
        auto fabric = CreateObject<lossless::Fabric>();
        const std::string buffer = "ns3::lossless::SharedBuffer";
        fabric->SetAttribute(buffer, "Threshold", "Static");
        fabric->SetAttribute(buffer, "Xoff", "15000");
        fabric->SetAttribute(buffer, "Xon", std::to_string(xon));
        fabric->AddFlowControl("ns3::pfc::Pfc"); // demands the headroom that is filled here
        const std::string breaker = "ns3::dcfit::tests::HandBreaker";
        fabric->SetAttribute(breaker, "Cure", cure);
        fabric->SetAttribute(breaker, "CureOrder", order);
        fabric->SetAttribute(breaker, "CureShare", std::to_string(share));
        fabric->SetAttribute(breaker, "CureBytes", std::to_string(bytes));
        fabric->AddAgent(breaker);
        for (uint32_t i = 0; i < 4; ++i)
        {
            fabric->AddSwitch(std::string("s").append(std::to_string(i)));
        }
        const uint32_t host =
            fabric->AddHost("h", fabric->Make<lossless::FabricNode>("ns3::rdma::Host"));
        for (const auto& [a, b] :
             {std::pair<uint32_t, uint32_t>{0, 1}, {0, 2}, {0, 3}, {2, 3}, {2, host}})
        {
            fabric->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1));
        }
        fabric->Build();
        lossless::FabricNode& node = fabric->GetNode(0);
        const bool rerouted = cure == "Reroute";
        node.GetPort(2).Block(CLS);
        uint32_t made[2] = {0, 0};
        for (uint32_t i = 0; i < 30; ++i)
        {
            Frame* frame = FramePool::Take();
            const uint16_t ingress = i % 3 == 2;
            frame->cls = CLS;
            frame->bytes = FRAME;
            frame->ingress = ingress;
            frame->egress = 2;
            frame->dst = host;
            frame->psn = made[ingress]++;
            node.Charge(frame, node.GetPort(ingress), 2);
            node.GetPort(2).Enqueue(frame);
        }
        NS_TEST_EXPECT_MSG_EQ(node.GetBuffer().GetUsage(0, CLS).off,
                              true,
                              "too much for ingress 0");
        dynamic_cast<HandBreaker&>(*node.GetAgents().front())
            .Break(node.GetPort(2), node.GetPort(0), CLS);
        std::set<uint32_t> left;
        uint32_t others = 0;
        uint32_t last = 0;
        node.GetPort(2).GetQueues()[CLS].ForEach([&](const Frame& frame) {
            if (frame.ingress == 1)
            {
                ++others;
                return;
            }
            NS_TEST_EXPECT_MSG_EQ((left.empty() || frame.psn > last), true, "in their order");
            last = frame.psn;
            left.insert(frame.psn);
        });
        NS_TEST_EXPECT_MSG_EQ(others, 10, "frames of other ports stay");
        NS_TEST_EXPECT_MSG_EQ(node.GetBuffer().GetUsage(0, CLS).Total(),
                              static_cast<int64_t>(rerouted ? 20 : left.size()) * FRAME,
                              "the bytes of the others are released, or will be");
        NS_TEST_EXPECT_MSG_EQ(node.GetFeeds()->GetBytes(2, 0, CLS),
                              left.size() * FRAME,
                              "and gone from the map");
        const auto& counters = node.GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.droppedLossless, 0, "the loss is intended");
        NS_TEST_EXPECT_MSG_EQ(counters.onPurposeBytes,
                              (rerouted ? 0 : 20 - left.size()) * FRAME,
                              "and counted");
        NS_TEST_EXPECT_MSG_EQ(node.GetFeeds()->GetBytes(1, 0, CLS),
                              (rerouted ? 20 - left.size() : 0) * FRAME,
                              "or sent another way");
        Simulator::Destroy();
        fabric->Dispose();
        return left;
    }

    /// Numbers from one to another. @param from first. @param to one beyond the last. @return them.
    static std::set<uint32_t> Range(uint32_t from, uint32_t to)
    {
        std::set<uint32_t> range;
        for (uint32_t i = from; i < to; ++i)
        {
            range.insert(i);
        }
        return range;
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ((Left("Newest", 0.5, 0, 14'000) == Range(0, 10)), true, "the half");
        NS_TEST_ASSERT_MSG_EQ((Left("Oldest", 0.5, 0, 14'000) == Range(10, 20)), true, "the half");
        NS_TEST_ASSERT_MSG_EQ((Left("Oldest", 0.33, 0, 15'000) == Range(7, 20)),
                              true,
                              "6.6 frames are 7");
        NS_TEST_ASSERT_MSG_EQ((Left("Newest", 0.5, 12'500, 14'000) == Range(0, 7)),
                              true,
                              "12.5 frames are 13");
        // Below 5,000 B in the shared part it may resume; a step is 20 / 16 frames, that is 2.
        NS_TEST_ASSERT_MSG_EQ((Left("Newest", 0.5, 0, 5'000) == Range(0, 4)),
                              true,
                              "on until the upstream is resumed");
        NS_TEST_ASSERT_MSG_EQ((Left("Newest", 0, 0, 15'000) == Range(0, 14)),
                              true,
                              "nothing asked for: no more than needed");
        NS_TEST_ASSERT_MSG_EQ(Left("Newest", 1, 0, 5'000).size(), 0, "all");
        // The same where they are sent another way, though they stay in the buffer until then.
        NS_TEST_ASSERT_MSG_EQ((Left("Newest", 0.5, 0, 14'000, "Reroute") == Range(0, 10)),
                              true,
                              "the half is rerouted");
        NS_TEST_ASSERT_MSG_EQ((Left("Oldest", 0.5, 12'500, 14'000, "Reroute") == Range(13, 20)),
                              true,
                              "13 frames are rerouted");
        NS_TEST_ASSERT_MSG_EQ((Left("Newest", 0.5, 0, 5'000, "Reroute") == Range(0, 4)),
                              true,
                              "on until the upstream will be resumed");
    }
};

/// @ingroup dcfit-tests
/// @brief Each cure opens the loop of a ring.
class OpenTest : public TestCase
{
  public:
    OpenTest()
        : TestCase("a ring that deadlocks goes on with each cure, and its loss fails no run")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t UNTIL = 20'000'000'000;
        for (const std::string cure : {"None", "Drop", "Reroute", "Lossy"})
        {
            Network net;
            net.Agent();
            net.Set("dcfit::Dcfit", "Cure", cure);
            net.Set("lossless::SharedBuffer", "LossyPool", "2000000");
            net.Nodes(4, 5); // and a hub, so that there is a way out
            for (uint32_t i = 0; i < 4; ++i)
            {
                net.Link(i, 4 + i);
                net.Link(4 + i, 4 + (i + 1) % 4);
                net.Link(4 + i, 8);
            }
            net.RingFlows(4, 2, 3'100'000);
            NS_TEST_ASSERT_MSG_EQ(net.Run(UNTIL), "", "a proper run with " << cure);
            NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 1, "a deadlock");
            NS_TEST_ASSERT_MSG_GT(net.Number("dcfit_detections"), 0, "it is found");
            NS_TEST_ASSERT_MSG_EQ(net.Number("dropped_lossless_frames"), 0, "intended losses only");
            const bool none = cure == "None";
            NS_TEST_ASSERT_MSG_EQ((net.Number("last_delivery_ps") > UNTIL / 2),
                                  !none,
                                  "with " << cure << " it " << (none ? "stands still" : "goes on"));
            NS_TEST_ASSERT_MSG_EQ((net.Number("cure_loops_broken") > 0), !none, "loops broken");
            NS_TEST_ASSERT_MSG_EQ((net.Number("cure_frames_dropped") > 0),
                                  (cure == "Drop"),
                                  "frames dropped with " << cure);
            NS_TEST_ASSERT_MSG_EQ((net.Number("cure_frames_rerouted") > 0),
                                  (cure == "Reroute"),
                                  "frames rerouted with " << cure);
            NS_TEST_ASSERT_MSG_EQ((net.Number("cure_frames_moved") > 0),
                                  (cure == "Lossy"),
                                  "frames moved with " << cure);
            NS_TEST_ASSERT_MSG_EQ(
                (net.Number("dropped_scheme_frames") >= net.Number("cure_frames_dropped")),
                true,
                "all of it accounted for");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief A loop of more switches than a notice has hops.
class LongLoopTest : public TestCase
{
  public:
    LongLoopTest()
        : TestCase(
              "a loop of twenty switches is broken even if its trigger has to be notified, too")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* handle : {"false", "true"})
        {
            constexpr uint32_t N = 20;
            Network net;
            net.Agent();
            net.Set("dcfit::Dcfit", "Cure", "Drop");
            net.Set("dcfit::Dcfit", "HandleTrigger", handle);
            net.Ring(N);
            net.RingFlows(N, 2, 0);
            NS_TEST_ASSERT_MSG_EQ(net.Run(6'000'000'000), "", "a proper run");
            NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 1, "a deadlock");
            NS_TEST_ASSERT_MSG_EQ(net.Number("deadlock_cycle_queues"), N, "all around");
            NS_TEST_ASSERT_MSG_GT(net.Number("dcfit_detections"), 0, "it is found");
            NS_TEST_ASSERT_MSG_GT(net.Number("cure_loops_broken"), 0, "and broken");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief The initial trigger outside a ring is found and treated, so that the deadlock does not
/// recur.
class HandlingTest : public TestCase
{
  public:
    HandlingTest()
        : TestCase("the trigger off the loop, a heavy flow or a server, is notified and treated; "
                   "the deadlock does not come back")
    {
    }

  private:
    /// The ring of dcfit-detector's OffLoopTest.
    /// @param net where to. @param slow rate of the host outside the ring (bit/s), if its link is
    /// the slow one. @return what Check and Finish say.
    static std::string Run(Network& net, uint64_t slow)
    {
        constexpr uint64_t CAP = 2'000'000'000;
        net.Nodes(5, 5);
        for (uint32_t i = 0; i < 4; ++i)
        {
            net.Link(i, 5 + i);
            net.Link(5 + i, 5 + (i + 1) % 4);
        }
        net.Link(5, 9);
        net.Link(9, 4, slow);
        net.Flow({0, 5, 6, 7, 8, 3}, 0, 0, -1, CAP);
        net.Flow({1, 6, 7, 8, 5, 9, 4}, 0, 0, -1, CAP);
        net.Flow({2, 7, 8, 5, 6, 1}, 0, 0, -1, CAP);
        net.Flow({3, 8, 5, 6, 7, 2}, 0, 0, -1, CAP);
        if (slow == 10'000'000'000)
        {
            for (int64_t at = 50; at < 40'000; at += 50) // it takes a tenth of the time
            {
                net.sim.AddPauseStorm(4, 3, at * 1'000'000, (at + 45) * 1'000'000);
            }
        }
        return net.Run(40'000'000'000);
    }

    void DoRun() override
    {
        for (const uint64_t slow : {1'000'000'000ULL, 10'000'000'000ULL})
        {
            double broken[2];
            double delivered[2];
            for (const bool handle : {false, true})
            {
                Network net;
                net.Agent();
                net.Set("dcfit::Dcfit", "Cure", "Drop");
                net.Set("dcfit::Dcfit", "HandleTrigger", handle ? "true" : "false");
                net.Set("dcfit::Dcfit", "LimitRate", "500Mbps");
                NS_TEST_ASSERT_MSG_EQ(Run(net, slow), "", "a proper run");
                NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 1, "a deadlock");
                NS_TEST_ASSERT_MSG_EQ((net.Number("dcfit_triggers_handled") > 0),
                                      handle,
                                      "the trigger is notified if it has to be");
                broken[handle] = net.Number("cure_loops_broken");
                delivered[handle] = net.Number("delivered_bytes");
            }
            NS_TEST_ASSERT_MSG_GT(broken[0], 2, "it comes back");
            NS_TEST_ASSERT_MSG_LT(broken[1], broken[0] / 2, "not once the trigger is treated");
            NS_TEST_ASSERT_MSG_GT(delivered[1], 1.2 * delivered[0], "and more is delivered");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief The suite.
class CureTestSuite : public TestSuite
{
  public:
    CureTestSuite()
        : TestSuite("dcfit-cure", Type::UNIT)
    {
        AddTestCase(new ChoiceTest, Duration::QUICK);
        AddTestCase(new OpenTest, Duration::QUICK);
        AddTestCase(new LongLoopTest, Duration::QUICK);
        AddTestCase(new HandlingTest, Duration::QUICK);
    }
};

static CureTestSuite g_cureTestSuite; //!< registers the suite

} // namespace tests
} // namespace dcfit
} // namespace ns3
