/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

/**
 * @file
 * @ingroup pffc-tests
 * Deadlocks of networks with PFFC, whose flows share too few PEQs: when the oracle says that they
 * formed.
 */

namespace ns3
{
namespace pffc
{
namespace tests
{

/// One or two PEQs and low thresholds. @param fabric the network. @param upTo draws a number.
static void
SetUpPffc(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string pffc = "ns3::pffc::Pffc";
    fabric.AddFlowControl(pffc);
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Size", "100000000");
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Alpha", "8");
    fabric.SetAttribute(pffc, "Peqs", std::to_string(1 + upTo(1)));
    fabric.SetAttribute(pffc, "Refresh", "0s");
    fabric.SetAttribute(pffc, "FbuXoff", std::to_string(6000 + 1500 * upTo(4)));
    fabric.SetAttribute(pffc, "FbuXon", std::to_string(1500 + 1500 * upTo(2)));
    if (upTo(1))
    {
        fabric.SetAttribute(pffc, "PbuXon", "6000");
        fabric.SetAttribute(pffc, "PbuXoff", "6000");
        fabric.SetAttribute(pffc, "PbuScope", upTo(1) ? "PerPeq" : "PerIngressPort");
    }
}

/// @ingroup pffc-tests
/// @brief Tests of the oracle with Pffc.
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("pffc-deadlock", Type::UNIT)
    {
        using deadlock::tests::FormationTest;
        AddTestCase(new FormationTest("PFFC", SetUpPffc, 100), TestCase::Duration::QUICK);
        AddTestCase(new FormationTest("PFFC, many", SetUpPffc, 2000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

/// @ingroup pffc-tests
/// @brief The proof of what is named as stuck.
class DeadlockProofSuite : public TestSuite
{
  public:
    DeadlockProofSuite()
        : TestSuite("pffc-deadlock-proof", Type::UNIT)
    {
        using deadlock::tests::ProofTest;
        AddTestCase(new ProofTest("PFFC", SetUpPffc, 80), TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("PFFC, many", SetUpPffc, 1000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockProofSuite g_deadlockProofSuite; //!< registers the suite

} // namespace tests
} // namespace pffc
} // namespace ns3
