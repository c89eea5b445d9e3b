/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-next-message.h"

#include "ns3/hpcc.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

/**
 * @file
 * @ingroup hpcc-tests
 * HPCC's sender against windows computed by hand and a second model, and whole networks against the
 * closed form of its equilibrium.
 */

namespace ns3
{
namespace hpcc
{
namespace tests
{

using facade::tests::Network;
using facade::tests::Settings;
using facade::tests::WireTime;
using lossless::Frame;
using lossless::Telemetry;
using lossless::TelemetryHop;
using rdma::QueuePair;

namespace
{

constexpr int64_t US = 1'000'000;               //!< ps
constexpr uint64_t GBPS = 1'000'000'000;        //!< bit/s
constexpr uint64_t LINE = 100 * GBPS;           //!< of the sender and of every hop (bit/s)
constexpr const char* HPCC = "ns3::hpcc::Hpcc"; //!< type

/// A change of the window.
struct Change
{
    double window;      //!< B
    double reference;   //!< B
    double utilization; //!< U
    uint32_t stage;     //!< additive steps
};

/// A sender that the test feeds with answers. T = 8 us: at 100 Gb/s the window is 100 kB at most.
class Fed
{
  public:
    /// Begin. @param settings attributes that differ: W_AI is 1 kB, Eta 0.5 and MinRate 1 Gb/s
    explicit Fed(const Settings& settings = {})
        : m_queuePair(CreateObject<QueuePair>()),
          m_hpcc(CreateObject<Hpcc>()),
          m_feeder(*m_hpcc)
    {
        lossless::UsePicoseconds();
        Settings all{{"BaseRtt", "8us"},
                     {"Eta", "0.5"},
                     {"AdditiveIncrease", "1Gbps"},
                     {"ReferenceRate", "0bps"}};
        all.insert(all.end(), settings.begin(), settings.end());
        facade::tests::Apply(m_hpcc, all);
        m_hpcc->TraceConnectWithoutContext("Window", MakeCallback(&Fed::Keep, this));
        m_hpcc->Start(m_queuePair->GetSendQueue(), LINE);
    }

    /// Send packets up to a number. @param next the one that would be next
    void SendUpTo(uint32_t next)
    {
        Frame frame;
        frame.psn = next - 1;
        m_feeder.Send(frame);
    }

    /// Let an answer come. @param psn of the packet answered. @param hops what the switches wrote.
    void Answer(uint32_t psn, const std::vector<TelemetryHop>& hops)
    {
        Telemetry telemetry;
        telemetry.hops = static_cast<uint8_t>(hops.size());
        std::copy(hops.begin(), hops.end(), telemetry.hop.begin());
        Frame frame;
        frame.word[1] = psn;
        frame.telemetry = &telemetry;
        m_feeder.Answer(frame);
    }

    /// The sender. @return it.
    const Hpcc& Get() const
    {
        return *m_hpcc;
    }

    std::vector<Change> changes; //!< all so far

  private:
    /// Write down a change.
    /// @param window W. @param reference Wc. @param utilization U. @param stage of additive steps.
    void Keep(uint32_t, double window, double reference, double utilization, uint32_t stage)
    {
        changes.push_back({window, reference, utilization, stage});
    }

    Ptr<QueuePair> m_queuePair;     //!< of nobody
    Ptr<Hpcc> m_hpcc;               //!< the sender
    facade::tests::Feeder m_feeder; //!< of it
};

} // namespace

/// @ingroup hpcc-tests
/// @brief Windows computed by hand.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase(
              "the window, its reference, the average and the stages are those computed by hand")
    {
    }

  private:
    /// Compare a change. @param fed the sender. @param expected by hand. @param what is tested.
    void Last(const Fed& fed, const Change& expected, const std::string& what)
    {
        NS_TEST_ASSERT_MSG_EQ(fed.changes.empty(), false, what);
        const Change& got = fed.changes.back();
        NS_TEST_EXPECT_MSG_EQ_TOL(got.window, expected.window, 1e-6, what << ": W");
        NS_TEST_EXPECT_MSG_EQ_TOL(got.reference, expected.reference, 1e-6, what << ": Wc");
        NS_TEST_EXPECT_MSG_EQ_TOL(got.utilization, expected.utilization, 1e-12, what << ": U");
        NS_TEST_EXPECT_MSG_EQ(got.stage, expected.stage, what << ": stage");
    }

    /// 100 kB are sent in 8 us at the line's rate.
    void Windows()
    {
        Fed fed;
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), LINE, "begins at the line's rate");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(),
                              100'999,
                              "begins with B T, and a packet as long as less is in flight");
        fed.SendUpTo(10);
        fed.Answer(0, {{0, 0, 0, LINE}});
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 0, "the first answer has nothing before it");

        fed.Answer(1, {{8 * US, 125'000, 0, LINE}});
        Last(fed, {41'000, 100'000, 1.25, 0}, "an eighth above the line's rate, and a step");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 41'999, "W, and a packet");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), 41 * GBPS, "W / T");
    }

    /// Of two hops the one with the higher load counts, with its own time.
    void Hops()
    {
        Fed fed;
        fed.SendUpTo(1);
        fed.Answer(0, {{0, 0, 0, LINE}, {1 * US, 0, 0, LINE / 4}});
        // 10 of 50 kB in 4 us; 10 of 12.5 kB in 4 us, and 5 of 25 kB in T
        fed.Answer(0, {{4 * US, 10'000, 0, LINE}, {5 * US, 10'000, 5000, LINE / 4}});
        Last(fed, {100'000 * 0.5 / 0.9 + 1000, 100'000, 0.9, 0}, "a slow hop, no queue before");
        fed.Answer(0, {{8 * US, 20'000, 0, LINE}, {9 * US, 20'000, 5000, LINE / 4}});
        Last(fed, {100'000 * 0.5 / 0.95 + 1000, 100'000, 0.95, 0}, "a slow hop with a queue");
        const std::size_t before = fed.changes.size();
        fed.Answer(0, {{7 * US, 17'000, 0, LINE}, {8 * US, 17'000, 0, LINE / 4}});
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), before, "an answer that was overtaken is old");
        fed.Answer(0, {{10 * US, 20'000, 0, LINE}});
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), before, "another path begins anew");
        fed.Answer(0, {{14 * US, 30'000, 0, LINE}});
        Last(fed, {100'000 * 0.5 / 0.575 + 1000, 100'000, 0.575, 0}, "and is compared with itself");
    }

    /// What the reference does decides how one queue is answered by many ACKs.
    void Reactions()
    {
        for (const auto& [reaction, windows] :
             std::vector<std::pair<std::string, std::vector<double>>>{
                 {"Both", {51'000, 51'000, 51'000}},
                 {"PerAck", {51'000, 26'500, 14'250}},
                 {"PerRtt", {51'000}}})
        {
            Fed fed(Settings{{"Reaction", reaction}});
            fed.SendUpTo(100);
            fed.Answer(0, {{0, 0, 0, LINE}});
            for (uint32_t psn = 1; psn <= 2; ++psn)
            {
                fed.Answer(psn, {{psn * 8 * US, psn * 100'000, 0, LINE}});
            }
            fed.Answer(100, {{24 * US, 300'000, 0, LINE}});
            NS_TEST_ASSERT_MSG_EQ(fed.changes.size(), windows.size(), reaction);
            for (std::size_t i = 0; i < windows.size(); ++i)
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(fed.changes[i].window, windows[i], 1e-6, reaction);
            }
        }
    }

    void DoRun() override
    {
        Windows();
        Hops();
        Reactions();
    }
};

/// @ingroup hpcc-tests
/// @brief Random telemetry against the pseudocode of the paper, written down a second time.
class SecondModelTest : public TestCase
{
  public:
    SecondModelTest()
        : TestCase("random telemetry gives the windows of a second model")
    {
    }

  private:
    /// Algorithm 1 of the paper, in its names, with windows in bytes and times in seconds.
    struct Model
    {
        double eta;                    //!< target
        uint32_t maxStage;             //!< additive steps
        double T{8e-6};                //!< base round trip
        double W{100'000};             //!< window
        double Wc{100'000};            //!< its reference
        double U{1};                   //!< average
        uint32_t incStage{0};          //!< additive steps so far
        int64_t lastUpdateSeq{-1};     //!< end of the round trip
        std::vector<TelemetryHop> L{}; //!< of the last answer

        /// An answer. @param seq packet answered. @param sndNxt next packet. @param ack telemetry.
        void NewAck(int64_t seq, int64_t sndNxt, const std::vector<TelemetryHop>& ack)
        {
            if (lastUpdateSeq < 0)
            {
                lastUpdateSeq = sndNxt;
                L = ack;
                return;
            }
            double u = 0;
            double tau = 0;
            for (std::size_t i = 0; i < ack.size(); ++i)
            {
                const double B = static_cast<double>(ack[i].rate) / 8;
                const double dt = static_cast<double>(ack[i].time - L[i].time) * 1e-12;
                const double txRate = static_cast<double>(ack[i].txBytes - L[i].txBytes) / dt;
                const double qlen = static_cast<double>(std::min(ack[i].queue, L[i].queue));
                const double share = qlen / (B * T) + txRate / B;
                if (share > u)
                {
                    u = share;
                    tau = dt;
                }
            }
            tau = std::min(tau, T);
            U = (1 - tau / T) * U + tau / T * u;
            const bool updateWc = seq >= lastUpdateSeq;
            const bool multiplicative = U >= eta || incStage >= maxStage;
            W = std::min(100'000.0,
                         std::max(1000.0, (multiplicative ? Wc / (U / eta) : Wc) + 1000));
            if (updateWc)
            {
                incStage = multiplicative ? 0 : incStage + 1;
                Wc = W;
                lastUpdateSeq = sndNxt;
            }
            L = ack;
        }
    };

    void DoRun() override
    {
        std::mt19937_64 random(1);
        const auto below = [&random](int64_t limit) {
            return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
        };
        for (int round = 0; round < 200; ++round)
        {
            const double eta = 0.5 + static_cast<double>(below(50)) / 100;
            const auto stages = static_cast<uint32_t>(below(6));
            Fed fed(Settings{{"Eta", std::to_string(eta)}, {"MaxStage", std::to_string(stages)}});
            Model model{eta, stages};
            std::vector<TelemetryHop> hops(1 + static_cast<std::size_t>(below(5)));
            for (TelemetryHop& hop : hops)
            {
                hop = {below(US), below(1'000'000), 0, (10 + below(90)) * GBPS};
            }
            int64_t next = 1;
            for (uint32_t psn = 0; psn < 300; ++psn)
            {
                next = std::max<int64_t>(next, psn + 1 + below(40));
                fed.SendUpTo(static_cast<uint32_t>(next));
                for (TelemetryHop& hop : hops)
                {
                    hop.time += 1 + below(12 * US);
                    hop.txBytes += below(150'000);
                    hop.queue = below(3) ? below(100'000) : 0;
                }
                fed.Answer(psn, hops);
                model.NewAck(psn, next, hops);
                if (psn == 0)
                {
                    continue;
                }
                NS_TEST_ASSERT_MSG_EQ(fed.changes.size(), psn, "one an answer");
                const Change& got = fed.changes.back();
                NS_TEST_ASSERT_MSG_EQ_TOL(got.window, model.W, 1e-9 * model.W, "W");
                NS_TEST_ASSERT_MSG_EQ_TOL(got.reference, model.Wc, 1e-9 * model.Wc, "Wc");
                NS_TEST_ASSERT_MSG_EQ(got.stage, model.incStage, "stage");
            }
        }
    }
};

/// @ingroup hpcc-tests
/// @brief Whole networks: where greedy flows that share a port come to rest.
class EquilibriumTest : public TestCase
{
  public:
    EquilibriumTest()
        : TestCase(
              "flows share a port in equal parts, at Eta and their additive steps, without a queue")
    {
    }

  private:
    /// Run. @param senders of the incast. @param pfc below it.
    void Run(uint32_t senders, bool pfc)
    {
        constexpr int64_t END = 20'000 * US;
        constexpr uint64_t RATE = 25 * GBPS;
        constexpr double ADDITIVE = 1e8; // bit/s
        constexpr int64_t WIRE = 5 * US;
        Network net;
        net.Set("QueuePair", "PayloadSize", 1000);
        net.Set("QueuePair", "HeaderSize", 48);
        net.Set("Port", "Overhead", 20);
        net.sim.SetAllowLoss(!pfc);
        if (pfc)
        {
            net.sim.AddFlowControl("ns3::pfc::Pfc");
        }
        net.sim.SetAttribute(HPCC, "AdditiveIncrease", "100Mbps");
        net.sim.SetCongestionControl(HPCC);
        net.Star(senders + 1, RATE, WIRE);
        std::vector<uint32_t> flows;
        for (uint32_t host = 0; host < senders; ++host)
        {
            flows.push_back(net.Flow(host, senders, 0));
        }
        net.Trace("egress", senders + 1, senders);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "possible");
        const std::vector<double> shares = net.DeliveredInSecondHalf(flows, END);
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost unawares");
        // beside the payload 48 B of headers, 42 B of telemetry, 20 B of preamble and gap
        const double load = sum * 1.11 * 8 / (static_cast<double>(RATE) * END / 2e12);
        // R = R Eta / U + AI, summed over N flows that fill U of the link: U = Eta + N AI / B, and
        // U is the load and what waits, which is less than a queue on average, over B T
        const double utilization = 0.95 + senders * ADDITIVE / RATE;
        const double waiting = net.MeanQueue() * 8e12 / (RATE * 4.0 * WIRE);
        NS_TEST_EXPECT_MSG_LT(load, utilization + 0.003, senders << " senders: load");
        NS_TEST_EXPECT_MSG_GT(load, utilization - waiting - 0.003, senders << " senders: load");
        NS_TEST_EXPECT_MSG_LT(waiting, 0.02, senders << " senders: queue");
        for (const double share : shares)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(share / sum * senders, 1, 0.05, senders << " senders: share");
        }
        NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_frames"), 0, "no loss");
    }

    void DoRun() override
    {
        for (const uint32_t senders : {1, 2, 8})
        {
            Run(senders, true);
            Run(senders, false);
        }
    }
};

/// @ingroup hpcc-tests
/// @brief A path that becomes longer during the run, and shorter again.
class DetourTest : public TestCase
{
  public:
    DetourTest()
        : TestCase(
              "a flow alone fills Eta of a link on a path that changes, and less if T is given")
    {
    }

  private:
    static constexpr uint32_t PAYLOAD = 886; //!< with 48 B of headers and 66 B of telemetry (B)

    /// Run. @param baseRtt BaseRtt (ps) @return loads before the detour, on it, and after it.
    static std::vector<double> Loads(int64_t baseRtt)
    {
        Network net;
        net.sim.SetCongestionControl(HPCC);
        net.sim.SetAttribute(HPCC, "BaseRtt", std::to_string(baseRtt) + "ps");
        return net.LoadsOnDetour(PAYLOAD);
    }

    void DoRun() override
    {
        for (const double load : Loads(0))
        {
            // W_AI adds 10 Mb/s per 25 Gb/s
            NS_TEST_EXPECT_MSG_EQ_TOL(load, 0.9504, 0.005, "Eta and a step");
        }
        // T stays that of the first path. Its window is a number of whole packets, which a round
        // trip of 9 links carries instead of 3.
        const int64_t link = WireTime(1000, LINE) + WireTime(130, LINE) + US;
        const double packets = std::ceil(static_cast<double>(3 * link) * LINE / 8e12 / PAYLOAD);
        const double share = packets * WireTime(1000, LINE) / static_cast<double>(9 * link);
        const auto loads = Loads(3 * link);
        NS_TEST_EXPECT_MSG_EQ_TOL(loads[0], 0.9504, 0.005, "on its path");
        NS_TEST_EXPECT_MSG_EQ_TOL(loads[1], share, 0.005, "on another");
    }
};

/// @ingroup hpcc-tests
/// @brief Two messages on one connection.
class NextMessageTest : public TestCase
{
  public:
    NextMessageTest()
        : TestCase("a message starts at the rate that the one before it on its connection left")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool shared : {true, false})
        {
            Network net;
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.sim.SetCongestionControl(HPCC);
            const auto next = facade::tests::RunNextMessage(net, shared);
            NS_TEST_EXPECT_MSG_LT(next.left, 20'000'000'000, "the first one shares the port");
            // its last ACK adds once more, when nothing is sent whose rate could be reported
            constexpr int64_t INCREASE = 10'000'000;
            NS_TEST_EXPECT_MSG_EQ(
                next.begins,
                (shared ? next.left + INCREASE : facade::tests::NextMessage::LINE),
                "the second one: W / T as it was left, or line rate");
        }
    }
};

/// @ingroup hpcc-tests
/// @brief Tests of HPCC.
class HpccTestSuite : public TestSuite
{
  public:
    HpccTestSuite()
        : TestSuite("hpcc-window", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondModelTest, TestCase::Duration::QUICK);
        AddTestCase(new EquilibriumTest, TestCase::Duration::QUICK);
        AddTestCase(new DetourTest, TestCase::Duration::QUICK);
        AddTestCase(new NextMessageTest, TestCase::Duration::QUICK);
    }
};

static HpccTestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace hpcc
} // namespace ns3
