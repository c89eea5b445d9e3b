/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/facade-simulation.h"
#include "ns3/gfc-gentle.h"
#include "ns3/lossless-constants.h"
#include "ns3/lossless-port.h"
#include "ns3/test.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup gfc-tests
 * What messages do to a sender: frames start to the picosecond when the rate allows, and messages
 * that are lost or come out of order freeze no rate.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/// @ingroup gfc-tests
/// @brief A flow control before the gentle one in every chain: it may lose or delay messages, and
/// writes down what happens at the port of node 0.
class Meddler : public lossless::FlowControl, public lossless::SentListener
{
  public:
    /// A frame that went.
    struct Start
    {
        int64_t time;  //!< of its first bit (ps)
        int64_t bytes; //!< on the wire
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::gfc::tests::Meddler")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Meddler>();
        return tid;
    }

    void NotifySent(uint16_t /* queue */, lossless::Frame& frame, int64_t now) override
    {
        if (m_port->GetNodeId() == 0)
        {
            g_starts.push_back(
                Start{now, frame.bytes + static_cast<int64_t>(m_port->GetOverhead())});
        }
    }

    bool ReceiveControl(const lossless::ControlFrame& control) override
    {
        const int64_t fate = g_fate ? g_fate(lossless::NowPs()) : 0;
        if (fate == 0)
        {
            Note(control);
            return false;
        }
        ++g_meddled;
        if (fate > 0)
        {
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(fate)), [this, control] {
                Note(control);
                Gfc().ReceiveControl(control);
            });
        }
        return true;
    }

    /// Forget what others saw.
    /// @param fate of a message by the time at which it has effect (ps): 0 as ever, below 0 lost,
    /// above 0 late by so much (ps); empty: as ever
    static void Reset(std::function<int64_t(int64_t)> fate = {})
    {
        g_fate = std::move(fate);
        g_starts.clear();
        g_rates.clear();
        g_meddled = 0;
    }

    static std::function<int64_t(int64_t)> g_fate;            //!< see Reset
    static std::vector<Start> g_starts;                       //!< data frames of node 0
    static std::vector<std::pair<int64_t, uint64_t>> g_rates; //!< obeyed by node 0, from when on
    static uint64_t g_meddled;                                //!< messages lost or late

  private:
    /// The flow control under test.
    /// @return the one behind this in the chain
    Gentle& Gfc() const
    {
        return dynamic_cast<Gentle&>(*m_port->GetChain().GetMembers().at(1));
    }

    /// Write down the rate that node 0 is to obey. @param control a message for class 3
    void Note(const lossless::ControlFrame& control) const
    {
        if (m_port->GetNodeId() == 0)
        {
            g_rates.emplace_back(lossless::NowPs(), Gfc().GetRate(control.value[3]));
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(Meddler);

std::function<int64_t(int64_t)> Meddler::g_fate;
std::vector<Meddler::Start> Meddler::g_starts;
std::vector<std::pair<int64_t, uint64_t>> Meddler::g_rates;
uint64_t Meddler::g_meddled = 0;

/// Senders 0 .. n - 1 and receiver n on a switch; the port of node 0 is examined.
struct Setting
{
    std::string scheme{"ns3::gfc::MultiStageGfc"};           //!< TypeId name
    std::vector<std::pair<std::string, std::string>> values; //!< its attributes
    uint64_t rate{10'000'000'000};                           //!< of links (bit/s)
    int64_t delay{1'000'000};                                //!< of links (ps)
    int64_t payload{1000};                                   //!< of frames (B)
    std::vector<int64_t> stops{-1, -1};                      //!< of the endless senders (ps)
    int64_t end{2'000'000'000};                              //!< of the run (ps)
};

/// Run a star. @param setting what to run. @return problems.
std::string
RunFeedback(const Setting& setting)
{
    facade::Simulation sim(1);
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "60000000");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "20000000");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "19000000");
    sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", std::to_string(setting.payload));
    for (const auto& [name, value] : setting.values)
    {
        sim.SetAttribute(setting.scheme, name, value);
    }
    sim.AddFlowControl("ns3::gfc::tests::Meddler");
    sim.AddFlowControl(setting.scheme);
    const auto senders = static_cast<uint32_t>(setting.stops.size());
    std::vector<uint8_t> kinds(senders + 1, 0);
    kinds.push_back(1);
    std::string names;
    for (std::size_t i = 0; i < kinds.size(); ++i)
    {
        names.append("n").append(std::to_string(i)).append("\n");
    }
    sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    const uint32_t hub = senders + 1;
    for (uint32_t host = 0; host <= senders; ++host)
    {
        sim.AddLinks(&host, &hub, &setting.rate, &setting.delay, 1);
    }
    for (uint32_t host = 0; host < senders; ++host)
    {
        const uint64_t zero = 0;
        const int64_t start = 0;
        const uint8_t cls = 3;
        sim.AddFlows(&host, &senders, &zero, &start, &setting.stops[host], &cls, &zero, &zero, 1);
    }
    sim.Build();
    const std::string problems = sim.Check();
    sim.Run(setting.end);
    return problems + sim.Finish();
}

/// @ingroup gfc-tests
/// @brief The frames of a sender that always has something to send, against the integral of the
/// rates that it was given.
class SpacingTest : public TestCase
{
  public:
    SpacingTest()
        : TestCase("a frame starts in the first ps at which line and rate allow, whenever the rate "
                   "changes")
    {
    }

  private:
    /// Check the frames that were written down. @param line bit/s
    void CheckFrames(uint64_t line)
    {
        constexpr lossless::Int128 PS_BITS = 8'000'000'000'000;
        const auto& rates = Meddler::g_rates;
        for (std::size_t i = 0; i + 1 < Meddler::g_starts.size(); ++i)
        {
            const auto [from, bytes] = Meddler::g_starts[i];
            auto next =
                std::ranges::upper_bound(rates, from, {}, &std::pair<int64_t, uint64_t>::first);
            uint64_t rate = next == rates.begin() ? line : std::prev(next)->second;
            // Until when the integral of the rate has reached this frame's bits
            lossless::Int128 owed = bytes * PS_BITS;
            int64_t now = from;
            int64_t paid = 0;
            for (;;)
            {
                paid = rate ? now + static_cast<int64_t>((owed + rate - 1) / rate) : INT64_MAX;
                if (next == rates.end() || next->first >= paid)
                {
                    break;
                }
                owed -= static_cast<lossless::Int128>(rate) * (next->first - now);
                now = next->first;
                m_changes += rate != next->second;
                rate = next->second;
                ++next;
            }
            // The line is busy with the frame for its own time.
            const auto busy = static_cast<int64_t>((bytes * PS_BITS + line / 2) / line);
            NS_TEST_ASSERT_MSG_EQ(Meddler::g_starts[i + 1].time,
                                  std::max(paid, from + busy),
                                  "start of frame " << i + 1);
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(4);
        uint64_t frames = 0;
        for (int round = 0; round < 20; ++round)
        {
            Setting setting;
            const uint64_t rates[] = {10'000'000'000,
                                      25'000'000'000,
                                      40'000'000'000,
                                      7'777'777'777};
            setting.rate = rates[round % 4];
            setting.delay = static_cast<int64_t>(random() % 5'000'000);
            setting.payload = 100 + static_cast<int64_t>(random() % 1400);
            setting.stops.assign(2 + random() % 3, -1);
            setting.stops.back() = 700'000'000; // and the others speed up again
            if (round % 2)
            {
                setting.scheme = "ns3::gfc::ConceptualGfc";
                setting.values = {{"B0", "20000"}, {"Bm", "200000"}};
            }
            else
            {
                setting.values = {{"B1", "60000"},
                                  {"Bm", "200000"},
                                  {"Ratio", round % 4 ? "0.7" : "0.5"}};
            }
            Meddler::Reset();
            NS_TEST_ASSERT_MSG_EQ(RunFeedback(setting), "", "nothing is lost");
            CheckFrames(setting.rate);
            frames += Meddler::g_starts.size();
        }
        NS_TEST_ASSERT_MSG_GT(frames, 5'000, "many frames");
        NS_TEST_ASSERT_MSG_GT(m_changes, 1'000, "many changes while a frame was owed");
    }

    uint64_t m_changes{0}; //!< of the rate while a frame was owed
};

/// @ingroup gfc-tests
/// @brief Messages that are lost or late.
class LostFeedbackTest : public TestCase
{
  public:
    LostFeedbackTest()
        : TestCase("messages may be lost, the last ones too, or come out of order: the rate is "
                   "right within a refresh, and not without one")
    {
    }

  private:
    static constexpr int64_t REFRESH = 100'000'000; //!< ps
    static constexpr int64_t LATENCY = 10'000'000;  //!< more than a message takes (ps)

    /// Two senders, of which one stops at 1 ms.
    /// @param scheme TypeId name. @param refresh of the scheme. @return the setting.
    static Setting TwoSenders(const std::string& scheme, const std::string& refresh)
    {
        Setting setting;
        setting.scheme = scheme;
        setting.stops = {-1, 1'000'000'000};
        setting.values = {{"Bm", "200000"}, {"Refresh", refresh}};
        if (scheme == "ns3::gfc::ConceptualGfc")
        {
            setting.values.emplace_back("B0", "50000");
            setting.values.emplace_back("Ideal", "false");
        }
        else
        {
            setting.values.emplace_back("B1", "100000");
        }
        return setting;
    }

    /// The rate that node 0 obeys at a time. @param time ps. @return bit/s.
    static uint64_t RateAt(int64_t time)
    {
        uint64_t rate = 10'000'000'000;
        for (const auto& [when, next] : Meddler::g_rates)
        {
            rate = when <= time ? next : rate;
        }
        return rate;
    }

    /// Bits per second that node 0 sent between two times.
    /// @param from ps. @param to ps. @return bit/s on the wire.
    static double Sent(int64_t from, int64_t to)
    {
        double bytes = 0;
        for (const auto& start : Meddler::g_starts)
        {
            bytes += start.time >= from && start.time < to ? static_cast<double>(start.bytes) : 0;
        }
        return bytes * 8e12 / static_cast<double>(to - from);
    }

    void DoRun() override
    {
        for (const char* scheme : {"ns3::gfc::MultiStageGfc", "ns3::gfc::ConceptualGfc"})
        {
            // The messages that lift the limit are lost, for 150 us after the other sender stopped
            // and the queue, of at most 200 KB (160 us), is empty: they are the last there are.
            const auto lostEnd = [](int64_t now) {
                return now > 1'000'000'000 && now < 1'350'000'000 ? -1 : 0;
            };
            Meddler::Reset(lostEnd);
            NS_TEST_ASSERT_MSG_EQ(RunFeedback(TwoSenders(scheme, "0us")), "", "nothing is lost");
            NS_TEST_ASSERT_MSG_GT(Meddler::g_meddled, 0, "messages were lost, " << scheme);
            NS_TEST_ASSERT_MSG_LT(Sent(1'400'000'000, 2'000'000'000),
                                  6e9,
                                  "without refresh the rate stays frozen, " << scheme);
            Meddler::Reset(lostEnd);
            NS_TEST_ASSERT_MSG_EQ(RunFeedback(TwoSenders(scheme, "100us")), "", "nothing is lost");
            const int64_t mended = 1'350'000'000 + REFRESH + LATENCY;
            NS_TEST_ASSERT_MSG_EQ(RateAt(mended), 10'000'000'000, "mended in time, " << scheme);
            NS_TEST_ASSERT_MSG_EQ_TOL(Sent(mended, 2'000'000'000),
                                      10e9,
                                      0.03e9,
                                      "and so it stays, " << scheme);

            // All messages that slow down are lost while the queue grows far beyond Bm.
            const auto lostStart = [](int64_t now) { return now < 600'000'000 ? -1 : 0; };
            Meddler::Reset(lostStart);
            NS_TEST_ASSERT_MSG_EQ(RunFeedback(TwoSenders(scheme, "100us")), "", "nothing is lost");
            NS_TEST_ASSERT_MSG_EQ(RateAt(599'999'999), 10'000'000'000, "nothing has come");
            NS_TEST_ASSERT_MSG_LT(RateAt(600'000'000 + REFRESH + LATENCY),
                                  1'000'000,
                                  "the lowest rate within a refresh, " << scheme);

            // Half of all messages are lost or late by up to 50 us, so that they overtake each
            // other.
            for (const bool late : {false, true})
            {
                std::mt19937_64 random(6);
                const auto chance = [&random, late](int64_t now) -> int64_t {
                    if (now > 1'400'000'000 || random() % 2)
                    {
                        return 0;
                    }
                    return late ? 1 + static_cast<int64_t>(random() % 50'000'000) : -1;
                };
                Meddler::Reset(chance);
                NS_TEST_ASSERT_MSG_EQ(RunFeedback(TwoSenders(scheme, "100us")),
                                      "",
                                      "nothing is lost");
                NS_TEST_ASSERT_MSG_GT(Meddler::g_meddled, 5, "many are lost or late, " << scheme);
                const int64_t from = 1'400'000'000 + 50'000'000 + REFRESH + LATENCY;
                // A queue just above B0 empties ever more slowly towards it.
                NS_TEST_ASSERT_MSG_GT(RateAt(from), 9'500'000'000, "line rate again, " << scheme);
                NS_TEST_ASSERT_MSG_GT(Sent(from, 2'000'000'000), 9.8e9, "and so it stays");
            }
        }
    }
};

/// @ingroup gfc-tests
/// @brief Tests of the way from a message to the sender's frames.
class FeedbackTestSuite : public TestSuite
{
  public:
    FeedbackTestSuite()
        : TestSuite("gfc-feedback", Type::UNIT)
    {
        AddTestCase(new SpacingTest, TestCase::Duration::QUICK);
        AddTestCase(new LostFeedbackTest, TestCase::Duration::QUICK);
    }
};

static FeedbackTestSuite g_feedbackTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
