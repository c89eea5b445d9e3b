/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/@module@-buffer-policy.h"
#include "ns3/double.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <random>
#include <vector>

/**
 * @file
 * @ingroup @module@-tests
 * The policy alone, without a network: a buffer is arithmetic.
 */

namespace ns3
{
namespace @namespace@
{
namespace tests
{

constexpr int64_t HEADROOM = 6000; //!< of a queue (B)
constexpr uint16_t PORTS = 4;      //!< each with one lossless class
constexpr uint8_t CLS = 3;         //!< the lossless class

/**
 * @brief Create a policy.
 *
 * @param shared size of the shared buffer (B)
 * @param share of the shared buffer, for each queue
 * @param xonOffset attribute (B)
 * @return the policy, configured
 */
Ptr<@Class@>
Make(int64_t shared, double share, int64_t xonOffset)
{
    auto policy = CreateObjectWithAttributes<@Class@>("Size",
                                                      UintegerValue(shared + PORTS * HEADROOM),
                                                      "LossyPool",
                                                      UintegerValue(0),
                                                      "Share",
                                                      DoubleValue(share),
                                                      "XonOffset",
                                                      UintegerValue(xonOffset));
    const auto headroom = lossless::BufferDemand::ForEachClass(HEADROOM, "headroom");
    policy->Configure(std::vector<lossless::BufferDemand>(PORTS, {headroom, {}}));
    return policy;
}

/**
 * @ingroup @module@-tests
 * @brief Random frames against a second model.
 */
class BruteForceTest : public TestCase
{
  public:
    BruteForceTest()
        : TestCase("random frames arrive and leave as in a model of a few lines")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t SHARED = 40'000;
        constexpr int64_t XOFF = 12'000; // all four together may exceed the buffer
        constexpr int64_t XON = 11'000;
        auto policy = Make(SHARED, 0.3, XOFF - XON);
        NS_TEST_ASSERT_MSG_EQ(policy->Check(), "", "the parts fill the buffer exactly");
        std::mt19937_64 random(1);
        std::vector<int64_t> shared(PORTS, 0);
        std::vector<int64_t> headroom(PORTS, 0);
        std::vector<bool> off(PORTS, false);
        std::vector<std::pair<uint16_t, int64_t>> held;
        for (int step = 0; step < 20'000; ++step)
        {
            if (held.empty() || random() % 100 < (step / 500 % 2 ? 40U : 65U))
            {
                const auto port = static_cast<uint16_t>(random() % PORTS);
                const auto bytes = static_cast<int64_t>(64 + random() % 1500);
                int64_t pool = bytes;
                for (const int64_t one : shared)
                {
                    pool += one;
                }
                const bool fits = shared[port] + bytes <= XOFF && pool <= SHARED;
                const bool taken = fits || headroom[port] + bytes <= HEADROOM;
                off[port] = off[port] || !fits;
                (fits ? shared : headroom)[port] += taken ? bytes : 0;
                const auto verdict = policy->Admit(port, 0, CLS, bytes);
                NS_TEST_ASSERT_MSG_EQ((verdict == @Class@::Verdict::ADMITTED ||
                                       verdict == @Class@::Verdict::TURNED_OFF),
                                      taken,
                                      "admitted or not, step " << step);
                if (taken)
                {
                    held.emplace_back(port, bytes);
                }
            }
            else
            {
                const std::size_t which = random() % held.size();
                const auto [port, bytes] = held[which];
                held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
                policy->Release(port, 0, CLS, bytes);
                const int64_t first = std::min(bytes, headroom[port]);
                headroom[port] -= first;
                shared[port] -= bytes - first;
                off[port] = off[port] && (headroom[port] > 0 ||
                                          (shared[port] >= XON && shared[port] > 0));
            }
            for (uint16_t port = 0; port < PORTS; ++port)
            {
                const auto& usage = policy->GetUsage(port, CLS);
                NS_TEST_ASSERT_MSG_EQ((usage.shared == shared[port] &&
                                       usage.headroom == headroom[port] && usage.off == off[port]),
                                      true,
                                      "queue of port " << port << ", step " << step);
                NS_TEST_ASSERT_MSG_EQ(policy->StaysOff(port, CLS, {}),
                                      false,
                                      "a queue that becomes empty resumes");
            }
        }
    }
};

/**
 * @ingroup @module@-tests
 * @brief Invalid configurations are rejected.
 */
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("a buffer that is too small is rejected, with both values")
    {
    }

  private:
    void DoRun() override
    {
        const std::string problem = Make(-1000, 0.1, 0)->Check();
        NS_TEST_ASSERT_MSG_NE(problem.find("is 1000 B less"), std::string::npos, problem);
    }
};

/**
 * @ingroup @module@-tests
 * @brief Tests of @Class@.
 */
class @Class@TestSuite : public TestSuite
{
  public:
    @Class@TestSuite()
        : TestSuite("@module@-buffer-policy", Type::UNIT)
    {
        AddTestCase(new BruteForceTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
