/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

/**
 * @file
 * @ingroup dsh-tests
 * Deadlocks of PFC over buffers with DSH: when they formed according to the oracle, and what is
 * left when everything else has gone.
 */

namespace ns3
{
namespace dsh
{
namespace tests
{

/// PFC over a small buffer with DSH. @param fabric the network. @param upTo draws a number.
static void
SetUpDsh(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string dsh = "ns3::dsh::Dsh";
    deadlock::tests::SetUpPfc(fabric, upTo);
    fabric.SetBufferPolicy(dsh);
    fabric.SetAttribute(dsh, "LossyPool", "0");
    fabric.SetAttribute(dsh, "Size", std::to_string(150'000 + 50'000 * upTo(4)));
    fabric.SetAttribute(dsh, "Alpha", upTo(1) ? "0.25" : "1");
}

/// @ingroup dsh-tests
/// @brief Tests of the oracle with PFC over DSH.
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("dsh-deadlock", Type::UNIT)
    {
        using deadlock::tests::FormationTest;
        using deadlock::tests::ProofTest;
        AddTestCase(new FormationTest("DSH", SetUpDsh, 60), TestCase::Duration::QUICK);
        AddTestCase(new FormationTest("DSH, many", SetUpDsh, 1000),
                    TestCase::Duration::TAKES_FOREVER);
        AddTestCase(new ProofTest("DSH", SetUpDsh, 40), TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("DSH, many", SetUpDsh, 500), TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

} // namespace tests
} // namespace dsh
} // namespace ns3
