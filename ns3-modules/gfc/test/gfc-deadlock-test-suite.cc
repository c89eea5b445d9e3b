/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

/**
 * @file
 * @ingroup gfc-tests
 * Deadlocks of networks with GFC, whose backstop PFC pauses too early: when the oracle says that
 * they formed. GFC alone never holds a queue for good.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/// Stages over a short buffer, and PFC behind its end: it never acts within what is promised.
/// @param fabric the network. @param upTo draws a number.
static void
SetUpGfc(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string gfc = "ns3::gfc::MultiStageGfc";
    fabric.AddFlowControl(gfc);
    deadlock::tests::SetUpPfc(fabric, upTo);
    const uint32_t b1 = 1500 + 750 * upTo(2);
    fabric.SetAttribute(gfc, "B1", std::to_string(b1));
    fabric.SetAttribute(gfc, "Bm", std::to_string(b1 + 1500 + 1500 * upTo(2)));
    fabric.SetAttribute(gfc, "MinRate", "3Gbps");
    fabric.SetAttribute(gfc, "Refresh", "0s");
}

/// @ingroup gfc-tests
/// @brief Tests of the oracle with MultiStageGfc before PFC.
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("gfc-deadlock", Type::UNIT)
    {
        using deadlock::tests::FormationTest;
        AddTestCase(new FormationTest("GFC and PFC", SetUpGfc, 100), TestCase::Duration::QUICK);
        AddTestCase(new FormationTest("GFC and PFC, many", SetUpGfc, 2000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

/// @ingroup gfc-tests
/// @brief The proof of what is named as stuck.
class DeadlockProofSuite : public TestSuite
{
  public:
    DeadlockProofSuite()
        : TestSuite("gfc-deadlock-proof", Type::UNIT)
    {
        using deadlock::tests::ProofTest;
        AddTestCase(new ProofTest("GFC and PFC, few", SetUpGfc, 26), TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("GFC and PFC", SetUpGfc, 80), TestCase::Duration::EXTENSIVE);
        AddTestCase(new ProofTest("GFC and PFC, many", SetUpGfc, 1000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockProofSuite g_deadlockProofSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
