/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/lossless-port.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/pffc-paused-queues.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup pffc-tests
 * PausedQueues: the order of frames under any sequence of messages, and what is forgotten when.
 */

namespace ns3
{
namespace pffc
{
namespace tests
{

using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::tests::Draws;
using lossless::tests::TestNode;

constexpr uint8_t CLS = 3; //!< of all frames

/// @ingroup pffc-tests
/// @brief The sender's side alone, as a flow control.
class SenderSide : public lossless::FlowControl,
                   public lossless::Gate,
                   public lossless::SentListener,
                   public lossless::QueueSelector
{
  public:
    /// Constructor. @param peqs a class. @param refresh period (ps); 0: none.
    SenderSide(uint32_t peqs, int64_t refresh)
        : m_peqs(peqs),
          m_refresh(refresh)
    {
    }

    void Start() override
    {
        m_queues.Start(*m_port, m_peqs, TimeStep(m_refresh));
    }

    uint16_t GetOwnQueues() const override
    {
        return static_cast<uint16_t>(m_peqs);
    }

    uint16_t SelectQueue(const Frame& frame, uint16_t queue) const override
    {
        return m_queues.SelectQueue(frame, queue);
    }

    void NotifyJoined(uint16_t queue, Frame& frame) override
    {
        m_queues.NotifyJoined(queue, frame);
    }

    int64_t GetEarliest(uint16_t queue, const Frame& /* head */, int64_t now) const override
    {
        return m_queues.IsNext(queue) ? now : lossless::NEVER;
    }

    void NotifySent(uint16_t queue, Frame& frame, int64_t /* now */) override
    {
        m_queues.NotifySent(queue, frame);
    }

    PausedQueues m_queues; //!< under test

  private:
    uint32_t m_peqs;   //!< a class
    int64_t m_refresh; //!< ps; 0: none
};

/// @ingroup pffc-tests
/// @brief A node that notes what arrives.
class NotingNode : public TestNode
{
  public:
    NotingNode()
    {
        SetBuffer(CreateObject<lossless::SharedBuffer>());
    }

    void Receive(Frame* frame, lossless::Port& /* ingress */) override
    {
        m_got.push_back(*frame);
        Take(frame);
    }

    std::vector<Frame> m_got; //!< frames in the order of arrival
};

/// @ingroup pffc-tests
/// @brief Two nodes joined by 10 Gb/s, the first with the sender's side.
struct SenderLink
{
    static constexpr uint16_t INGRESS = 4; //!< ports that frames may have come in by

    /// Make it. @param peqs a class. @param refresh ps. @param service of queues of the ports.
    SenderLink(uint32_t peqs, int64_t refresh, const std::string& service)
        : side(CreateObject<SenderSide>(peqs, refresh))
    {
        lossless::UsePicoseconds();
        for (const auto& node : nodes)
        {
            for (uint16_t port = 0; port <= INGRESS; ++port)
            {
                node->AddPort(CreateObjectWithAttributes<lossless::Port>("QueueService",
                                                                         StringValue(service)));
            }
        }
        for (std::size_t i = 0; i < nodes.size(); ++i)
        {
            for (uint16_t port = 0; port <= INGRESS; ++port)
            {
                nodes[i]->GetPort(port).Attach(PeekPointer(nodes[i]),
                                               port,
                                               &nodes[1 - i]->GetPort(0),
                                               10'000'000'000,
                                               1'000'000);
            }
        }
        nodes[0]->GetPort(0).AddFlowControl(side);
        nodes[0]->Start();
        nodes[1]->Start();
    }

    ~SenderLink()
    {
        Simulator::Destroy();
        for (const auto& node : nodes)
        {
            node->Dispose();
        }
        FramePool::Clear();
    }

    SenderLink(const SenderLink&) = delete;
    SenderLink& operator=(const SenderLink&) = delete;

    /// The peer says something. @param opcode of the message. @param time when it is heard (ps).
    /// @param paused STATE: the paused PEQs. @param peq of the flows. @param flows that migrate.
    void Say(uint16_t opcode,
             int64_t time,
             uint8_t paused,
             uint8_t peq = 0,
             const std::vector<uint32_t>& flows = {})
    {
        Message message;
        message.cls = CLS;
        message.opcode = opcode;
        message.sequence = ++sequence;
        message.paused = paused;
        message.peq = peq;
        message.nFlows = static_cast<uint8_t>(flows.size());
        std::copy(flows.begin(), flows.end(), message.flows.begin());
        Simulator::Schedule(TimeStep(time), [this, message] { side->m_queues.Receive(message); });
    }

    /// A frame of a flow comes, now.
    void Inject(uint32_t flow, uint32_t psn, uint16_t bytes)
    {
        Frame* frame = FramePool::Take();
        frame->cls = CLS;
        frame->flow = flow;
        frame->psn = psn;
        frame->bytes = bytes;
        frame->ingress = static_cast<uint16_t>(1 + flow % INGRESS);
        nodes[0]->Inject(frame);
    }

    std::array<Ptr<NotingNode>, 2> nodes{CreateObject<NotingNode>(),
                                         CreateObject<NotingNode>()}; //!< both ends
    Ptr<SenderSide> side;                                             //!< at the first
    uint16_t sequence{65'500}; //!< of the last message: it wraps around soon
};

/// @ingroup pffc-tests
/// @brief The sender's side under every possible sequence of messages, sensible or not.
class PausedOrderTest : public TestCase
{
  public:
    PausedOrderTest()
        : TestCase("frames of a flow never overtake each other, whatever is paused, resumed and "
                   "migrated when; a paused PEQ sends nothing, and the line is idle only while all "
                   "that waits is in paused PEQs")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(21);
        for (int round = 0; round < Draws(400); ++round)
        {
            Try(round, random);
        }
        NS_TEST_ASSERT_MSG_GT(m_peqFrames, Draws(10'000), "PEQs were used");
        NS_TEST_ASSERT_MSG_GT(m_pausedLooks, Draws(1'000), "and paused");
        NS_TEST_ASSERT_MSG_EQ(m_idle, 0, "the line is never idle while something may go");
    }

    /// A random history. @param round its number. @param random source of chance.
    void Try(int round, std::mt19937_64& random)
    {
        const uint32_t n = 1 + random() % 7;
        SenderLink link(n, 0, round % 2 ? "RoundRobin" : "Fifo");
        const uint32_t flows = 1 + random() % 12;
        std::vector<uint32_t> psn(flows, 0);
        int64_t time = 0;
        const uint64_t messages = random() % 30;
        for (int step = 0; step < 400; ++step)
        {
            // Sometimes several things at the same time.
            time += random() % 3 ? static_cast<int64_t>(random() % 1'500'000) : 0;
            if (random() % 100 < messages)
            {
                const auto opcode = static_cast<uint16_t>(STATE_OPCODE + random() % 3);
                const auto paused = static_cast<uint8_t>(random() & ((2U << n) - 2));
                std::vector<uint32_t> moved(
                    opcode == STATE_OPCODE ? 0 : 1 + random() % FLOWS_PER_FRAME);
                std::ranges::generate(moved, [&] { return random() % flows; });
                if (opcode == STATE_OPCODE)
                {
                    NotePausesAt(time, link, paused);
                }
                link.Say(opcode, time, paused, static_cast<uint8_t>(1 + random() % n), moved);
                continue;
            }
            const uint32_t flow = random() % flows;
            for (uint64_t burst = 1 + random() % 4; burst > 0; --burst)
            {
                const uint32_t number = psn[flow]++;
                const auto bytes = static_cast<uint16_t>(64 + random() % 1437);
                Simulator::Schedule(TimeStep(time), [this, &link, flow, number, bytes] {
                    link.Inject(flow, number, bytes);
                    CountPeqs(link);
                });
            }
        }
        for (int64_t look = 0; look < time; look += 5'000'000)
        {
            Simulator::Schedule(TimeStep(look + 1), [this, &link] { LookIdle(link); });
        }
        m_paused = 0;
        NotePausesAt(time + 1, link, 0);
        link.Say(STATE_OPCODE, time + 1, 0);
        Simulator::Run();
        std::vector<uint32_t> next(flows, 0);
        for (const Frame& frame : link.nodes[1]->m_got)
        {
            NS_TEST_ASSERT_MSG_EQ(frame.psn,
                                  next[frame.flow],
                                  "flow " << frame.flow << ", round " << round);
            ++next[frame.flow];
        }
        NS_TEST_ASSERT_MSG_EQ((next == psn), true, "all went in the end, round " << round);
    }

    /// NotePauses, later. @param time ps. @param link network. @param paused PEQs from then on.
    void NotePausesAt(int64_t time, const SenderLink& link, uint8_t paused)
    {
        Simulator::Schedule(TimeStep(time), [this, &link, paused] { NotePauses(link, paused); });
    }

    /// The PEQs that were paused until now must hold what they held. @param link network.
    /// @param paused PEQs from now on.
    void NotePauses(const SenderLink& link, uint8_t paused)
    {
        const auto& queues = link.nodes[0]->GetPort(0).GetQueues();
        for (std::size_t peq = 1; N_CLASSES * peq < queues.size(); ++peq)
        {
            const Frame* head = queues[CLS + N_CLASSES * peq].Head();
            if ((m_paused >> peq) & 1U && m_heads[peq] != 0)
            {
                NS_TEST_ASSERT_MSG_EQ((head ? head->order + 1 : 0), m_heads[peq], "PEQ " << peq);
                ++m_pausedLooks;
            }
            m_heads[peq] = head ? head->order + 1 : 0;
        }
        m_paused = paused;
    }

    /// Count PEQs with frames.
    void CountPeqs(const SenderLink& link)
    {
        const auto& queues = link.nodes[0]->GetPort(0).GetQueues();
        for (std::size_t queue = N_CLASSES + CLS; queue < queues.size(); queue += N_CLASSES)
        {
            m_peqFrames += queues[queue].GetFrames() > 0;
        }
    }

    /// If the line is idle, the DEQ must be empty. A PEQ that is not paused may wait for another
    /// that is: then it must hold frames of a flow that the other holds too, so that only the DEQ
    /// is judged.
    void LookIdle(const SenderLink& link)
    {
        const lossless::Port& port = link.nodes[0]->GetPort(0);
        const int64_t sent = port.GetCounters().wireOut[CLS];
        // Nothing is in transmission if nothing is on the way: look a largest frame later.
        Simulator::Schedule(TimeStep(1'300'000), [this, &port, sent] {
            const bool idle = port.GetCounters().wireOut[CLS] == sent;
            m_idle += idle && port.GetQueues()[CLS].GetFrames() > 0;
        });
    }

    uint64_t m_peqFrames{0};           //!< times a PEQ was seen with frames
    uint64_t m_pausedLooks{0};         //!< times a paused one was
    uint64_t m_idle{0};                //!< times the line was idle and should not have been
    uint32_t m_paused{0};              //!< PEQs paused
    std::array<uint64_t, 8> m_heads{}; //!< by PEQ: 1 + order of its head at the last message
};

/// @ingroup pffc-tests
/// @brief The peer falls silent, or is heard out of order.
class ForgetTest : public TestCase
{
  public:
    ForgetTest()
        : TestCase("pauses and places that are not said again end three to four periods later, and "
                   "what is heard too late has no effect")
    {
    }

  private:
    static constexpr int64_t REFRESH = 10'000'000; //!< ps

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (int round = 0; round < 50; ++round)
        {
            TrySilence(static_cast<int64_t>(random() % REFRESH), random() % 5);
            TryOvertaken(random);
        }
    }

    /// A pause and a place are said several times. @param first when (ps). @param more times after.
    void TrySilence(int64_t first, uint64_t more)
    {
        SenderLink link(2, REFRESH, "Fifo");
        int64_t last = first;
        for (uint64_t i = 0; i <= more; ++i, last += REFRESH)
        {
            link.Say(STATE_OPCODE, last, 1U << 2);
            link.Say(MIGRATE_OPCODE, last, 0, 2, {9});
        }
        last -= REFRESH;
        Frame frame;
        frame.cls = CLS;
        frame.flow = 9;
        const uint16_t peq = CLS + N_CLASSES * 2;
        Simulator::Schedule(TimeStep(last + 1), [&link] { link.Inject(9, 0, 100); });
        Simulator::Schedule(TimeStep(last + 3 * REFRESH - 1), [&] {
            NS_TEST_ASSERT_MSG_EQ(link.side->m_queues.SelectQueue(frame, CLS), peq, "its place");
            NS_TEST_ASSERT_MSG_EQ(link.nodes[0]->GetPort(0).GetQueues()[peq].GetFrames(),
                                  1,
                                  "held");
        });
        Simulator::Schedule(TimeStep(last + 4 * REFRESH + 1), [&] {
            NS_TEST_ASSERT_MSG_EQ(link.side->m_queues.SelectQueue(frame, CLS), +CLS, "forgotten");
            NS_TEST_ASSERT_MSG_EQ(link.nodes[0]->GetPort(0).GetQueues()[peq].GetFrames(),
                                  0,
                                  "sent");
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(link.side->m_queues.GetExpired(), 2, "the pause and the place");
        const int64_t paused = link.side->m_queues.GetPausedTime();
        NS_TEST_ASSERT_MSG_GT_OR_EQ(paused, last - first + 3 * REFRESH, "three periods");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(paused, last - first + 4 * REFRESH, "to four");
    }

    /// States are heard in any order: the last one said counts. @param random source of chance.
    void TryOvertaken(std::mt19937_64& random)
    {
        SenderLink link(7, 0, "Fifo");
        std::vector<std::pair<uint16_t, uint8_t>> said;
        for (uint16_t i = 0; i < 40; ++i)
        {
            said.emplace_back(i, static_cast<uint8_t>(random() & 0xfe));
        }
        std::shuffle(said.begin(), said.end(), random);
        uint64_t late = 0;
        int latest = -1;
        uint8_t paused = 0;
        const auto first = static_cast<uint16_t>(random());
        for (const auto& [number, state] : said)
        {
            Message message;
            message.cls = CLS;
            message.opcode = STATE_OPCODE;
            message.sequence = static_cast<uint16_t>(first + number);
            message.paused = state;
            link.side->m_queues.Receive(message);
            late += number < latest;
            paused = number > latest ? state : paused;
            latest = std::max<int>(latest, number);
            NS_TEST_ASSERT_MSG_EQ(link.side->m_queues.GetOvertaken(), late, "too late");
        }
        link.sequence = static_cast<uint16_t>(first + 40);
        for (uint8_t peq = 1; peq <= 7; ++peq)
        {
            link.Say(MIGRATE_OPCODE, 0, 0, peq, {peq});
            Simulator::Schedule(TimeStep(1), [&link, peq] { link.Inject(peq, 0, 100); });
        }
        Simulator::Run();
        for (uint8_t peq = 1; peq <= 7; ++peq)
        {
            const auto& queue = link.nodes[0]->GetPort(0).GetQueues()[CLS + N_CLASSES * peq];
            NS_TEST_ASSERT_MSG_EQ(queue.GetFrames(), (paused >> peq & 1U), "PEQ " << +peq);
        }
    }
};

/// @ingroup pffc-tests
/// @brief Tests of PausedQueues.
class PausedQueuesTestSuite : public TestSuite
{
  public:
    PausedQueuesTestSuite()
        : TestSuite("pffc-paused-queues", Type::UNIT)
    {
        AddTestCase(new PausedOrderTest, TestCase::Duration::QUICK);
        AddTestCase(new ForgetTest, TestCase::Duration::QUICK);
    }
};

static PausedQueuesTestSuite g_pausedQueuesTestSuite; //!< registers the suite

} // namespace tests
} // namespace pffc
} // namespace ns3
