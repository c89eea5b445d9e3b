/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-test-host.h"

#include "ns3/data-rate.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/rdma-window-control.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

/**
 * @file
 * @ingroup rdma-tests
 * WindowControl: against bandwidth times delay.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

/// @ingroup rdma-tests
/// @brief A control whose window is set by hand.
class HandControl : public WindowControl
{
  public:
    using WindowControl::SetWindow;
};

/// @ingroup rdma-tests
/// @brief A sender that has nothing but a host.
class IdleSender : public Sender
{
  public:
    /// Constructor. @param connection of it. @param host that sends.
    IdleSender(const Connection& connection, TestHost& host)
        : Sender(connection)
    {
        m_host = &host;
    }

    void Reconsider() override
    {
    }

    int64_t HoldUntil(int64_t /* until */) override
    {
        return 0;
    }

    bool IsDone() const override
    {
        return false;
    }
};

/// @ingroup rdma-tests
/// @brief A window is set, and its path changes.
class WindowBoundsTest : public TestCase
{
  public:
    WindowBoundsTest()
        : TestCase(
              "W is from MinRate T to the line's rate T, room is made for one packet, the pace "
              "is W over T, and stays so on another path")
    {
    }

  private:
    /// What the NIC is told of a pace. @param control told it. @param rate bit/s.
    /// @param rtt ps. @param payload of a packet (B).
    void Expect(const HandControl& control, long double rate, long double rtt, uint32_t payload)
    {
        const long double bytes = rate * rtt / 8e12L;
        NS_TEST_ASSERT_MSG_EQ_TOL(control.GetRate(), rate, 1 + rate * 1e-12L, "pace");
        NS_TEST_ASSERT_MSG_EQ_TOL(control.GetWindow(),
                                  std::ceil(bytes) + payload - 1,
                                  1,
                                  "less than W is in flight when a packet starts");
    }

    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937_64 random(8);
        for (int round = 0; round < 200; ++round)
        {
            const uint64_t line = 1'000'000'000 * (1 + random() % 400);
            const uint64_t least = 1'000'000'000 * (1 + random() % 20);
            const int64_t path = 1'000'000 + random() % 100'000'000;
            const int64_t given = random() % 3 ? 0 : 1'000'000 + random() % 100'000'000;
            const int64_t rtt = given ? given : path;
            const auto host = CreateObject<TestHost>();
            const auto peer = CreateObject<TestHost>();
            host->Join(line, *peer);
            const auto pair = CreateObject<QueuePair>();
            pair->Connect(0, PeekPointer(host), PeekPointer(peer), {1'000'000}, nullptr, false);
            pair->SetPath(random() % 4 ? path : 0, 1);
            const bool late = pair->GetBaseRtt().IsZero() && !given; // no path yet
            const uint32_t payload = pair->GetPayloadSize();
            const auto control = CreateObject<HandControl>();
            control->SetAttribute("MinRate", DataRateValue(DataRate(least)));
            control->SetAttribute("BaseRtt", TimeValue(TimeStep(given)));
            IdleSender sender(*pair, *host);
            control->Start(sender, line);
            if (late)
            {
                pair->SetPath(path, 1);
                control->NotifyPath();
            }
            const long double lowest = std::min(line, least);
            Expect(*control, line, rtt, payload);

            const long double wanted = line * (random() % 1200 / 1000.0L);
            control->SetWindow(static_cast<double>(wanted * rtt / 8e12L));
            const long double rate = std::clamp(wanted, lowest, static_cast<long double>(line));
            Expect(*control, rate, rtt, payload);

            const uint64_t other = 1'000'000'000 * (1 + random() % 400);
            const int64_t longer = 1'000'000 + random() % 100'000'000;
            host->Join(other, *peer);
            pair->SetPath(longer, 2);
            control->NotifyPath();
            Expect(*control,
                   std::clamp(rate,
                              static_cast<long double>(std::min(other, least)),
                              static_cast<long double>(other)),
                   given ? given : longer,
                   payload);
            pair->Dispose();
        }
    }
};

/// @ingroup rdma-tests
/// @brief Tests of WindowControl.
class WindowControlTestSuite : public TestSuite
{
  public:
    WindowControlTestSuite()
        : TestSuite("rdma-window-control", Type::UNIT)
    {
        AddTestCase(new WindowBoundsTest, TestCase::Duration::QUICK);
    }
};

static WindowControlTestSuite g_windowControlTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
