/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

/**
 * @file
 * @ingroup cbfc-tests
 * Deadlocks of networks with credits: when the oracle says that they formed.
 */

namespace ns3
{
namespace cbfc
{
namespace tests
{

/// Small promises, repeated every few microseconds.
/// @param fabric the network. @param upTo draws a number.
static void
SetUpCredit(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string credit = "ns3::cbfc::Credit";
    fabric.AddFlowControl(credit);
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Size", "100000000");
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Alpha", "8");
    fabric.SetAttribute(credit, "Buffer", std::to_string(9000 + 1500 * upTo(6)));
    fabric.SetAttribute(credit, "Period", std::to_string(5 + upTo(10)) + "us");
    fabric.SetAttribute(credit, "OnChange", upTo(1) ? "true" : "false");
}

/// @ingroup cbfc-tests
/// @brief Tests of the oracle with Credit.
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("cbfc-deadlock", Type::UNIT)
    {
        using deadlock::tests::FormationTest;
        AddTestCase(new FormationTest("CBFC", SetUpCredit, 100), TestCase::Duration::QUICK);
        AddTestCase(new FormationTest("CBFC, many", SetUpCredit, 2000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

/// @ingroup cbfc-tests
/// @brief The proof of what is named as stuck.
class DeadlockProofSuite : public TestSuite
{
  public:
    DeadlockProofSuite()
        : TestSuite("cbfc-deadlock-proof", Type::UNIT)
    {
        using deadlock::tests::ProofTest;
        const auto way = deadlock::tests::Vanisher::Way::COUNTED;
        AddTestCase(new ProofTest("CBFC, few", SetUpCredit, 13, false, way),
                    TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("CBFC", SetUpCredit, 40, false, way),
                    TestCase::Duration::EXTENSIVE);
        AddTestCase(new ProofTest("CBFC, many", SetUpCredit, 500, false, way),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockProofSuite g_deadlockProofSuite; //!< registers the suite

} // namespace tests
} // namespace cbfc
} // namespace ns3
