/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-node.h"

#include "ns3/double.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <stdexcept>

/**
 * @file
 * @ingroup lossless-tests
 * Links as they are: shares and rates of classes, errors, clocks, and the response to a pause.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

namespace
{

using ByClass = std::array<double, N_CLASSES>;

/// What a scheduler promises to classes.
struct Promise
{
    ByClass weight{}; //!< 0: strict
    ByClass least{};  //!< share of the link
    ByClass most{};   //!< share of the link; 1: none
    uint32_t busy{0}; //!< bit c: class c always has frames
};

/// The fluid model: what infinitely small frames would get.
///
/// Strict classes, the highest first, take what the minima of the others leave; then a level is
/// sought at which the others, each between its minimum and its maximum, fill the rest.
/// @param promise of the port. @return share of the link of each class.
ByClass
SharesOf(const Promise& promise)
{
    ByClass share{};
    double rest = 1;
    double reserved = 0;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        reserved += promise.busy >> cls & 1 ? promise.least[cls] : 0;
    }
    for (int cls = N_CLASSES - 1; cls >= 0; --cls)
    {
        if ((promise.busy >> cls & 1) && promise.weight[cls] == 0)
        {
            reserved -= promise.least[cls];
            share[cls] = std::min(promise.most[cls], rest - reserved);
            rest -= share[cls];
        }
    }
    const auto at = [&](double level, uint8_t cls) {
        const double fair = level * promise.weight[cls];
        return std::max(promise.least[cls], std::min(promise.most[cls], fair));
    };
    double low = 0;
    double high = 1; // weights are at least 1
    for (int step = 0; step < 100; ++step)
    {
        const double level = (low + high) / 2;
        double sum = 0;
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            sum += (promise.busy >> cls & 1) && promise.weight[cls] > 0 ? at(level, cls) : 0;
        }
        (sum > rest ? high : low) = level;
    }
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((promise.busy >> cls & 1) && promise.weight[cls] > 0)
        {
            share[cls] = at(low, cls);
        }
    }
    return share;
}

/// A node that counts what arrives.
class CountNode : public TestNode
{
  public:
    CountNode()
    {
        SetBuffer(CreateObject<SharedBuffer>());
    }

    void Receive(Frame* frame, Port& /* ingress */) override
    {
        m_frames += 1;
        m_bytes[frame->cls] += frame->bytes;
        m_last = NowPs();
        Take(frame);
    }

    int64_t m_frames{0};                      //!< frames
    std::array<int64_t, N_CLASSES> m_bytes{}; //!< bytes by class
    int64_t m_last{0};                        //!< when the last one arrived (ps)
};

constexpr uint64_t RATE = 10'000'000'000; //!< of the link (bit/s)

/// Two nodes and a link without a delay.
struct Pair
{
    /// Connect them. @param set attributes of the first port. @param stream of its errors.
    explicit Pair(const std::vector<std::pair<std::string, std::string>>& set, double clock = 0)
    {
        UsePicoseconds();
        a = CreateObject<CountNode>();
        b = CreateObject<CountNode>();
        for (const auto& node : {a, b})
        {
            node->AddPort(CreateObject<Port>());
        }
        for (const auto& [name, value] : set)
        {
            a->GetPort(0).SetAttribute(name, StringValue(value));
        }
        a->SetIdentity(0, "a");
        b->SetIdentity(1, "b");
        a->GetPort(0).Attach(PeekPointer(a), 0, &b->GetPort(0), RATE, 0);
        b->GetPort(0).Attach(PeekPointer(b), 0, &a->GetPort(0), RATE, 0);
        a->GetPort(0).SetClock(clock);
        a->GetPort(0).SetErrorStream(7);
        a->Start();
        b->Start();
    }

    ~Pair()
    {
        Simulator::Destroy();
        a->Dispose();
        b->Dispose();
        FramePool::Clear();
    }

    /// Queue a frame. @param cls class. @param bytes size.
    void Queue(uint8_t cls, uint16_t bytes) const
    {
        Frame* frame = FramePool::Take();
        frame->cls = cls;
        frame->bytes = bytes;
        a->Inject(frame);
    }

    Ptr<CountNode> a; //!< sender
    Ptr<CountNode> b; //!< receiver
};

} // namespace

/// @ingroup lossless-tests
/// @brief Random weights, strict classes, minima and maxima against the fluid model.
class FluidTest : public TestCase
{
  public:
    FluidTest()
        : TestCase("weights, strict classes, minimum and maximum rates give what the fluid model "
                   "gives")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(47);
        const auto upTo = [&random](uint64_t n) { return random() % n; };
        for (int round = 0; round < 150; ++round)
        {
            const auto quantum = static_cast<int64_t>(200 + upTo(1000));
            Promise promise;
            promise.busy = static_cast<uint32_t>(1 + upTo(255));
            std::ostringstream weights;
            std::ostringstream least;
            std::ostringstream most;
            double left = 1;
            const bool rated = upTo(3) > 0;
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                const bool strict = upTo(6) == 0;
                promise.weight[cls] = strict ? 0 : static_cast<double>(1 + upTo(10));
                weights << (cls ? "," : "") << +cls << "=";
                strict ? weights << "Strict" : weights << promise.weight[cls];
                promise.most[cls] = 1;
                if (rated && upTo(2) == 0)
                {
                    // whole Mb/s
                    promise.least[cls] =
                        static_cast<double>(
                            1 + upTo(static_cast<uint64_t>(std::max(1.0, left * 3000)))) /
                        10'000;
                    left -= promise.least[cls];
                    least << (least.str().empty() ? "" : ",") << +cls << "="
                          << std::llround(promise.least[cls] * 10'000) << "Mbps";
                }
                if (rated && upTo(3) == 0)
                {
                    promise.most[cls] =
                        promise.least[cls] + static_cast<double>(100 + upTo(2000)) / 10'000;
                    most << (most.str().empty() ? "" : ",") << +cls << "="
                         << std::llround(promise.most[cls] * 10'000) << "Mbps";
                }
            }
            Pair pair({{"Overhead", "0"},
                       {"ClassService", "Dwrr"},
                       {"Quantum", std::to_string(quantum)},
                       {"Weights", weights.str()},
                       {"MinRates", least.str()},
                       {"MaxRates", most.str()}});
            constexpr int64_t TOTAL = 2'000'000; // bytes in the time of the test
            int64_t largest = 0;
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                const uint64_t range = 64 + upTo(1400);
                for (int64_t held = 0; (promise.busy >> cls & 1) && held < TOTAL;)
                {
                    const auto bytes = static_cast<uint16_t>(64 + upTo(range));
                    pair.Queue(cls, bytes);
                    largest = std::max<int64_t>(largest, bytes);
                    held += bytes;
                }
            }
            Simulator::Stop(TimeStep(static_cast<uint64_t>(TransmissionTime(TOTAL, RATE))));
            Simulator::Run();
            const ByClass share = SharesOf(promise);
            double rounds = 0;
            for (const double weight : promise.weight)
            {
                rounds += weight * static_cast<double>(quantum);
            }
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                const double expected = share[cls] * TOTAL;
                const double got = static_cast<double>(pair.b->m_bytes[cls]);
                // the frames, buckets and rounds of all classes that its level depends on
                const double error = rounds + N_CLASSES * (4.0 * static_cast<double>(largest));
                NS_TEST_ASSERT_MSG_EQ_TOL(got,
                                          expected,
                                          error,
                                          "class " << +cls << " of round " << round << ", weights "
                                                   << weights.str() << ", least " << least.str()
                                                   << ", most " << most.str() << ", busy "
                                                   << promise.busy << ", quantum " << quantum);
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief A maximum counts the bytes on the wire; what cannot be is refused.
class ClassRateTest : public TestCase
{
  public:
    ClassRateTest()
        : TestCase("rates of classes count wire bytes, and impossible ones are refused")
    {
    }

  private:
    void DoRun() override
    {
        {
            Pair pair({{"MaxRates", "3=1Gbps"}, {"Quantum", "1"}});
            for (int frame = 0; frame < 1001; ++frame)
            {
                pair.Queue(3, 980); // 1000 B on the wire, 8 us at 1 Gb/s
            }
            Simulator::Run();
            // two frames and a byte are in the bucket, three more start at once
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(pair.b->m_last),
                                      1000 * 8e6,
                                      3 * 8e6,
                                      "1001 frames take 1000 spacings, but for the bucket");
        }
        const auto refused = [&](const std::vector<std::pair<std::string, std::string>>& set,
                                 const std::string& word) {
            std::string said;
            try
            {
                Pair pair(set);
            }
            catch (const std::invalid_argument& error)
            {
                said = error.what();
            }
            Simulator::Destroy();
            NS_TEST_ASSERT_MSG_NE(said.find(word), std::string::npos, said);
        };
        refused({{"Weights", "3=2"}}, "only Dwrr");
        refused({{"MinRates", "3=6Gbps,4=5Gbps"}}, "more than");
        refused({{"MinRates", "3=6Gbps"}, {"MaxRates", "3=5Gbps"}}, "above its maximum");
        refused({{"PauseResponse", "802.3"}, {"ClassService", "Dwrr"}, {"MinRates", "1=11Gbps"}},
                "11000000000");
        const Pair slow({{"ClockOffset", "-100"}, {"MinRates", "3=6Gbps,4=4Gbps"}});
        NS_TEST_ASSERT_MSG_LT(slow.a->GetPort(0).GetRate(), RATE, "which it has nominally");
        for (const char* text :
             {"8=1", "3", "3=", "3=0", "3=1001", "3=1,3=2", "3=1 4=2", "3=1,,", "3=fair", "x=1"})
        {
            NS_TEST_ASSERT_MSG_NE(CheckAttribute("ns3::lossless::Port", "Weights", text),
                                  "",
                                  text << " is no weight");
        }
        NS_TEST_ASSERT_MSG_EQ(CheckAttribute("ns3::lossless::Port", "Weights", "3=2,7=Strict"),
                              "",
                              "is one");
        NS_TEST_ASSERT_MSG_NE(CheckAttribute("ns3::lossless::Port", "MinRates", "3=Strict"),
                              "",
                              "is no rate");
    }
};

/// @ingroup lossless-tests
/// @brief Losses on a link against the binomial distribution.
class ErrorTest : public TestCase
{
  public:
    ErrorTest()
        : TestCase("a link loses the share of frames that its error rates give, by a cause of "
                   "their own")
    {
    }

  private:
    /// Send frames, and compare. @param bits BitErrorRate. @param frames LossRate.
    /// @param bytes size of a frame.
    void Try(double bits, double frames, uint16_t bytes)
    {
        constexpr int SENT = 20'000;
        Pair pair({{"BitErrorRate", std::to_string(bits)}, {"LossRate", std::to_string(frames)}});
        for (int frame = 0; frame < SENT; ++frame)
        {
            pair.Queue(3, bytes);
        }
        Simulator::Run();
        const double share = 1 - (1 - frames) * std::pow(1 - bits, 8.0 * bytes);
        const auto lost = static_cast<double>(SENT - pair.b->m_frames);
        const double deviation = std::sqrt(SENT * share * (1 - share));
        NS_TEST_ASSERT_MSG_EQ_TOL(lost, SENT * share, 4 * deviation + 1e-9, "lost of 20,000");
        const auto& counters = pair.b->GetCounters();
        NS_TEST_ASSERT_MSG_EQ(counters.byCause[static_cast<std::size_t>(DropCause::CORRUPTED)],
                              static_cast<uint64_t>(lost),
                              "all by this cause");
        NS_TEST_ASSERT_MSG_EQ(counters.dropped, static_cast<uint64_t>(lost), "and by no other");
        NS_TEST_ASSERT_MSG_EQ(counters.droppedLossless, 0, "none by the switch");
    }

    void DoRun() override
    {
        Try(0, 0, 1000);
        Try(1e-5, 0, 1000);
        Try(1e-5, 0, 64);
        Try(0.0003, 0, 1500);
        Try(0, 0.01, 64);
        Try(1e-5, 0.02, 700);
        Try(0, 1, 64);
    }
};

/// @ingroup lossless-tests
/// @brief Clocks beside the nominal one, and how long a port takes to obey.
class ClockTest : public TestCase
{
  public:
    ClockTest()
        : TestCase("a port sends by its own clock, and obeys as late as the standard allows")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [offset, tolerance, draw, rate] :
             {std::tuple{"0", "0", 1.0, RATE},
              std::tuple{"100", "0", 1.0, RATE + 1'000'000},
              std::tuple{"0", "100", -0.5, RATE - 500'000},
              std::tuple{"-40", "60", 1.0, RATE + 200'000}})
        {
            Pair pair({{"ClockOffset", offset}, {"ClockTolerance", tolerance}}, draw);
            NS_TEST_ASSERT_MSG_EQ(pair.a->GetPort(0).GetRate(), rate, "by millionths");
            for (int frame = 0; frame < 1000; ++frame)
            {
                pair.Queue(3, 1230);
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(pair.b->m_last,
                                  1000 * TransmissionTime(1250, rate),
                                  "1000 frames at this rate");
        }
        // IEEE 802.3, 31B.3.7, as quoted by sonic-mgmt issue 6223: 25G 80, 40G 118, 100G 394, 200G
        // 453, 400G 905 quanta
        for (const auto& [gigabits, bytes] : {std::pair{25, 5120},
                                              std::pair{40, 7552},
                                              std::pair{100, 25216},
                                              std::pair{200, 28992},
                                              std::pair{400, 57920}})
        {
            const auto rate = static_cast<uint64_t>(gigabits) * 1'000'000'000;
            NS_TEST_ASSERT_MSG_EQ(GetResponseQuanta(rate) * QUANTUM_BYTES, bytes, gigabits);
        }
        for (const auto& [rate, quanta] : {std::pair{1e3, 1U},
                                           std::pair{33e9, 118U},
                                           std::pair{400e9 + 1, 905U},
                                           std::pair{1600e9, 905U}})
        {
            NS_TEST_ASSERT_MSG_EQ(GetResponseQuanta(static_cast<uint64_t>(rate)),
                                  quanta,
                                  "of the next faster rate, " << rate);
        }
        for (const auto& [response, delay, ps] : {std::tuple{"Ideal", "5ns", 5'000},
                                                  std::tuple{"Tester", "5ns", 3'000'000},
                                                  std::tuple{"802.3", "5ns", 67 * 512 * 100},
                                                  std::tuple{"802.3", "5us", 5'000'000}})
        {
            const Pair pair({{"PauseResponse", response}, {"ControlDelay", delay}});
            NS_TEST_ASSERT_MSG_EQ(pair.a->GetPort(0).GetControlDelay(), ps, response);
        }
    }
};

/// @ingroup lossless-tests
/// @brief Tests of links that are not ideal.
class RealLinkTestSuite : public TestSuite
{
  public:
    RealLinkTestSuite()
        : TestSuite("lossless-real-link", Type::UNIT)
    {
        AddTestCase(new FluidTest, TestCase::Duration::QUICK);
        AddTestCase(new ClassRateTest, TestCase::Duration::QUICK);
        AddTestCase(new ErrorTest, TestCase::Duration::QUICK);
        AddTestCase(new ClockTest, TestCase::Duration::QUICK);
    }
};

static RealLinkTestSuite g_realLinkTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
