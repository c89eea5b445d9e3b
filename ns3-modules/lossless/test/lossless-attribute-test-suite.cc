/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/data-rate.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/global-value.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-switch.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <stdexcept>

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

/**
 * @ingroup lossless-tests
 * @brief Bounds of times are whole picoseconds, and nothing wraps.
 */
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

/**
 * @ingroup lossless-tests
 * @brief Bounds of rates.
 */
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

/**
 * @ingroup lossless-tests
 * @brief Bytes of a long link are counted without wrapping.
 */
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

/**
 * @ingroup lossless-tests
 * @brief A fabric refuses to be split over ranks, and to be changed once it is built.
 */
class FabricOrderTest : public TestCase
{
  public:
    FabricOrderTest()
        : TestCase("MPI and calls out of order are refused with a sentence")
    {
    }

  private:
    /**
     * @brief What a call is refused with.
     *
     * @tparam F callable.
     * @param call it.
     * @return the sentence; empty if it is not refused.
     */
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

/**
 * @ingroup lossless-tests
 * @brief The suite.
 */
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
    }
};

static AttributeTestSuite g_attributeTestSuite; //!< registers it

} // namespace tests
} // namespace lossless
} // namespace ns3
