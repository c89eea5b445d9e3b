/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/enum.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-rate.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <array>
#include <random>

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

/**
 * @ingroup lossless-tests
 * @brief A node that only notes what arrives.
 */
class SinkNode : public FabricNode
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

    void Inject(Frame* frame) override
    {
        CountMade(frame);
        m_ports.front()->Enqueue(frame);
    }

    int64_t GetPipelineLatency() const override
    {
        return 0;
    }

    std::vector<Frame> m_got;    //!< frames in the order of arrival
    std::vector<int64_t> m_when; //!< when (ps)
};

/**
 * @ingroup lossless-tests
 * @brief Frames that wait together leave in the order that the services say.
 */
class ServiceTest : public TestCase
{
  public:
    ServiceTest()
        : TestCase("strict, DWRR, FIFO and round robin over ingress ports serve as they should")
    {
    }

  private:
    /**
     * @brief Two nodes joined by 10 Gb/s and 1 us without overhead.
     *
     * @param classService attribute of the port
     * @param queueService attribute of the port
     */
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

    /**
     * @brief Queue a frame at a.
     *
     * @param cls class
     * @param bytes size
     * @param ingress port it came in by
     */
    void Queue(uint8_t cls, uint16_t bytes, uint16_t ingress = 1)
    {
        Frame* frame = FramePool::Take();
        frame->cls = cls;
        frame->bytes = bytes;
        frame->ingress = ingress;
        frame->flow = ingress; // the receiver overwrites ingress with its own port
        m_a->Inject(frame);
    }

    /// Run until all has arrived, then forget the nodes but for what b got.
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

        // Two classes with frames of different size get equal bytes.
        Connect("Dwrr", "Fifo");
        for (int i = 0; i < 3000; ++i)
        {
            Queue(1, 300);
            Queue(6, 1500);
        }
        Drain();
        std::array<int64_t, N_CLASSES> bytes{};
        for (const Frame& frame : m_result->m_got)
        {
            bytes[frame.cls] += frame.bytes;
            if (bytes[1] + bytes[6] > 1'000'000)
            {
                break;
            }
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(bytes[1], bytes[6], 2 * 1500, "DWRR shares bytes, not frames");

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

/**
 * @ingroup lossless-tests
 * @brief Times of transmission are exact, and the limiter equals a brute-force integral.
 */
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

/**
 * @ingroup lossless-tests
 * @brief Tests of Port and RateLimiter.
 */
class PortTestSuite : public TestSuite
{
  public:
    PortTestSuite()
        : TestSuite("lossless-port", Type::UNIT)
    {
        AddTestCase(new ServiceTest, TestCase::Duration::QUICK);
        AddTestCase(new RateTest, TestCase::Duration::QUICK);
    }
};

static PortTestSuite g_portTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
