/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/facade-simulation.h"
#include "ns3/gfc-conceptual.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

/**
 * @file
 * @ingroup gfc-tests
 * Figure 5 of the GFC paper against a fluid model of its own, and Theorem 4.1 as a property.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/// Queue of one sender in a 2-to-1 star, as a step function.
struct Series
{
    std::vector<int64_t> time;  //!< ps
    std::vector<int64_t> bytes; //!< from then on
    std::vector<int64_t> off;   //!< when the sender began to be paused (ps)
    std::vector<int64_t> on;    //!< when each of these pauses ended (ps)
    double rate{0};             //!< mean input rate from 400 us on (bit/s)
    double lowestRate{-1};      //!< that the sender obeyed (bit/s)
    std::string problems;       //!< of the configuration and of the run
    std::string warnings;       //!< of the configuration

    /// Mean lengths of the pauses that begin and end after 400 us, and of what is between.
    /// @return off and on (ps)
    std::pair<double, double> OffOn() const
    {
        double offTime = 0;
        double onTime = 0;
        double n = 0;
        for (std::size_t i = 0; i + 1 < off.size(); ++i)
        {
            if (off[i] >= 400'000'000)
            {
                offTime += static_cast<double>(on[i] - off[i]);
                onTime += static_cast<double>(off[i + 1] - on[i]);
                ++n;
            }
        }
        return {offTime / n, onTime / n};
    }

    /// Time mean. @param from ps. @return bytes.
    double Mean(int64_t from) const
    {
        double area = 0;
        int64_t length = 0;
        for (std::size_t i = 0; i + 1 < time.size(); ++i)
        {
            const int64_t step = time[i + 1] - std::max(time[i], from);
            if (step > 0)
            {
                area += static_cast<double>(bytes[i]) * static_cast<double>(step);
                length += step;
            }
        }
        return area / static_cast<double>(length);
    }

    /// Extreme values. @param from ps. @param to ps. @return least and most.
    std::pair<int64_t, int64_t> Range(int64_t from, int64_t to) const
    {
        int64_t least = INT64_MAX;
        int64_t most = 0;
        for (std::size_t i = 0; i < time.size(); ++i)
        {
            if (time[i] >= from && time[i] < to)
            {
                least = std::min(least, bytes[i]);
                most = std::max(most, bytes[i]);
            }
        }
        return {least, most};
    }
};

/// A star of senders and one receiver at 10 Gb/s, no overhead; by default that of Figure 5.
struct StarSetting
{
    std::string flowControl{"ns3::gfc::ConceptualGfc"}; //!< TypeId name
    int64_t frame{1000};                                //!< bytes
    uint32_t senders{2};                                //!< how many
    int64_t tau{25'000'000};                            //!< feedback latency (ps)
    int64_t wire{1'000'000};                            //!< delay of a link (ps)
    int64_t b0{50'000};                                 //!< of ConceptualGfc (B)
    int64_t bm{100'000};                                //!< of ConceptualGfc (B)
    int64_t end{2'000'000'000};                         //!< of the run (ps)
};

/// Run a star.
///
/// tau is made of two wires, the time of a frame and the sender's control delay, which takes what
/// is left. A PAUSE is sent as a frame and may wait for one: that comes on top.
/// @param setting what to run. @return the ingress queue of one sender.
Series
RunStar(const StarSetting& setting)
{
    const int64_t frameTime = setting.frame * 800; // at 10 Gb/s
    const int64_t control = setting.tau - 2 * setting.wire - frameTime;
    facade::Simulation sim(1);
    sim.SetAttribute("ns3::lossless::Port", "Overhead", "0");
    sim.SetAttribute("ns3::lossless::Port", "ControlDelay", std::to_string(control) + "ps");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "100000000");
    if (setting.flowControl == "ns3::gfc::ConceptualGfc")
    {
        sim.SetAttribute(setting.flowControl, "B0", std::to_string(setting.b0));
        sim.SetAttribute(setting.flowControl, "Bm", std::to_string(setting.bm));
        // No backstop: what passes Bm must show.
        sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", std::to_string(2 * setting.bm));
        sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", std::to_string(setting.bm));
    }
    sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", std::to_string(setting.frame));
    sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "0");
    sim.AddFlowControl(setting.flowControl);
    std::vector<uint8_t> kinds(setting.senders + 1, 0);
    kinds.push_back(1);
    std::string names;
    for (std::size_t i = 0; i < kinds.size(); ++i)
    {
        names.append(kinds[i] ? "s" : "h").append(std::to_string(i)).append("\n");
    }
    sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    const uint32_t hub = setting.senders + 1;
    const uint64_t rate = 10'000'000'000;
    for (uint32_t host = 0; host <= setting.senders; ++host)
    {
        sim.AddLinks(&host, &hub, &rate, &setting.wire, 1);
    }
    for (uint32_t host = 0; host < setting.senders; ++host)
    {
        const uint64_t zero = 0;
        const int64_t start = 0;
        const int64_t never = -1;
        const uint8_t cls = 3;
        sim.AddFlows(&host, &setting.senders, &zero, &start, &never, &cls, &zero, &zero, 1);
    }
    sim.Build();
    const uint32_t nodes[] = {hub, 0};
    const int64_t peers[] = {0, hub};
    sim.Trace("queue", nodes, peers, 1, 1U << 3, 0);
    sim.Trace("rate", nodes, peers, 1, 1U << 3, 0);
    sim.Trace("pause", nodes + 1, peers + 1, 1, 1U << 3, 0);
    Series series;
    series.problems = sim.Check();
    series.warnings = sim.Warnings();
    sim.Run(setting.end);
    series.problems += sim.Finish();
    for (const auto& [name, value] : sim.GetSummary())
    {
        series.lowestRate = name == "gfc_lowest_rate_bps" ? value : series.lowestRate;
    }
    std::vector<int64_t> time;
    std::vector<int64_t> bytes;
    for (uint32_t table = 0; table < sim.GetNTables(); ++table)
    {
        const auto column = [&sim, table](uint32_t number) {
            const auto* data = reinterpret_cast<const int64_t*>(sim.GetColumnData(table, number));
            return std::vector<int64_t>(data, data + sim.GetNRows(table));
        };
        if (sim.GetTableName(table) == "queue")
        {
            series.time = column(0);
            series.bytes = column(4);
        }
        else if (sim.GetTableName(table) == "rate")
        {
            time = column(0);
            bytes = column(4);
        }
        else if (sim.GetTableName(table) == "pause")
        {
            series.off = column(0);
            series.on = column(1);
        }
    }
    // A rate that goes on and off is measured over whole cycles: a part of one would be 2 percent.
    int64_t from = 400'000'000;
    int64_t to = setting.end;
    if (!series.off.empty())
    {
        from = *std::lower_bound(series.off.begin(), series.off.end(), from);
        to = series.off.back();
    }
    double arrived = 0;
    for (std::size_t row = 0; row < time.size(); ++row)
    {
        const bool counts = time[row] >= from && time[row] < to;
        arrived += counts ? static_cast<double>(bytes[row]) : 0;
    }
    series.rate = arrived * 8e12 / static_cast<double>(to - from);
    return series;
}

/// Figure 5.
/// @param flowControl TypeId name. @param frame bytes of a frame. @return the ingress queue of one
/// sender.
Series
TwoToOne(const std::string& flowControl, int64_t frame)
{
    StarSetting setting;
    setting.flowControl = flowControl;
    setting.frame = frame;
    return RunStar(setting);
}

/// The delay differential equation of section 4.1: q' = R(q(t - tau)) - C / 2, from an empty queue.
/// @param gfc the mapping of Figure 5, else PFC with XOFF 80 KB and XON 77 KB. @return the queue
/// every 10 ns.
Series
Fluid(bool gfc)
{
    constexpr double C = 10e9 / 8;
    constexpr double STEP = 10e-9;
    constexpr int DELAY = 2500; // tau in steps
    std::deque<double> rates(DELAY, C);
    double q = 0;
    bool off = false;
    Series series;
    for (int i = 0; i < 200'000; ++i)
    {
        if (!gfc && off != (off ? q > 77e3 : q > 80e3))
        {
            off = !off;
            (off ? series.off : series.on).push_back(static_cast<int64_t>(i) * 10'000);
        }
        rates.push_back(gfc ? C * std::clamp((100e3 - q) / 50e3, 0.0, 1.0) : (off ? 0 : C));
        q = std::max(0.0, q + (rates.front() - C / 2) * STEP);
        rates.pop_front();
        series.time.push_back(static_cast<int64_t>(i) * 10'000);
        series.bytes.push_back(static_cast<int64_t>(q));
    }
    return series;
}

/// @ingroup gfc-tests
/// @brief Figure 5, and how it comes closer to the fluid model as frames get smaller.
class FigureFiveTest : public TestCase
{
  public:
    FigureFiveTest()
        : TestCase("Figure 5: steady state within 2 percent of the paper, dynamics within 5 "
                   "percent of the fluid model")
    {
    }

  private:
    void DoRun() override
    {
        const Series fluidGfc = Fluid(true);
        const Series fluidPfc = Fluid(false);
        const auto [fluidLow, fluidHigh] = fluidPfc.Range(400'000'000, 2'000'000'000);
        const auto [fluidOff, fluidOn] = fluidPfc.OffOn();
        const auto [fluidFoot, fluidTop] = fluidGfc.Range(150'000'000, 400'000'000);
        // The fluid model itself, against the numbers worked out elsewhere for the same equation.
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(fluidTop), 78.5e3, 100, "fluid peak");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(fluidFoot), 74.5e3, 100, "fluid undershoot");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(fluidLow), 61.4e3, 100, "fluid PFC low");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(fluidHigh), 95.6e3, 100, "fluid PFC high");
        NS_TEST_ASSERT_MSG_EQ_TOL(fluidOff, 54.8e6, 0.1e6, "fluid off");
        NS_TEST_ASSERT_MSG_EQ_TOL(fluidOn, 54.8e6, 0.1e6, "fluid on");
        double before = 1e9;
        for (const int64_t frame : {1500, 1000, 100})
        {
            const Series gfc = TwoToOne("ns3::gfc::ConceptualGfc", frame);
            NS_TEST_ASSERT_MSG_EQ_TOL(gfc.Mean(400'000'000),
                                      75e3,
                                      1500,
                                      "published: the queue settles at 75 KB");
            NS_TEST_ASSERT_MSG_EQ_TOL(gfc.rate, 5e9, 0.1e9, "published: at 5 Gb/s");
            const auto peak = static_cast<double>(gfc.Range(0, 300'000'000).second);
            const auto fluidPeak = static_cast<double>(fluidGfc.Range(0, 300'000'000).second);
            NS_TEST_ASSERT_MSG_EQ_TOL(peak,
                                      fluidPeak,
                                      0.05 * fluidPeak,
                                      "first peak, frames of " << frame << " B");
            const Series pfc = TwoToOne("ns3::pfc::Pfc", frame);
            const auto [low, high] = pfc.Range(400'000'000, 2'000'000'000);
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(low),
                                      fluidLow,
                                      0.05 * fluidLow,
                                      "PFC's least queue");
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(high),
                                      fluidHigh,
                                      0.05 * fluidHigh,
                                      "PFC's longest queue");
            const auto [off, on] = pfc.OffOn();
            NS_TEST_ASSERT_MSG_EQ_TOL(off, fluidOff, 0.05 * fluidOff, "PFC is off that long");
            NS_TEST_ASSERT_MSG_EQ_TOL(on, fluidOn, 0.05 * fluidOn, "PFC is on that long");
            NS_TEST_ASSERT_MSG_EQ_TOL(pfc.rate, 5e9, 0.1e9, "PFC's mean rate, frame " << frame);
            NS_TEST_ASSERT_MSG_EQ(gfc.problems + pfc.problems, "", "nothing is lost");
            NS_TEST_ASSERT_MSG_NE(gfc.warnings.find("4 C tau = 125 KB"),
                                  std::string::npos,
                                  "Figure 5 is outside theorem 4.1: " << gfc.warnings);
            const double error = std::abs(peak - fluidPeak);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(error, before, "smaller frames come closer to the fluid");
            before = error;
        }
        NS_TEST_ASSERT_MSG_LT(before,
                              200,
                              "with frames of 100 B the peak is the fluid's within two frames");
    }
};

/// @ingroup gfc-tests
/// @brief The mapping: line rate up to B0, 0 from Bm on, linear and falling in between.
class MappingTest : public TestCase
{
  public:
    MappingTest()
        : TestCase("the mapping is the line rate up to B0, linear down to 0 at Bm, and never rises")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        for (int round = 0; round < 200; ++round)
        {
            const int64_t b0 = static_cast<int64_t>(random() % 1'000'000);
            const int64_t bm = b0 + 1 + static_cast<int64_t>(random() % 1'000'000);
            const uint64_t line = 1'000'000'000 + random() % 800'000'000'000;
            uint64_t last = line;
            for (int64_t q = 0; q < bm + 1000; q += 1 + static_cast<int64_t>(random() % 50'000))
            {
                const uint64_t rate = LinearRate(q, b0, bm, line);
                const long double exact =
                    q <= b0   ? line
                    : q >= bm ? 0
                              : static_cast<long double>(line) * (bm - q) / (bm - b0);
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<long double>(rate),
                                          exact,
                                          1.0L,
                                          "R(" << q << ")");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(rate, last, "a longer queue is never faster");
                last = rate;
            }
        }
    }
};

/// @ingroup gfc-tests
/// @brief Where the queue settles: at R(Bs) = C / N, whatever N and the mapping are.
class SteadyStateTest : public TestCase
{
  public:
    SteadyStateTest()
        : TestCase("N senders settle where the mapping gives each an Nth of C; without feedback "
                   "latency there is no overshoot")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t senders : {2U, 3U, 4U, 7U})
        {
            StarSetting setting;
            setting.senders = senders;
            setting.b0 = 30'000;
            setting.bm = 200'000;
            setting.end = 5'000'000'000;
            const Series series = RunStar(setting);
            NS_TEST_ASSERT_MSG_EQ(series.problems + series.warnings, "", "inside the bound");
            const double settled = 200e3 - 170e3 / senders;
            NS_TEST_ASSERT_MSG_EQ_TOL(series.Mean(2'000'000'000),
                                      settled,
                                      0.02 * settled,
                                      "queue with " << senders << " senders");
            NS_TEST_ASSERT_MSG_EQ_TOL(series.rate,
                                      10e9 / senders,
                                      0.02 * 10e9 / senders,
                                      "rate with " << senders << " senders");
        }
        for (const int64_t frame : {1500, 1000, 100})
        {
            StarSetting setting;
            setting.frame = frame;
            setting.wire = 0;
            setting.tau = frame * 800; // store and forward is all there is
            const Series series = RunStar(setting);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(series.Range(0, setting.end).second,
                                        75'000 + 2 * frame,
                                        "no overshoot but of a frame or two of " << frame << " B");
            const auto [least, most] = series.Range(400'000'000, setting.end);
            NS_TEST_ASSERT_MSG_GT_OR_EQ(least, 75'000 - 3 * frame, "and it stays there");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(most, 75'000 + 2 * frame, "and it stays there");
        }
    }
};

/// @ingroup gfc-tests
/// @brief Theorem 4.1 at its very bound, with tau as the concept has it.
class TheoremTest : public TestCase
{
  public:
    TheoremTest()
        : TestCase("at B0 = Bm - 4 C tau no queue reaches Bm and no rate 0; at a tenth of it they "
                   "do")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(2);
        for (int round = 0; round < 60; ++round)
        {
            StarSetting setting;
            setting.senders = static_cast<uint32_t>(2 + random() % 12);
            setting.frame = 100 + static_cast<int64_t>(random() % 1900);
            setting.wire = static_cast<int64_t>(random() % 5'000'000);
            setting.tau = 2 * setting.wire + setting.frame * 800 +
                          static_cast<int64_t>(random() % 30'000'000);
            setting.end = 1'000'000'000;
            setting.b0 = static_cast<int64_t>(random() % 50'000);
            const int64_t ctau = setting.tau / 800 + 1; // 10 Gb/s
            setting.bm = setting.b0 + 4 * ctau;
            const Series inside = RunStar(setting);
            const int64_t peak = inside.Range(0, setting.end).second;
            const auto what = [&] {
                return std::to_string(setting.senders) + " senders, frames of " +
                       std::to_string(setting.frame) + " B, tau " + std::to_string(setting.tau) +
                       " ps, B0 " + std::to_string(setting.b0) + " B, Bm " +
                       std::to_string(setting.bm) + " B";
            };
            NS_TEST_ASSERT_MSG_EQ(inside.problems, "", "nothing is lost: " << what());
            NS_TEST_ASSERT_MSG_EQ(inside.warnings, "", "the bound itself is inside: " << what());
            NS_TEST_ASSERT_MSG_LT(peak, setting.bm, "the queue stays below Bm: " << what());
            NS_TEST_ASSERT_MSG_GT(inside.lowestRate, 0, "no rate is 0: " << what());
            setting.bm = setting.b0 + std::max<int64_t>(1, ctau * 4 / 10);
            const Series outside = RunStar(setting);
            NS_TEST_ASSERT_MSG_NE(outside.warnings, "", "a tenth of the bound warns: " << what());
            NS_TEST_ASSERT_MSG_EQ(outside.lowestRate, 0, "and reaches 0: " << what());
        }
    }
};

/// @ingroup gfc-tests
/// @brief Tests of ConceptualGfc.
class ConceptualGfcTestSuite : public TestSuite
{
  public:
    ConceptualGfcTestSuite()
        : TestSuite("gfc-conceptual", Type::UNIT)
    {
        AddTestCase(new MappingTest, TestCase::Duration::QUICK);
        AddTestCase(new FigureFiveTest, TestCase::Duration::QUICK);
        AddTestCase(new SteadyStateTest, TestCase::Duration::QUICK);
        AddTestCase(new TheoremTest, TestCase::Duration::QUICK);
    }
};

static ConceptualGfcTestSuite g_conceptualGfcTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
