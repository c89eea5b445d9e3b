/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-test-network.h"

#include "ns3/test.h"

#include <string>

/**
 * @file
 * @ingroup dcfit-tests
 * What DCFIT is compared with: the times of the PFC watchdog against arithmetic, and the central
 * controller on rings.
 */

namespace ns3
{
namespace dcfit
{
namespace tests
{

constexpr int64_t US = 1'000'000; //!< ps

/// @ingroup dcfit-tests
/// @brief One flow to a host that pauses from a time to another: when the watchdog acts and stops.
class WatchdogTest : public TestCase
{
  public:
    WatchdogTest()
        : TestCase("the watchdog acts and restores at the computed polls")
    {
    }

  private:
    static constexpr int64_t POLL = 100 * US;        //!< attribute
    static constexpr int64_t DETECTION = 300 * US;   //!< attribute
    static constexpr int64_t RESTORATION = 200 * US; //!< attribute

    /// A number of the summary at a time, with what happens then.
    /// @param net the run. @param time ps. @param name of it. @return value.
    static double At(Network& net, int64_t time, const std::string& name)
    {
        net.sim.Run(time + 1);
        return net.Number(name);
    }

    /// Set up a flow from host 0 to host 1 through switch 2, and a pause.
    /// @param net where to. @param action of the watchdog. @param begin of the pause (ps)
    /// @param end of it (ps).
    static void Set(Network& net, const std::string& action, int64_t begin, int64_t end)
    {
        net.Agent("PfcWatchdog");
        net.Set("pfc::PfcWatchdog", "Poll", "100us");
        net.Set("pfc::PfcWatchdog", "Detection", "300us");
        net.Set("pfc::PfcWatchdog", "Restoration", "200us");
        net.Set("pfc::PfcWatchdog", "Action", action);
        net.Nodes(2, 1);
        net.Link(0, 2);
        net.Link(1, 2);
        net.Flow({0, 2, 1});
        net.sim.AddPauseStorm(1, 3, begin, end);
        net.sim.Build();
    }

    /// The next poll at or after a time. @param time ps. @return ps.
    static int64_t PollAfter(int64_t time)
    {
        return (time + POLL - 1) / POLL * POLL;
    }

    void DoRun() override
    {
        for (const std::string action : {"Drop", "Forward", "Alert"})
        {
            for (const int64_t begin : {110 * US, 130 * US, 150 * US, 170 * US})
            {
                const int64_t end = begin + 1000 * US;
                Network net;
                Set(net, action, begin, end);
                // The pause is obeyed 1 us and a control frame later, and the frame that was being
                // sent goes; full intervals from the next poll on count.
                const int64_t acts = PollAfter(begin + 3 * US) + DETECTION;
                NS_TEST_ASSERT_MSG_EQ(At(net, acts - 1, "watchdog_storms"), 0, "not before");
                const double before = net.Number("delivered_bytes");
                NS_TEST_ASSERT_MSG_EQ(At(net, acts, "watchdog_storms"), 1, "at its poll");
                NS_TEST_ASSERT_MSG_EQ(net.Number("watchdog_first_storm_ps"), acts, "that is it");
                NS_TEST_ASSERT_MSG_EQ((net.Number("watchdog_frames_dropped") > 0),
                                      (action == "Drop"),
                                      "what waits is dropped, or not");
                // From the end on, an interval is calm; the one in which it ends is too.
                const int64_t restores = PollAfter(end + 3 * US) + RESTORATION - POLL;
                NS_TEST_ASSERT_MSG_EQ((At(net, end, "delivered_bytes") > before),
                                      (action == "Forward"),
                                      "frames go in spite of the pause, or not");
                NS_TEST_ASSERT_MSG_EQ(At(net, restores - 1, "watchdog_restored"), 0, "not before");
                NS_TEST_ASSERT_MSG_EQ(At(net, restores, "watchdog_restored"), 1, "at its poll");
                NS_TEST_ASSERT_MSG_EQ(At(net, 20'000 * US, "watchdog_storms"), 1, "no other");
                NS_TEST_ASSERT_MSG_GT(net.Number("last_delivery_ps"), 19'000e6, "and it goes on");
                NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "an intended loss fails no run");
            }
        }

        // A storm of pauses that leave time to send now and then is none.
        Network net;
        Set(net, "Drop", 5000 * US, 5001 * US);
        NS_TEST_ASSERT_MSG_EQ(At(net, 8000 * US, "watchdog_storms"), 0, "too short");
    }
};

/// @ingroup dcfit-tests
/// @brief SONiC's own times: 200 to 400 ms from the beginning of a storm.
class SonicTest : public TestCase
{
  public:
    SonicTest()
        : TestCase("with SONiC's times a storm is met 200 to 400 ms after its beginning")
    {
    }

  private:
    void DoRun() override
    {
        for (const int64_t ms : {5, 100, 195})
        {
            Network net;
            net.Agent("PfcWatchdog");
            net.Nodes(2, 1);
            net.Link(0, 2);
            net.Link(1, 2);
            net.Flow({0, 2, 1}, 0, 0, -1, 10'000'000);
            net.sim.AddPauseStorm(1, 3, ms * 1000 * US, -1);
            NS_TEST_ASSERT_MSG_EQ(net.Run(700'000 * US), "", "a proper run");
            NS_TEST_ASSERT_MSG_EQ(net.Number("watchdog_first_storm_ps"),
                                  400'000.0 * US,
                                  "at the poll after the first whole interval");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief A central controller on a ring.
class ControllerTest : public TestCase
{
  public:
    ControllerTest()
        : TestCase(
              "the controller finds the deadlock of a ring at its second poll after it, breaks "
              "it, and leaves congestion alone")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool cures : {false, true})
        {
            Network net;
            net.Agent("DeadlockController");
            net.Set("dcfit::DeadlockController", "Period", "1ms");
            net.Set("dcfit::DeadlockController", "Delay", "100us");
            net.Set("dcfit::DeadlockController", "Spacing", "1us");
            net.Set("dcfit::DeadlockController", "Cure", cures ? "Drop" : "None");
            net.Ring(4);
            net.RingFlows(4, 2, 3'100'000);
            NS_TEST_ASSERT_MSG_EQ(net.Run(20'000 * US), "", "a proper run");
            const double formed = net.Number("deadlock_formed_ps");
            NS_TEST_ASSERT_MSG_GT(formed, 0, "a deadlock");
            // Polls begin at 1 ms, 2 ms..; the answer of switch i is of 100 + i us later. The first
            // look after the formation shows what waits, the second that nothing was sent; the
            // answers of the last switch take another 100 us.
            const double read = 100.0 * US;
            double poll = 1000.0 * US;
            while (poll + read < formed)
            {
                poll += 1000.0 * US;
            }
            NS_TEST_ASSERT_MSG_EQ(net.Number("controller_first_detection_ps"),
                                  poll + 1000.0 * US + read + 3 * US + read,
                                  "two polls after it");
            NS_TEST_ASSERT_MSG_EQ((net.Number("last_delivery_ps") > 15'000e6), cures, "it goes on");
            NS_TEST_ASSERT_MSG_EQ((net.Number("cure_frames_dropped") > 0), cures, "for a loss");
            if (!cures)
            {
                // 4 switches with 3 ports: a question of 64 B each, 32 B a port and class
                const double polls = net.Number("controller_polls");
                NS_TEST_ASSERT_MSG_EQ(net.Number("controller_message_bytes"),
                                      polls * 4 * (64 + 3 * 32),
                                      "its messages");
                NS_TEST_ASSERT_MSG_GT(polls, 5, "one a period and what it leads to");
            }
        }

        Network quiet;
        quiet.Agent("DeadlockController");
        quiet.Set("dcfit::DeadlockController", "Period", "300us");
        quiet.Ring(4);
        quiet.RingFlows(4, 1, 0);
        quiet.Flow({3, 7, 4, 5, 1});
        NS_TEST_ASSERT_MSG_EQ(quiet.Run(5'000 * US), "", "a proper run");
        NS_TEST_ASSERT_MSG_GT(quiet.Number("pauses_sent"), 0, "congestion");
        NS_TEST_ASSERT_MSG_EQ(quiet.Number("controller_detections"), 0, "no deadlock");
    }
};

/// @ingroup dcfit-tests
/// @brief The suite.
class BaselineTestSuite : public TestSuite
{
  public:
    BaselineTestSuite()
        : TestSuite("dcfit-baseline", Type::UNIT)
    {
        AddTestCase(new WatchdogTest, Duration::QUICK);
        AddTestCase(new SonicTest, Duration::QUICK);
        AddTestCase(new ControllerTest, Duration::QUICK);
    }
};

static BaselineTestSuite g_baselineTestSuite; //!< registers the suite

} // namespace tests
} // namespace dcfit
} // namespace ns3
