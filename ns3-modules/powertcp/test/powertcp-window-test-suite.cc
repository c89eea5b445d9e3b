/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-test-network.h"

#include "ns3/powertcp-response.h"
#include "ns3/powertcp.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/test.h"

#include <algorithm>
#include <numeric>
#include <random>

/**
 * @file
 * @ingroup powertcp-tests
 * PowerTCP's senders against windows computed by hand and second models, and whole networks against
 * the closed form of their equilibrium.
 */

namespace ns3
{
namespace powertcp
{
namespace tests
{

using facade::tests::Network;
using facade::tests::Settings;
using lossless::Frame;
using lossless::Telemetry;
using lossless::TelemetryHop;
using rdma::QueuePair;

namespace
{

constexpr int64_t US = 1'000'000;                             //!< ps
constexpr uint64_t GBPS = 1'000'000'000;                      //!< bit/s
constexpr uint64_t LINE = 100 * GBPS;                         //!< of sender and hops (bit/s)
constexpr const char* INT = "ns3::powertcp::PowerTcp";        //!< type
constexpr const char* THETA = "ns3::powertcp::ThetaPowerTcp"; //!< type

/// A change of the window.
struct Change
{
    double window;    //!< B
    double reference; //!< B
    double power;     //!< smoothed
};

/// A sender that the test feeds with answers. T = 8 us: at 100 Gb/s the window is 100 kB at most.
/// W_AI is 1 kB and Gamma 1 / 2.
/// @tparam T its type
template <class T>
class Fed
{
  public:
    /// Begin. @param settings attributes that differ
    explicit Fed(const Settings& settings = {})
        : m_queuePair(CreateObject<QueuePair>()),
          m_control(CreateObject<T>()),
          m_feeder(*m_control)
    {
        lossless::UsePicoseconds();
        Settings all{{"BaseRtt", "8us"}, {"Gamma", "0.5"}, {"AdditiveIncrease", "1Gbps"}};
        all.insert(all.end(), settings.begin(), settings.end());
        facade::tests::Apply(m_control, all);
        m_control->TraceConnectWithoutContext("Window", MakeCallback(&Fed::Keep, this));
        m_control->Start(m_queuePair->GetSendQueue(), LINE);
    }

    /// Send packets up to a number. @param next the one that would be next
    void SendUpTo(uint32_t next)
    {
        for (; m_sent < next; ++m_sent)
        {
            Frame frame;
            frame.psn = m_sent;
            m_feeder.Send(frame);
        }
    }

    /// Send a packet again. @param psn its number
    void Repeat(uint32_t psn)
    {
        Frame frame;
        frame.psn = psn;
        frame.repeat = true;
        m_feeder.Send(frame);
    }

    /// Let an answer come. @param psn of the packet answered. @param hops what the switches wrote.
    void Answer(uint32_t psn, const std::vector<TelemetryHop>& hops = {})
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
    const T& Get() const
    {
        return *m_control;
    }

    std::vector<Change> changes; //!< all so far

  private:
    /// Write down a change. @param window W. @param reference Wc. @param power smoothed.
    void Keep(uint32_t, double window, double reference, double power)
    {
        changes.push_back({window, reference, power});
    }

    Ptr<QueuePair> m_queuePair;     //!< of nobody
    Ptr<T> m_control;               //!< the sender
    facade::tests::Feeder m_feeder; //!< of it
    uint32_t m_sent{0};             //!< next packet
};

/// Let time pass. @param time until when (ps)
void
WaitUntil(int64_t time)
{
    Simulator::Stop(TimeStep(time - lossless::NowPs()));
    Simulator::Run();
}

} // namespace

/// @ingroup powertcp-tests
/// @brief Windows computed by hand.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase("the window, its reference and the power are those computed by hand")
    {
    }

  private:
    /// Compare a change. @param changes all so far. @param expected by hand. @param what is tested.
    void Last(const std::vector<Change>& changes, const Change& expected, const std::string& what)
    {
        NS_TEST_ASSERT_MSG_EQ(changes.empty(), false, what);
        const Change& got = changes.back();
        NS_TEST_EXPECT_MSG_EQ_TOL(got.window, expected.window, 1e-6, what << ": W");
        NS_TEST_EXPECT_MSG_EQ_TOL(got.reference, expected.reference, 1e-6, what << ": Wc");
        NS_TEST_EXPECT_MSG_EQ_TOL(got.power, expected.power, 1e-12, what << ": power");
    }

    /// By telemetry. b T is 100 kB.
    void ByTelemetry()
    {
        Fed<PowerTcp> fed(Settings{{"Eta", "1"}, {"LeastCurrent", "0.25"}});
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), LINE, "begins at the line's rate");
        fed.SendUpTo(10);
        fed.Answer(0, {{0, 0, 0, LINE}});
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 0, "the first answer has nothing before it");
        // 4 us: 50 kB went, 50 kB more wait: current 2 b, voltage 1.5 b T, power 3; half of T
        fed.Answer(1, {{4 * US, 50'000, 50'000, LINE}});
        Last(fed.changes, {(100'000 / 2.0 + 1000) / 2 + 50'000, 100'000, 2}, "the queue grows");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 75'500 + 999, "W, and a packet");
        // two hops: the slow one is half busy, with 12.5 kB of its 25 kB waiting all the time
        const double slow = 0.5 * 1.5;
        Fed<PowerTcp> two(Settings{{"Eta", "0.5"}});
        two.SendUpTo(1);
        two.Answer(0, {{0, 0, 0, LINE}, {0, 0, 12'500, LINE / 4}});
        two.Answer(0, {{8 * US, 10'000, 0, LINE}, {8 * US, 12'500, 12'500, LINE / 4}});
        Last(two.changes,
             {(100'000 / (slow / 0.5) + 1000) / 2 + 50'000, 100'000, slow / 0.5},
             "the highest power, over Eta");
    }

    /// By round trips.
    void ByRoundTrips()
    {
        Fed<ThetaPowerTcp> fed(Settings{{"Margin", "1"}, {"LeastCurrent", "0.25"}});
        const int64_t begin = lossless::NowPs();
        fed.SendUpTo(2);
        WaitUntil(begin + 4 * US);
        fed.SendUpTo(10);
        WaitUntil(begin + 8 * US);
        fed.Answer(0);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 0, "the first has nothing before it");
        WaitUntil(begin + 12 * US);
        fed.Answer(1); // 12 us, 4 us longer within 4 us: current 2, power 3, half of T
        Last(fed.changes, {(100'000 / 2.0 + 1000) / 2 + 50'000, 100'000, 2}, "they grow");
        WaitUntil(begin + 16 * US);
        fed.Answer(1);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 1, "nothing is measured twice");
        fed.Answer(2); // 12 us, the same: power 1.5
        Last(fed.changes, {(100'000 / 1.75 + 1000) / 2 + 50'000, 100'000, 1.75}, "they stay");
        fed.Answer(3);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 2, "no time has passed");
        fed.SendUpTo(12);
        WaitUntil(begin + 24 * US);
        fed.Answer(10); // 8 us, 4 us shorter within 8 us: power 0.5; a round trip is over
        Last(fed.changes, {100'000, 100'000, 0.5}, "they shrink: at most b T");
        Simulator::Destroy();
    }

    /// By round trips, where an answer is overtaken: it has one, too, as in the public simulator.
    void Overtaken()
    {
        Fed<ThetaPowerTcp> fed(Settings{{"Margin", "1"}, {"LeastCurrent", "0.25"}});
        const int64_t begin = lossless::NowPs();
        fed.SendUpTo(4);
        WaitUntil(begin + 8 * US);
        fed.Answer(1);
        WaitUntil(begin + 12 * US);
        fed.Answer(0); // 12 us, 4 us longer within 4 us: current 2, power 3, half of T
        Last(fed.changes, {(100'000 / 2.0 + 1000) / 2 + 50'000, 100'000, 2}, "the earlier packet");
        Simulator::Destroy();
    }

    /// By round trips, where packets go again: of those nobody knows which was answered.
    void Repeats()
    {
        Fed<ThetaPowerTcp> fed(Settings{{"Margin", "1"}, {"LeastCurrent", "0.25"}});
        const int64_t begin = lossless::NowPs();
        fed.SendUpTo(4);
        WaitUntil(begin + 8 * US);
        fed.Answer(0);
        WaitUntil(begin + 80 * US);
        for (const uint32_t psn : {1, 2})
        {
            fed.Repeat(psn);
        }
        WaitUntil(begin + 84 * US);
        fed.Answer(1); // 84 us by the first, 4 us by the second
        fed.Answer(2);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 0, "what went twice is not measured");
        WaitUntil(begin + 88 * US);
        fed.Answer(3); // 88 us, 80 us longer within 80 us: current 2, power 22, all of T
        Last(fed.changes, {(100'000 / 22.0 + 1000) / 2 + 50'000, 100'000, 22}, "what went once is");
        fed.SendUpTo(8);
        fed.Repeat(3); // answered already
        WaitUntil(begin + 96 * US);
        fed.Answer(3);
        NS_TEST_EXPECT_MSG_EQ(fed.changes.size(), 1, "nor is what was answered before");
        fed.Answer(4); // 8 us, 80 us shorter within 8 us: the least current, power 0.25
        Last(fed.changes, {100'000, 100'000, 0.25}, "the next one is");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        ByTelemetry();
        ByRoundTrips();
        Overtaken();
        Repeats();
    }
};

/// @ingroup powertcp-tests
/// @brief The response to a power that stays.
class ResponseTest : public TestCase
{
  public:
    ResponseTest()
        : TestCase("what is left of the first power is the product of the shares of T that no "
                   "measurement covers; W and Wc scale with T")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(2);
        std::uniform_real_distribution<double> draw(0.05, 1.5);
        for (int round = 0; round < 100; ++round)
        {
            const double gamma = std::min(draw(random), 1.0);
            const double power = draw(random);
            Response one;
            Response twice; // all but the power
            one.Start(gamma, 1000, 50'000);
            twice.Start(gamma, 1000, 50'000);
            twice.Rescale(2);
            double left = 1;
            for (int step = 0; step < 20; ++step)
            {
                const double elapsed = draw(random) / 3 + (step % 7 == 6);
                left *= std::max(1 - elapsed, 0.0);
                const double reference = one.GetReference();
                const double window = one.Follow(power, elapsed);
                const double smooth = power + (1 - power) * left;
                NS_TEST_ASSERT_MSG_EQ_TOL(one.GetPower(), smooth, 1e-12, "power");
                NS_TEST_ASSERT_MSG_EQ_TOL((window - reference) * smooth,
                                          gamma * (reference + (1000 - reference) * smooth),
                                          1e-9 * window,
                                          "a share gamma of the way to Wc / power + 1000");
                const double doubled = twice.Follow(power, elapsed);
                NS_TEST_ASSERT_MSG_EQ_TOL(doubled, 2 * window, 1e-9 * window, "W");
                if (step % 3 == 0)
                {
                    one.SetReference(window);
                    twice.SetReference(2 * window);
                }
            }
        }
    }
};

/// @ingroup powertcp-tests
/// @brief Random telemetry against the paper's algorithm, written down a second time.
class SecondModelTest : public TestCase
{
  public:
    SecondModelTest()
        : TestCase("random telemetry gives the windows of a second model")
    {
    }

  private:
    /// Algorithm 1 of the paper, in its names; windows in bytes and times in seconds.
    struct Model
    {
        double gamma;                        //!< share
        double eta;                          //!< of the public simulator
        double tau{8e-6};                    //!< base round trip
        double cwnd{100'000};                //!< window
        double cwndOld{100'000};             //!< a round trip ago
        double smooth{1};                    //!< normalised power
        int64_t lastUpdated{-1};             //!< end of the round trip
        std::vector<TelemetryHop> prevInt{}; //!< of the last answer

        /// An answer. @param seq packet answered. @param sndNxt next packet. @param ack telemetry.
        void NewAck(int64_t seq, int64_t sndNxt, const std::vector<TelemetryHop>& ack)
        {
            if (lastUpdated < 0)
            {
                lastUpdated = sndNxt;
                prevInt = ack;
                return;
            }
            double norm = 0;
            double deltaT = 0;
            for (std::size_t i = 0; i < ack.size(); ++i)
            {
                const double dt = static_cast<double>(ack[i].time - prevInt[i].time) * 1e-12;
                const double qdot = static_cast<double>(ack[i].queue - prevInt[i].queue) / dt;
                const double mu = static_cast<double>(ack[i].txBytes - prevInt[i].txBytes) / dt;
                const double b = static_cast<double>(ack[i].rate) / 8;
                const double lambda = std::max(qdot + mu, 0.5 * b);
                const double nu = static_cast<double>(ack[i].queue) + b * tau;
                const double e = b * b * tau;
                if (lambda * nu / e > norm)
                {
                    norm = lambda * nu / e;
                    deltaT = std::min(dt, tau);
                }
            }
            smooth = (smooth * (tau - deltaT) + norm / eta * deltaT) / tau;
            const double next = gamma * (cwndOld / smooth + 1000) + (1 - gamma) * cwndOld;
            cwnd = std::clamp(next, 1000.0, 100'000.0);
            if (seq >= lastUpdated)
            {
                cwndOld = cwnd;
                lastUpdated = sndNxt;
            }
            prevInt = ack;
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
            const double gamma = 0.1 + static_cast<double>(below(90)) / 100;
            const double eta = 0.5 + static_cast<double>(below(50)) / 100;
            Fed<PowerTcp> fed(
                Settings{{"Eta", std::to_string(eta)}, {"Gamma", std::to_string(gamma)}});
            Model model{gamma, eta};
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
                    hop.queue = 1 + below(100'000); // never 0: hops would have equal powers
                }
                fed.Answer(psn, hops);
                model.NewAck(psn, next, hops);
                if (psn == 0)
                {
                    continue;
                }
                NS_TEST_ASSERT_MSG_EQ(fed.changes.size(), psn, "one an answer");
                const Change& got = fed.changes.back();
                NS_TEST_ASSERT_MSG_EQ_TOL(got.window, model.cwnd, 1e-9 * model.cwnd, "W");
                NS_TEST_ASSERT_MSG_EQ_TOL(got.reference, model.cwndOld, 1e-9 * model.cwndOld, "Wc");
                NS_TEST_ASSERT_MSG_EQ_TOL(got.power, model.smooth, 1e-9 * model.smooth, "power");
            }
        }
    }
};

/// @ingroup powertcp-tests
/// @brief Whole networks: where greedy flows that share a port come to rest.
///
/// At rest a flow has W = W / P + W_AI. What is in flight fills the pipe and the queue: with L
/// bytes waiting, N (W + h) = b T + L, where a packet may go while less than W is in flight, so
/// that h is between nothing and a packet. The power is RTT / (Margin T) by round trips, which are
/// T + L / b, and (b T + L - s) / (Eta b T) by telemetry, where s is what the time average has
/// beyond what frames leave behind as they begin to go: between nothing and a packet, which comes
/// while one goes. So there are a least and a most L. Headers have no bytes here: windows, frames
/// and queues have one unit. One packet more either way is ours: what packets that come in lumps do
/// to a measured power is not in the form (by telemetry four flows hold 0.5 packets more than the
/// most).
class EquilibriumTest : public TestCase
{
  public:
    EquilibriumTest()
        : TestCase("flows share a port in equal parts, with the queue of the closed form")
    {
    }

  private:
    static constexpr uint64_t RATE = 25 * GBPS; //!< of all links (bit/s)
    static constexpr int64_t WIRE = 50 * US;    //!< of a link (ps)
    static constexpr double PACKET = 1000;      //!< B
    static constexpr double ANSWER = 64;        //!< B
    static constexpr double STEP = 500'000'000; //!< W_AI / T (bit/s)
    static constexpr int64_t END = 40'000 * US; //!< of a run (ps)
    static constexpr double BYTE = 8e12 / RATE; //!< on the wire (ps)

    /// The queue at rest.
    /// @param senders N. @param aim Eta, or Margin. @param unseen s (B) @param more h (B) @return L
    /// (B).
    static double Waiting(uint32_t senders, double aim, double unseen, double more)
    {
        const double rtt = 4.0 * WIRE + 2 * (PACKET + ANSWER) * BYTE;
        const double pipe = rtt / BYTE;
        const double step = STEP * rtt / 8e12;
        double low = 0;
        double high = 10 * pipe;
        while (high - low > 1)
        {
            const double queue = (low + high) / 2;
            const double power = (pipe + queue - unseen) / (aim * pipe);
            const bool grows =
                power <= 1 || senders * (step * power / (power - 1) + more) > pipe + queue;
            (grows ? low : high) = queue;
        }
        return low;
    }

    /// Run.
    /// @param type of the control. @param senders of the incast. @param aim Eta, or Margin.
    /// @param unseen the most s (B).
    void Run(const std::string& type, uint32_t senders, double aim, double unseen)
    {
        Network net;
        net.Set("QueuePair", "PayloadSize", 1000);
        for (const std::string part : {"HeaderSize", "TelemetryHeaderSize", "TelemetryHopSize"})
        {
            net.Set("QueuePair", part, 0);
        }
        net.Set("Port", "Overhead", 0);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetAttribute(INT, "Eta", "1");
        net.sim.SetAttribute(type, "AdditiveIncrease", "500Mbps");
        net.sim.SetAttribute(type, "MinRate", "100Mbps");
        net.sim.SetCongestionControl(type);
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
        const double waiting = net.MeanQueue();
        const double least = Waiting(senders, aim, 0, 0) - PACKET;
        const double most = Waiting(senders, aim, unseen, PACKET) + PACKET;
        NS_TEST_EXPECT_MSG_GT(waiting, least, type << ", " << senders << ": up to " << most);
        NS_TEST_EXPECT_MSG_LT(waiting, most, type << ", " << senders << ": from " << least);
        for (const double share : shares)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(share / sum * senders, 1, 0.1, senders << " senders: share");
        }
    }

    void DoRun() override
    {
        for (const uint32_t senders : {4, 16})
        {
            Run(INT, senders, 1, PACKET);
            Run(THETA, senders, 1.05, 0);
        }
    }
};

/// @ingroup powertcp-tests
/// @brief A path that becomes longer during the run, and shorter again.
class DetourTest : public TestCase
{
  public:
    DetourTest()
        : TestCase("a flow alone fills a link on a path that changes")
    {
    }

  private:
    /// Run.
    /// @param control type. @param payload of a frame of 1000 B. @return loads before the detour,
    /// on it, and after it.
    static std::vector<double> Loads(const std::string& control, uint32_t payload)
    {
        Network net;
        net.sim.SetCongestionControl(control);
        return net.LoadsOnDetour(payload);
    }

    void DoRun() override
    {
        // the load is Eta and a step of 150 Mb/s; with 48 B of headers and 66 B of telemetry
        for (const double load : Loads(INT, 886))
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(load, 0.9515, 0.01, "PowerTCP");
        }
        for (const double load : Loads(THETA, 952))
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(load, 1, 0.01, "Theta-PowerTCP has no reason to be slower");
        }
    }
};

/// @ingroup powertcp-tests
/// @brief Tests of PowerTCP.
class PowerTcpTestSuite : public TestSuite
{
  public:
    PowerTcpTestSuite()
        : TestSuite("powertcp-window", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new ResponseTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondModelTest, TestCase::Duration::QUICK);
        AddTestCase(new EquilibriumTest, TestCase::Duration::QUICK);
        AddTestCase(new DetourTest, TestCase::Duration::QUICK);
    }
};

static PowerTcpTestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace powertcp
} // namespace ns3
