/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-node.h"

#include "ns3/enum.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-port-observer.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

/**
 * @file
 * @ingroup lossless-tests
 * The transmitter: order of service, shares, exact times; and the rate limiter.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief A node that only notes what arrives.
class SinkNode : public TestNode
{
  public:
    SinkNode()
    {
        SetBuffer(CreateObject<SharedBuffer>());
    }

    void Receive(Frame* frame, Port& /* ingress */) override
    {
        m_got.push_back(*frame);
        m_when.push_back(NowPs());
        Take(frame);
    }

    std::vector<Frame> m_got;    //!< frames in the order of arrival
    std::vector<int64_t> m_when; //!< when (ps)
};

/// @ingroup lossless-tests
/// @brief Frames that wait together leave in the order of the services.
class ServiceTest : public TestCase
{
  public:
    ServiceTest()
        : TestCase("strict, FIFO and round robin over ingress ports serve as they should")
    {
    }

  private:
    /// Two nodes joined by 10 Gb/s and 1 us without overhead.
    /// @param classService attribute of the port. @param queueService attribute of the port.
    void Connect(const std::string& classService, const std::string& queueService)
    {
        UsePicoseconds();
        for (auto* node : {&m_a, &m_b})
        {
            *node = CreateObject<SinkNode>();
            (*node)->AddPort(CreateObjectWithAttributes<Port>("Overhead",
                                                              UintegerValue(0),
                                                              "ClassService",
                                                              StringValue(classService),
                                                              "QueueService",
                                                              StringValue(queueService),
                                                              "Quantum",
                                                              UintegerValue(1500)));
        }
        // ingress ports that frames may have come in by: only their numbers matter
        for (int i = 0; i < 3; ++i)
        {
            m_a->AddPort(CreateObject<Port>());
        }
        for (uint16_t i = 0; i < 4; ++i)
        {
            m_a->GetPort(i).Attach(PeekPointer(m_a), i, &m_b->GetPort(0), RATE, DELAY);
        }
        m_b->GetPort(0).Attach(PeekPointer(m_b), 0, &m_a->GetPort(0), RATE, DELAY);
        m_a->Start();
        m_b->Start();
    }

    /// Queue a frame at a. @param cls class. @param bytes size. @param ingress port it came in by.
    void Queue(uint8_t cls, uint16_t bytes, uint16_t ingress = 1)
    {
        Frame* frame = FramePool::Take();
        frame->cls = cls;
        frame->bytes = bytes;
        frame->ingress = ingress;
        frame->flow = ingress; // the receiver overwrites ingress with its own port
        m_a->Inject(frame);
    }

    /// Run until everything has arrived, then discard the nodes except for what b received.
    void Drain()
    {
        Simulator::Run();
        m_result = m_b;
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Connect("Strict", "Fifo");
        for (const int cls : {2, 7, 0, +CONTROL_CLASS, 5})
        {
            Queue(cls, 1000);
        }
        Drain();
        // The first was alone when it came: what is being sent completes.
        const uint8_t strict[] = {2, CONTROL_CLASS, 7, 5, 0};
        for (std::size_t i = 0; i < 5; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+m_result->m_got[i].cls,
                                  +strict[i],
                                  "strict priority, place " << i);
            NS_TEST_ASSERT_MSG_EQ(m_result->m_when[i],
                                  static_cast<int64_t>(i + 1) * 800'000 + DELAY,
                                  "back to back to the ps");
        }

        Connect("Fifo", "Fifo");
        const uint8_t arrived[] = {2, 7, 0, 5, 1};
        for (const uint8_t cls : arrived)
        {
            Queue(cls, 1000);
            Simulator::Stop(TimeStep(1000));
            Simulator::Run();
        }
        Drain();
        for (std::size_t i = 0; i < 5; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+m_result->m_got[i].cls,
                                  +arrived[i],
                                  "first in, first out across classes, place " << i);
        }

        // Three ingress ports, one with most of the frames: they take turns.
        Connect("Strict", "RoundRobin");
        Queue(4, 1000, 1); // on the wire at once
        for (int i = 0; i < 10; ++i)
        {
            Queue(4, 1000, 1);
        }
        for (int i = 0; i < 3; ++i)
        {
            Queue(4, 1000, 2);
            Queue(4, 1000, 3);
        }
        Drain();
        const uint32_t turns[] = {1, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 1};
        for (std::size_t i = 0; i < 12; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(m_result->m_got[i].flow,
                                  turns[i],
                                  "round robin over ingress ports, place " << i);
        }
    }

    static constexpr uint64_t RATE = 10'000'000'000; //!< bit/s
    static constexpr int64_t DELAY = 1'000'000;      //!< ps
    Ptr<SinkNode> m_a;                               //!< sender
    Ptr<SinkNode> m_b;                               //!< receiver
    Ptr<SinkNode> m_result;                          //!< receiver of the last run
};

/// @ingroup lossless-tests
/// @brief Times of transmission are exact, and the limiter equals a brute-force integral.
class RateTest : public TestCase
{
  public:
    RateTest()
        : TestCase("transmission times are exact to the ps, a limiter follows the integral of a "
                   "changing rate")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(TransmissionTime(1048, 100'000'000'000),
                              83'840,
                              "1048 B at 100 Gb/s are 83.84 ns");
        NS_TEST_ASSERT_MSG_EQ(TransmissionTime(1500, 10'000'000'000),
                              1'200'000,
                              "1500 B at 10 Gb/s");
        NS_TEST_ASSERT_MSG_EQ(TransmissionTime(1, 3),
                              2'666'666'666'667,
                              "8 bits at 3 bit/s, rounded");
        NS_TEST_ASSERT_MSG_EQ(BytesInTime(100'000'000'000, 1'000'000), 12'500, "1 us at 100 Gb/s");
        NS_TEST_ASSERT_MSG_EQ(BytesInTime(10'000'000'000, 1), 1, "rounded up");
        std::mt19937_64 random(1);
        for (int round = 0; round < 500; ++round)
        {
            RateLimiter limiter;
            int64_t now = static_cast<int64_t>(random() % 1'000'000);
            uint64_t rate = random() % 100'000'000'000;
            limiter.SetRate(rate, now);
            const int64_t bytes = 64 + static_cast<int64_t>(random() % 9000);
            limiter.Start(bytes, now);
            Int128 owed = static_cast<Int128>(bytes) * 8 * 1'000'000'000'000;
            for (int change = 0; change < 20 && owed > 0; ++change)
            {
                const int64_t step = 1 + static_cast<int64_t>(random() % 2'000'000);
                const int64_t earliest = limiter.GetEarliest(now);
                const Int128 expected = rate ? now + (owed + rate - 1) / static_cast<Int128>(rate)
                                             : static_cast<Int128>(NEVER);
                NS_TEST_ASSERT_MSG_EQ((earliest == expected),
                                      true,
                                      "round " << round << ", change " << change);
                owed -= static_cast<Int128>(rate) * step;
                now += step;
                rate = random() % 5 ? random() % 100'000'000'000 : 0;
                limiter.SetRate(rate, now);
            }
            if (owed <= 0)
            {
                NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(now),
                                      now,
                                      "all is paid, whatever the rate");
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief A flow control that lets a queue go from a time on.
class TimedGate : public FlowControl, public Gate, public SentListener
{
  public:
    int64_t GetEarliest(uint16_t queue, const Frame& /* head */, int64_t now) const override
    {
        return m_from[queue] == NEVER ? NEVER : std::max(m_from[queue], now);
    }

    void NotifySent(uint16_t queue, Frame& /* frame */, int64_t now) override
    {
        m_sent.emplace_back(now, queue);
    }

    std::array<int64_t, N_CLASSES> m_from{};            //!< per queue (ps), or NEVER
    std::vector<std::pair<int64_t, uint16_t>> m_sent{}; //!< when which queue's head went
};

/// @ingroup lossless-tests
/// @brief A chain of flow controls agrees at the latest of its times.
class GateTest : public TestCase
{
  public:
    GateTest()
        : TestCase("a frame starts at the latest time of the chain, to the ps, and the highest "
                   "class that may go goes, whatever the others wait for")
    {
    }

  private:
    void DoRun() override
    {
        UsePicoseconds();
        std::mt19937_64 random(9);
        constexpr uint64_t RATE = 10'000'000'000;
        constexpr int64_t FRAME = 800'000; // 1000 B
        for (int round = 0; round < 200; ++round)
        {
            auto a = CreateObject<SinkNode>();
            auto b = CreateObject<SinkNode>();
            const std::array<Ptr<TimedGate>, 2> chain{CreateObject<TimedGate>(),
                                                      CreateObject<TimedGate>()};
            for (auto* node : {&a, &b})
            {
                (*node)->AddPort(CreateObjectWithAttributes<Port>("Overhead", UintegerValue(0)));
            }
            a->GetPort(0).Attach(PeekPointer(a), 0, &b->GetPort(0), RATE, 0);
            b->GetPort(0).Attach(PeekPointer(b), 0, &a->GetPort(0), RATE, 0);
            for (const auto& gate : chain)
            {
                a->GetPort(0).AddFlowControl(gate);
            }
            a->Start();
            b->Start();
            std::array<int64_t, N_CLASSES> from{};
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                for (const auto& gate : chain)
                {
                    gate->m_from[cls] = static_cast<int64_t>(random() % (12 * FRAME));
                    from[cls] = std::max(from[cls], gate->m_from[cls]);
                }
            }
            // one class waits for something else than a time, which happens at `kick`
            const auto stuck = static_cast<uint8_t>(random() % N_CLASSES);
            const auto kick = static_cast<int64_t>(random() % (20 * FRAME));
            chain[1]->m_from[stuck] = NEVER;
            from[stuck] = std::max(chain[0]->m_from[stuck], kick);
            Simulator::Schedule(TimeStep(kick), [&chain, stuck, &a] {
                chain[1]->m_from[stuck] = 0;
                a->GetPort(0).Kick();
            });
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                Frame* frame = FramePool::Take();
                frame->cls = cls;
                frame->bytes = 1000;
                a->Inject(frame);
            }
            Simulator::Run();
            // The same on paper: whenever the line is free, the highest class whose time has come.
            std::vector<std::pair<int64_t, uint16_t>> expected;
            uint32_t left = 0xff;
            for (int64_t now = 0; left;)
            {
                int best = -1;
                int64_t next = NEVER;
                for (int cls = 0; cls < N_CLASSES; ++cls)
                {
                    if (left >> cls & 1)
                    {
                        best = from[cls] <= now ? cls : best;
                        next = std::min(next, from[cls]);
                    }
                }
                if (best < 0)
                {
                    now = next;
                    continue;
                }
                expected.emplace_back(now, best);
                left &= ~(1U << best);
                now += FRAME;
            }
            NS_TEST_ASSERT_MSG_EQ((chain[0]->m_sent == expected && chain[1]->m_sent == expected),
                                  true,
                                  "starts of frames in round " << round);
            for (std::size_t i = 0; i < expected.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(b->m_when[i], expected[i].first + FRAME, "arrival " << i);
            }
            Simulator::Destroy();
            a->Dispose();
            b->Dispose();
        }
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief Notes what an observer of ports is told of held classes.
class HeldLog : public PortObserver
{
  public:
    void NotifyHeld(const Port& /* port */, uint8_t /* cls */) override
    {
        m_held = true;
    }

    void NotifyFree(const Port& /* port */, uint8_t /* cls */) override
    {
        m_held = false;
        ++m_freed;
    }

    void NotifyJoined(const Port&, uint16_t, const Frame&) override
    {
    }

    void NotifyLeft(const Port&, uint16_t) override
    {
    }

    void NotifyPressure(const Port&, uint16_t, uint8_t, uint8_t) override
    {
    }

    void NotifyChange() override
    {
    }

    bool m_held{false}; //!< as last told
    int m_freed{0};     //!< how often it was told that the class is free
};

/// @ingroup lossless-tests
/// @brief Two flow controls of a chain pause a class: one blocks its queue, one has a gate.
class TwoPausersTest : public TestCase
{
  public:
    TwoPausersTest()
        : TestCase("a class that two flow controls pause is held until both have ended, whichever "
                   "ends first, and traces see one pause")
    {
    }

  private:
    void Note(const Port& /* port */, uint8_t /* cls */, bool on)
    {
        m_edges.push_back(on);
    }

    /// Pause class 3 twice and resume it twice.
    /// @param blockerFirst the one that blocks begins. @param blockerEndsFirst it ends first.
    void Try(bool blockerFirst, bool blockerEndsFirst)
    {
        UsePicoseconds();
        auto node = CreateObject<SinkNode>();
        auto peer = CreateObject<SinkNode>();
        for (auto* one : {&node, &peer})
        {
            (*one)->AddPort(CreateObject<Port>());
        }
        Port& port = node->GetPort(0);
        port.Attach(PeekPointer(node), 0, &peer->GetPort(0), 10'000'000'000, 0);
        peer->GetPort(0).Attach(PeekPointer(peer), 0, &port, 10'000'000'000, 0);
        port.AddFlowControl(CreateObject<TimedGate>());
        HeldLog log;
        node->SetObserver(&log);
        port.TraceConnectWithoutContext("Paused", MakeCallback(&TwoPausersTest::Note, this));
        node->Start();
        peer->Start();
        m_edges.clear();
        const auto pause = [&port](bool blocker, bool on) {
            port.NotePaused(3, on);
            if (blocker)
            {
                port.BlockClass(3, on);
            }
        };
        pause(blockerFirst, true);
        pause(!blockerFirst, true);
        NS_TEST_EXPECT_MSG_EQ(log.m_held, true, "held by both");
        pause(blockerEndsFirst, false);
        NS_TEST_EXPECT_MSG_EQ(log.m_held, true, "held by the other");
        NS_TEST_EXPECT_MSG_EQ(log.m_freed, 0, "and never said to be free");
        NS_TEST_EXPECT_MSG_EQ(port.IsPaused(3), true, "paused by the other");
        pause(!blockerEndsFirst, false);
        NS_TEST_EXPECT_MSG_EQ(log.m_held, false, "free");
        NS_TEST_EXPECT_MSG_EQ(port.IsPaused(3), false, "not paused");
        NS_TEST_EXPECT_MSG_EQ((m_edges == std::vector<bool>{true, false}), true, "one pause");
        Simulator::Destroy();
        node->Dispose();
        peer->Dispose();
    }

    void DoRun() override
    {
        for (const bool blockerFirst : {false, true})
        {
            for (const bool blockerEndsFirst : {false, true})
            {
                Try(blockerFirst, blockerEndsFirst);
            }
        }
        FramePool::Clear();
    }

    std::vector<bool> m_edges; //!< what the trace source said
};

/// @ingroup lossless-tests
/// @brief When a switch takes the bytes of a frame into its buffer, and when it lets go of them.
class ReleaseAtTest : public TestCase
{
  public:
    ReleaseAtTest()
        : TestCase("a frame is charged when its last bit has come and released when its "
                   "transmission ends, or starts, to the ps")
    {
    }

  private:
    /// Two frames across a switch; ask its buffer at many times.
    /// @param atStart release at the start. @param overhead wire bytes besides a frame.
    /// @param latency of the switch (ps).
    void Cross(bool atStart, int64_t overhead, int64_t latency)
    {
        constexpr int64_t DELAY = 700'000;
        constexpr int64_t PER_BYTE = 320; // 25 Gb/s
        auto fabric = CreateObject<Fabric>();
        const std::string port = "ns3::lossless::Port";
        fabric->SetAttribute(port, "Overhead", std::to_string(overhead));
        fabric->SetAttribute(port, "ReleaseAt", atStart ? "Start" : "End");
        fabric->SetAttribute("ns3::lossless::Switch", "Latency", std::to_string(latency) + "ps");
        const uint32_t s = fabric->AddSwitch("s");
        auto a = CreateObject<SinkNode>();
        auto b = CreateObject<SinkNode>();
        fabric->AddHost("a", a);
        fabric->AddHost("b", b);
        fabric->AddLink(1, s, DataRate(25'000'000'000), PicoSeconds(DELAY));
        fabric->AddLink(2, s, DataRate(25'000'000'000), PicoSeconds(DELAY));
        fabric->Build();
        const int64_t sizes[] = {1500, 300};
        for (const int64_t bytes : sizes)
        {
            Frame* frame = FramePool::Take();
            frame->dst = 2;
            frame->cls = 3;
            frame->bytes = static_cast<uint16_t>(bytes);
            a->Inject(frame);
        }
        // On paper: both back to back, stored, forwarded after the latency, the second behind the
        // first.
        int64_t sent = 0;
        int64_t free = 0;
        std::vector<std::pair<int64_t, int64_t>> changes; // when, by how much
        for (std::size_t i = 0; i < 2; ++i)
        {
            const int64_t time = (sizes[i] + overhead) * PER_BYTE;
            sent += time;
            const int64_t charged = sent + DELAY;
            const int64_t start = std::max(charged + latency, free);
            free = start + time;
            changes.emplace_back(charged, sizes[i]);
            changes.emplace_back(atStart ? start : free, -sizes[i]);
        }
        std::set<int64_t> moments; // just before and just after each change
        for (const auto& change : changes)
        {
            moments.insert({change.first - 1, change.first + 1});
        }
        for (const int64_t moment : moments)
        {
            Simulator::Stop(TimeStep(moment - NowPs()));
            Simulator::Run();
            int64_t held = 0;
            for (const auto& [when, by] : changes)
            {
                held += when <= moment ? by : 0;
            }
            const BufferPolicy& buffer = fabric->GetNode(s).GetBuffer();
            NS_TEST_ASSERT_MSG_EQ(buffer.GetUsed(), held, "bytes held at " << moment << " ps");
            NS_TEST_ASSERT_MSG_EQ(buffer.GetUsage(0, 3).Total(),
                                  held,
                                  "of the port they came in by");
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(b->m_when.back(), free + DELAY, "arrival of the last bit");
        NS_TEST_ASSERT_MSG_EQ(fabric->Finish(), "", "frames are conserved");
        Simulator::Destroy();
        fabric->Dispose();
    }

    void DoRun() override
    {
        for (const bool atStart : {false, true})
        {
            for (const int64_t overhead : {0, 20})
            {
                for (const int64_t latency : {0, 123'457})
                {
                    Cross(atStart, overhead, latency);
                }
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief Tests of Port and RateLimiter.
class PortTestSuite : public TestSuite
{
  public:
    PortTestSuite()
        : TestSuite("lossless-port", Type::UNIT)
    {
        AddTestCase(new ServiceTest, TestCase::Duration::QUICK);
        AddTestCase(new RateTest, TestCase::Duration::QUICK);
        AddTestCase(new GateTest, TestCase::Duration::QUICK);
        AddTestCase(new TwoPausersTest, TestCase::Duration::QUICK);
        AddTestCase(new ReleaseAtTest, TestCase::Duration::QUICK);
    }
};

static PortTestSuite g_portTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
