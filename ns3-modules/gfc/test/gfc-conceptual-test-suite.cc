/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/gfc-conceptual.h"
#include "ns3/rdma-simulation.h"
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
    double rate;                //!< mean input rate from 400 us on (bit/s)

    /**
     * @brief Time mean.
     *
     * @param from ps
     * @return bytes
     */
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

    /**
     * @brief Extreme values.
     *
     * @param from ps
     * @param to ps
     * @return least and most
     */
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

/**
 * @brief Two senders, one receiver, 10 Gb/s, feedback latency 25 us, no overhead: the setting of
 * Figure 5.
 *
 * @param flowControl TypeId name
 * @param frame bytes of a frame
 * @return the ingress queue of one sender
 */
Series
TwoToOne(const std::string& flowControl, int64_t frame)
{
    rdma::Simulation sim(1);
    // tau = control delay + two wires + a frame
    const int64_t control = 25'000'000 - 2'000'000 - frame * 800;
    sim.SetAttribute("ns3::lossless::Port", "Overhead", "0");
    sim.SetAttribute("ns3::lossless::Port", "ControlDelay", std::to_string(control) + "ps");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", std::to_string(frame));
    sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "0");
    sim.AddFlowControl(flowControl);
    const uint8_t kinds[] = {0, 0, 0, 1};
    sim.AddNodes(kinds, "h0\nh1\nh2\ns0\n", 4);
    const uint32_t a[] = {0, 1, 2};
    const uint32_t b[] = {3, 3, 3};
    const uint64_t rates[] = {10'000'000'000, 10'000'000'000, 10'000'000'000};
    const int64_t delays[] = {1'000'000, 1'000'000, 1'000'000};
    sim.AddLinks(a, b, rates, delays, 3);
    const uint32_t src[] = {0, 1};
    const uint32_t dst[] = {2, 2};
    const uint64_t zero[] = {0, 0};
    const int64_t start[] = {0, 0};
    const int64_t stop[] = {-1, -1};
    const uint8_t cls[] = {3, 3};
    sim.AddFlows(src, dst, zero, start, stop, cls, zero, zero, 2);
    sim.Build();
    const uint32_t node = 3;
    const int64_t peer = 0;
    sim.Trace("queue", &node, &peer, 1, 1U << 3, 0);
    sim.Trace("rate", &node, &peer, 1, 1U << 3, 0);
    sim.Run(2'000'000'000);
    sim.Finish();
    Series series;
    double arrived = 0;
    for (uint32_t table = 0; table < sim.GetNTables(); ++table)
    {
        const uint64_t rows = sim.GetNRows(table);
        const auto* time = reinterpret_cast<const int64_t*>(sim.GetColumnData(table, 0));
        if (sim.GetTableName(table) == "queue")
        {
            const auto* bytes = reinterpret_cast<const int64_t*>(sim.GetColumnData(table, 4));
            series.time.assign(time, time + rows);
            series.bytes.assign(bytes, bytes + rows);
        }
        else if (sim.GetTableName(table) == "rate")
        {
            const auto* bytes = reinterpret_cast<const int64_t*>(sim.GetColumnData(table, 4));
            for (uint64_t row = 0; row < rows; ++row)
            {
                arrived += time[row] >= 400'000'000 ? static_cast<double>(bytes[row]) : 0;
            }
        }
    }
    series.rate = arrived * 8 / 1.6e-3;
    return series;
}

/**
 * @brief The delay differential equation of section 4.1: q' = R(q(t - tau)) - C / 2, from an empty
 * queue.
 *
 * @param gfc the mapping of Figure 5, else PFC with XOFF 80 KB and XON 77 KB
 * @return the queue every 10 ns
 */
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
        off = off ? q > 77e3 : q > 80e3;
        rates.push_back(gfc ? C * std::clamp((100e3 - q) / 50e3, 0.0, 1.0) : (off ? 0 : C));
        q = std::max(0.0, q + (rates.front() - C / 2) * STEP);
        rates.pop_front();
        series.time.push_back(static_cast<int64_t>(i) * 10'000);
        series.bytes.push_back(static_cast<int64_t>(q));
    }
    return series;
}

/**
 * @ingroup gfc-tests
 * @brief Figure 5, and how it comes closer to the fluid model as frames get smaller.
 */
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
            const Series pfc = TwoToOne("ns3::lossless::Pfc", frame);
            const auto [low, high] = pfc.Range(400'000'000, 2'000'000'000);
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(low),
                                      fluidLow,
                                      0.05 * fluidLow,
                                      "PFC's least queue");
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(high),
                                      fluidHigh,
                                      0.05 * fluidHigh,
                                      "PFC's longest queue");
            const double error = std::abs(peak - fluidPeak);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(error, before, "smaller frames come closer to the fluid");
            before = error;
        }
        NS_TEST_ASSERT_MSG_LT(before,
                              200,
                              "with frames of 100 B the peak is the fluid's within two frames");
    }
};

/**
 * @ingroup gfc-tests
 * @brief The mapping: line rate up to B0, 0 from Bm on, linear and falling in between.
 */
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

/**
 * @ingroup gfc-tests
 * @brief Tests of ConceptualGfc.
 */
class ConceptualGfcTestSuite : public TestSuite
{
  public:
    ConceptualGfcTestSuite()
        : TestSuite("gfc-conceptual", Type::UNIT)
    {
        AddTestCase(new MappingTest, TestCase::Duration::QUICK);
        AddTestCase(new FigureFiveTest, TestCase::Duration::QUICK);
    }
};

static ConceptualGfcTestSuite g_conceptualGfcTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
