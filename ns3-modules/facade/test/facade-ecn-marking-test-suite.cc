/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/lossless-ecn-marking.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * @ingroup facade-tests
 * Which frames a switch marks, against RED's closed form; how long a mark is on its way.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::EcnMarking;
using lossless::Frame;
using lossless::FrameKind;
using lossless::NowPs;
using lossless::Port;

namespace
{

constexpr int64_t FRAME = 1048; //!< B of a full frame

} // namespace

/// @ingroup facade-tests
/// @brief EcnMarking that keeps what depth each frame met and whether it was marked.
class WatchedMarking : public EcnMarking
{
  public:
    /// A data frame at the place where marks are made.
    struct Look
    {
        int64_t time;  //!< ps
        int64_t depth; //!< B
        uint32_t flow; //!< of the frame
        uint32_t psn;  //!< of the frame
        bool marked;   //!< by this look
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::WatchedMarking")
                                .SetParent<EcnMarking>()
                                .SetGroupName("tests")
                                .AddConstructor<WatchedMarking>();
        return tid;
    }

    void NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame) override
    {
        const uint8_t before = frame.ecn;
        EcnMarking::NotifyEnqueue(egress, queue, frame);
        Keep(egress, queue, frame, before, At::ENQUEUE);
    }

    void NotifyDequeue(Port& egress, uint16_t queue, Frame& frame) override
    {
        const uint8_t before = frame.ecn;
        EcnMarking::NotifyDequeue(egress, queue, frame);
        Keep(egress, queue, frame, before, At::DEQUEUE);
    }

    static std::vector<Look> g_looks; //!< at data frames
    static uint64_t g_otherMarks;     //!< marks of frames that may not be marked, or elsewhere

  private:
    void Keep(Port& egress, uint16_t queue, const Frame& frame, uint8_t before, At at)
    {
        const bool marked = frame.ecn == 3 && before != 3;
        const bool wrong = frame.kind != FrameKind::DATA || before == 0 || at != GetAt();
        g_otherMarks += marked && wrong;
        if (!wrong && before == 1)
        {
            g_looks.push_back(
                {NowPs(), egress.GetQueues()[queue].GetBytes(), frame.flow, frame.psn, marked});
        }
    }
};

std::vector<WatchedMarking::Look> WatchedMarking::g_looks;
uint64_t WatchedMarking::g_otherMarks = 0;
NS_OBJECT_ENSURE_REGISTERED(WatchedMarking);

/// @ingroup facade-tests
/// @brief Notes when marked packets arrive.
class MarkWitness : public rdma::CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::MarkWitness")
                                .SetParent<rdma::CongestionControl>()
                                .SetGroupName("tests")
                                .AddConstructor<MarkWitness>();
        return tid;
    }

    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override
    {
        return Hearing([](const Frame& frame) {
            if (frame.ecn == 3)
            {
                g_arrivals[{frame.flow, frame.psn}] = NowPs();
            }
            return false;
        });
    }

    static std::map<std::pair<uint32_t, uint32_t>, int64_t> g_arrivals; //!< (flow, packet): ps
};

std::map<std::pair<uint32_t, uint32_t>, int64_t> MarkWitness::g_arrivals;
NS_OBJECT_ENSURE_REGISTERED(MarkWitness);

namespace
{

using Values = std::vector<std::pair<std::string, std::string>>; //!< attributes

/// Two flows of 0.52 of the line each into one port: its queue grows through all depths.
/// @param values attributes of the marking. @param gbps line. @param seed of the run. @param change
/// more attributes. @param duration ps; 4.5 ms make 180 us of the line's rate. @return number of
/// the summary "marked_frames".
double
Overload(const Values& values,
         uint64_t gbps,
         uint64_t seed = 1,
         const std::function<void(Network&)>& change = {},
         int64_t duration = 4'500 * US)
{
    WatchedMarking::g_looks.clear();
    WatchedMarking::g_otherMarks = 0;
    MarkWitness::g_arrivals.clear();
    Network net(seed);
    for (const auto& [name, value] : values)
    {
        net.sim.SetAttribute("ns3::facade::tests::WatchedMarking", name, value);
    }
    net.Set("SharedBuffer", "Size", 400'000'000);
    net.Set("SharedBuffer", "Threshold", "Static");
    net.Set("SharedBuffer", "Xoff", 100'000'000);
    net.Set("SharedBuffer", "Xon", 90'000'000);
    net.Set("Port", "Overhead", 0);
    if (change)
    {
        change(net);
    }
    net.sim.AddFlowControl("ns3::pfc::Pfc");
    net.sim.AddAgent("ns3::facade::tests::WatchedMarking");
    net.sim.SetCongestionControl("ns3::facade::tests::MarkWitness");
    net.Star(3, gbps * GBPS, US);
    for (const uint32_t src : {0, 1})
    {
        net.Flow(src, 2, 0, 0, 3, gbps * GBPS * 52 / 100);
    }
    net.sim.Build();
    net.sim.Run(duration);
    net.sim.Finish();
    return net.Number("marked_frames");
}

} // namespace

/// @ingroup facade-tests
/// @brief Probability of a mark.
class ProbabilityTest : public TestCase
{
  public:
    ProbabilityTest()
        : TestCase(
              "marks have RED's probability at every depth: exactly none up to Kmin, exactly all "
              "above Kmax, linear between, from 10 to 400 Gbps")
    {
    }

  private:
    /// Compare what was marked with the closed form.
    /// @param kmin B. @param kmax B. @param pmax probability. @param what is tested.
    void Compare(double kmin, double kmax, double pmax, const std::string& what)
    {
        constexpr int BINS = 8;
        std::array<double, BINS> marked{};
        std::array<double, BINS> expected{};
        std::array<double, BINS> variance{};
        uint64_t below = 0;
        uint64_t above = 0;
        for (const auto& look : WatchedMarking::g_looks)
        {
            const auto q = static_cast<double>(look.depth);
            if (q <= kmin)
            {
                ++below;
                NS_TEST_ASSERT_MSG_EQ(look.marked, false, what << ": below Kmin");
                continue;
            }
            if (q > kmax)
            {
                ++above;
                NS_TEST_ASSERT_MSG_EQ(look.marked, true, what << ": above Kmax");
                continue;
            }
            const double p = pmax * (q - kmin) / (kmax - kmin);
            const int bin = std::min(BINS - 1, static_cast<int>(BINS * (q - kmin) / (kmax - kmin)));
            marked[bin] += look.marked;
            expected[bin] += p;
            variance[bin] += p * (1 - p);
        }
        NS_TEST_ASSERT_MSG_GT(below, 50, what << ": some below Kmin");
        NS_TEST_ASSERT_MSG_GT(above, 50, what << ": some above Kmax");
        for (int bin = 0; bin < BINS; ++bin)
        {
            if (kmax > kmin && pmax > 0)
            {
                NS_TEST_ASSERT_MSG_GT(variance[bin], 4, what << ": enough frames in bin " << bin);
            }
            NS_TEST_EXPECT_MSG_LT_OR_EQ(std::abs(marked[bin] - expected[bin]),
                                        4 * std::sqrt(variance[bin]),
                                        what << ": bin " << bin << ", " << marked[bin]
                                             << " marked of " << expected[bin] << " expected");
        }
        NS_TEST_EXPECT_MSG_EQ(WatchedMarking::g_otherMarks, 0, what << ": only where it should");
    }

    void DoRun() override
    {
        const std::pair<uint64_t, std::string> settings[] = {{10, "Enqueue"},
                                                             {25, "Dequeue"},
                                                             {100, "Enqueue"},
                                                             {400, "Dequeue"}};
        for (const auto& [gbps, at] : settings)
        {
            const double scale = static_cast<double>(gbps) / 25;
            const double marked = Overload({{"At", at}, {"ReferenceRate", "25Gbps"}}, gbps);
            Compare(100e3 * scale,
                    400e3 * scale,
                    0.2,
                    "scaled to " + std::to_string(gbps) + " Gb/s, " + at);
            const auto& looks = WatchedMarking::g_looks;
            NS_TEST_EXPECT_MSG_EQ(
                marked,
                std::ranges::count_if(looks, [](const auto& look) { return look.marked; }),
                "the summary counts them");
        }
        Overload({{"Kmin", "200000"}, {"Kmax", "600000"}, {"Pmax", "1"}}, 100);
        Compare(200e3, 600e3, 1, "Pmax 1");
        Overload({{"Kmin", "200000"}, {"Kmax", "600000"}, {"Pmax", "0"}}, 100);
        Compare(200e3, 600e3, 0, "Pmax 0: none up to Kmax");
        Overload({{"Kmin", "300000"}, {"Kmax", "300000"}}, 100);
        Compare(300e3, 300e3, 0, "a step");
        Overload({{"Kmin", "20000"}, {"Kmax", "100000"}, {"ReferenceRate", "25Gbps"}}, 100);
        Compare(80e3, 400e3, 0.2, "given for 25 Gb/s and scaled");
        const auto deaf = [](Network& net) { net.Set("QueuePair", "EcnCapable", "false"); };
        NS_TEST_EXPECT_MSG_EQ(Overload({}, 100, 1, deaf), 0, "frames that are not capable");
        // Answers in the class of the data queue with it on their way back; none of them is marked.
        const auto answers = [](Network& net) { net.Set("QueuePair", "AnswerClass", 3); };
        NS_TEST_EXPECT_MSG_GT(Overload({}, 100, 1, answers), 0, "data is");
        NS_TEST_EXPECT_MSG_EQ(WatchedMarking::g_otherMarks, 0, "answers are not");

        const auto pattern = [] {
            std::vector<bool> marks;
            for (const auto& look : WatchedMarking::g_looks)
            {
                marks.push_back(look.marked);
            }
            return marks;
        };
        Overload({}, 100, 5);
        const auto first = pattern();
        Overload({}, 100, 5);
        NS_TEST_EXPECT_MSG_EQ((first == pattern()), true, "the same seed marks the same frames");
        Overload({}, 100, 6);
        NS_TEST_EXPECT_MSG_EQ((first == pattern()), false, "another seed others");
    }
};

/// @ingroup facade-tests
/// @brief How old a mark is when it arrives.
class DelayTest : public TestCase
{
  public:
    DelayTest()
        : TestCase("a mark made at enqueue waits for the queue before it, one made at dequeue does "
                   "not")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t gbps : {10, 25, 100, 400})
        {
            const int64_t frame = FRAME * 8000 / static_cast<int64_t>(gbps); // ps, exact
            for (const bool enqueue : {true, false})
            {
                Overload({{"At", enqueue ? "Enqueue" : "Dequeue"},
                          {"Kmin", "100000"},
                          {"Kmax", "100000"}},
                         gbps,
                         1,
                         {},
                         2'500 * US);
                std::size_t seen = 0;
                for (const auto& look : WatchedMarking::g_looks)
                {
                    const auto found = MarkWitness::g_arrivals.find({look.flow, look.psn});
                    if (!look.marked || found == MarkWitness::g_arrivals.end())
                    {
                        continue;
                    }
                    ++seen;
                    const int64_t age = found->second - look.time;
                    if (!enqueue)
                    {
                        NS_TEST_ASSERT_MSG_EQ(age, frame + US, "its own frame and the link");
                        continue;
                    }
                    // The depth holds whole frames, itself last; before them goes the rest of the
                    // frame under way.
                    const int64_t wait = look.depth / FRAME * frame + US;
                    NS_TEST_ASSERT_MSG_GT_OR_EQ(age, wait, "the queue, and the link");
                    NS_TEST_ASSERT_MSG_LT_OR_EQ(age, wait + frame, "and the frame under way");
                }
                NS_TEST_EXPECT_MSG_GT(seen, 400, "marks arrived");
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief Thresholds that cannot be.
class ThresholdTest : public TestCase
{
  public:
    ThresholdTest()
        : TestCase("impossible thresholds are refused, with the rate at which they are")
    {
    }

  private:
    void DoRun() override
    {
        Network net;
        net.sim.SetAttribute("ns3::lossless::EcnMarking", "Kmin", "500000");
        net.sim.AddAgent("ns3::lossless::EcnMarking");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Star(2, 25 * GBPS, US);
        net.sim.Build();
        NS_TEST_EXPECT_MSG_NE(net.sim.Check().find("Kmin 500000 B is above Kmax 400000 B"),
                              std::string::npos,
                              net.sim.Check());
    }
};

/// @ingroup facade-tests
/// @brief Tests of EcnMarking.
class EcnMarkingTestSuite : public TestSuite
{
  public:
    EcnMarkingTestSuite()
        : TestSuite("facade-ecn-marking", Type::UNIT)
    {
        AddTestCase(new ProbabilityTest, TestCase::Duration::EXTENSIVE);
        AddTestCase(new DelayTest, TestCase::Duration::QUICK);
        AddTestCase(new ThresholdTest, TestCase::Duration::QUICK);
    }
};

static EcnMarkingTestSuite g_ecnMarkingTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
