/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

// The reference is ns-3's own implementation: what it does with the same calls is right.

#include "eventloop-test-death.h"

#include "ns3/eventloop.h"
#include "ns3/global-value.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ns3;
using eventloop::Death;
using eventloop::DieBy;
using eventloop::EventHeap;
using eventloop::EventLoop;
using eventloop::Occurrence;
using eventloop::PendingEvent;

namespace
{

constexpr const char* OURS = "ns3::eventloop::EventLoop";
constexpr const char* CELLS = "ns3::eventloop::CellLoop";
constexpr const char* THEIRS = "ns3::DefaultSimulatorImpl";

/// Use an event loop from now on. The former simulation is over.
void
Use(const std::string& simulator, const std::string& scheduler = "ns3::MapScheduler")
{
    Simulator::Destroy();
    GlobalValue::Bind("SimulatorImplementationType", StringValue(simulator));
    GlobalValue::Bind("SchedulerType", StringValue(scheduler));
}

/// A random program: events that schedule, cancel and remove each other, and what they saw.
class Program
{
  public:
    /// @param seed of its choices. @param spread delays are below 2^spread time steps.
    Program(uint64_t seed, uint32_t spread)
        : m_random(seed),
          m_spread(spread)
    {
    }

    /// @return everything that could be seen, as text.
    std::string Run()
    {
        for (int i = 0; i < 20; ++i)
        {
            Add();
        }
        Simulator::ScheduleDestroy(&Program::Note, this, std::string("destroyed"));
        const EventId never = Simulator::ScheduleDestroy(&Program::Note, this, std::string("no"));
        Simulator::Cancel(never);
        for (int round = 0; round < 3; ++round)
        {
            Simulator::Stop(TimeStep(Draw(1ULL << m_spread)));
            Simulator::Run();
            m_log << "stopped at " << Simulator::Now().GetTimeStep() << " after "
                  << Simulator::GetEventCount() << (Simulator::IsFinished() ? " done" : "") << "\n";
            Add();
        }
        m_left = 0;
        Simulator::Run();
        m_log << "ended at " << Simulator::Now().GetTimeStep() << " after "
              << Simulator::GetEventCount() << "\n";
        Simulator::Destroy();
        return m_log.str();
    }

  private:
    uint64_t Draw(uint64_t below)
    {
        return m_random() % below;
    }

    /// Most delays are short, many are the same, some reach far.
    Time DrawDelay()
    {
        switch (Draw(6))
        {
        case 0:
            return TimeStep(0);
        case 1:
            return TimeStep(1000);
        case 2:
            return TimeStep(Draw(1ULL << m_spread));
        case 3:
            return TimeStep(Draw(1ULL << (m_spread / 2)) << (m_spread / 2));
        default:
            return TimeStep(Draw(1ULL << (m_spread / 2)));
        }
    }

    void Note(std::string what)
    {
        m_log << what << " at " << Simulator::Now().GetTimeStep() << "\n";
    }

    void Add()
    {
        const uint32_t number = m_events++;
        if (Draw(8) == 0)
        {
            Simulator::ScheduleWithContext(static_cast<uint32_t>(Draw(5)),
                                           DrawDelay(),
                                           &Program::Happen,
                                           this,
                                           number);
            return;
        }
        m_ids.push_back(Draw(8) == 0
                            ? Simulator::ScheduleNow(&Program::Happen, this, number)
                            : Simulator::Schedule(DrawDelay(), &Program::Happen, this, number));
    }

    void Happen(uint32_t number)
    {
        m_log << number << " at " << Simulator::Now().GetTimeStep() << " in "
              << Simulator::GetContext();
        if (!m_ids.empty())
        {
            const EventId other = m_ids[Draw(m_ids.size())];
            m_log << (other.IsExpired() ? " expired" : " pending") << " "
                  << Simulator::GetDelayLeft(other).GetTimeStep();
            switch (Draw(4))
            {
            case 0:
                Simulator::Cancel(other);
                break;
            case 1:
                Simulator::Remove(other);
                break;
            default:
                break;
            }
            m_log << (other.IsExpired() ? " expired" : " pending");
        }
        m_log << "\n";
        for (uint64_t n = Draw(4); n > 0 && m_left > 0; --n, --m_left)
        {
            Add();
        }
    }

    std::mt19937_64 m_random;   //!< of the choices
    uint32_t m_spread;          //!< delays are below 2^this
    uint32_t m_events{0};       //!< so far
    uint32_t m_left{2000};      //!< may still be added
    std::vector<EventId> m_ids; //!< all
    std::ostringstream m_log;   //!< what was seen
};

/// Random programs see the same under both implementations.
class SameAsNs3Test : public TestCase
{
  public:
    SameAsNs3Test()
        : TestCase("random programs see what they see under ns-3's own event loop")
    {
    }

  private:
    void DoRun() override
    {
        // Not HeapScheduler: that of ns-3.44 loses the order after Remove, and the simulator
        // aborts.
        const std::vector<std::string> schedulers{"ns3::MapScheduler",
                                                  "ns3::PriorityQueueScheduler",
                                                  "ns3::CalendarScheduler",
                                                  "ns3::ListScheduler"};
        for (uint64_t seed = 1; seed <= 150; ++seed)
        {
            const uint32_t spread = 4 + seed % 44; // from 16 time steps to a day
            Use(THEIRS, schedulers[seed % schedulers.size()]);
            const std::string theirs = Program(seed, spread).Run();
            Use(OURS);
            const std::string ours = Program(seed, spread).Run();
            NS_TEST_EXPECT_MSG_GT(theirs.size(), 200, "the program did something");
            NS_TEST_ASSERT_MSG_EQ((ours == theirs), true, "seed " << seed);
            Use(CELLS);
            NS_TEST_ASSERT_MSG_EQ((Program(seed, spread).Run() == theirs),
                                  true,
                                  "without cells, seed " << seed);
        }
        Use(THEIRS);
    }
};

/// Something that happens and schedules itself again.
class Ticker : public Occurrence
{
  public:
    /// @param seen where to note that it happened. @param name what to note.
    Ticker(std::vector<int>& seen, int name)
        : Occurrence(&Ticker::Tick),
          m_seen(seen),
          m_name(name)
    {
    }

  private:
    static void Tick(Occurrence* occurrence)
    {
        auto ticker = static_cast<Ticker*>(occurrence);
        ticker->m_seen.push_back(ticker->m_name);
    }

    std::vector<int>& m_seen; //!< where to note
    int m_name;               //!< what to note
};

/// What takes its place early and is pushed late comes in its place.
class KeyTest : public TestCase
{
  public:
    KeyTest()
        : TestCase("a key keeps a place among the events of one time")
    {
    }

  private:
    void DoRun() override
    {
        Use(OURS);
        std::vector<int> seen;
        Simulator::Schedule(TimeStep(50), [&seen] { seen.push_back(0); }); // makes the loop
        EventLoop* loop = EventLoop::Peek();
        NS_TEST_ASSERT_MSG_NE(loop, nullptr, "the event loop is in use");
        Ticker first(seen, 1);
        Ticker second(seen, 2);
        const EventLoop::Key key = loop->TakeKey();
        loop->Push(100, loop->TakeKey(), &second);
        Simulator::Schedule(TimeStep(100), [&seen] { seen.push_back(3); });
        Simulator::Schedule(TimeStep(60), [&] { loop->Push(100, key, &first); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ((seen == std::vector<int>{0, 1, 2, 3}), true, "in order of places");
        NS_TEST_EXPECT_MSG_EQ(Simulator::GetEventCount(), 5, "all are counted");
        Use(THEIRS);
        Simulator::Now();
        NS_TEST_EXPECT_MSG_EQ(EventLoop::Peek(), nullptr, "another implementation is in use");
        Use(THEIRS);
    }
};

/// Many events at few times, and few events at many times, far apart: the wheel adapts.
class WidthTest : public TestCase
{
  public:
    WidthTest()
        : TestCase("events of any density come in order")
    {
    }

  private:
    void DoRun() override
    {
        // Gaps from a time step to 2^40 of them, with a phase of each density, forth and back.
        Use(OURS);
        std::mt19937_64 random(7);
        int64_t last = -1;
        uint64_t happened = 0;
        uint64_t planned = 0;
        bool inOrder = true;
        std::function<void(int64_t, uint32_t)> tick = [&](int64_t due, uint32_t left) {
            inOrder = inOrder && due == Simulator::Now().GetTimeStep() && due >= last;
            last = due;
            ++happened;
            if (left > 0)
            {
                const uint32_t phase = left / 2000;
                const uint32_t bits = phase % 2 ? 2 + phase : 40 - phase;
                const auto delay = static_cast<int64_t>(random() >> (64 - bits));
                ++planned;
                const int64_t next = due + delay;
                Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)),
                                    [&tick, next, left] { tick(next, left - 1); });
            }
        };
        for (int i = 0; i < 20; ++i)
        {
            ++planned;
            Simulator::Schedule(TimeStep(0), [&tick] { tick(0, 20'000); });
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(happened, planned, "every event happened once");
        NS_TEST_EXPECT_MSG_EQ(inOrder, true, "at its time, in order");
        Use(THEIRS);
    }
};

/// Many events of one slot: sequences that are each in order, woven into each other.
class BurstTest : public TestCase
{
  public:
    BurstTest()
        : TestCase("bursts come in order, however many sequences they are made of")
    {
    }

  private:
    /// An event as it was pushed.
    struct Pushed
    {
        int64_t time;       //!< when
        EventLoop::Key key; //!< its place
        int name;           //!< what it notes
    };

    /// Push a burst and compare with std::sort.
    /// @param events how many. @param sequences they take turns in being pushed; the keys of each
    /// rise. @param times of the events, one behind the other, chosen at random.
    void Check(int events, int sequences, int64_t times)
    {
        Use(OURS);
        std::vector<int> seen;
        Simulator::Now(); // makes the loop
        EventLoop* loop = EventLoop::Peek();
        std::vector<std::unique_ptr<Ticker>> tickers;
        std::vector<std::vector<EventLoop::Key>> keys(sequences);
        for (int name = 0; name < events; ++name)
        {
            keys[int64_t{name} * sequences / events].push_back(loop->TakeKey());
        }
        std::vector<Pushed> all;
        for (std::size_t turn = 0; all.size() < static_cast<std::size_t>(events); ++turn)
        {
            for (const auto& sequence : keys)
            {
                if (turn < sequence.size())
                {
                    const auto time = 1'024'000 + static_cast<int64_t>(m_random() % times);
                    all.push_back(Pushed{time, sequence[turn], static_cast<int>(all.size())});
                    tickers.push_back(std::make_unique<Ticker>(seen, all.back().name));
                    loop->Push(time, sequence[turn], tickers.back().get());
                }
            }
        }
        Simulator::Run();
        std::sort(all.begin(), all.end(), [](const Pushed& a, const Pushed& b) {
            return std::tie(a.time, a.key) < std::tie(b.time, b.key);
        });
        std::vector<int> due;
        for (const Pushed& pushed : all)
        {
            due.push_back(pushed.name);
        }
        NS_TEST_EXPECT_MSG_EQ((seen == due),
                              true,
                              events << " events, " << sequences << " sequences, " << times
                                     << " times");
    }

    void DoRun() override
    {
        for (const int events : {15, 16, 17, 100, 3000})
        {
            for (const int sequences : {1, 2, 3, 7, 8, 9, 40})
            {
                for (const int64_t times : {1, 3, 1000})
                {
                    Check(events, sequences, times);
                }
            }
        }
        Use(THEIRS);
    }

    std::mt19937_64 m_random{3}; //!< of times
};

/// What is scheduled in the past aborts, with both times, also in a build without assertions.
class PastTest : public TestCase
{
  public:
    PastTest()
        : TestCase("an event in the past aborts with the current time")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<int> seen;
        Ticker ticker(seen, 1);
        // In the present slot, in an earlier one, and by ns-3's own interface.
        const std::vector<std::pair<int64_t, int64_t>> cases{{5'000'000, 4'999'999},
                                                             {5'000'000, 17},
                                                             {1, 0},
                                                             {1, -1}};
        for (const auto& [now, then] : cases)
        {
            const Death death = DieBy([&] {
                Use(OURS);
                Simulator::Schedule(TimeStep(static_cast<uint64_t>(now)), [&] {
                    EventLoop* loop = EventLoop::Peek();
                    loop->Push(then, loop->TakeKey(), &ticker);
                });
                Simulator::Run();
            });
            NS_TEST_EXPECT_MSG_EQ(death.aborted, true, "at " << now << ", for " << then);
            const std::string sentence = "an event was scheduled in the past: for " +
                                         std::to_string(then) + " time steps, but it is " +
                                         std::to_string(now) + " now";
            NS_TEST_EXPECT_MSG_NE(death.said.find(sentence),
                                  std::string::npos,
                                  sentence << " in: " << death.said);
        }
        const Death death = DieBy([&] {
            Use(OURS);
            Simulator::Schedule(TimeStep(10), [&] {
                Simulator::Schedule(Time(-3), [&seen] { seen.push_back(1); });
            });
            Simulator::Run();
        });
        NS_TEST_EXPECT_MSG_EQ(death.aborted, true, "by ns-3's interface");
        NS_TEST_EXPECT_MSG_NE(death.said.find("for 7 time steps, but it is 10 now"),
                              std::string::npos,
                              death.said);
    }
};

/// A sum of times that passes 2^63 is the end of time, and that time can be reached.
class EndOfTimeTest : public TestCase
{
  public:
    EndOfTimeTest()
        : TestCase("an event beyond the end of time waits there")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t END = std::numeric_limits<int64_t>::max();
        Use(OURS);
        std::vector<int> seen;
        Simulator::Schedule(TimeStep(50), [&seen] { seen.push_back(0); });
        EventLoop* loop = EventLoop::Peek();
        Ticker last(seen, 4);
        Simulator::Schedule(TimeStep(100), [&] {
            for (const int64_t delay : {END, END - 50, END - 100})
            {
                loop->Push(loop->GetTimeIn(delay), loop->TakeKey(), &last);
            }
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(END)),
                                [&seen] { seen.push_back(5); });
        });
        Simulator::Stop(TimeStep(200));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ((seen == std::vector<int>{0}), true, "none of them comes early");
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(END - 1000)), [&] {
            Simulator::Schedule(TimeStep(1), [&seen] { seen.push_back(3); });
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ((seen == std::vector<int>{0, 3, 4, 4, 4, 5}), true, "in order");
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now().GetTimeStep(), END, "at the end of time");
        loop->Push(loop->GetTimeIn(1), loop->TakeKey(), &last); // there is nothing behind it
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(seen.size(), 7, "an event at the end of time may schedule another");
        Use(THEIRS);
    }
};

/// An event loop that counts its notifications.
class CountingLoop : public EventLoop
{
  public:
    std::vector<int64_t> m_hooked; //!< times of events before they happen

  private:
    void PreEventHook(const EventId& id) override
    {
        m_hooked.push_back(static_cast<int64_t>(id.GetTs()));
    }
};

/// A class derived from the loop sees every event of ns-3 before it happens.
class HookTest : public TestCase
{
  public:
    HookTest()
        : TestCase("PreEventHook is called before every event of Simulator")
    {
    }

  private:
    void DoRun() override
    {
        Simulator::Destroy();
        auto loop = CreateObject<CountingLoop>();
        Simulator::SetImplementation(loop);
        std::size_t before = 0;
        Simulator::Schedule(TimeStep(7), [&] {
            before = loop->m_hooked.size();
            Simulator::ScheduleNow([] {});
        });
        Simulator::Schedule(TimeStep(9), [] {}).Cancel();
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(before, 1, "notified before it happens");
        const std::vector<int64_t> times{7, 7, 9}; // a cancelled event comes, and does nothing
        NS_TEST_EXPECT_MSG_EQ((loop->m_hooked == times), true, "each, in order");
        Simulator::Destroy();
    }
};

/// The heap of events against a sorted set.
class HeapTest : public TestCase
{
  public:
    HeapTest()
        : TestCase("whatever is added, replaced or taken from the middle, the first event is first")
    {
    }

  private:
    using Model = std::set<std::tuple<int64_t, EventLoop::Key, uintptr_t>>; //!< in their order

    /// A random history. @param random source of chance. @param most events at once, about.
    void Try(std::mt19937_64& random, std::size_t most)
    {
        EventHeap heap;
        Model model;
        const auto identify = [](const PendingEvent& event) {
            return Model::value_type(event.time, event.key, event.what);
        };
        for (uintptr_t step = 0; step < 1000; ++step)
        {
            // few times, so that keys decide; keys are distinct
            const PendingEvent drawn{static_cast<int64_t>(random() % 8),
                                     random() << 10 | step,
                                     step};
            const uint64_t kind = random() % (model.size() < most ? 4 : 8);
            if (model.empty() || kind % 4 < 1 + (kind < 4))
            {
                heap.Push(drawn);
                model.insert(identify(drawn));
            }
            else if (kind % 4 == 2)
            {
                NS_TEST_ASSERT_MSG_EQ((identify(heap.Pop()) == *model.begin()), true, "the first");
                model.erase(model.begin());
            }
            else if (kind % 2)
            {
                const std::size_t at = random() % model.size();
                model.erase(identify(heap.Get()[at]));
                heap.RemoveAt(at);
            }
            else
            {
                model.erase(identify(heap.Get().front()));
                model.insert(identify(drawn));
                heap.ReplaceFirst(drawn);
            }
            NS_TEST_ASSERT_MSG_EQ(heap.Get().size(), model.size(), "none is lost");
            NS_TEST_ASSERT_MSG_EQ((model.empty() || identify(heap.Get().front()) == *model.begin()),
                                  true,
                                  "the first is first after step " << step);
        }
        for (; !model.empty(); model.erase(model.begin()))
        {
            NS_TEST_ASSERT_MSG_EQ((identify(heap.Pop()) == *model.begin()), true, "in order");
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (std::size_t most = 1; most < 100; most += 3)
        {
            Try(random, most);
        }
    }
};

/// @brief The suite.
class EventLoopTestSuite : public TestSuite
{
  public:
    EventLoopTestSuite()
        : TestSuite("eventloop-loop", Type::UNIT)
    {
        AddTestCase(new SameAsNs3Test, Duration::QUICK);
        AddTestCase(new KeyTest, Duration::QUICK);
        AddTestCase(new WidthTest, Duration::QUICK);
        AddTestCase(new BurstTest, Duration::QUICK);
        AddTestCase(new PastTest, Duration::QUICK);
        AddTestCase(new EndOfTimeTest, Duration::QUICK);
        AddTestCase(new HookTest, Duration::QUICK);
        AddTestCase(new HeapTest, Duration::QUICK);
    }
};

EventLoopTestSuite g_eventLoopTestSuite; //!< registers it

} // namespace
