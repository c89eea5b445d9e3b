/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-node.h"

#include "ns3/data-rate.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/global-value.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-audit.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/lossless-switch.h"
#include "ns3/lossless-type-settings.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * What attributes accept, and what the clock and the fabric refuse.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Bounds of times are whole picoseconds, and nothing wraps.
class PicosecondsTest : public TestCase
{
  public:
    PicosecondsTest()
        : TestCase("a time is read exactly, or refused")
    {
    }

  private:
    void Accept(const std::string& text, int64_t ps)
    {
        const auto checker = MakePicosecondsChecker(1, LONGEST_TIME);
        const auto value = checker->CreateValidValue(StringValue(text));
        NS_TEST_ASSERT_MSG_NE(value, nullptr, text);
        const auto time = dynamic_cast<const TimeValue*>(PeekPointer(value));
        NS_TEST_EXPECT_MSG_EQ(time->Get().ToInteger(Time::PS), ps, text);
    }

    void DoRun() override
    {
        UsePicoseconds();
        Accept("1ps", 1);
        Accept("+25us", 25'000'000);
        Accept("1.5ns", 1'500);
        Accept("9007199254740993ps", 9'007'199'254'740'993); // 2^53 + 1 is not a double
        Accept("999999999999999999ps", 999'999'999'999'999'999);
        Accept("1000000s", LONGEST_TIME);
        const auto checker = MakePicosecondsChecker(1, LONGEST_TIME);
        for (const char* text : {"0ps",
                                 "-1ps",
                                 "1000000000000000001ps",
                                 "9223372036854775807ps",
                                 "9223372036854775808ps",
                                 "18446744073709551617ps", // 2^64 + 1: 1, were it wrapped
                                 "1e30s",
                                 "213504d",
                                 "nans",
                                 "infs",
                                 "ps",
                                 ""})
        {
            NS_TEST_EXPECT_MSG_EQ(checker->CreateValidValue(StringValue(text)), nullptr, text);
        }
        NS_TEST_EXPECT_MSG_EQ(checker->GetUnderlyingTypeInformation(),
                              "Time 1ps:1000000000000000000ps",
                              "as in the schema");
    }
};

/// @ingroup lossless-tests
/// @brief Bounds of rates.
class RateBoundsTest : public TestCase
{
  public:
    RateBoundsTest()
        : TestCase("a rate is read exactly, or refused")
    {
    }

  private:
    void DoRun() override
    {
        const auto checker = MakeRateChecker(1);
        const auto read = [&](const std::string& text) -> uint64_t {
            const auto value = checker->CreateValidValue(StringValue(text));
            const auto rate = dynamic_cast<const DataRateValue*>(PeekPointer(value));
            return rate ? rate->Get().GetBitRate() : 0;
        };
        NS_TEST_EXPECT_MSG_EQ(read("1bps"), 1, "the lowest");
        NS_TEST_EXPECT_MSG_EQ(read("40Gbps"), 40'000'000'000, "with a prefix");
        NS_TEST_EXPECT_MSG_EQ(read("999999999999999bps"), 999'999'999'999'999, "exactly");
        NS_TEST_EXPECT_MSG_EQ(read("1000000000000000bps"), HIGHEST_RATE, "the highest");
        for (const char* text : {"0bps",
                                 "1000000000000001bps",
                                 "18446744073709551615bps", // 2^64 - 1: 0 in ns-3
                                 "18446744073709551617bps",
                                 "1e30bps",
                                 "1e12Gbps",
                                 "-1Gbps",
                                 "nanbps",
                                 ""})
        {
            NS_TEST_EXPECT_MSG_EQ(read(text), 0, text);
        }
    }
};

/// @ingroup lossless-tests
/// @brief Bytes of a long link are counted without wrapping.
class FarBytesTest : public TestCase
{
  public:
    FarBytesTest()
        : TestCase("bytes in a long time at a high rate do not wrap")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(BytesInTime(100'000'000'000, 1'000'000), 12'500, "an ordinary link");
        NS_TEST_EXPECT_MSG_EQ(BytesInTime(8'000, 1'000'000'000'000), 1'000, "a slow one");
        NS_TEST_EXPECT_MSG_EQ(BytesInTime(HIGHEST_RATE, LONGEST_TIME), 1LL << 59, "the most");
    }
};

/// ns-3's simulator under the name of the one for MPI, which need not be compiled in.
class DistributedSimulatorImpl : public DefaultSimulatorImpl
{
  public:
    /// @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::NullMessageSimulatorImpl")
                                .SetParent<DefaultSimulatorImpl>()
                                .AddConstructor<DistributedSimulatorImpl>();
        return tid;
    }
};

/// @ingroup lossless-tests
/// @brief A fabric refuses to be split over ranks, and to be changed once it is built.
class FabricOrderTest : public TestCase
{
  public:
    FabricOrderTest()
        : TestCase("MPI and calls out of order are refused with a sentence")
    {
    }

  private:
    /// What a call is refused with.
    /// @tparam F callable. @param call it. @return the sentence; empty if it is not refused.
    template <class F>
    std::string Refusal(F call)
    {
        try
        {
            call();
        }
        catch (const std::logic_error& error) // std::invalid_argument is one
        {
            return error.what();
        }
        return {};
    }

    void DoRun() override
    {
        TypeId known;
        StringValue before;
        GlobalValue::GetValueByName("SimulatorImplementationType", before);
        if (!TypeId::LookupByNameFailSafe("ns3::NullMessageSimulatorImpl", &known))
        {
            DistributedSimulatorImpl::GetTypeId();
            Simulator::Destroy();
            GlobalValue::Bind("SimulatorImplementationType",
                              StringValue("ns3::NullMessageSimulatorImpl"));
            auto fabric = CreateObject<Fabric>();
            NS_TEST_EXPECT_MSG_NE(Refusal([&] { fabric->Build(); }).find("MPI ranks"),
                                  std::string::npos,
                                  "MPI");
            fabric->Dispose();
            Simulator::Destroy();
            GlobalValue::Bind("SimulatorImplementationType", before);
        }
        auto fabric = CreateObject<Fabric>();
        NS_TEST_EXPECT_MSG_EQ(
            Refusal([&] { fabric->Finish(); }),
            "Finish was called before Build: call Build first, once everything is added",
            "too early");
        fabric->AddSwitch("s0");
        fabric->AddSwitch("s1");
        fabric->AddLink(0, 1, DataRate("10Gbps"), NanoSeconds(100));
        fabric->Build();
        NS_TEST_EXPECT_MSG_EQ(Refusal([&] { fabric->AddSwitch("s2"); }),
                              "AddHost or AddSwitch was called after Build: a network cannot be "
                              "changed once it is built",
                              "too late");
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { fabric->Build(); }), "", "twice");
        fabric->Dispose();
        Simulator::Destroy();
    }
};

/// @ingroup lossless-tests
/// @brief Attributes by type, against a list of them.
class TypeSettingsTest : public TestCase
{
  public:
    TypeSettingsTest()
        : TestCase("objects have what was set last for their type, and nothing set for another; "
                   "what cannot be is refused and leaves nothing behind")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<std::string> types{"ns3::lossless::SharedBuffer",
                                             "ns3::lossless::Port",
                                             "ns3::lossless::Switch"};
        std::map<std::pair<std::string, std::string>, uint64_t> model;
        TypeSettings settings;
        std::mt19937 random(3);
        for (int step = 0; step < 300; ++step)
        {
            const std::string& type = types[random() % types.size()];
            const std::string name = random() % 2 ? "Overhead" : "Size";
            const uint64_t value = 1 + random() % 1500; // an overhead is at most 1000
            const bool may = type == types[0]
                                 ? name == "Size"
                                 : type == types[1] && name == "Overhead" && value <= 1000;
            bool done = true;
            try
            {
                settings.SetAttribute(type, name, std::to_string(value));
            }
            catch (const std::invalid_argument&)
            {
                done = false;
            }
            NS_TEST_ASSERT_MSG_EQ(done, may, type << " " << name << " " << value);
            if (may)
            {
                model[{type, name}] = value;
            }
            for (const auto& [key, wanted] : model)
            {
                UintegerValue found;
                settings.Make<Object>(key.first)->GetAttribute(key.second, found);
                NS_TEST_ASSERT_MSG_EQ(found.Get(), wanted, "the last one");
            }
        }
        NS_TEST_EXPECT_MSG_EQ(model.size(), 2, "both were set");
    }
};

/// @ingroup lossless-tests
/// @brief Frames come to an end at random; some are forgotten.
class FabricAuditTest : public TestCase
{
  public:
    FabricAuditTest()
        : TestCase("an audit finds any frame that is forgotten or made of nothing, and any of a "
                   "lossless class that is lost, and counts drops by their causes")
    {
    }

  private:
    static constexpr uint8_t LOSSLESS = 3; //!< a class, and so is the next, a lossy one

    /// One fabric. @param random source of chance.
    void Try(std::mt19937& random)
    {
        std::vector<Ptr<FabricNode>> nodes;
        for (uint32_t i = 0; i < 3; ++i)
        {
            nodes.push_back(CreateObject<TestNode>());
            nodes.back()->SetBuffer(CreateObject<SharedBuffer>());
            nodes.back()->SetIdentity(i, "n" + std::to_string(i));
        }
        const uint32_t causes = random() % 3 ? N_DROP_CAUSES : 0; // or none is dropped
        std::array<double, N_DROP_CAUSES> byCause{};
        std::array<double, 3> lost{};
        int64_t alive = 0;
        for (int step = 0; step < 30; ++step)
        {
            const uint32_t at = random() % 3;
            Frame* frame = FramePool::Take();
            frame->cls = LOSSLESS + random() % 2;
            frame->bytes = 100;
            const bool made = random() % 40;
            alive += made;
            if (made)
            {
                nodes[random() % 3]->CountMade(frame);
            }
            if (random() % 40 == 0)
            {
                FramePool::Give(frame); // forgotten
                continue;
            }
            --alive;
            const auto cause = static_cast<DropCause>(random() % N_DROP_CAUSES);
            if (random() % N_DROP_CAUSES >= causes)
            {
                nodes[at]->Take(frame);
                continue;
            }
            lost[at] += frame->cls == LOSSLESS && cause < DropCause::SCHEME;
            byCause[static_cast<std::size_t>(cause)] += 1;
            nodes[at]->Drop(frame, cause);
        }
        const FabricAudit audit(nodes);
        const std::string lenient = audit.CheckEnd(true);
        const std::string strict = audit.CheckEnd(false);
        NS_TEST_ASSERT_MSG_EQ(lenient.empty(), (alive == 0), "conserved: " << lenient);
        for (uint32_t i = 0; i < 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ((strict.find("n" + std::to_string(i)) != std::string::npos),
                                  (lost[i] > 0),
                                  "who has lost frames: " << strict);
        }
        Summary summary;
        audit.Report(summary);
        const char* names[] = {"headroom", "lossy", "no_route", "ttl", "link_down", "scheme"};
        for (std::size_t cause = 0; cause < std::size(names); ++cause)
        {
            NS_TEST_ASSERT_MSG_EQ(summary[std::string("dropped_") + names[cause] + "_frames"],
                                  byCause[cause],
                                  names[cause]);
        }
        NS_TEST_ASSERT_MSG_EQ(summary["dropped_frames"],
                              std::accumulate(byCause.begin(), byCause.end(), 0.0),
                              "all");
        NS_TEST_ASSERT_MSG_EQ(summary["dropped_scheme_bytes"], 100 * byCause[5], "on purpose");
        NS_TEST_ASSERT_MSG_EQ(summary["dropped_lossless_frames"],
                              std::accumulate(lost.begin(), lost.end(), 0.0),
                              "lossless");
    }

    void DoRun() override
    {
        std::mt19937 random(4);
        for (int round = 0; round < 200; ++round)
        {
            Try(random);
        }
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief The suite.
class AttributeTestSuite : public TestSuite
{
  public:
    AttributeTestSuite()
        : TestSuite("lossless-attribute", Type::UNIT)
    {
        AddTestCase(new PicosecondsTest, TestCase::Duration::QUICK);
        AddTestCase(new RateBoundsTest, TestCase::Duration::QUICK);
        AddTestCase(new FarBytesTest, TestCase::Duration::QUICK);
        AddTestCase(new FabricOrderTest, TestCase::Duration::QUICK);
        AddTestCase(new TypeSettingsTest, TestCase::Duration::QUICK);
        AddTestCase(new FabricAuditTest, TestCase::Duration::QUICK);
    }
};

static AttributeTestSuite g_attributeTestSuite; //!< registers it

} // namespace tests
} // namespace lossless
} // namespace ns3
