/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-test-network.h"

#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/timely.h"

#include <algorithm>
#include <cmath>
#include <random>

/**
 * @file
 * @ingroup timely-tests
 * TIMELY's sender against rates computed by hand, closed forms and a second model, and whole
 * networks.
 */

namespace ns3
{
namespace timely
{
namespace tests
{

using facade::tests::Network;
using facade::tests::Settings;
using lossless::Frame;
using rdma::QueuePair;

namespace
{

constexpr int64_t US = 1'000'000;                     //!< ps
constexpr uint64_t MBPS = 1'000'000;                  //!< bit/s
constexpr uint64_t LINE = 10'000 * MBPS;              //!< of the sender (bit/s)
constexpr const char* TIMELY = "ns3::timely::Timely"; //!< type

/// What a round trip led to.
struct Outcome
{
    int64_t rtt;     //!< ps
    double gradient; //!< normalised
    double rate;     //!< bit/s
};

/// A sender that the test feeds with round trips.
class Fed
{
  public:
    /// Begin. @param settings attributes that differ: a step is 100 Mb/s, Weight 1/2
    explicit Fed(const Settings& settings = {})
        : m_queuePair(CreateObject<QueuePair>()),
          m_timely(CreateObject<Timely>()),
          m_feeder(*m_timely)
    {
        lossless::UsePicoseconds();
        Settings all{{"AdditiveIncrease", "100Mbps"}, {"ReferenceRate", "0bps"}, {"Weight", "0.5"}};
        all.insert(all.end(), settings.begin(), settings.end());
        facade::tests::Apply(m_timely, all);
        m_timely->TraceConnectWithoutContext("Sample", MakeCallback(&Fed::Keep, this));
        m_timely->Start(m_queuePair->GetSendQueue(), LINE);
    }

    ~Fed()
    {
        Simulator::Destroy();
    }

    Fed(const Fed&) = delete;
    Fed& operator=(const Fed&) = delete;

    /// Let packets go and come back one after the other. @param roundTrips ps
    void Feed(const std::vector<int64_t>& roundTrips)
    {
        for (const int64_t roundTrip : roundTrips)
        {
            Send(m_psn);
            Wait(roundTrip);
            Answer(m_psn, m_psn + 1);
            ++m_psn;
        }
    }

    /// Let time pass. @param time ps
    void Wait(int64_t time)
    {
        Simulator::Stop(Time::From(time, Time::PS));
        Simulator::Run();
    }

    /// Let a packet go. @param psn its number. @param repeat not for the first time.
    void Send(uint32_t psn, bool repeat = false)
    {
        Frame frame;
        frame.psn = psn;
        frame.repeat = repeat;
        m_feeder.Send(frame);
    }

    /// Let an answer come. @param psn packet answered. @param expected next one in order.
    void Answer(uint32_t psn, uint32_t expected)
    {
        Frame frame;
        frame.word = {expected, psn};
        m_feeder.Answer(frame);
    }

    /// The sender. @return it.
    const Timely& Get() const
    {
        return *m_timely;
    }

    std::vector<Outcome> outcomes; //!< all so far; the first round trip has none

  private:
    /// Write down a sample. @param rtt ps. @param gradient normalised. @param rate bit/s.
    void Keep(uint32_t, int64_t rtt, double gradient, double rate)
    {
        outcomes.push_back({rtt, gradient, rate});
    }

    Ptr<QueuePair> m_queuePair;     //!< of nobody
    Ptr<Timely> m_timely;           //!< the sender
    facade::tests::Feeder m_feeder; //!< of it
    uint32_t m_psn{0};              //!< next packet
};

} // namespace

/// @ingroup timely-tests
/// @brief Rates computed by hand.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase("rates and gradients are those computed by hand")
    {
    }

  private:
    /// What the NIC keeps to.
    void Begin()
    {
        Fed fed;
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), LINE, "begins at the line's rate");
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetWindow(), 0, "has no window");
        fed.Feed({60 * US, 800 * US}); // 1 - 0.8 (1 - 500 / 800)
        NS_TEST_EXPECT_MSG_EQ(fed.Get().GetRate(), 7000 * MBPS, "the NIC keeps to it");
    }

    /// Short round trips lead to larger steps only where the attribute says so.
    void BelowLow()
    {
        for (const auto& [below, last] : {std::pair{"false", 6800.0}, std::pair{"true", 8000.0}})
        {
            Fed fed(Settings{{"HyperBelowLow", below}});
            fed.Feed({400 * US, 1000 * US});
            for (int i = 0; i < 8; ++i)
            {
                fed.Feed({20 * US});
            }
            NS_TEST_EXPECT_MSG_EQ_TOL(fed.outcomes.back().rate,
                                      last * MBPS,
                                      1e-3,
                                      "below LowRtt, " << below);
        }
    }

    /// What is measured, and when.
    void Probes()
    {
        Fed fed;
        fed.Send(0);
        fed.Wait(10 * US);
        fed.Send(1);
        fed.Wait(50 * US);
        fed.Answer(0, 1);
        fed.Answer(1, 2);
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes.size(), 0, "the first, and one of that round trip");
        fed.Send(2);
        fed.Wait(30 * US);
        fed.Send(2, true);
        fed.Wait(40 * US);
        fed.Answer(2, 3);
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes.size(), 0, "a repeated packet is not measured");
        fed.Send(3);
        fed.Wait(10 * US);
        fed.Send(4);
        fed.Wait(70 * US);
        fed.Answer(4, 3); // a NACK for a gap
        NS_TEST_ASSERT_MSG_EQ(fed.outcomes.size(), 1, "packet 4 has come");
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes[0].rtt, 70 * US, "after as long");
        for (uint32_t psn = 5; psn < 8; ++psn)
        {
            fed.Send(psn);
            fed.Wait(US);
        }
        fed.Wait(49 * US);
        fed.Answer(7, 8);
        NS_TEST_ASSERT_MSG_EQ(fed.outcomes.size(), 2, "an ACK of several packets");
        NS_TEST_EXPECT_MSG_EQ(fed.outcomes[1].rtt, 50 * US, "is as old as the last");

        Fed segments(Settings{{"Segment", "3000"}});
        for (uint32_t psn = 0; psn < 9; ++psn)
        {
            segments.Send(psn);
            segments.Wait(US);
        }
        segments.Wait(51 * US);
        for (uint32_t psn = 0; psn < 9; ++psn)
        {
            segments.Answer(psn, psn + 1);
        }
        NS_TEST_ASSERT_MSG_EQ(segments.outcomes.size(), 2, "the last packet of each segment");
        NS_TEST_EXPECT_MSG_EQ(segments.outcomes[0].rtt, 55 * US, "psn 5");
        NS_TEST_EXPECT_MSG_EQ(segments.outcomes[1].rtt, 52 * US, "psn 8");
        for (uint32_t psn = 9; psn < 16; ++psn)
        {
            segments.Send(psn);
            segments.Wait(US);
        }
        segments.Answer(12, 13);
        segments.Answer(13, 14);
        NS_TEST_ASSERT_MSG_EQ(segments.outcomes.size(), 3, "an ACK of a segment and more, once");
        NS_TEST_EXPECT_MSG_EQ(segments.outcomes[2].rtt, 4 * US, "psn 12");
        segments.Send(14, true);
        segments.Answer(14, 15);
        segments.Answer(15, 16);
        NS_TEST_EXPECT_MSG_EQ(segments.outcomes.size(), 3, "none if the last packet went twice");
    }

    void DoRun() override
    {
        Begin();
        BelowLow();
        Probes();
    }
};

/// @ingroup timely-tests
/// @brief Round trips that stay, and that grow by as much each time.
class ClosedFormTest : public TestCase
{
  public:
    ClosedFormTest()
        : TestCase("constant long round trips, and a ramp, give geometric series")
    {
    }

  private:
    void DoRun() override
    {
        Fed constant;
        constant.Feed(std::vector<int64_t>(8, 625 * US)); // the first has nothing before it
        NS_TEST_EXPECT_MSG_EQ_TOL(constant.outcomes.back().rate,
                                  LINE * std::pow(1 - 0.8 * 0.2, 7),
                                  1,
                                  "Beta (1 - HighRtt / RTT) each time");
        std::vector<int64_t> ramp;
        for (int64_t i = 0; i < 40; ++i)
        {
            ramp.push_back((60 + i) * US);
        }
        Fed growing(Settings{{"MinRate", "1Mbps"}});
        growing.Feed(ramp);
        const std::size_t last = growing.outcomes.size() - 1;
        // 1 us each time is a twentieth of MinRtt, and the average comes to it by halves
        NS_TEST_EXPECT_MSG_EQ_TOL(growing.outcomes[last].gradient, 0.05, 1e-9, "the slope");
        NS_TEST_EXPECT_MSG_EQ_TOL(growing.outcomes[last].rate / growing.outcomes[last - 1].rate,
                                  1 - 0.8 * 0.05,
                                  1e-9,
                                  "Beta times the slope each time");
    }
};

/// @ingroup timely-tests
/// @brief Random round trips against the pseudocode of the paper, written down a second time.
class SecondModelTest : public TestCase
{
  public:
    SecondModelTest()
        : TestCase("random round trips give the rates of a second model, within the line's and "
                   "MinRate")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        const auto below = [&random](int64_t limit) {
            return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
        };
        for (int round = 0; round < 100; ++round)
        {
            const double alpha = static_cast<double>(1 + below(100)) / 100;
            const double beta = static_cast<double>(1 + below(100)) / 100;
            const int64_t low = 1 + below(100);
            const int64_t high = low + below(300);
            Fed fed(Settings{{"Weight", std::to_string(alpha)},
                             {"Beta", std::to_string(beta)},
                             {"LowRtt", std::to_string(low) + "us"},
                             {"HighRtt", std::to_string(high) + "us"}});
            // in us and Mb/s
            double rate = 10'000;
            double rttDiff = 0;
            double prevRtt = -1;
            int completions = 0;
            for (int i = 0; i < 200; ++i)
            {
                const double newRtt = static_cast<double>(20 + below(500));
                fed.Feed({static_cast<int64_t>(newRtt) * US});
                if (prevRtt >= 0)
                {
                    rttDiff = (1 - alpha) * rttDiff + alpha * (newRtt - prevRtt);
                    const double gradient = rttDiff / 20;
                    if (newRtt < low)
                    {
                        rate += 100;
                    }
                    else if (newRtt > high)
                    {
                        rate *= 1 - beta * (1 - high / newRtt);
                        completions = 0;
                    }
                    else if (gradient <= 0)
                    {
                        rate += completions >= 5 ? 500 : 100;
                        ++completions;
                    }
                    else
                    {
                        rate *= 1 - beta * gradient;
                        completions = 0;
                    }
                    rate = std::min(10'000.0, std::max(1000.0, rate));
                    const Outcome& got = fed.outcomes.back();
                    NS_TEST_ASSERT_MSG_EQ_TOL(got.gradient, gradient, 1e-9, "gradient");
                    NS_TEST_ASSERT_MSG_EQ_TOL(got.rate, rate * MBPS, 1, "rate");
                }
                prevRtt = newRtt;
            }
        }
    }
};

/// @ingroup timely-tests
/// @brief Whole networks: alone, at MinRate, and several flows at a port.
class NetworkTest : public TestCase
{
  public:
    NetworkTest()
        : TestCase("alone at the line's rate, at MinRate exactly, and together with a queue that "
                   "round trips between LowRtt and HighRtt make")
    {
    }

  private:
    static constexpr int64_t END = 40'000 * US; //!< of each run (ps)
    static constexpr double WIRE = 1068;        //!< of a packet of 1000 B (B)

    /// What came of a run.
    struct Result
    {
        std::vector<double> shares; //!< of the line, of each flow, in the second half
        double sum;                 //!< of them
        double cuts;                //!< of all rates
        double waiting;             //!< mean time in the queue (ps); NaN if nothing waits
    };

    /// Run.
    /// @param senders of greedy flows to one receiver. @param settings attributes. @return what
    /// came of it.
    Result Run(uint32_t senders, const Settings& settings)
    {
        Network net;
        for (const auto& [name, value] : settings)
        {
            net.sim.SetAttribute(TIMELY, name, value);
        }
        net.Set("QueuePair", "HeaderSize", 48);
        net.Set("Port", "Overhead", 20);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetCongestionControl(TIMELY);
        net.Star(senders + 1, LINE, US);
        std::vector<uint32_t> flows;
        for (uint32_t host = 0; host < senders; ++host)
        {
            flows.push_back(net.Flow(host, senders, 0, host * 100 * US));
        }
        net.Trace("egress", senders + 1, senders);
        net.sim.Build();
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", "possible");
        Result result{};
        result.shares = net.DeliveredInSecondHalf(flows, END);
        for (double& share : result.shares)
        {
            share *= WIRE / 1000 * 8 / (static_cast<double>(LINE) * END / 2e12);
            result.sum += share;
        }
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "nothing is lost unawares");
        NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_frames"), 0, "no loss");
        result.cuts = net.Number("timely_cuts");
        result.waiting = net.MeanQueue() * 8e12 / static_cast<double>(LINE);
        return result;
    }

    void DoRun() override
    {
        const Settings packets{};
        const Settings segments{{"Segment", "16000"}, {"Pacing", "Segment"}};
        for (const Settings& pacing : {packets, segments})
        {
            const Result alone = Run(1, pacing);
            NS_TEST_EXPECT_MSG_EQ_TOL(alone.sum, 1, 0.001, "alone");
            NS_TEST_EXPECT_MSG_EQ(alone.cuts, 0, "nobody else is there");

            // every round trip is too long
            Settings least = pacing;
            least.insert(least.end(), {{"LowRtt", "0us"}, {"HighRtt", "1ps"}, {"Beta", "1"}});
            NS_TEST_EXPECT_MSG_EQ_TOL(Run(1, least).sum, 0.1, 0.001, "at MinRate");

            const Result many = Run(8, pacing);
            for (const double share : many.shares)
            {
                NS_TEST_EXPECT_MSG_GT(share, 0, "nobody starves");
            }
            NS_TEST_EXPECT_MSG_LT_OR_EQ(many.sum, 1.001, "not above the line");
            const bool same = Run(8, pacing).shares == many.shares;
            NS_TEST_EXPECT_MSG_EQ(same, true, "nothing is drawn");
        }
        for (const uint32_t senders : {2, 8})
        {
            // Where the rates pass the line by a share x, a round trip grows by x RTT, and a
            // decrease takes Beta x RTT / MinRtt: here 0.4 x, so that the queue of LowRtt stays.
            const Result result = Run(senders, {{"MinRtt", "100us"}, {"MinRate", "100Mbps"}});
            NS_TEST_EXPECT_MSG_GT(result.sum, 0.95, Of(senders) << "the port is busy");
            // Shorter round trips make all rates grow, longer ones make all shrink. An empty path
            // takes 4 us on wires and about 2 us for frames.
            NS_TEST_EXPECT_MSG_GT(result.waiting, 40.0 * US, Of(senders) << "above LowRtt");
            NS_TEST_EXPECT_MSG_LT(result.waiting, 500.0 * US, Of(senders) << "below HighRtt");
        }
    }

    /// What a message begins with. @param senders how many. @return text.
    static std::string Of(uint32_t senders)
    {
        return std::to_string(senders) + " senders: ";
    }
};

/// @ingroup timely-tests
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
        const Ptr<Timely> timely = CreateObject<Timely>();
        NS_TEST_EXPECT_MSG_EQ(timely->Check(), "", "the defaults are possible");
        timely->SetAttribute("LowRtt", StringValue("600us"));
        NS_TEST_EXPECT_MSG_NE(timely->Check().find("LowRtt is above HighRtt"),
                              std::string::npos,
                              "the wrong way round");
        timely->SetAttribute("LowRtt", StringValue("50us"));
        timely->SetAttribute("Pacing", StringValue("Segment"));
        NS_TEST_EXPECT_MSG_NE(timely->Check().find("needs a Segment"),
                              std::string::npos,
                              "segments of no size");
    }
};

/// @ingroup timely-tests
/// @brief Tests of TIMELY.
class TimelyTestSuite : public TestSuite
{
  public:
    TimelyTestSuite()
        : TestSuite("timely-rate", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new ClosedFormTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondModelTest, TestCase::Duration::QUICK);
        AddTestCase(new NetworkTest, TestCase::Duration::QUICK);
        AddTestCase(new CheckTest, TestCase::Duration::QUICK);
    }
};

static TimelyTestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace timely
} // namespace ns3
