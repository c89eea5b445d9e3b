/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/bfc-flow-control.h"
#include "ns3/facade-simulation.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>
#include <map>
#include <random>

/**
 * @file
 * @ingroup bfc-tests
 * BFC: sequences computed by hand; a second model of a switch's port with sets and maps; the rate
 * of resumes; frames taken by cures; what a flow alone loses and holds, against a fluid model;
 * whole networks with lost control frames.
 */

namespace ns3
{
namespace bfc
{
namespace tests
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;

/// Bits of a filter of one segment.
using Bits = NameFilter::Segment;

/// Where BFC keeps its bytes in a frame. @return index of the first.
static uint32_t
FirstByte()
{
    return FramePool::ReserveSchemeBytes("bfc", 4);
}

/// The content of a control frame. @param control it. @return bits of the segment.
static Bits
BitsOf(const ControlFrame& control)
{
    Message message;
    Read(control, message);
    return message.bits;
}

/// @ingroup bfc-tests
/// @brief Records the messages of the other end of the link, or, before a Bfc, loses some of them.
class Listener : public lossless::FlowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::bfc::tests::Listener")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Listener>();
        return tid;
    }

    bool ReceiveControl(const ControlFrame& control) override
    {
        m_heard.emplace_back(NowPs(), control);
        return g_random() % 100 < g_lose;
    }

    static inline std::mt19937_64 g_random;                //!< of all of them
    static inline uint32_t g_lose = 0;                     //!< per cent
    std::vector<std::pair<int64_t, ControlFrame>> m_heard; //!< when (ps), and what
};

NS_OBJECT_ENSURE_REGISTERED(Listener);

/// @ingroup bfc-tests
/// @brief Sees frames join and leave the queues of a port, after Bfc has.
class Watcher : public lossless::FlowControl,
                public lossless::QueueSelector,
                public lossless::SentListener
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::bfc::tests::Watcher")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Watcher>();
        return tid;
    }

    uint16_t GetOwnQueues() const override
    {
        return 0;
    }

    uint16_t SelectQueue(const Frame& /* frame */, uint16_t queue) const override
    {
        return queue;
    }

    void NotifyJoined(uint16_t queue, Frame& frame) override
    {
        m_joined(queue, frame);
    }

    void NotifySent(uint16_t queue, Frame& frame, int64_t /* now */) override
    {
        m_sent(queue, frame);
    }

    std::function<void(uint16_t, const Frame&)> m_joined = [](uint16_t, const Frame&) {};
    std::function<void(uint16_t, const Frame&)> m_sent = [](uint16_t, const Frame&) {};
};

NS_OBJECT_ENSURE_REGISTERED(Watcher);

/// A switch with ports that frames come in by, and a last one that they leave by.
///
/// Frames are put into the last one's queues at once. Links have 10 Gb/s and a delay of 1 us.
struct Bench
{
    /// Make it. @param factory makes Bfc. @param ingresses ports that frames come in by.
    Bench(ObjectFactory factory, uint16_t ingresses)
        : hub(CreateObject<lossless::tests::TestNode>(0U))
    {
        lossless::UsePicoseconds();
        hub->SetBuffer(CreateObject<lossless::SharedBuffer>());
        for (uint16_t port = 0; port <= ingresses; ++port)
        {
            hub->AddPort(CreateObject<lossless::Port>());
            auto end = CreateObject<lossless::tests::TestNode>();
            end->SetBuffer(CreateObject<lossless::SharedBuffer>());
            end->AddPort(CreateObject<lossless::Port>());
            ends.push_back(end);
        }
        for (uint16_t port = 0; port <= ingresses; ++port)
        {
            lossless::Port& here = hub->GetPort(port);
            lossless::Port& there = ends[port]->GetPort(0);
            here.Attach(PeekPointer(hub), port, &there, RATE, DELAY);
            there.Attach(PeekPointer(ends[port]), 0, &here, RATE, DELAY);
            here.SetLargestFrame(1500);
            there.SetLargestFrame(1500);
            schemes.push_back(factory.Create<Bfc>());
            here.AddFlowControl(schemes.back());
            listeners.push_back(CreateObject<Listener>());
            there.AddFlowControl(listeners.back());
        }
        watcher = CreateObject<Watcher>();
        Egress().AddFlowControl(watcher);
        hub->Start();
        for (const auto& end : ends)
        {
            end->Start();
        }
    }

    ~Bench()
    {
        Simulator::Destroy();
        hub->Dispose();
        for (const auto& end : ends)
        {
            end->Dispose();
        }
        FramePool::Clear();
    }

    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    /// @return the port that frames leave by.
    lossless::Port& Egress() const
    {
        return hub->GetPort(static_cast<uint16_t>(ends.size() - 1));
    }

    /// Let a frame join.
    /// @param flow its flow. @param bytes its size. @param ingress port it came in by. @param from
    /// queue it came from there, 1 the first own one.
    void Join(uint32_t flow, uint16_t bytes, uint16_t ingress, uint8_t from)
    {
        Frame* frame = FramePool::Take();
        frame->cls = 3;
        frame->flow = flow;
        frame->bytes = bytes;
        frame->ingress = ingress;
        frame->scheme[FirstByte()] = from;
        Egress().Enqueue(frame);
    }

    /// Let the port hear a pause. @param bits of the only segment
    void Hear(const Bits& bits) const
    {
        ControlFrame control;
        Write({3, 0, bits}, control);
        schemes.back()->ReceiveControl(control);
    }

    /// How many queues the last port gave to a flow while another had them. @return count
    double CountShared() const
    {
        lossless::Summary numbers;
        schemes.back()->Report(numbers);
        return numbers["bfc_queues_shared"];
    }

    static constexpr uint64_t RATE = 10'000'000'000;  //!< bit/s
    static constexpr int64_t DELAY = 1'000'000;       //!< ps
    Ptr<lossless::tests::TestNode> hub;               //!< the switch
    std::vector<Ptr<lossless::tests::TestNode>> ends; //!< by port
    std::vector<Ptr<Bfc>> schemes;                    //!< by port
    std::vector<Ptr<Listener>> listeners;             //!< at the ends
    Ptr<Watcher> watcher;                             //!< of the last port
};

/// Bfc with one segment, queues by their numbers, and no repeats.
/// @param queues how many. @param interval of pauses. @return factory.
static ObjectFactory
Make(uint32_t queues, const std::string& interval)
{
    ObjectFactory factory("ns3::bfc::Bfc");
    factory.Set("Queues", StringValue(std::to_string(queues)));
    factory.Set("FilterBits", StringValue("128"));
    factory.Set("Interval", StringValue(interval));
    factory.Set("FlowEntries", StringValue("16777216"));
    factory.Set("Refresh", StringValue("0s"));
    return factory;
}

/// @ingroup bfc-tests
/// @brief Numbers that can be checked with a pencil.
class HandTest : public TestCase
{
  public:
    HandTest()
        : TestCase("the pause and the resume of a flow come when they should, and name what they "
                   "should")
    {
    }

  private:
    /// A pause or a resume: when it takes effect, and the first 16 bits.
    using Said = std::vector<std::pair<int64_t, uint32_t>>;

    /// What an end has heard. @param listener there. @return time and bits.
    static Said Heard(const Listener& listener)
    {
        Said said;
        for (const auto& [time, control] : listener.m_heard)
        {
            said.emplace_back(time, control.value[0]);
        }
        return said;
    }

    void DoRun() override
    {
        // A frame of 1000 B takes 816 ns, a control frame 67.2 ns and 1 us of delay. Th is 3 us of
        // 10 Gb/s, 3750 B, or half of it with two active queues. Frames that begin to go wait no
        // more. New pauses go at whole microseconds.
        constexpr int64_t WAY = 1'067'200;
        {
            // The first of six goes at once; 1000 to 4000 B wait with frames 2 to 5, and 5 and 6
            // are marked. The last of these begins after five others.
            Bench bench(Make(4, "1us"), 1);
            for (int frame = 0; frame < 6; ++frame)
            {
                bench.Join(7, 1000, 0, 3);
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(
                (Heard(*bench.listeners[0]) == Said{{1'000'000 + WAY, 4}, {5 * 816'000 + WAY, 0}}),
                true,
                "one flow");
        }
        {
            // A frame that bypassed all queues upstream, or was made here, pauses no flow.
            Bench bench(Make(1, "0s"), 1);
            for (int frame = 0; frame < 50; ++frame)
            {
                bench.Join(1, 1000, 0, 0);
                bench.Join(2, 1000, lossless::NO_PORT, 1);
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(bench.listeners[0]->m_heard.size(), 0, "nothing to pause");
        }
        {
            // FirstFrameFirst: a frame of a flow that has none waiting, as the second one of flow
            // 1, goes before what waits.
            ObjectFactory factory = Make(1, "0s");
            factory.Set("FirstFrameFirst", StringValue("true"));
            Bench bench(factory, 1);
            std::vector<uint32_t> sent;
            bench.watcher->m_sent = [&sent](uint16_t, const Frame& frame) {
                sent.push_back(frame.flow);
            };
            for (const uint32_t flow : {1, 1, 1, 2, 2, 3})
            {
                bench.Join(flow, 1000, 0, 1);
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ((sent == std::vector<uint32_t>{1, 1, 2, 3, 1, 2}),
                                  true,
                                  "first frames first");
        }
        // A port with one queue. The frame of flow 1 goes at once: flow 2 finds the queue empty,
        // but flow 1 keeps it for twice 2 us + 1 us. Whatever pauses one of them pauses both.
        for (const int64_t later : {6'000'000, 6'000'001})
        {
            Bench bench(Make(1, "1us"), 1);
            bench.Join(1, 1000, 0, 1);
            NS_TEST_ASSERT_MSG_EQ(bench.Egress().GetEgress().CountFrames(), 0, "it is empty");
            Simulator::Schedule(TimeStep(later), [&bench] { bench.Join(2, 1000, 0, 2); });
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(bench.CountShared(),
                                  (later == 6'000'000 ? 1 : 0),
                                  "shared after " << later << " ps");
        }
    }
};

/// @ingroup bfc-tests
/// @brief A port of a switch against a model with sets and maps.
class ModelTest : public TestCase
{
  public:
    ModelTest()
        : TestCase("flows join the queues they should, frames are marked when they should, and at "
                   "every moment the messages are what the marked frames require")
    {
    }

  private:
    /// A frame that waits.
    struct Waiting
    {
        uint32_t flow;    //!< flow
        uint16_t bytes;   //!< size
        uint16_t ingress; //!< port
        uint32_t name;    //!< of it
        bool marked;      //!< it pauses its name
    };

    /// A flow.
    struct Flow
    {
        uint32_t frames{0}; //!< that wait
        int place{-1};      //!< of its queue
        int64_t last{0};    //!< when something happened (ps)
    };

    /// What is to be sent: since when, and its content.
    using States = std::vector<std::pair<int64_t, Bits>>;

    static constexpr uint16_t INGRESSES = 3; //!< ports

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (int round = 0; round < 60; ++round)
        {
            m_flowsAreNamed = round % 2 == 1;
            m_queues = 1 + random() % 12;
            m_waiting.assign(m_queues, {});
            m_flows.clear();
            m_named.clear();
            m_shared = 0;
            m_sharedEmpty = 0;
            m_states.assign(INGRESSES, States{{-1, Bits{}}});
            m_heard.Configure(128, m_flowsAreNamed ? 4 : 0, false);
            const int64_t hrtt = 500'000 + static_cast<int64_t>(random() % 4'000'000);
            m_bdp = (hrtt * 10 + 7999) / 8000; // bytes at 10 Gb/s, rounded up
            m_sticky = 2 * hrtt;
            ObjectFactory factory = Make(m_queues, "0s");
            factory.Set("Names", StringValue(m_flowsAreNamed ? "Flows" : "Queues"));
            factory.Set("Hrtt", StringValue(std::to_string(hrtt) + "ps"));
            Bench bench(factory, INGRESSES);
            bench.watcher->m_joined = [this](uint16_t queue, const Frame& frame) {
                Joined(queue, frame);
            };
            bench.watcher->m_sent = [this](uint16_t queue, const Frame& frame) {
                Sent(queue, frame);
            };
            const uint32_t flows = 1 + random() % 30;
            int64_t time = 0;
            for (int step = 0; step < 500; ++step)
            {
                time += 1 + static_cast<int64_t>(random() % 1'400'000);
                if (random() % 10 == 0)
                {
                    Bits bits{};
                    for (uint16_t& word : bits)
                    {
                        // few queues are paused; of four stages only filters half full pause flows
                        word = static_cast<uint16_t>(random() & (m_flowsAreNamed ? ~0U : random()) &
                                                     (m_flowsAreNamed ? ~0U : random()));
                    }
                    Simulator::Schedule(TimeStep(time), [this, &bench, bits] {
                        m_heard.Set(0, bits);
                        bench.Hear(bits);
                    });
                    continue;
                }
                const uint32_t flow = random() % flows;
                const auto bytes = static_cast<uint16_t>(64 + random() % 1437);
                const auto from = static_cast<uint8_t>(random() % 41);
                const uint32_t burst = 1 + random() % 3;
                Simulator::Schedule(TimeStep(time), [&bench, flow, bytes, from, burst] {
                    for (uint32_t i = 0; i < burst; ++i)
                    {
                        bench.Join(flow, bytes, static_cast<uint16_t>(flow % INGRESSES), from);
                    }
                });
            }
            Simulator::Schedule(TimeStep(time + 1), [this, &bench] {
                m_heard.Set(0, Bits{});
                bench.Hear(Bits{});
            });
            m_from = FirstByte();
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(m_named.empty(), true, "all has gone");
            for (uint16_t ingress = 0; ingress < INGRESSES; ++ingress)
            {
                std::vector<Bits> expected;
                for (const auto& [when, bits] : m_states[ingress])
                {
                    if (expected.empty() || expected.back() != bits)
                    {
                        expected.push_back(bits);
                    }
                }
                std::vector<Bits> said{Bits{}};
                for (const auto& [when, control] : bench.listeners[ingress]->m_heard)
                {
                    if (said.back() != BitsOf(control))
                    {
                        said.push_back(BitsOf(control));
                    }
                }
                NS_TEST_ASSERT_MSG_EQ((said == expected),
                                      true,
                                      "what port " << ingress << " says, round " << round << ": "
                                                   << said.size() << " and " << expected.size());
                m_said += said.size();
            }
            NS_TEST_ASSERT_MSG_EQ(bench.CountShared(), m_shared, "shared, round " << round);
            m_sharedInAll += m_shared;
            m_sharedEmptyInAll += m_sharedEmpty;
        }
        NS_TEST_ASSERT_MSG_GT(m_sharedInAll, 1000, "queues were shared");
        NS_TEST_ASSERT_MSG_GT(m_sharedEmptyInAll, 100, "some of them while they were empty");
        NS_TEST_ASSERT_MSG_GT(m_marked, 2000, "frames were marked");
        NS_TEST_ASSERT_MSG_GT(m_said, 2000, "pauses and resumes were sent");
        NS_TEST_ASSERT_MSG_GT(m_new, 2000, "queues were assigned");
        NS_TEST_ASSERT_MSG_GT(m_full, 200, "some without a free one");
    }

    /// Is a queue paused? @param place its place. @return true if so.
    bool IsHeld(uint32_t place) const
    {
        if (!m_flowsAreNamed)
        {
            return m_heard.Contains(place);
        }
        return !m_waiting[place].empty() && m_heard.Contains(m_waiting[place].front().flow);
    }

    /// Does a flow hold or keep a queue? @param flow it. @return true if so.
    bool IsAssigned(const Flow& flow) const
    {
        return flow.place >= 0 && (flow.frames > 0 || NowPs() - flow.last <= m_sticky);
    }

    /// A frame has joined. @param queue where. @param frame it.
    void Joined(uint16_t queue, const Frame& frame)
    {
        const uint32_t place = queue / N_CLASSES - 1U;
        Flow& flow = m_flows[frame.flow];
        if (IsAssigned(flow))
        {
            NS_TEST_ASSERT_MSG_EQ(place, static_cast<uint32_t>(flow.place), "it keeps its queue");
        }
        else
        {
            ++m_new;
            bool free = false;
            for (uint32_t other = 0; other < m_queues; ++other)
            {
                free = free || (m_waiting[other].empty() && !IsHeld(other));
            }
            m_full += !free;
            const bool shared = std::any_of(m_flows.begin(), m_flows.end(), [&](const auto& one) {
                return one.first != frame.flow && IsAssigned(one.second) &&
                       one.second.place == static_cast<int>(place);
            });
            m_shared += shared;
            m_sharedEmpty += shared && m_waiting[place].empty();
            NS_TEST_ASSERT_MSG_EQ((free && (!m_waiting[place].empty() || IsHeld(place))),
                                  false,
                                  "a free queue if there is one");
        }
        const uint8_t from = frame.scheme[m_from];
        const uint32_t name = m_flowsAreNamed ? frame.flow : from - 1U;
        m_waiting[place].push_back({frame.flow, frame.bytes, frame.ingress, name, false});
        flow = Flow{flow.frames + 1, static_cast<int>(place), NowPs()};
        int64_t bytes = 0;
        for (const Waiting& one : m_waiting[place])
        {
            bytes += one.bytes;
        }
        uint32_t active = 0;
        for (uint32_t other = 0; other < m_queues; ++other)
        {
            active += !m_waiting[other].empty() && !IsHeld(other);
        }
        const double threshold = static_cast<double>(m_bdp) / std::max(active, 1U);
        if (flow.frames > 1 && from > 0 && static_cast<double>(bytes) > threshold)
        {
            ++m_marked;
            m_waiting[place].back().marked = true;
            ++m_named[{frame.ingress, name}];
            NoteState(frame.ingress);
        }
    }

    /// A frame begins to go. @param queue from where. @param frame it.
    void Sent(uint16_t queue, const Frame& frame)
    {
        const uint32_t place = queue / N_CLASSES - 1U;
        NS_TEST_ASSERT_MSG_EQ(IsHeld(place), false, "paused queues are silent");
        const Waiting gone = m_waiting[place].front();
        m_waiting[place].pop_front();
        NS_TEST_ASSERT_MSG_EQ(frame.flow, gone.flow, "first in, first out");
        Flow& flow = m_flows[gone.flow];
        --flow.frames;
        flow.last = NowPs();
        if (gone.marked)
        {
            const std::pair<uint16_t, uint32_t> key{gone.ingress, gone.name};
            if (--m_named[key] == 0)
            {
                m_named.erase(key);
            }
            NoteState(gone.ingress);
        }
    }

    /// Record what a port should send now. @param ingress port
    void NoteState(uint16_t ingress)
    {
        NameFilter filter;
        filter.Configure(128, m_flowsAreNamed ? 4 : 0, true);
        for (const auto& [key, count] : m_named)
        {
            if (key.first == ingress)
            {
                filter.Insert(key.second);
            }
        }
        States& states = m_states[ingress];
        if (states.back().first == NowPs())
        {
            states.back().second = filter.Get(0);
            return;
        }
        states.emplace_back(NowPs(), filter.Get(0));
    }

    bool m_flowsAreNamed{false};                          //!< else queues
    uint32_t m_queues{0};                                 //!< how many
    uint32_t m_from{0};                                   //!< byte with the origin of a frame
    int64_t m_bdp{0};                                     //!< Th of one active queue (B)
    int64_t m_sticky{0};                                  //!< how long a flow keeps its queue (ps)
    NameFilter m_heard;                                   //!< what the peer wants paused
    std::vector<std::deque<Waiting>> m_waiting;           //!< by place
    std::map<uint32_t, Flow> m_flows;                     //!< by number
    std::map<std::pair<uint16_t, uint32_t>, int> m_named; //!< (port, name) -> marked frames
    std::vector<States> m_states;                         //!< by port
    uint64_t m_marked{0};                                 //!< frames
    uint64_t m_said{0};                                   //!< states
    uint64_t m_new{0};                                    //!< assignments
    uint64_t m_full{0};                                   //!< of them, without a free queue
    uint64_t m_shared{0};                                 //!< of a round: with another flow's queue
    uint64_t m_sharedEmpty{0};                            //!< of them, queues that were empty
    uint64_t m_sharedInAll{0};                            //!< of all rounds
    uint64_t m_sharedEmptyInAll{0};                       //!< of all rounds
};

/// @ingroup bfc-tests
/// @brief Resumes of a queue that many names share.
class ResumeTest : public TestCase
{
  public:
    ResumeTest()
        : TestCase("a queue resumes at most so many names in an HRTT, and each at last")
    {
    }

  private:
    void DoRun() override
    {
        // Eight names in one queue; each has a marked frame of 64 B, 67.2 ns apart: without a limit
        // all are resumed within 0.6 us.
        for (const uint32_t limit : {0, 1, 2, 3})
        {
            ObjectFactory factory = Make(1, "0s");
            factory.Set("ResumesPerHrtt", StringValue(std::to_string(limit)));
            Bench bench(factory, 1);
            bench.Join(99, 1500, 0, 100);
            bench.Join(99, 1500, 0, 100);
            bench.Join(99, 1500, 0, 100); // 3000 B: above Th, which is 2500 B, and so marked
            for (uint8_t name = 0; name < 8; ++name)
            {
                bench.Join(name, 64, 0, name + 1);
                bench.Join(name, 64, 0, name + 1);
            }
            Simulator::Run();
            std::vector<int64_t> times;
            Bits before{};
            for (const auto& [time, control] : bench.listeners[0]->m_heard)
            {
                const Bits bits = BitsOf(control);
                uint32_t left = 0;
                uint32_t were = 0;
                for (std::size_t word = 0; word < bits.size(); ++word)
                {
                    left += std::popcount(bits[word]);
                    were += std::popcount(before[word]);
                }
                for (; were > left; --were)
                {
                    times.push_back(time);
                }
                before = bits;
            }
            NS_TEST_ASSERT_MSG_EQ(times.size(), 9, "all resume, limit " << limit);
            NS_TEST_ASSERT_MSG_EQ((before == Bits{}), true, "nothing stays paused");
            // The first marked frame begins to go behind two of 1500 B.
            const int64_t first = 2 * 1'216'000 + 67'200 + Bench::DELAY;
            NS_TEST_ASSERT_MSG_EQ(times[0], first, "at once");
            for (std::size_t at = 1; at < times.size(); ++at)
            {
                // behind the third of 1500 B go 16 of 64 B, of which every second is marked
                const auto n = static_cast<int64_t>(at);
                const int64_t free = first + 1'216'000 + (2 * n - 1) * 67'200;
                const int64_t turn = limit == 0 ? 0 : first + n / limit * 2'000'000;
                NS_TEST_ASSERT_MSG_EQ(times[at],
                                      std::max(free, turn),
                                      "resume " << at << ", limit " << limit);
            }
        }
    }
};

/// @ingroup bfc-tests
/// @brief Frames that a cure takes out of a queue whose flows are paused one by one.
class TakenTest : public TestCase
{
  public:
    TakenTest()
        : TestCase("with a paused flow's frames taken, those behind them go, the flow's marks are "
                   "gone, and a queue that became empty is free")
    {
    }

  private:
    /// How frames are taken.
    enum class How
    {
        DROP,     ///< all of the queue
        DISCARD,  ///< the paused flow's, which are dropped
        REDIRECT, ///< the same, which join another port
    };

    /// Flows 1 and 2 share a queue; 1 is paused, its frames are taken at 10 us.
    /// @param how they are taken
    void Take(How how)
    {
        ObjectFactory factory = Make(1, "0s");
        factory.Set("Names", StringValue("Flows"));
        Bench bench(factory, 2);
        lossless::Egress& egress = bench.Egress().GetEgress();
        std::vector<std::pair<int64_t, uint32_t>> sent;
        bench.watcher->m_sent = [&sent](uint16_t, const Frame& frame) {
            sent.emplace_back(NowPs(), frame.flow);
        };
        NameFilter paused;
        paused.Configure(128, 4, true);
        paused.Insert(1);
        bench.Hear(paused.Get(0));
        constexpr uint16_t QUEUE = 3 + N_CLASSES;
        for (const uint32_t flow : {1, 1, 1, 1, 2})
        {
            bench.Join(flow, 1000, flow == 1 ? 0 : 1, 1);
        }
        Simulator::Schedule(TimeStep(10'000'000), [&] {
            if (how == How::DROP)
            {
                egress.DropQueue(QUEUE, lossless::DropCause::SCHEME);
                return;
            }
            const auto taken =
                egress.TakeFrames(QUEUE, [](const Frame& frame) { return frame.flow == 1; });
            NS_TEST_ASSERT_MSG_EQ(taken.size(), 4, "all were waiting");
            for (Frame* frame : taken)
            {
                if (how == How::REDIRECT)
                {
                    bench.hub->Redirect(frame, 1);
                }
                else
                {
                    bench.hub->Discard(frame, lossless::DropCause::SCHEME);
                }
            }
        });
        // Flow 3 comes later, where nothing of flow 1 may be left.
        Simulator::Schedule(TimeStep(30'000'000), [&bench] { bench.Join(3, 1000, 1, 1); });
        Simulator::Run();
        using Sent = std::vector<std::pair<int64_t, uint32_t>>;
        const Sent expected =
            how == How::DROP ? Sent{{30'000'000, 3}} : Sent{{10'000'000, 2}, {30'000'000, 3}};
        NS_TEST_ASSERT_MSG_EQ((sent == expected), true, "what went, and when: " << sent.size());
        // Th is 2500 B: the third and the fourth of flow 1 were marked.
        NS_TEST_ASSERT_MSG_GT(bench.listeners[0]->m_heard.size(), 1, "paused, and resumed");
        NS_TEST_ASSERT_MSG_EQ((BitsOf(bench.listeners[0]->m_heard.back().second) == Bits{}),
                              true,
                              "nothing is paused any more");
    }

    void DoRun() override
    {
        Take(How::DROP);
        Take(How::DISCARD);
        Take(How::REDIRECT);
    }
};

/// Put nodes and links into a run.
/// @param sim the run. @param kinds of the nodes: 0 a host, 1 a switch.
static void
AddNodes(facade::Simulation& sim, const std::vector<uint8_t>& kinds)
{
    std::string names;
    for (std::size_t i = 0; i < kinds.size(); ++i)
    {
        names.append("n").append(std::to_string(i)).append("\n");
    }
    sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "400000000");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "300000000");
    sim.SetAttribute("ns3::rdma::QueuePair", "Timeout", "1s");
}

/// The numbers of a run that has ended. @param sim the run. @return number by name.
static std::map<std::string, double>
Numbers(facade::Simulation& sim)
{
    const auto numbers = sim.GetSummary();
    return {numbers.begin(), numbers.end()};
}

/// @ingroup bfc-tests
/// @brief One flow from a fast link into a slow one.
class AloneTest : public TestCase
{
  public:
    AloneTest()
        : TestCase("a flow that arrives faster than it drains idles as long as the closed form "
                   "says, and holds no more than Th plus the excess of an HRTT")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t MU = 10'000'000'000;
        constexpr int64_t DELAY = 20'000'000;
        constexpr uint64_t BYTES = 25'000'000;
        for (const double a : {0.5, 1.0, 2.0})
        {
            for (const double x : {1.5, 2.0, 4.0})
            {
                facade::Simulation sim(1);
                const std::string bfc = "ns3::bfc::Bfc";
                sim.AddFlowControl(bfc);
                sim.SetAttribute(bfc, "Interval", "0s");
                const auto hrtt = static_cast<int64_t>(a * 2 * DELAY);
                sim.SetAttribute(bfc, "Hrtt", std::to_string(hrtt) + "ps");
                AddNodes(sim, {0, 0, 1});
                const std::array<uint32_t, 2> hosts{0, 1};
                const std::array<uint32_t, 2> hubs{2, 2};
                const std::array<uint64_t, 2> rates{static_cast<uint64_t>(x * MU), MU};
                const std::array<int64_t, 2> delays{DELAY, 1'000};
                sim.AddLinks(hosts.data(), hubs.data(), rates.data(), delays.data(), 2);
                const uint32_t src = 0;
                const uint32_t dst = 1;
                const int64_t start = 0;
                const int64_t never = -1;
                const uint8_t cls = 3;
                const uint64_t none = 0;
                sim.AddFlows(&src, &dst, &BYTES, &start, &never, &cls, &none, &none, 1);
                sim.Build();
                while (sim.GetFinishedFlows() == 0)
                {
                    sim.Run(sim.Now() + 10'000'000);
                }
                const auto time = static_cast<double>(sim.Now());
                NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost");
                // A packet of 1000 B is 1068 B on the wire.
                const double busy = BYTES * 1.068 * 8 / MU * 1e12;
                const double idle = 1 - busy / time;
                const double expected = 1 / (a / (x - 1) + a + x + 1);
                NS_TEST_ASSERT_MSG_EQ_TOL(idle,
                                          expected,
                                          0.006,
                                          "share of the time, a = " << a << ", x = " << x);
                const auto numbers = Numbers(sim);
                const double most = (a + x - 1) * 2 * DELAY * MU / 8e12;
                const double peak = numbers.at("peak_buffer_bytes");
                NS_TEST_ASSERT_MSG_LT(peak, most + 6 * 1068, "what it holds at most");
                NS_TEST_ASSERT_MSG_GT(peak, 0.95 * most, "and it comes close");
            }
        }
    }
};

/// @ingroup bfc-tests
/// @brief Random networks with random flows, and lost control frames.
class NetworkTest : public TestCase
{
  public:
    NetworkTest()
        : TestCase("random networks: no frame lost, none overtaken, all flows finish, however many "
                   "control frames are lost")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(31);
        double marked = 0;
        double shared = 0;
        double postponed = 0;
        double forgotten = 0;
        for (int round = 0; round < 80; ++round)
        {
            Listener::g_random.seed(round);
            Listener::g_lose = round % 3 == 0 ? 0 : static_cast<uint32_t>(random() % 50);
            facade::Simulation sim(1);
            const std::string bfc = "ns3::bfc::Bfc";
            sim.SetAttribute(bfc, "Queues", std::to_string(1 + random() % 6));
            sim.SetAttribute(bfc, "HostQueues", std::to_string(1 + random() % 20));
            sim.SetAttribute(bfc, "Hrtt", std::to_string(200 + random() % 4000) + "ns");
            sim.SetAttribute(bfc, "Interval", std::to_string(random() % 2000) + "ns");
            sim.SetAttribute(bfc, "FlowEntries", std::to_string(random() % 2 ? 5 : 7200));
            sim.SetAttribute(bfc, "Names", random() % 2 ? "Queues" : "Flows");
            sim.SetAttribute(bfc, "FilterBits", random() % 2 ? "128" : "1024");
            sim.SetAttribute(bfc, "Stages", random() % 2 ? "1" : "4");
            sim.SetAttribute(bfc, "ResumesPerHrtt", std::to_string(random() % 2));
            sim.SetAttribute(bfc, "FirstFrameFirst", random() % 2 ? "true" : "false");
            sim.SetAttribute(bfc, "Refresh", std::to_string(10 + random() % 100) + "us");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "40"); // 3 and 5
            sim.AddFlowControl("ns3::bfc::tests::Listener");
            sim.AddFlowControl(bfc);
            // A random tree of switches: no cycles, so that nothing can deadlock.
            const uint32_t switches = 1 + random() % 5;
            const uint32_t hosts = switches + 3 + random() % 6;
            std::vector<uint8_t> kinds(hosts, 0);
            kinds.insert(kinds.end(), switches, 1);
            AddNodes(sim, kinds);
            const auto link = [&](uint32_t a, uint32_t b) {
                const uint64_t rate = (random() % 2 ? 10 : 25) * 1'000'000'000ULL;
                const auto delay = static_cast<int64_t>(random() % 2'000'000);
                sim.AddLinks(&a, &b, &rate, &delay, 1);
            };
            for (uint32_t i = 1; i < switches; ++i)
            {
                link(hosts + i, hosts + random() % i);
            }
            for (uint32_t host = 0; host < hosts; ++host)
            {
                link(host, hosts + (host < switches ? host : random() % switches));
            }
            const uint32_t flows = 5 + random() % 40;
            for (uint32_t i = 0; i < flows; ++i)
            {
                const uint32_t src = random() % hosts;
                const uint32_t dst =
                    (src + 1 + (random() % 3 ? 0 : random() % (hosts - 1))) % hosts;
                const uint64_t bytes = 500 + random() % (random() % 2 ? 20'000 : 300'000);
                const auto start = static_cast<int64_t>(random() % 200'000'000);
                const int64_t never = -1;
                const uint8_t cls = random() % 4 ? 3 : 5;
                const uint64_t none = 0;
                const uint64_t window = random() % 3 ? 0 : 5000;
                sim.AddFlows(&src, &dst, &bytes, &start, &never, &cls, &none, &window, 1);
            }
            sim.Build();
            NS_TEST_ASSERT_MSG_EQ(sim.Check(), "", "possible, round " << round);
            constexpr int64_t STEP = 5'000'000'000;
            while (sim.GetFinishedFlows() < flows && sim.Now() < 200 * STEP &&
                   sim.Run(sim.Now() + STEP))
            {
            }
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost, round " << round);
            auto numbers = Numbers(sim);
            NS_TEST_ASSERT_MSG_EQ(numbers["flows_unfinished"], 0, "all finish, round " << round);
            NS_TEST_ASSERT_MSG_EQ(numbers["reordered_frames"], 0, "order, round " << round);
            NS_TEST_ASSERT_MSG_EQ(numbers["retransmitted_bytes"], 0, "once, round " << round);
            marked += numbers["bfc_frames_marked"];
            shared += numbers["bfc_queues_shared"];
            postponed += numbers["bfc_resumes_postponed"];
            forgotten += numbers["bfc_segments_forgotten"];
        }
        Listener::g_lose = 0;
        NS_TEST_ASSERT_MSG_GT(marked, 10'000, "frames were marked");
        NS_TEST_ASSERT_MSG_GT(shared, 100, "queues were shared");
        NS_TEST_ASSERT_MSG_GT(postponed, 50, "resumes waited");
        NS_TEST_ASSERT_MSG_GT(forgotten, 5, "pauses were forgotten");
    }
};

/// @ingroup bfc-tests
/// @brief What is refused.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("filters that do not fit frames or stages are refused with a sentence")
    {
    }

  private:
    void DoRun() override
    {
        const auto problems =
            [](const std::string& bits, const std::string& stages, const std::string& names) {
                ObjectFactory factory("ns3::bfc::Bfc");
                factory.Set("FilterBits", StringValue(bits));
                factory.Set("Stages", StringValue(stages));
                factory.Set("Names", StringValue(names));
                return factory.Create<Bfc>()->Check();
            };
        NS_TEST_ASSERT_MSG_EQ(problems("1024", "4", "Flows"), "", "the default");
        NS_TEST_ASSERT_MSG_NE(problems("200", "4", "Queues"), "", "no whole segments");
        NS_TEST_ASSERT_MSG_NE(problems("1024", "3", "Flows"), "", "no equal parts");
        NS_TEST_ASSERT_MSG_EQ(problems("1024", "3", "Queues"), "", "queues need no stages");
        // One of two hosts repeats, and forgets, at another pace than its switch.
        for (const std::string refresh : {"1ms", "2ms", "0s"})
        {
            facade::Simulation sim(1);
            sim.AddFlowControl("ns3::bfc::Bfc");
            AddNodes(sim, {0, 0, 1});
            const std::array<uint32_t, 2> hosts{0, 1};
            const std::array<uint32_t, 2> hubs{2, 2};
            const std::array<uint64_t, 2> rates{Bench::RATE, Bench::RATE};
            const std::array<int64_t, 2> delays{Bench::DELAY, Bench::DELAY};
            sim.AddLinks(hosts.data(), hubs.data(), rates.data(), delays.data(), 2);
            sim.SetNodeAttribute(1, "ns3::bfc::Bfc", "Refresh", refresh);
            sim.Build();
            const std::string text = sim.Check();
            NS_TEST_ASSERT_MSG_EQ(std::count(text.begin(), text.end(), '\n'),
                                  (refresh == "1ms" ? 0 : 1),
                                  "both ends of one link: " << text);
            const bool told = text.find("Refresh is") != std::string::npos &&
                              text.find("n1") != std::string::npos;
            NS_TEST_ASSERT_MSG_EQ(told, (refresh != "1ms"), "what and where: " << text);
        }
    }
};

/// @ingroup bfc-tests
/// @brief Tests of Bfc.
class FlowControlTestSuite : public TestSuite
{
  public:
    FlowControlTestSuite()
        : TestSuite("bfc-flow-control", Type::UNIT)
    {
        AddTestCase(new HandTest, TestCase::Duration::QUICK);
        AddTestCase(new ModelTest, TestCase::Duration::QUICK);
        AddTestCase(new ResumeTest, TestCase::Duration::QUICK);
        AddTestCase(new TakenTest, TestCase::Duration::QUICK);
        AddTestCase(new AloneTest, TestCase::Duration::QUICK);
        AddTestCase(new NetworkTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static FlowControlTestSuite g_flowControlTestSuite; //!< registers the suite

} // namespace tests
} // namespace bfc
} // namespace ns3
