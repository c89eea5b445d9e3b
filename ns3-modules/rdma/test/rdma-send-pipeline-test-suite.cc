/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "rdma-test-host.h"

#include "ns3/rdma-send-pipeline.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

/**
 * @file
 * @ingroup rdma-tests
 * SendPipeline: against a server that takes one packet an interval, at a link that takes no time.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::NowPs;

/// @ingroup rdma-tests
/// @brief Data and answers come at random.
class SendPipelineTest : public TestCase, public lossless::FrameSource
{
  public:
    SendPipelineTest()
        : TestCase("one packet an interval while any waits, answers and data in turn, and so the "
                   "classes of data, in whatever order they come")
    {
    }

  private:
    static constexpr int64_t INTERVAL = 10'000;             //!< between packets (ps)
    static constexpr uint8_t CLASSES = 3;                   //!< of data
    static constexpr uint64_t FASTEST = 10'000'000'000'000; //!< 64 B in 51.2 ps

    Frame* Pull(uint8_t cls) override
    {
        if (m_data[cls] == 0)
        {
            m_port->GetEgress().SetReady(PeekPipeline(), cls, false);
            return nullptr;
        }
        --m_data[cls];
        return Make(FrameKind::DATA, cls);
    }

    lossless::FrameSource* PeekPipeline() const
    {
        return m_pipeline.get();
    }

    /// A frame of the least size.
    static Frame* Make(FrameKind kind, uint8_t cls)
    {
        Frame* frame = lossless::FramePool::Take();
        frame->kind = kind;
        frame->cls = cls;
        frame->bytes = 64;
        return frame;
    }

    /// Packets come. @param cls class of data; CLASSES: they are answers. @param count packets.
    void Come(uint8_t cls, uint32_t count)
    {
        if (cls == CLASSES)
        {
            for (; count > 0; --count)
            {
                m_pipeline->Send(Make(FrameKind::ACK, lossless::CONTROL_CLASS));
            }
            return;
        }
        m_data[cls] += count;
        m_port->GetEgress().SetReady(PeekPipeline(), cls, true);
        m_port->Kick();
    }

    /// A random history. @param random source of chance.
    void Try(std::mt19937_64& random)
    {
        const auto host = CreateObject<TestHost>();
        const auto peer = CreateObject<TestHost>();
        m_port = &host->Join(FASTEST, *peer);
        m_pipeline = std::make_unique<SendPipeline>(*this, *m_port, INTERVAL);
        m_port->GetEgress().AddSource(PeekPipeline());
        host->Start();
        peer->Start();
        m_data.fill(0);

        // when, class, how many; no two are whole intervals apart, so that none ties with a packet
        std::vector<std::array<int64_t, 3>> comings;
        for (int64_t now = 1, i = 0; i < 60; ++i)
        {
            now += 1 + INTERVAL / 10 * static_cast<int64_t>(random() % (random() % 4 ? 6 : 80));
            const auto cls = static_cast<uint8_t>(random() % (CLASSES + 1));
            const auto count = static_cast<uint32_t>(1 + random() % 5);
            comings.push_back({now, cls, count});
            Simulator::Schedule(TimeStep(now), [this, cls, count] { Come(cls, count); });
        }
        Simulator::Run();
        Simulator::Destroy();

        // the same, packet by packet
        std::array<int64_t, CLASSES + 1> wait{};
        std::size_t come = 0;
        std::size_t sent = 0;
        int64_t next = 0;      // the next may begin
        bool dataTurn = false; // the last was an answer
        uint8_t last = 0;      // class of the last data
        const auto any = [&wait] { return wait[0] + wait[1] + wait[2] > 0; };
        while (come < comings.size() || any() || wait[CLASSES] > 0)
        {
            if (!any() && wait[CLASSES] == 0)
            {
                next = std::max(next, comings[come][0]);
            }
            for (; come < comings.size() && comings[come][0] <= next; ++come)
            {
                wait[comings[come][1]] += comings[come][2];
            }
            uint8_t chosen = CLASSES;
            if (any() && (dataTurn || wait[CLASSES] == 0))
            {
                chosen = last;
                do
                {
                    chosen = (chosen + 1) % CLASSES;
                } while (wait[chosen] == 0);
                last = chosen;
            }
            dataTurn = chosen == CLASSES;
            --wait[chosen];
            NS_TEST_ASSERT_MSG_LT(sent, peer->m_received.size(), "all are sent");
            if (sent == peer->m_received.size())
            {
                return;
            }
            const auto& [time, frame] = peer->m_received[sent++];
            NS_TEST_ASSERT_MSG_EQ_TOL(time, next + 60, 60, "packet " << sent);
            NS_TEST_ASSERT_MSG_EQ((frame.kind == FrameKind::DATA ? +frame.cls : CLASSES),
                                  +chosen,
                                  "packet " << sent << " at " << next);
            next += INTERVAL;
        }
        NS_TEST_ASSERT_MSG_EQ(sent, peer->m_received.size(), "no more are sent");
        NS_TEST_ASSERT_MSG_EQ(m_pipeline->CountHeld(), 0, "none is left");
        m_pipeline.reset();
    }

    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937_64 random(4);
        for (int round = 0; round < lossless::tests::Draws(50); ++round)
        {
            Try(random);
        }
    }

    lossless::Port* m_port{nullptr};                        //!< behind it
    std::unique_ptr<SendPipeline> m_pipeline;               //!< under test
    std::array<uint32_t, lossless::N_CLASSES + 1> m_data{}; //!< packets that wait, by class
};

/// @ingroup rdma-tests
/// @brief Tests of SendPipeline.
class SendPipelineTestSuite : public TestSuite
{
  public:
    SendPipelineTestSuite()
        : TestSuite("rdma-send-pipeline", Type::UNIT)
    {
        AddTestCase(new SendPipelineTest, TestCase::Duration::QUICK);
    }
};

static SendPipelineTestSuite g_sendPipelineTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
