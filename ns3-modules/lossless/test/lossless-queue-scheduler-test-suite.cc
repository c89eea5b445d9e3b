/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-node.h"

#include "ns3/lossless-port.h"
#include "ns3/lossless-queue-scheduler.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * Own egress queues and their schedulers.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// Queues of frame sizes, of which some are blocked and some gated, served by hand.
class Queues : public QueueScheduler::Heads
{
  public:
    /// Empty queues. @param n how many
    explicit Queues(uint32_t n)
        : frames(n),
          blocked(n, false),
          gated(n, false)
    {
    }

    bool MayGo(uint32_t place) override
    {
        ++asked;
        return !gated[place];
    }

    uint32_t GetBytes(uint32_t place) const override
    {
        return frames[place].front();
    }

    bool IsActive(uint32_t place) const
    {
        return !blocked[place] && !frames[place].empty();
    }

    std::vector<std::deque<uint32_t>> frames; //!< sizes (B)
    std::vector<bool> blocked;                //!< by place
    std::vector<bool> gated;                  //!< by place
    uint64_t asked{0};                        //!< questions about gates
};

/// A scheduler by definition, with lists; independent of the real ones.
class Twin
{
  public:
    /// Make one.
    /// @param queues what it serves. @param quantum of deficit round robin; 0: round robin; -1:
    /// strict.
    Twin(Queues& queues, int64_t quantum)
        : m_queues(queues),
          m_quantum(quantum),
          m_deficit(queues.frames.size(), 0)
    {
    }

    void Update(uint32_t place)
    {
        const auto at = std::find(m_order.begin(), m_order.end(), place);
        if (m_queues.IsActive(place) == (at != m_order.end()))
        {
            return;
        }
        if (at == m_order.end())
        {
            m_order.push_back(place);
            return;
        }
        m_granted = m_granted && at != m_order.begin();
        m_deficit[place] = 0;
        m_order.erase(at);
    }

    uint32_t Select()
    {
        const auto free = [this](uint32_t place) { return !m_queues.gated[place]; };
        if (std::none_of(m_order.begin(), m_order.end(), free))
        {
            std::for_each(m_order.begin(), m_order.end(), [this](uint32_t place) {
                m_deficit[place] = 0;
            });
            m_granted = m_granted && m_order.empty();
            return QueueScheduler::NONE;
        }
        if (m_quantum < 0)
        {
            uint32_t best = QueueScheduler::NONE;
            for (const uint32_t place : m_order)
            {
                best = free(place) ? std::min(best, place) : best;
            }
            return best;
        }
        if (m_quantum == 0)
        {
            return *std::find_if(m_order.begin(), m_order.end(), free);
        }
        for (;; m_order.splice(m_order.end(), m_order, m_order.begin()), m_granted = false)
        {
            const uint32_t place = m_order.front();
            if (!free(place))
            {
                m_deficit[place] = 0;
                continue;
            }
            m_deficit[place] += m_granted ? 0 : m_quantum;
            m_granted = true;
            if (m_queues.frames[place].front() <= m_deficit[place])
            {
                return place;
            }
        }
    }

    void Sent(uint32_t place, uint32_t bytes)
    {
        m_deficit[place] -= bytes;
        if (m_quantum == 0)
        {
            m_order.remove(place);
            m_order.push_back(place);
        }
    }

  private:
    Queues& m_queues;               //!< what it serves
    int64_t m_quantum;              //!< see the constructor
    std::list<uint32_t> m_order;    //!< active queues, the first has the turn
    bool m_granted{false};          //!< it has its quantum
    std::vector<int64_t> m_deficit; //!< by place
};

/// A scheduler. @param quantum as for Twin. @return it.
std::unique_ptr<QueueScheduler>
MakeOne(int64_t quantum)
{
    if (quantum > 0)
    {
        return std::make_unique<DrrScheduler>(static_cast<uint32_t>(quantum));
    }
    return quantum < 0 ? std::unique_ptr<QueueScheduler>(std::make_unique<StrictScheduler>())
                       : std::make_unique<RoundRobinScheduler>();
}

/// @ingroup lossless-tests
/// @brief Every choice against a twin that goes through lists.
class TwinTest : public TestCase
{
  public:
    TwinTest()
        : TestCase("strict, round robin and deficit round robin choose as their twins do, whatever "
                   "arrives, is blocked or gated")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(21);
        for (int round = 0; round < 120; ++round)
        {
            const auto n = static_cast<uint32_t>(1 + random() % (round % 10 ? 12 : MAX_OWN_QUEUES));
            const std::array<int64_t, 4> quanta{-1, 0, 1500, 300};
            const int64_t quantum = quanta[round % 4];
            Queues queues(n);
            Twin twin(queues, quantum);
            const auto real = MakeOne(quantum);
            real->Configure(n);
            std::vector<bool> active(n, false);
            const auto update = [&](uint32_t place) {
                twin.Update(place);
                if (queues.IsActive(place) != active[place])
                {
                    active[place] = queues.IsActive(place);
                    active[place] ? real->Activate(place) : real->Deactivate(place);
                }
            };
            for (int step = 0; step < 3000; ++step)
            {
                const auto place = static_cast<uint32_t>(random() % n);
                switch (random() % 6)
                {
                case 0:
                case 1:
                    queues.frames[place].push_back(static_cast<uint32_t>(64 + random() % 1437));
                    update(place);
                    break;
                case 2:
                    queues.blocked[place] = !queues.blocked[place] && random() % 2;
                    update(place);
                    break;
                case 3:
                    queues.gated[place] = !queues.gated[place] && random() % 3 == 0;
                    break;
                default:
                    const uint32_t chosen = real->Select(queues);
                    NS_TEST_ASSERT_MSG_EQ(chosen, twin.Select(), "round " << round << " " << step);
                    if (chosen == QueueScheduler::NONE || random() % 8 == 0)
                    {
                        break; // another class was served first
                    }
                    const uint32_t bytes = queues.frames[chosen].front();
                    queues.frames[chosen].pop_front();
                    real->NotifySent(chosen, bytes);
                    twin.Sent(chosen, bytes);
                    update(chosen);
                    break;
                }
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief Shares of deficit round robin, and what a choice costs.
class ShareTest : public TestCase
{
  public:
    ShareTest()
        : TestCase("after k rounds each backlogged queue has sent more than k Q - L and at most "
                   "k Q bytes; a choice costs as little with 1,024 queues as with 8")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t n : {8U, MAX_OWN_QUEUES})
        {
            constexpr uint32_t QUANTUM = 1500;
            constexpr int64_t ROUNDS = 40;
            Queues queues(n);
            DrrScheduler scheduler(QUANTUM);
            scheduler.Configure(n);
            std::vector<int64_t> sent(n, 0);
            for (uint32_t place = 0; place < n; ++place)
            {
                queues.frames[place].push_back(64 + place * 37 % 1437); // all of one size
                scheduler.Activate(place);
            }
            uint64_t frames = 0;
            // The first queue's turn comes again: that completes a round.
            for (int64_t round = 0, turn = -1; round < ROUNDS;)
            {
                const uint32_t place = scheduler.Select(queues);
                if (place == n - 1)
                {
                    turn = place;
                }
                else if (place == 0 && turn == n - 1)
                {
                    turn = -1;
                    ++round;
                    for (uint32_t one = 0; one < n; ++one)
                    {
                        const int64_t due = round * QUANTUM;
                        NS_TEST_ASSERT_MSG_EQ(
                            (sent[one] > due - queues.frames[one].front() && sent[one] <= due),
                            true,
                            "queue " << one << " after round " << round);
                    }
                }
                const uint32_t bytes = queues.frames[place].front();
                sent[place] += bytes;
                ++frames;
                scheduler.NotifySent(place, bytes);
            }
            NS_TEST_ASSERT_MSG_LT_OR_EQ(queues.asked, 2 * frames, "questions, of " << n);
        }
    }
};

/// Own queues by flow, deficit round robin.
class FlowQueues : public FlowControl, public QueueSelector
{
  public:
    /// Make one. @param n queues
    explicit FlowQueues(uint16_t n)
        : m_n(n)
    {
    }

    uint16_t GetOwnQueues() const override
    {
        return m_n;
    }

    std::unique_ptr<QueueScheduler> MakeScheduler() override
    {
        return std::make_unique<DrrScheduler>(1500);
    }

    uint16_t SelectQueue(const Frame& frame, uint16_t queue) const override
    {
        return frame.flow == 0 ? queue
                               : static_cast<uint16_t>(queue + N_CLASSES * (1 + frame.flow % m_n));
    }

  private:
    uint16_t m_n; //!< queues
};

/// Notes what arrives.
class FlowSink : public TestNode
{
  public:
    void Receive(Frame* frame, Port& /* ingress */) override
    {
        got.emplace_back(frame->flow, frame->psn);
        Take(frame);
    }

    std::vector<std::pair<uint32_t, uint32_t>> got; //!< flow, number
};

/// @ingroup lossless-tests
/// @brief Own queues at a port: blocks, drops, counts and turns.
class OwnQueuesTest : public TestCase
{
  public:
    OwnQueuesTest()
        : TestCase("a port serves 1,024 own queues a class by turns, behind the class queue; what "
                   "is blocked stays, and its books are right throughout")
    {
    }

  private:
    void DoRun() override
    {
        UsePicoseconds();
        constexpr uint16_t N = MAX_OWN_QUEUES;
        auto a = CreateObject<FlowSink>();
        auto b = CreateObject<FlowSink>();
        for (auto* node : {&a, &b})
        {
            auto buffer = CreateObject<SharedBuffer>();
            (*node)->SetBuffer(buffer);
            (*node)->AddPort(CreateObjectWithAttributes<Port>("Overhead", UintegerValue(0)));
        }
        Port& port = a->GetPort(0);
        port.Attach(PeekPointer(a), 0, &b->GetPort(0), 10'000'000'000, 0);
        b->GetPort(0).Attach(PeekPointer(b), 0, &port, 10'000'000'000, 0);
        port.AddFlowControl(CreateObject<FlowQueues>(N));
        a->Start();
        b->Start();
        NS_TEST_ASSERT_MSG_EQ(port.GetQueues().size(), (N + 1U) * N_CLASSES, "all there");
        const auto inject = [&](uint32_t flow, uint32_t number) {
            Frame* frame = FramePool::Take();
            frame->cls = 3;
            frame->bytes = 1500;
            frame->flow = flow;
            frame->psn = number;
            a->Inject(frame);
        };
        const auto queueOf = [&](uint32_t flow) {
            return static_cast<uint16_t>(3 + N_CLASSES * (1 + flow % N));
        };
        port.BlockClass(3, true);
        for (uint32_t number = 0; number < 3; ++number)
        {
            for (uint32_t flow = 1; flow <= N; ++flow)
            {
                inject(flow, number);
            }
        }
        inject(0, 0);
        NS_TEST_ASSERT_MSG_EQ(port.GetEgressBytes(3), 1500 * (3 * N + 1), "all wait");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(b->got.size(), 0, "a blocked class does not advance");
        NS_TEST_ASSERT_MSG_EQ(port.IsUnjudged(), true, "no model answers for the block");
        NS_TEST_ASSERT_MSG_EQ(port.GetEgress().IsHeld(queueOf(7)), true, "held");
        port.Block(queueOf(5)); // a second time: 5 stays
        port.SetIgnorePause(queueOf(6), true);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(b->got.size(), 3, "what ignores the block goes");
        NS_TEST_ASSERT_MSG_EQ(port.GetEgress().DropQueue(queueOf(9), DropCause::SCHEME),
                              3,
                              "dropped");
        const auto taken = port.GetEgress().TakeFrames(queueOf(8), [](const Frame& frame) {
            return frame.psn == 1;
        });
        NS_TEST_ASSERT_MSG_EQ(taken.size(), 1, "one was taken");
        FramePool::Give(taken.front());
        b->got.clear();
        port.BlockClass(3, false);
        Simulator::Run();
        // The class queue, then turns by the order in which frames joined: a pause keeps it. They
        // go on behind queue 6, which has just been served.
        std::vector<std::pair<uint32_t, uint32_t>> expected{{0, 0}};
        for (uint32_t number = 0; number < 3; ++number)
        {
            for (uint32_t flow = 0; flow < N; ++flow)
            {
                const uint32_t of = 1 + (6 + flow) % N;
                if (of != 5 && of != 6 && of != 9 && !(of == 8 && number == 2))
                {
                    expected.emplace_back(of, of == 8 && number == 1 ? 2 : number);
                }
            }
        }
        NS_TEST_ASSERT_MSG_EQ((b->got == expected), true, "in turn");
        NS_TEST_ASSERT_MSG_EQ(port.GetEgressBytes(3), 3 * 1500, "the blocked queue is left");
        port.Unblock(queueOf(5));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(port.GetEgressBytes(3), 0, "nothing is left");
        Simulator::Destroy();
        a->Dispose();
        b->Dispose();
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief A source that has some frames, and may say that it has when it has none.
class CountedSource : public FrameSource
{
  public:
    Frame* Pull(uint8_t cls) override
    {
        if (m_has[cls] == 0)
        {
            return nullptr;
        }
        --m_has[cls];
        Frame* frame = FramePool::Take();
        frame->src = m_number;
        return frame;
    }

    void Reopen(uint16_t queue) override
    {
        m_reopened = queue;
    }

    uint32_t m_number{0};                    //!< tells it from others
    uint16_t m_reopened{0};                  //!< last queue
    std::array<uint32_t, N_CLASSES> m_has{}; //!< frames by class
    std::array<bool, N_CLASSES> m_says{};    //!< that it has some
};

/// @ingroup lossless-tests
/// @brief Sources of one port against a line in which whoever was served goes to the end.
class SourceRingTest : public TestCase
{
  public:
    SourceRingTest()
        : TestCase("sources with frames of a class provide one each in turn, whatever others do")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(8);
        for (uint32_t n = 1; n < 8; ++n)
        {
            std::vector<CountedSource> sources(n);
            SourceRing ring;
            std::array<std::list<CountedSource*>, N_CLASSES> lines;
            for (CountedSource& source : sources)
            {
                source.m_number = static_cast<uint32_t>(&source - sources.data());
                ring.Add(&source, 0);
                for (auto& line : lines)
                {
                    line.push_back(&source);
                }
            }
            for (int step = 0; step < 2000; ++step)
            {
                const auto cls = static_cast<uint8_t>(random() % N_CLASSES);
                auto& line = lines[cls];
                if (random() % 2)
                {
                    CountedSource& source = sources[random() % n];
                    source.m_has[cls] += random() % 3;
                    source.m_says[cls] = source.m_has[cls] > 0 || random() % 4 == 0;
                    const bool any = std::any_of(line.begin(), line.end(), [cls](const auto* one) {
                        return one->m_says[cls];
                    });
                    NS_TEST_ASSERT_MSG_EQ(ring.SetReady(&source, cls, source.m_says[cls]),
                                          any,
                                          "whether any has frames");
                    continue;
                }
                const auto first = std::find_if(line.begin(), line.end(), [cls](const auto* one) {
                    return one->m_says[cls] && one->m_has[cls] > 0;
                });
                const uint32_t wanted = first == line.end() ? n : (*first)->m_number;
                Frame* frame = ring.Pull(cls);
                NS_TEST_ASSERT_MSG_EQ((frame ? frame->src : n), wanted, "the next of " << n);
                if (frame)
                {
                    FramePool::Give(frame);
                    line.splice(line.end(), line, line.begin(), std::next(first));
                }
            }
            ring.Reopen(5);
            const auto reopened =
                std::count_if(sources.begin(), sources.end(), [](const auto& one) {
                    return one.m_reopened == 5;
                });
            NS_TEST_EXPECT_MSG_EQ(reopened, n, "all are told");
        }
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief Bytes of frames for schemes.
class SchemeBytesTest : public TestCase
{
  public:
    SchemeBytesTest()
        : TestCase("schemes get bytes of a frame that do not overlap, 0 when it is made")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t first = FramePool::ReserveSchemeBytes("first", 3);
        const uint32_t second = FramePool::ReserveSchemeBytes("second", 5);
        NS_TEST_ASSERT_MSG_EQ(FramePool::ReserveSchemeBytes("first", 3), first, "again the same");
        NS_TEST_ASSERT_MSG_EQ((second >= first + 3 || first >= second + 5), true, "apart");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(std::max(first + 3, second + 5), SCHEME_BYTES, "inside");
        Frame* frame = FramePool::Take();
        frame->scheme[second] = 7;
        NS_TEST_ASSERT_MSG_EQ(+Departure::Of(*frame).scheme[second], 7, "a departure has them");
        FramePool::Give(frame);
        NS_TEST_ASSERT_MSG_EQ(+FramePool::Take()->scheme[second], 0, "a new frame has none");
        FramePool::Clear();
        NS_TEST_ASSERT_MSG_EQ(FramePool::ReserveSchemeBytes("third", SCHEME_BYTES), 0, "anew");
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief Tests of own queues.
class QueueSchedulerTestSuite : public TestSuite
{
  public:
    QueueSchedulerTestSuite()
        : TestSuite("lossless-queue-scheduler", Type::UNIT)
    {
        AddTestCase(new TwinTest, TestCase::Duration::QUICK);
        AddTestCase(new ShareTest, TestCase::Duration::QUICK);
        AddTestCase(new OwnQueuesTest, TestCase::Duration::QUICK);
        AddTestCase(new SourceRingTest, TestCase::Duration::QUICK);
        AddTestCase(new SchemeBytesTest, TestCase::Duration::QUICK);
    }
};

static QueueSchedulerTestSuite g_queueSchedulerTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
