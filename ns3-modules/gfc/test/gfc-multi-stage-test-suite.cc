/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/facade-simulation.h"
#include "ns3/gfc-multi-stage.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

/**
 * @file
 * @ingroup gfc-tests
 * The stage table of section 4.2, and practical GFC on a switch.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/// @ingroup gfc-tests
/// @brief Stage arithmetic: the paper's numbers, and properties over random parameters.
class StageTableTest : public TestCase
{
  public:
    StageTableTest()
        : TestCase("stages halve rate and remaining buffer until one is a byte long")
    {
    }

  private:
    void DoRun() override
    {
        // Bm 300 KB, B1 281 KB, C 10 Gb/s: B_k = 281, 290.5, 295.25, ... KB and R_k = 5, 2.5, 1.25,
        // ... Gb/s
        const auto paper = MakeStages(281'000, 300'000, 0.5, 10'000'000'000, 1);
        const int64_t starts[] = {0, 281'000, 290'500, 295'250, 297'625};
        for (std::size_t k = 0; k < 5; ++k)
        {
            NS_TEST_ASSERT_MSG_EQ(paper[k].start, starts[k], "start of stage " << k);
            NS_TEST_ASSERT_MSG_EQ(paper[k].rate, (10'000'000'000ULL >> k), "rate of stage " << k);
        }
        std::mt19937_64 random(1);
        for (int round = 0; round < 300; ++round)
        {
            const auto b1 = static_cast<int64_t>(random() % 2'000'000);
            const int64_t bm = b1 + 2 + static_cast<int64_t>(random() % 2'000'000);
            const double ratio = 0.1 + 0.65 * static_cast<double>(random() % 1000) / 1000;
            const uint64_t line = 1'000'000'000 + random() % 400'000'000'000;
            const uint64_t floor = 1 + random() % 100'000;
            const auto stages = MakeStages(b1, bm, ratio, line, floor);
            NS_TEST_ASSERT_MSG_EQ(stages[0].start, 0, "stage 0 is everything below B1");
            NS_TEST_ASSERT_MSG_EQ(stages[0].rate, line, "at line rate");
            NS_TEST_ASSERT_MSG_EQ(stages[1].start, b1, "stage 1 starts at B1");
            const auto span = static_cast<long double>(bm - b1);
            for (std::size_t k = 1; k < stages.size(); ++k)
            {
                NS_TEST_ASSERT_MSG_GT(stages[k].start,
                                      stages[k - 1].start - (k == 1),
                                      "stages follow each other");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(stages[k].start, bm, "no stage starts beyond Bm");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(stages[k].rate,
                                            stages[k - 1].rate,
                                            "no stage is faster than the one before");
                NS_TEST_ASSERT_MSG_GT_OR_EQ(stages[k].rate, floor, "nor slower than the floor");
                const long double left = span * std::pow(static_cast<long double>(ratio), k - 1.0L);
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<long double>(stages[k].start),
                                          static_cast<long double>(bm) - left,
                                          1.0L,
                                          "equation 5");
                const long double rate = line * std::pow(static_cast<long double>(ratio), 1.0L * k);
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<long double>(stages[k].rate),
                                          std::max(rate, static_cast<long double>(floor)),
                                          1.0L + rate * 1e-9L,
                                          "equation 4");
                // B_k - B_(k-1) before rounding
                const long double step = left / ratio * (1 - ratio);
                const bool isLast = k + 1 == stages.size();
                if (k > 1 && !isLast)
                {
                    NS_TEST_ASSERT_MSG_GT(step, 1 - 1e-6L, "no stage before the last is a byte");
                }
                if (isLast && left * (1 - ratio) > 1.0L)
                {
                    NS_TEST_ASSERT_MSG_LT_OR_EQ(step, 1 + 1e-6L, "the last starts within a byte");
                }
            }
        }
        // With ratio 1/2 and a remainder that is a power of two all is exact: rate and remaining
        // buffer halve, down to one byte.
        for (int bits = 1; bits < 40; ++bits)
        {
            const int64_t span = int64_t{1} << bits;
            const auto stages = MakeStages(1000, 1000 + span, 0.5, 1ULL << 50, 1);
            NS_TEST_ASSERT_MSG_EQ(stages.size(), static_cast<std::size_t>(bits) + 2, "stages");
            for (std::size_t k = 1; k < stages.size(); ++k)
            {
                NS_TEST_ASSERT_MSG_EQ(1000 + span - stages[k].start,
                                      (span >> (k - 1)),
                                      "remaining buffer in stage " << k);
                NS_TEST_ASSERT_MSG_EQ(stages[k].rate, (1ULL << (50 - k)), "rate of stage " << k);
            }
            NS_TEST_ASSERT_MSG_EQ(stages.back().start, 1000 + span - 1, "the last byte");
        }
        // Stage numbers go into 16-bit words: even the gentlest ratio and the longest buffer
        // allowed stay far below 2^16.
        const auto longest = MakeStages(0, 0xffffffff, 0.99, 800'000'000'000, 1);
        NS_TEST_ASSERT_MSG_LT(longest.size(), 65'536, "a word of 16 bits holds every stage");
        NS_TEST_ASSERT_MSG_GT(longest.size(), 1'000, "and there are many");
    }
};

/// @ingroup gfc-tests
/// @brief Random stars and random parameters inside the bound of a scheme: nothing is lost, no port
/// is held forever, every flow finishes.
class LosslessTest : public TestCase
{
  public:
    /// Choose the scheme. @param scheme its class
    explicit LosslessTest(const std::string& scheme)
        : TestCase("inside its bound nothing is lost and the rate never reaches 0, " + scheme),
          m_scheme("ns3::gfc::" + scheme)
    {
    }

  private:
    static constexpr int64_t FRAME = 1068; //!< on the wire (B)

    /// A link and what is to be drawn for it.
    struct Draw
    {
        uint64_t rate;   //!< bit/s
        int64_t delay;   //!< ps
        int64_t control; //!< control delay (ps)
        int64_t minGap;  //!< of a gentle scheme (ps)
    };

    /// C times the feedback latency as the schemes reckon it, and a frame for rounding.
    /// @param draw the link. @return bytes.
    static int64_t Reach(const Draw& draw)
    {
        // waiting for a frame, sending a message, two wires, control delay, a frame
        const double bytes = 2 * FRAME + 84;
        const double time = static_cast<double>(2 * draw.delay + draw.control + draw.minGap);
        return static_cast<int64_t>(bytes + static_cast<double>(draw.rate) * time / 8e12) + 2;
    }

    /// Draw the scheme's attributes inside its bound.
    /// @param sim to set them. @param draw the link. @param random generator. @return Bm, or
    /// Buffer.
    int64_t SetScheme(facade::Simulation& sim, const Draw& draw, std::mt19937_64& random) const
    {
        const int64_t start = 20'000 + static_cast<int64_t>(random() % 100'000);
        if (m_scheme == "ns3::gfc::TimeBasedGfc")
        {
            const auto period = static_cast<int64_t>(1'000'000 + random() % 60'000'000);
            Draw slow = draw;
            slow.minGap = period;
            // 1048 B are 17 blocks of 64 B: 1088 B for every 1068 B on the wire; and what is left
            // at the end must hold a frame for each of up to 7 senders' share.
            const int64_t buffer = start + Reach(slow) * 1088 / 1068 + 10 * 1088;
            sim.SetAttribute(m_scheme, "Buffer", std::to_string(buffer));
            sim.SetAttribute(m_scheme, "B0", std::to_string(start));
            sim.SetAttribute(m_scheme, "Period", std::to_string(period) + "ps");
            sim.SetAttribute(m_scheme, "OnChange", random() % 2 ? "true" : "false");
            return buffer;
        }
        double factor = 4; // Theorem 4.1
        if (m_scheme == "ns3::gfc::MultiStageGfc")
        {
            const double ratio = 0.2 + 0.55 * static_cast<double>(random() % 1000) / 1000;
            factor = 1 / (1 - ratio); // equation 1
            sim.SetAttribute(m_scheme, "Ratio", std::to_string(ratio));
            sim.SetAttribute(m_scheme, "Hysteresis", std::to_string(random() % 4000));
        }
        else
        {
            sim.SetAttribute(m_scheme, "Ideal", random() % 2 ? "true" : "false");
        }
        const int64_t bm = start + static_cast<int64_t>(factor * static_cast<double>(Reach(draw))) +
                           4 * FRAME; // the theorem is about a fluid
        sim.SetAttribute(m_scheme, "Bm", std::to_string(bm));
        sim.SetAttribute(m_scheme,
                         m_scheme == "ns3::gfc::MultiStageGfc" ? "B1" : "B0",
                         std::to_string(start));
        sim.SetAttribute(m_scheme, "MinGap", std::to_string(draw.minGap) + "ps");
        return bm;
    }

    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (int round = 0; round < 60; ++round)
        {
            const uint64_t rates[] = {10'000'000'000, 25'000'000'000, 100'000'000'000};
            Draw draw{};
            draw.rate = rates[random() % 3];
            draw.delay = 1000 * static_cast<int64_t>(random() % 3000);
            draw.control = 1000 * static_cast<int64_t>(random() % 3000);
            draw.minGap = random() % 2 ? 1000 * static_cast<int64_t>(random() % 5000) : 0;
            const uint32_t senders = 2 + random() % 6;
            facade::Simulation sim(1);
            sim.SetAttribute("ns3::lossless::Port",
                             "ControlDelay",
                             std::to_string(draw.control) + "ps");
            // Every sender gets its share of the drain at any time. First in, first out would serve
            // the backlogs of others first, and a queue that is not drained passes Bm, if slowly.
            sim.SetAttribute("ns3::lossless::Port", "QueueService", "RoundRobin");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "60000000");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            const int64_t bm = SetScheme(sim, draw, random);
            // No backstop: a queue that passes Bm by two frames fails the test.
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", std::to_string(bm + 2 * FRAME));
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "0");
            sim.AddFlowControl(m_scheme);
            sim.SetStopWhenDone(true);
            std::vector<uint8_t> kinds(senders + 1, 0);
            kinds.push_back(1);
            std::string names;
            for (uint32_t i = 0; i < kinds.size(); ++i)
            {
                names.append("n").append(std::to_string(i)).append("\n");
            }
            sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
            for (uint32_t host = 0; host <= senders; ++host)
            {
                const uint32_t hub = senders + 1;
                sim.AddLinks(&host, &hub, &draw.rate, &draw.delay, 1);
            }
            for (uint32_t host = 0; host < senders; ++host)
            {
                const uint64_t bytes = 200'000 + random() % 800'000;
                const auto start = static_cast<int64_t>(random() % 20'000'000);
                const int64_t never = -1;
                const uint8_t cls = 3;
                const uint64_t none = 0;
                sim.AddFlows(&host, &senders, &bytes, &start, &never, &cls, &none, &none, 1);
            }
            sim.Build();
            NS_TEST_ASSERT_MSG_EQ(sim.Check(), "", "the configuration is possible");
            NS_TEST_ASSERT_MSG_EQ(sim.Warnings(), "", "and inside the bound, round " << round);
            sim.Run(1'000'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing is lost, round " << round);
            const auto pairs = sim.GetSummary();
            const std::map<std::string, double> summary(pairs.begin(), pairs.end());
            NS_TEST_ASSERT_MSG_EQ(summary.at("flows_unfinished"), 0, "all finish, round " << round);
            NS_TEST_ASSERT_MSG_GT(summary.at("gfc_lowest_rate_bps"), 0, "rate, round " << round);
            NS_TEST_ASSERT_MSG_LT(summary.at("gfc_lowest_rate_bps"),
                                  static_cast<double>(draw.rate),
                                  "the scheme was needed, round " << round);
            NS_TEST_ASSERT_MSG_LT(summary.at("peak_queue_bytes"),
                                  bm,
                                  "the queue never reaches Bm, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary.at("pause_time_ps"), 0, "nobody waits, round " << round);
            NS_TEST_ASSERT_MSG_GT(summary.at("withheld_time_ps"),
                                  0,
                                  "but rates withhold, round " << round);
        }
    }

    std::string m_scheme; //!< TypeId name
};

/// @ingroup gfc-tests
/// @brief Tests of MultiStageGfc.
class MultiStageGfcTestSuite : public TestSuite
{
  public:
    MultiStageGfcTestSuite()
        : TestSuite("gfc-multi-stage", Type::UNIT)
    {
        AddTestCase(new StageTableTest, TestCase::Duration::QUICK);
        AddTestCase(new LosslessTest("ConceptualGfc"), TestCase::Duration::QUICK);
        AddTestCase(new LosslessTest("MultiStageGfc"), TestCase::Duration::QUICK);
        AddTestCase(new LosslessTest("TimeBasedGfc"), TestCase::Duration::QUICK);
    }
};

static MultiStageGfcTestSuite g_multiStageGfcTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
