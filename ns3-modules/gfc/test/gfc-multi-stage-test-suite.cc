/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/gfc-multi-stage.h"
#include "ns3/rdma-simulation.h"
#include "ns3/test.h"

#include <cmath>
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

/**
 * @ingroup gfc-tests
 * @brief Stage arithmetic: the paper's numbers, and properties over random parameters.
 */
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
            for (std::size_t k = 1; k < stages.size(); ++k)
            {
                NS_TEST_ASSERT_MSG_GT(stages[k].start,
                                      stages[k - 1].start - (k == 1),
                                      "stages follow each other");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(stages[k].start, bm, "no stage starts beyond Bm");
                NS_TEST_ASSERT_MSG_GT(stages[k].rate, 0, "the rate never reaches 0");
                const double exact =
                    static_cast<double>(bm) -
                    static_cast<double>(bm - b1) * std::pow(ratio, static_cast<double>(k) - 1);
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(stages[k].start),
                                          exact,
                                          1.0,
                                          "equation 5");
                const double rate =
                    static_cast<double>(line) * std::pow(ratio, static_cast<double>(k));
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(stages[k].rate),
                                          std::max(rate, static_cast<double>(floor)),
                                          1.0 + rate * 1e-9,
                                          "equation 4");
            }
            const int64_t left = bm - stages.back().start;
            NS_TEST_ASSERT_MSG_LT_OR_EQ(static_cast<double>(left) * (1 - ratio),
                                        2.0,
                                        "the last stage is a byte long");
        }
    }
};

/**
 * @ingroup gfc-tests
 * @brief All flow controls of this project on random stars: nothing is lost, no flow starves for
 * ever.
 */
class LosslessTest : public TestCase
{
  public:
    /**
     * @brief Choose the scheme.
     *
     * @param scheme TypeId name
     */
    explicit LosslessTest(const std::string& scheme)
        : TestCase("inside its bound nothing is lost and the rate never reaches 0, " + scheme),
          m_scheme(scheme)
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (int round = 0; round < 40; ++round)
        {
            const uint64_t rates[] = {10'000'000'000, 25'000'000'000, 100'000'000'000};
            const uint64_t rate = rates[random() % 3];
            const int64_t delay = 1000 * static_cast<int64_t>(random() % 3000);
            const int64_t control = 1000 * static_cast<int64_t>(random() % 3000);
            const uint32_t senders = 2 + random() % 6;
            // tau as the flow controls reckon it: waiting and sending a message, two wires, control
            // delay, a frame
            const int64_t frame = 1068LL * 8'000'000'000'000 / static_cast<int64_t>(rate);
            const int64_t message = 84LL * 8'000'000'000'000 / static_cast<int64_t>(rate);
            const int64_t tau = 2 * delay + control + 2 * frame + message;
            const int64_t ctau =
                static_cast<int64_t>(static_cast<double>(rate) * static_cast<double>(tau) / 8e12) +
                1;
            const int64_t b = 20'000 + static_cast<int64_t>(random() % 100'000);
            const int64_t bm = b + 4 * ctau + 4 * 1068;
            rdma::Simulation sim(1);
            sim.SetAttribute("ns3::lossless::Port", "ControlDelay", std::to_string(control) + "ps");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "60000000");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            // No backstop: a queue that passes Bm by two frames fails the test.
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", std::to_string(bm + 2 * 1068));
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", std::to_string(b));
            sim.SetAttribute(m_scheme, "Bm", std::to_string(bm));
            sim.SetAttribute(m_scheme,
                             m_scheme == "ns3::gfc::MultiStageGfc" ? "B1" : "B0",
                             std::to_string(b));
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
                sim.AddLinks(&host, &hub, &rate, &delay, 1);
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
            for (const auto& [name, value] : sim.GetSummary())
            {
                if (name == "flows_unfinished")
                {
                    NS_TEST_ASSERT_MSG_EQ(value, 0, "every flow finishes, round " << round);
                }
                if (name == "gfc_lowest_rate_bps")
                {
                    NS_TEST_ASSERT_MSG_GT(value, 0, "no rate of 0, round " << round);
                }
                if (name == "gfc_peak_queue_bytes")
                {
                    NS_TEST_ASSERT_MSG_LT(value, bm, "the queue never reaches Bm, round " << round);
                }
            }
        }
    }

    std::string m_scheme; //!< TypeId name
};

/**
 * @ingroup gfc-tests
 * @brief Tests of MultiStageGfc.
 */
class MultiStageGfcTestSuite : public TestSuite
{
  public:
    MultiStageGfcTestSuite()
        : TestSuite("gfc-multi-stage", Type::UNIT)
    {
        AddTestCase(new StageTableTest, TestCase::Duration::QUICK);
        AddTestCase(new LosslessTest("ns3::gfc::ConceptualGfc"), TestCase::Duration::QUICK);
        AddTestCase(new LosslessTest("ns3::gfc::MultiStageGfc"), TestCase::Duration::QUICK);
    }
};

static MultiStageGfcTestSuite g_multiStageGfcTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
