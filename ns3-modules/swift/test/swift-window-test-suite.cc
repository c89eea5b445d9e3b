/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-test-network.h"
#include "../../rdma/test/rdma-test-host.h"

#include "ns3/rdma-queue-pair.h"
#include "ns3/swift.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

/**
 * @file
 * @ingroup swift-tests
 * Swift's sender against windows computed by hand and a second model, and whole networks against
 * the delay at which its windows rest.
 */

namespace ns3
{
namespace swift
{
namespace tests
{

using facade::tests::Network;
using facade::tests::Settings;
using facade::tests::WireTime;
using lossless::Frame;
using lossless::FrameKind;

namespace
{

constexpr int64_t US = 1'000'000;                  //!< ps
constexpr uint64_t GBPS = 1'000'000'000;           //!< bit/s
constexpr const char* SWIFT = "ns3::swift::Swift"; //!< type
constexpr int64_t LATENCY = 2 * US;                //!< of a host (ps)

/// A congestion control that hands out its queue pair, and controls nothing.
class Holder : public rdma::CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::Sender& sender, uint64_t lineRate) override
    {
        CongestionControl::Start(sender, lineRate);
        g_sender = &sender;
    }

    static rdma::Sender* g_sender; //!< of the flow that began last
};

rdma::Sender* Holder::g_sender = nullptr;

NS_OBJECT_ENSURE_REGISTERED(Holder);

TypeId
Holder::GetTypeId()
{
    static TypeId tid = TypeId("ns3::swift::tests::Holder")
                            .SetParent<CongestionControl>()
                            .SetGroupName("tests")
                            .AddConstructor<Holder>();
    return tid;
}

/// What a sample led to.
struct Outcome
{
    int64_t fabric;        //!< ps
    int64_t endpoint;      //!< ps
    double fabricWindow;   //!< packets
    double endpointWindow; //!< packets
};

/// A sender that the test feeds with answers: one switch, packets of 1068 B on a line of 100 Gb/s.
class Fed
{
  public:
    /// Begin, 100 us after the start.
    /// @param settings attributes that differ: 20 us, 1 us a switch, no flow scaling, 10 packets
    explicit Fed(const Settings& settings = {})
        : m_swift(CreateObject<Swift>()),
          m_feeder(*m_swift)
    {
        m_net.Set("QueuePair", "HeaderSize", 48);
        m_net.Set("Port", "Overhead", 20);
        m_net.Set("Host", "Latency", "2us");
        m_net.sim.SetCongestionControl("ns3::swift::tests::Holder");
        m_net.Star(2, 100 * GBPS, US);
        m_net.Flow(0, 1, 1'000'000);
        m_net.sim.Build();
        m_net.sim.Run(m_now);
        Settings all{{"BaseTarget", "20us"},
                     {"HopTarget", "1us"},
                     {"FlowRange", "0us"},
                     {"EndpointTarget", "50us"},
                     {"InitialWindow", "10"}};
        all.insert(all.end(), settings.begin(), settings.end());
        facade::tests::Apply(m_swift, all);
        m_swift->TraceConnectWithoutContext("Sample", MakeCallback(&Fed::Keep, this));
        m_swift->Start(*Holder::g_sender, 100 * GBPS);
        m_reporter = m_swift->MakeReceiver();
    }

    ~Fed()
    {
        m_net.sim.Finish();
    }

    Fed(const Fed&) = delete;
    Fed& operator=(const Fed&) = delete;

    /// Let time pass. @param time ps
    void Wait(int64_t time)
    {
        m_now += time;
        m_net.sim.Run(m_now);
    }

    /// Let a packet go. @param psn its number. @param repeat not for the first time.
    void Send(uint32_t psn, bool repeat = false)
    {
        Frame frame;
        frame.psn = psn;
        frame.repeat = repeat;
        m_feeder.Send(frame);
    }

    /// Let an answer come.
    /// @param psn packet answered. @param expected next one in order. @param waited in the
    /// receiver, before its latency on the way out (ps) @param kind ACK or NACK.
    void Answer(uint32_t psn,
                uint32_t expected,
                int64_t waited = 0,
                FrameKind kind = FrameKind::ACK)
    {
        Frame data;
        data.queued = m_now - waited;
        Frame answer;
        answer.kind = kind;
        answer.word = {expected, psn};
        m_reporter->NotifyAnswer(*Holder::g_sender->GetHost(), data, answer);
        m_feeder.Answer(answer);
    }

    /// Let a packet go and come back. @param rtt ps. @param waited in the receiver (ps).
    void Feed(int64_t rtt, int64_t waited = 0)
    {
        Send(m_psn);
        Wait(rtt);
        Answer(m_psn, m_psn + 1, waited);
        ++m_psn;
    }

    /// The sender. @return it.
    Swift& Get()
    {
        return *m_swift;
    }

    std::vector<Outcome> outcomes; //!< all so far

  private:
    /// Write down a sample.
    /// @param fabric delay. @param endpoint delay. @param fabricWindow after it.
    /// @param endpointWindow after it.
    void Keep(uint32_t,
              int64_t fabric,
              int64_t endpoint,
              double fabricWindow,
              double endpointWindow)
    {
        outcomes.push_back({fabric, endpoint, fabricWindow, endpointWindow});
    }

    Network m_net;                                        //!< whose queue pair is used
    int64_t m_now{1'000 * US};                            //!< ps
    Ptr<Swift> m_swift;                                   //!< the sender
    facade::tests::Feeder m_feeder;                       //!< of it
    std::unique_ptr<rdma::CongestionReceiver> m_reporter; //!< the receiver's half
    uint32_t m_psn{0};                                    //!< next packet of Feed
};

} // namespace

/// @ingroup swift-tests
/// @brief Windows computed by hand.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase("windows, targets and rates are those computed by hand")
    {
    }

  private:
    /// Compare the last outcome.
    /// @param fed the sender. @param fabric its window (packets) @param endpoint that of the hosts
    /// (packets) @param what is tested.
    void Last(const Fed& fed, double fabric, double endpoint, const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.outcomes.back().fabricWindow, fabric, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(fed.outcomes.back().endpointWindow, endpoint, 1e-9, what);
    }

    /// Growth and decreases of the fabric's window.
    void Fabric()
    {
        Fed fed;
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 10'000, "ten packets");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), 0, "not spaced");
        fed.Feed(16 * US, US);
        // 1 us and the receiver's 2 us, and the sender's 2 us
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes.back().endpoint, 5 * US, "in the hosts");
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes.back().fabric, 11 * US, "the rest");
        Last(fed, 10.1, 1000, "a packet a round trip");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 10'100, "in bytes");
        for (uint32_t psn = 1; psn < 4; ++psn)
        {
            fed.Send(psn);
        }
        fed.Wait(10 * US);
        fed.Answer(3, 4);
        Last(fed, 10.1 + 3 / 10.1, 1000, "one answer of three packets");
    }

    /// Below a packet.
    void Small()
    {
        Fed fed(Settings{{"InitialWindow", "0.75"}, {"LeastWindow", "0.25"}});
        fed.Feed(46 * US);
        Last(fed, 0.45, 1000, "a cut");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 1'000, "a packet at a time");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(),
                              std::llround(1068 * 8 * 0.45 / 46e-6),
                              "one in 46 us / 0.45");
        fed.Feed(404 * US);
        Last(fed, 0.25, 1000, "LeastWindow at the least");
        fed.Feed(10 * US);
        Last(fed, 1.25, 1000, "a packet each");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), 0, "no more spaced");
    }

    /// The hosts' window.
    void Endpoint()
    {
        Fed fed(Settings{{"MostWindow", "20"}});
        fed.Feed(110 * US, 96 * US); // 100 us in the hosts
        Last(fed, 10.1, 12, "0.8 times half of the delay, of 20");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 10'100, "the smaller one");
        fed.Feed(110 * US, 96 * US);
        Last(fed, 10.1 + 1 / 10.1, 7.2, "again");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 7'200, "that of the hosts");
    }

    /// Losses and time-outs; repeats are not measured.
    void Loss()
    {
        Fed fed(Settings{{"ResetThreshold", "3"}});
        for (uint32_t psn = 0; psn < 5; ++psn)
        {
            fed.Send(psn);
        }
        fed.Wait(14 * US);
        fed.Answer(1, 0, 0, FrameKind::NACK);
        Last(fed, 10, 1000, "nothing is acknowledged");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 5'000, "a loss takes a half");
        fed.Send(0, true);
        fed.Wait(14 * US);
        fed.Answer(2, 0, 0, FrameKind::NACK);
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 5'000, "the same loss");
        const std::size_t samples = fed.outcomes.size();
        fed.Answer(0, 3);
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes.size(), samples, "a repeat is not measured");
        fed.Send(5);
        fed.Wait(50 * US);
        fed.Get().NotifyTimeout();
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 2'500, "a time-out takes a half");
        fed.Wait(50 * US);
        fed.Get().NotifyTimeout();
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 1'250, "the second");
        fed.Get().NotifyTimeout();
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(),
                              std::llround(1068 * 8 * 0.001 / 28e-6),
                              "the third leaves LeastWindow, of the last round trip");
    }

    /// The target.
    void Target()
    {
        Fed fed(Settings{{"FlowRange", "90us"},
                         {"FlowLeastWindow", "0.25"},
                         {"FlowMostWindow", "100"}});
        const Swift& swift = fed.Get();
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.GetTarget(400), 21e6, 1e-3, "large windows add nothing");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.GetTarget(100), 21e6, 1e-3, "up to here");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.GetTarget(4),
                                  21e6 + 90e6 * 0.4 / 1.9,
                                  1e-3,
                                  "1 / sqrt(W), from 0.1 to 2");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.GetTarget(0.25), 111e6, 1e-3, "all of it");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.GetTarget(0.01), 111e6, 1e-3, "and no more");
    }

    void DoRun() override
    {
        Fabric();
        Small();
        Endpoint();
        Loss();
        Target();
    }
};

/// @ingroup swift-tests
/// @brief Random delays against the pseudocode of the paper, as recalled, written down a second
/// time.
class SecondModelTest : public TestCase
{
  public:
    SecondModelTest()
        : TestCase("random delays give the windows of a second model")
    {
    }

  private:
    /// One window in the paper's terms, times in us.
    struct Model
    {
        double cwnd;             //!< packets
        double tLastDecrease{0}; //!< us

        /// An answer. @param now us. @param rtt us. @param delay us. @param target us.
        /// @param beta of decreases.
        void OnAck(double now, double rtt, double delay, double target, double beta)
        {
            const double before = cwnd;
            const bool canDecrease = now - tLastDecrease >= rtt;
            if (delay < target)
            {
                cwnd = cwnd >= 1 ? cwnd + 1 / cwnd : cwnd + 1;
            }
            else if (canDecrease)
            {
                cwnd *= std::max(1 - beta * (delay - target) / delay, 0.5);
            }
            cwnd = std::clamp(cwnd, 0.001, 50.0);
            tLastDecrease = cwnd < before ? now : tLastDecrease;
        }
    };

    void DoRun() override
    {
        std::mt19937_64 random(1);
        for (int round = 0; round < 30; ++round)
        {
            const double beta = static_cast<double>(1 + random() % 100) / 100;
            const double range = static_cast<double>(random() % 200);
            const uint64_t spread = 1 + random() % 200;
            Fed fed(Settings{{"Beta", std::to_string(beta)},
                             {"FlowRange", std::to_string(range) + "us"},
                             {"MostWindow", "50"}});
            Model fabric{10};
            Model endpoint{50};
            double now = 1'000;
            const double scale = range / (1 / std::sqrt(0.1) - 1 / std::sqrt(100));
            for (int i = 0; i < 300; ++i)
            {
                const uint64_t waited = random() % 4 ? random() % 20 : random() % 150;
                const uint64_t rest = 5 + random() % spread;
                fed.Feed(static_cast<int64_t>(waited + 4 + rest) * US,
                         static_cast<int64_t>(waited) * US);
                const auto fabricDelay = static_cast<double>(rest);
                const auto hosts = static_cast<double>(waited) + 4;
                const double rtt = fabricDelay + hosts;
                now += rtt;
                const double more = scale * (1 / std::sqrt(fabric.cwnd) - 1 / std::sqrt(100));
                fabric.OnAck(now, rtt, fabricDelay, 21 + std::clamp(more, 0.0, range), beta);
                endpoint.OnAck(now, rtt, hosts, 50, beta);
                const Outcome& got = fed.outcomes.back();
                NS_TEST_ASSERT_MSG_EQ_TOL(got.fabricWindow, fabric.cwnd, 1e-9, "fabric, " << i);
                NS_TEST_ASSERT_MSG_EQ_TOL(got.endpointWindow, endpoint.cwnd, 1e-9, "hosts, " << i);
            }
        }
    }
};

/// @ingroup swift-tests
/// @brief Whole networks: N flows at a port.
class RestTest : public TestCase
{
  public:
    RestTest()
        : TestCase("flows share a busy port, at the delay where windows rest")
    {
    }

  private:
    static constexpr uint64_t RATE = 10 * GBPS;   //!< of all links (bit/s)
    static constexpr int64_t END = 60'000 * US;   //!< of each run (ps)
    static constexpr double PACKET = 1068 * 8e-4; //!< time of a packet on the wire (us)

    /// What came of a run.
    struct Result
    {
        double sum;      //!< of the shares of the line, in the second half
        double fairness; //!< Jain's index of them
        double delay;    //!< mean of the fabric (us)
    };

    /// Run.
    /// @param flows greedy ones from 32 hosts to one receiver. @param settings attributes.
    /// @return what came of it.
    Result Run(uint32_t flows, const Settings& settings)
    {
        constexpr uint32_t HOSTS = 32;
        Network net;
        net.Set("QueuePair", "HeaderSize", 48);
        net.Set("Port", "Overhead", 20);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        for (const auto& [name, value] : settings)
        {
            net.sim.SetAttribute(SWIFT, name, value);
        }
        net.sim.SetCongestionControl(SWIFT);
        net.Star(HOSTS + 1, RATE, US);
        std::vector<uint32_t> numbers;
        for (uint32_t flow = 0; flow < flows; ++flow)
        {
            numbers.push_back(net.Flow(flow % HOSTS, HOSTS, 0, flow * 7 * US));
        }
        net.Trace("egress", HOSTS + 1, HOSTS);
        net.sim.Build();
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", "possible");
        Result result{0, 0, 0};
        double squares = 0;
        for (const double bytes : net.DeliveredInSecondHalf(numbers, END))
        {
            const double share =
                bytes * 1068 / 1000.0 * 8 / (static_cast<double>(RATE) * END / 2e12);
            result.sum += share;
            squares += share * share;
        }
        result.fairness = result.sum * result.sum / (flows * squares);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "nothing is lost unawares");
        // without a queue: two packets and two answers on wires, four delays
        const double empty = 2 * PACKET + 2 * 84 * 8e-4 + 4;
        result.delay = empty + net.MeanQueue() / 1048 * PACKET;
        return result;
    }

    void DoRun() override
    {
        for (const uint32_t flows : {2, 8, 32, 128})
        {
            const double n = flows;
            // All windows together are what the port sends in a round trip, W N = D / packet, and
            // the round trip is at the target of such windows.
            double window = 1;
            const double scale = 100 / (1 / std::sqrt(0.1) - 0.1);
            double target = 0;
            for (int i = 0; i < 200; ++i)
            {
                const double more = scale * (1 / std::sqrt(window) - 0.1);
                target = 20 + 3.053 + std::clamp(more, 0.0, 100.0);
                window = std::sqrt(window * target / (n * PACKET)); // half a step, in logarithms
            }
            const std::string what = std::to_string(flows) +
                                     " flows, W = " + std::to_string(window) + ", target " +
                                     std::to_string(target);
            // steps of all flows that are a twentieth of the target together
            const double step = 0.05 * target / (n * PACKET);
            const Result fine = Run(flows, {{"AdditiveIncrease", std::to_string(step)}});
            // few packets go in whole ones; below one a flow measures less than once a round trip
            const double tolerance = window < 5 ? 0.2 : 0.1;
            NS_TEST_EXPECT_MSG_EQ_TOL(fine.delay, target, tolerance * target, what);
            NS_TEST_EXPECT_MSG_EQ_TOL(fine.sum, 1, 0.05, what << ": the port is busy");
            NS_TEST_EXPECT_MSG_GT(fine.fairness, 0.95, what << ": shares");
            // A step of a packet each: the delay is above the target by no more than such a step.
            const Result packets = Run(flows, {});
            NS_TEST_EXPECT_MSG_GT(packets.delay, 0.9 * target, what << ": packets");
            NS_TEST_EXPECT_MSG_LT(packets.delay, target + n * PACKET, what << ": packets");
            NS_TEST_EXPECT_MSG_EQ_TOL(packets.sum, 1, 0.001, what << ": the port is busy");
            NS_TEST_EXPECT_MSG_GT(packets.fairness, 0.95, what << ": shares");
        }
        const Result alone = Run(1, {});
        NS_TEST_EXPECT_MSG_EQ_TOL(alone.sum, 1, 0.001, "alone");
    }
};

/// @ingroup swift-tests
/// @brief A host that takes its time.
class LateHost : public rdma::tests::TestHost
{
  public:
    int64_t GetLatency() const override
    {
        return 700;
    }

    int64_t GetAckDelay() const override
    {
        return 1500;
    }
};

/// @ingroup swift-tests
/// @brief What a receiver writes into an answer.
class DelayReporterTest : public TestCase
{
  public:
    DelayReporterTest()
        : TestCase("an answer says how long its packet will have been in the host, in whole ns")
    {
    }

  private:
    void DoRun() override
    {
        lossless::UsePicoseconds();
        const auto host = CreateObject<LateHost>();
        DelayReporter reporter;
        const uint32_t at = lossless::FramePool::ReserveSchemeBytes("swift", sizeof(uint32_t));
        constexpr int64_t MOST = 4'294'967'295; // ns: as many as 32 bits count
        for (const auto& [waited, written] : {std::pair<int64_t, int64_t>{0, 2},
                                              {799, 2},
                                              {800, 3},
                                              {1000 * MOST - 2200, MOST},
                                              {5000 * MOST, MOST}})
        {
            Frame data;
            data.queued = -waited;
            Frame answer;
            reporter.NotifyAnswer(*host, data, answer);
            uint32_t found = 0;
            std::memcpy(&found, &answer.scheme[at], sizeof(found));
            NS_TEST_EXPECT_MSG_EQ(found, written, waited << " ps");
        }
        host->Dispose();
    }
};

/// @ingroup swift-tests
/// @brief A receiver that takes data slowly.
class SlowReceiverTest : public TestCase
{
  public:
    SlowReceiverTest()
        : TestCase("the time in a slow receiver's host is kept at its own target")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t TAKEN = 1 * GBPS; // bit/s of frame bytes
        Network net;
        net.Set("QueuePair", "HeaderSize", 48);
        net.Set("Port", "Overhead", 20);
        net.sim.SetAttribute(SWIFT, "EndpointTarget", "80us");
        net.sim.SetCongestionControl(SWIFT);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Star(2, 10 * GBPS, US);
        net.Flow(0, 1, 0);
        net.sim.SetReceiveRate(1, TAKEN, 0);
        net.sim.Build();
        const auto delivered = net.DeliveredInSecondHalf({0}, 40'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "nothing is lost unawares");
        const double taken = delivered[0] * 1048 / 1000 * 8 / 20e-3;
        NS_TEST_EXPECT_MSG_EQ_TOL(taken / TAKEN, 1, 0.01, "the receiver is busy");
        NS_TEST_EXPECT_MSG_EQ(net.Number("pauses_sent"), 0, "and does not pause its switch");
    }
};

/// @ingroup swift-tests
/// @brief What cannot be.
class CheckTest : public TestCase
{
  public:
    CheckTest()
        : TestCase("impossible settings are told")
    {
    }

  private:
    void DoRun() override
    {
        const Ptr<Swift> swift = CreateObject<Swift>();
        NS_TEST_EXPECT_MSG_EQ(swift->Check(), "", "the defaults are possible");
        swift->SetAttribute("FlowLeastWindow", StringValue("200"));
        NS_TEST_EXPECT_MSG_NE(swift->Check().find("FlowLeastWindow must be below"),
                              std::string::npos,
                              "the wrong way round");
        swift->SetAttribute("LeastWindow", StringValue("2000"));
        NS_TEST_EXPECT_MSG_NE(swift->Check().find("LeastWindow is above"),
                              std::string::npos,
                              "the wrong way round");
    }
};

/// @ingroup swift-tests
/// @brief Tests of Swift.
class SwiftTestSuite : public TestSuite
{
  public:
    SwiftTestSuite()
        : TestSuite("swift-window", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondModelTest, TestCase::Duration::QUICK);
        AddTestCase(new RestTest, TestCase::Duration::QUICK);
        AddTestCase(new DelayReporterTest, TestCase::Duration::QUICK);
        AddTestCase(new SlowReceiverTest, TestCase::Duration::QUICK);
        AddTestCase(new CheckTest, TestCase::Duration::QUICK);
    }
};

static SwiftTestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace swift
} // namespace ns3
