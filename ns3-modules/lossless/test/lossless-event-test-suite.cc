/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/eventloop.h"
#include "ns3/lossless-single-event.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * Events that are allocated once: against events that are scheduled one by one.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief An event loop that empties mailboxes when it is told to, as threads do between windows.
class HoldingLoop : public eventloop::EventLoop
{
  public:
    /// A window is over.
    void Empty()
    {
        for (eventloop::Occurrence* mailbox : std::exchange(m_held, {}))
        {
            mailbox->Happen();
        }
    }

  private:
    void Insert(int64_t time, Key key, uintptr_t what) override
    {
        auto* occurrence = reinterpret_cast<eventloop::Occurrence*>(what & ~OCCURRENCE);
        if ((what & OCCURRENCE) && occurrence->GetPlace().GetMailboxCell())
        {
            m_held.push_back(occurrence);
            return;
        }
        EventLoop::Insert(time, key, what);
    }

    std::vector<eventloop::Occurrence*> m_held; //!< mailboxes
};

/// @ingroup lossless-tests
/// @brief Items in flight, each with a twin: an event of its own, scheduled right after it was
/// sent.
class EventStreamTest : public TestCase
{
  public:
    EventStreamTest()
        : TestCase("an item arrives right before an event that was scheduled right after it, in a "
                   "stream and through mailboxes, and is seen until then")
    {
    }

  private:
    static constexpr int64_t WINDOW = 50; //!< no item arrives sooner (ps)

    void Arrive(uint32_t* item)
    {
        NS_TEST_ASSERT_MSG_EQ(m_arrived, m_twins, "the twins of those before have come");
        NS_TEST_ASSERT_MSG_EQ(*item, m_arrived, "in the order of sending");
        ++m_arrived;
    }

    using Stream = EventStream<EventStreamTest, uint32_t, &EventStreamTest::Arrive>;
    using Outlet = EventOutlet<EventStreamTest, uint32_t, &EventStreamTest::Arrive>;

    /// The twin of an item. @param time when it was to arrive (ps).
    void Twin(int64_t time)
    {
        NS_TEST_ASSERT_MSG_EQ(NowPs(), time, "on time");
        NS_TEST_ASSERT_MSG_EQ(m_arrived, m_twins + 1, "its item has come");
        ++m_twins;
    }

    void Send()
    {
        m_items.push_back(static_cast<uint32_t>(m_items.size()));
        // many at once
        m_last = std::max(m_last, NowPs() + WINDOW + 1 + static_cast<int64_t>(m_random() % 80));
        m_outlet->Send(m_last - NowPs(), &m_items.back());
        Simulator::Schedule(TimeStep(m_last - NowPs()), &EventStreamTest::Twin, this, m_last);
    }

    /// A window begins. @param stream of the items. @param left windows to come.
    void Begin(const Stream& stream, uint32_t left)
    {
        if (m_loop)
        {
            m_loop->Empty();
            m_outlet->SetApart(m_random() % 2);
        }
        NS_TEST_ASSERT_MSG_EQ(stream.GetCount(), m_items.size() - m_arrived, "those in flight");
        uint32_t next = m_arrived;
        stream.ForEach([&](uint32_t item) { NS_TEST_ASSERT_MSG_EQ(item, next++, "each of them"); });
        if (left > 0)
        {
            for (uint64_t count = m_random() % (m_random() % 4 ? 8 : 40); count > 0; --count)
            {
                Simulator::Schedule(TimeStep(m_random() % WINDOW), &EventStreamTest::Send, this);
            }
            Simulator::Schedule(TimeStep(WINDOW), [=, this, &stream] { Begin(stream, left - 1); });
        }
    }

    void DoRun() override
    {
        UsePicoseconds();
        for (int round = 0; round < 20; ++round)
        {
            Simulator::Destroy();
            m_loop = round % 2 ? CreateObject<HoldingLoop>() : nullptr;
            if (m_loop)
            {
                Simulator::SetImplementation(m_loop);
            }
            m_items.clear();
            m_arrived = m_twins = 0;
            m_last = 0;
            Stream stream(this);
            stream.SetPlace({1, 0, 0, 0});
            Outlet outlet;
            outlet.Connect(stream);
            m_outlet = &outlet;
            Begin(stream, 30);
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(m_twins, m_items.size(), "all have arrived");
            NS_TEST_ASSERT_MSG_GT(m_twins, 50, "there were some");
        }
        m_loop = nullptr;
        Simulator::Destroy();
    }

    std::mt19937_64 m_random{6};  //!< source of chance
    Ptr<HoldingLoop> m_loop;      //!< or null: ns-3's own
    Outlet* m_outlet{nullptr};    //!< where items are sent
    std::deque<uint32_t> m_items; //!< all
    uint32_t m_arrived{0};        //!< how many of them have
    uint32_t m_twins{0};          //!< of how many the twin has come
    int64_t m_last{0};            //!< when the last one arrives (ps)
};

/// @ingroup lossless-tests
/// @brief One event that many want.
class SingleEventTest : public TestCase
{
  public:
    SingleEventTest()
        : TestCase("the first of those who schedule it decides when it happens, and it can be "
                   "scheduled when it does")
    {
    }

  private:
    void Happen()
    {
        NS_TEST_ASSERT_MSG_EQ(NowPs(), m_due, "at its time");
        m_due = -1;
        ++m_happened;
        if (m_random() % 2)
        {
            Want(2 * static_cast<int64_t>(m_random() % 20));
        }
    }

    /// @param delay ps.
    void Want(int64_t delay)
    {
        m_due = m_due < 0 ? NowPs() + delay : m_due;
        m_event.Schedule(delay);
    }

    void DoRun() override
    {
        UsePicoseconds();
        for (uint64_t time = 0; time < 2000; time += 2) // it happens at odd times
        {
            if (m_random() % 3)
            {
                Simulator::Schedule(TimeStep(time), [this] {
                    NS_TEST_ASSERT_MSG_EQ((m_due < 0 || m_due > NowPs()), true, "none is missing");
                    Want(1 + 2 * static_cast<int64_t>(m_random() % 20));
                });
            }
        }
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(m_due, -1, "none is left");
        NS_TEST_EXPECT_MSG_GT(m_happened, 50, "it happened");
    }

    std::mt19937_64 m_random{7};                                          //!< source of chance
    SingleEvent<SingleEventTest> m_event{this, &SingleEventTest::Happen}; //!< under test
    int64_t m_due{-1};                                                    //!< ps; -1: not pending
    uint32_t m_happened{0};                                               //!< how often
};

/// @ingroup lossless-tests
/// @brief Tests of reusable events.
class EventTestSuite : public TestSuite
{
  public:
    EventTestSuite()
        : TestSuite("lossless-event", Type::UNIT)
    {
        AddTestCase(new EventStreamTest, TestCase::Duration::QUICK);
        AddTestCase(new SingleEventTest, TestCase::Duration::QUICK);
    }
};

static EventTestSuite g_eventTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
