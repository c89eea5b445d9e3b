/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-test-network.h"

#include "ns3/dctcp.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <random>

/**
 * @file
 * @ingroup dctcp-tests
 * DCTCP's sender against windows computed by hand and a second model, and whole networks against
 * the closed form of its sawtooth.
 */

namespace ns3
{
namespace dctcp
{
namespace tests
{

using facade::tests::Network;
using facade::tests::Settings;
using lossless::Frame;
using rdma::QueuePair;

namespace
{

constexpr int64_t US = 1'000'000;                  //!< ps
constexpr uint64_t GBPS = 1'000'000'000;           //!< bit/s
constexpr uint64_t LINE = 100 * GBPS;              //!< of the sender (bit/s)
constexpr const char* DCTCP = "ns3::dctcp::Dctcp"; //!< type

/// A change of the window.
struct Change
{
    double window; //!< B
    double alpha;  //!< share of marked packets
};

/// A sender that the test feeds with answers. T = 8 us: at 100 Gb/s the window is 100 kB at most.
class Fed
{
  public:
    /// Begin. @param settings attributes that differ: g is 1/2, and a round trip adds 1 kB
    explicit Fed(const Settings& settings = {})
        : m_queuePair(CreateObject<QueuePair>()),
          m_dctcp(CreateObject<Dctcp>()),
          m_feeder(*m_dctcp)
    {
        lossless::UsePicoseconds();
        Settings all{{"BaseRtt", "8us"}, {"Gain", "0.5"}, {"AdditiveIncrease", "1Gbps"}};
        all.insert(all.end(), settings.begin(), settings.end());
        facade::tests::Apply(m_dctcp, all);
        m_dctcp->TraceConnectWithoutContext("Window", MakeCallback(&Fed::Keep, this));
        m_dctcp->Start(m_queuePair->GetSendQueue(), LINE);
    }

    /// Send packets up to a number. @param next the one that would be next
    void SendUpTo(uint32_t next)
    {
        Frame frame;
        frame.psn = next - 1;
        m_feeder.Send(frame);
    }

    /// Let an answer come. @param psn of the packet answered. @param marked by a switch.
    void Answer(uint32_t psn, bool marked)
    {
        Frame frame;
        frame.word = {psn + 1, psn};
        frame.ecn = marked ? Frame::ECN_MARKED : Frame::ECN_CAPABLE;
        m_feeder.Answer(frame);
    }

    /// The sender. @return it.
    const Dctcp& Get() const
    {
        return *m_dctcp;
    }

    std::vector<Change> changes; //!< all so far

  private:
    /// Write down a change. @param window W. @param alpha share.
    void Keep(uint32_t, double window, double alpha)
    {
        changes.push_back({window, alpha});
    }

    Ptr<QueuePair> m_queuePair;     //!< of nobody
    Ptr<Dctcp> m_dctcp;             //!< the sender
    facade::tests::Feeder m_feeder; //!< of it
};

} // namespace

/// @ingroup dctcp-tests
/// @brief Windows computed by hand.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase("the window and alpha are those computed by hand")
    {
    }

  private:
    /// Compare the last change.
    /// @param fed the sender. @param count of changes so far. @param window B. @param alpha share.
    /// @param what is tested.
    void Last(const Fed& fed,
              std::size_t count,
              double window,
              double alpha,
              const std::string& what)
    {
        NS_TEST_ASSERT_MSG_EQ(fed.changes.size(), count, what << ": changes");
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.changes.back().window, window, 1e-6, what << ": W");
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.changes.back().alpha, alpha, 1e-12, what << ": alpha");
    }

    /// The first answers.
    void Rounds()
    {
        Fed fed;
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), LINE, "begins at the line's rate");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 100'999, "begins with B T, and a packet");
        fed.SendUpTo(4);
        fed.Answer(0, false);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 0, "the first answer begins a round trip");
        fed.Answer(1, true);
        Last(fed, 1, 50'000, 1, "the first mark cuts by all of alpha / 2");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 50'999, "W, and a packet");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), LINE / 2, "W / T");
    }

    /// What is sent again neither ends a round trip nor lets a mark cut again.
    void Repeats()
    {
        Fed fed;
        fed.SendUpTo(10);
        fed.Answer(0, false); // the round trip ends with packet 10
        fed.Answer(1, true);
        Last(fed, 1, 50'000, 1, "a cut");
        fed.SendUpTo(3); // packet 2 again
        fed.Answer(3, true);
        fed.Answer(4, true);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 1, "all were sent before the cut");
        fed.SendUpTo(20);
        fed.Answer(10, false);
        Last(fed, 2, 51'000, 0.5 + 0.5 * 0.6, "three of five, and a step");
        fed.SendUpTo(6); // packet 5 again
        fed.Answer(19, true);
        const double alpha = 0.8;
        Last(fed, 3, 51'000 * (1 - alpha / 2), alpha, "a cut in the round trip up to packet 20");
        fed.Answer(19, true);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 3, "a packet that was sent before it");
    }

    /// Within the line's rate and MinRate; and the step of a packet.
    void Bounds()
    {
        Fed fed(Settings{{"MinRate", "30Gbps"}, {"AdditiveIncrease", "0bps"}});
        fed.SendUpTo(1);
        fed.Answer(0, true);
        fed.SendUpTo(2);
        fed.Answer(1, true);
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.changes.back().window, 30'000, 1e-6, "MinRate at the least");
        for (uint32_t psn = 2; psn < 4; ++psn)
        {
            fed.SendUpTo(psn + 1);
            fed.Answer(psn, false);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.changes.back().window, 32'000, 1e-6, "a packet at a time");
        for (uint32_t psn = 4; psn < 100; ++psn)
        {
            fed.SendUpTo(psn + 1);
            fed.Answer(psn, false);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.changes.back().window, 100'000, 1e-6, "the line at the most");
    }

    void DoRun() override
    {
        Rounds();
        Repeats();
        Bounds();
    }
};

/// @ingroup dctcp-tests
/// @brief Random marks against a second model, which knows all answers and looks back.
class SecondModelTest : public TestCase
{
  public:
    SecondModelTest()
        : TestCase("random marks give the windows of a second model")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        const auto below = [&random](uint32_t limit) {
            return static_cast<uint32_t>(random() % limit);
        };
        for (int round = 0; round < 200; ++round)
        {
            const double gain = static_cast<double>(1 + below(16)) / 16;
            const uint32_t share = below(100);
            Fed fed(Settings{{"Gain", std::to_string(gain)}});
            std::vector<bool> marks;
            std::vector<uint32_t> sent; // next packet to send as each answer came
            double window = 100'000;
            double alpha = 1;
            std::size_t batch = 0; // first answer of the round trip
            uint32_t batchEnd = 0; // first packet of the next one
            uint32_t cutEnd = 0;   // first packet whose mark may cut
            for (uint32_t psn = 0; psn < 400; ++psn)
            {
                sent.push_back(std::max(sent.empty() ? 0 : sent.back(), psn + 1 + below(20)));
                marks.push_back(below(100) < share);
                fed.SendUpTo(sent.back());
                fed.Answer(psn, marks.back());
                const bool over = psn > 0 && psn >= batchEnd;
                if (over)
                {
                    const auto from = marks.begin() + static_cast<std::ptrdiff_t>(batch);
                    const auto marked = std::count(from, marks.end(), true);
                    const auto all = std::distance(from, marks.end());
                    alpha +=
                        gain * (static_cast<double>(marked) / static_cast<double>(all) - alpha);
                    batch = marks.size();
                }
                if (psn == 0 || over)
                {
                    batchEnd = sent.back();
                }
                if (marks.back() && psn >= cutEnd)
                {
                    cutEnd = sent.back();
                    window -= window * alpha / 2;
                }
                else if (over && psn >= cutEnd)
                {
                    window += 1000;
                }
                window = std::min(100'000.0, std::max(1000.0, window));
                // in whole bytes, up
                const double got = static_cast<double>(fed.Get().GetWindow()) - 999;
                NS_TEST_ASSERT_MSG_EQ_TOL(got, window + 0.5, 0.5 + 1e-6, "W of packet " << psn);
                if (!fed.changes.empty())
                {
                    NS_TEST_ASSERT_MSG_EQ_TOL(fed.changes.back().alpha, alpha, 1e-9, "alpha");
                }
            }
        }
    }
};

/// @ingroup dctcp-tests
/// @brief Whole networks: greedy flows that share a port, against the fluid model of the paper.
class SawtoothTest : public TestCase
{
  public:
    SawtoothTest()
        : TestCase("flows share a busy port in equal parts, with the queue of the closed form")
    {
    }

  private:
    static constexpr double PAYLOAD = 1000; //!< of a packet (B)
    static constexpr double WIRE = 1068;    //!< of a packet, with headers, preamble and gap (B)
    static constexpr double FRAME = 1048;   //!< of a packet in a queue (B)

    /// What came of a run.
    struct Result
    {
        std::vector<double> shares; //!< of the line, of each flow, in the second half
        double sum;                 //!< of them
        double highest;             //!< of the queue in the second half (packets)
        double mean;                //!< of it over time
    };

    /// Run.
    /// @param senders of greedy flows to one receiver. @param threshold K (packets) @param wire
    /// delay of each link (ps) @return what came of it.
    Result Run(uint32_t senders, uint32_t threshold, int64_t wire)
    {
        constexpr uint64_t RATE = 10 * GBPS;
        constexpr int64_t END = 100'000 * US;
        Network net;
        net.Set("QueuePair", "PayloadSize", 1000);
        net.Set("QueuePair", "HeaderSize", 48);
        net.Set("Port", "Overhead", 20);
        const std::string bytes = std::to_string(threshold * static_cast<uint32_t>(FRAME));
        for (const auto& [name, value] : Settings{{"At", "Enqueue"},
                                                  {"Kmin", bytes},
                                                  {"Kmax", bytes},
                                                  {"Pmax", "1"},
                                                  {"ReferenceRate", "0bps"}})
        {
            net.Set("EcnMarking", name, value);
        }
        net.sim.AddAgent("ns3::lossless::EcnMarking");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetAttribute(DCTCP, "MinRate", "10Mbps");
        net.sim.SetCongestionControl(DCTCP);
        net.Star(senders + 1, RATE, wire);
        std::vector<uint32_t> flows;
        for (uint32_t host = 0; host < senders; ++host)
        {
            flows.push_back(net.Flow(host, senders, 0, host * 7 * US));
        }
        net.Trace("egress", senders + 1, senders);
        net.sim.Build();
        Result result{{}, 0, 0, 0};
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", "possible");
        result.shares = net.DeliveredInSecondHalf(flows, END);
        for (double& share : result.shares)
        {
            share *= WIRE / PAYLOAD * 8 / (RATE * (END / 2e12));
            result.sum += share;
        }
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "nothing is lost unawares");
        const auto times = net.Column("egress", "time_ps");
        const auto queue = net.Column("egress", "bytes");
        for (std::size_t i = 0; i < times.size(); ++i)
        {
            if (times[i] > END / 2)
            {
                result.highest = std::max(result.highest, static_cast<double>(queue[i]) / FRAME);
            }
        }
        result.mean = net.MeanQueue() / FRAME;
        return result;
    }

    void DoRun() override
    {
        constexpr int64_t WIRE_PS = 20 * US;
        // T: two wires each way, the packet sent twice, its answer sent twice
        const double bdp = 10e9 * (4 * 20e-6 + 2 * WIRE * 8e-10 + 2 * 84 * 8e-10) / 8 / WIRE;
        for (const uint32_t senders : {2, 4, 8})
        {
            const double n = senders;
            const Result got = Run(senders, 40, WIRE_PS);
            // Alizadeh et al., SIGCOMM 2010, section 3.3 (as recalled): windows of N flows that are
            // cut together swing between K + N packets and A = sqrt(2 N (C T + K)) / 2 less. A
            // window of ours is rounded up to whole packets.
            const double amplitude = std::sqrt(2 * n * (bdp + 40)) / 2;
            NS_TEST_EXPECT_MSG_EQ_TOL(got.mean,
                                      40 + n - amplitude / 2,
                                      2,
                                      senders << " senders: queue");
            NS_TEST_EXPECT_MSG_GT_OR_EQ(got.highest, 40 + n - 1, senders << " senders: highest");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(got.highest, 40 + 2 * n, senders << " senders: highest");
            NS_TEST_EXPECT_MSG_EQ_TOL(got.sum, 1, 0.001, senders << " senders: the port is busy");
            for (const double share : got.shares)
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(share * n, 1, 0.1, senders << " senders: share");
            }
        }
        const Result shallow = Run(2, 2, WIRE_PS);
        NS_TEST_EXPECT_MSG_LT(shallow.sum, 0.99, "K below C T / 7 leaves the port idle at times");
    }
};

/// @ingroup dctcp-tests
/// @brief A path that becomes longer during the run, and shorter again.
class DetourTest : public TestCase
{
  public:
    DetourTest()
        : TestCase("a flow without marks has line rate on a path that changes")
    {
    }

  private:
    void DoRun() override
    {
        Network net;
        net.sim.SetCongestionControl(DCTCP);
        for (const double load : net.LoadsOnDetour(952)) // 48 B of headers
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(load, 1, 0.005, "the window is that of the path");
        }
    }
};

/// @ingroup dctcp-tests
/// @brief Tests of DCTCP.
class DctcpTestSuite : public TestSuite
{
  public:
    DctcpTestSuite()
        : TestSuite("dctcp-window", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondModelTest, TestCase::Duration::QUICK);
        AddTestCase(new SawtoothTest, TestCase::Duration::QUICK);
        AddTestCase(new DetourTest, TestCase::Duration::QUICK);
    }
};

static DctcpTestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace dctcp
} // namespace ns3
