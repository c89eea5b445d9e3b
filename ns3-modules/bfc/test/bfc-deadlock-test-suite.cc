/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

/**
 * @file
 * @ingroup bfc-tests
 * Deadlocks of networks with BFC: when the oracle says that they formed.
 */

namespace ns3
{
namespace bfc
{
namespace tests
{

/// Few queues and low thresholds; queues or flows are named, some of them by mistake.
/// @param fabric the network. @param upTo draws a number.
static void
SetUpBfc(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string bfc = "ns3::bfc::Bfc";
    fabric.AddFlowControl(bfc);
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Size", "100000000");
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "Alpha", "8");
    fabric.SetAttribute(bfc, "Queues", std::to_string(1 + upTo(1)));
    fabric.SetAttribute(bfc, "HostQueues", std::to_string(1 + upTo(1)));
    fabric.SetAttribute(bfc, "Refresh", "0s");
    fabric.SetAttribute(bfc, "Hrtt", std::to_string(200 + 400 * upTo(4)) + "ns");
    fabric.SetAttribute(bfc, "Interval", std::to_string(500 * upTo(1)) + "ns");
    fabric.SetAttribute(bfc, "Names", upTo(1) ? "Queues" : "Flows");
    fabric.SetAttribute(bfc, "FilterBits", "128");
    fabric.SetAttribute(bfc, "Stages", upTo(1) ? "1" : "4");
    fabric.SetAttribute(bfc, "ResumesPerHrtt", std::to_string(upTo(1)));
}

/// @ingroup bfc-tests
/// @brief Tests of the oracle with Bfc.
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("bfc-deadlock", Type::UNIT)
    {
        using deadlock::tests::FormationTest;
        AddTestCase(new FormationTest("BFC", SetUpBfc, 100), TestCase::Duration::QUICK);
        AddTestCase(new FormationTest("BFC, many", SetUpBfc, 2000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

/// @ingroup bfc-tests
/// @brief The proof of what is named as stuck.
class DeadlockProofSuite : public TestSuite
{
  public:
    DeadlockProofSuite()
        : TestSuite("bfc-deadlock-proof", Type::UNIT)
    {
        using deadlock::tests::ProofTest;
        AddTestCase(new ProofTest("BFC", SetUpBfc, 80), TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("BFC, many", SetUpBfc, 1000), TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockProofSuite g_deadlockProofSuite; //!< registers the suite

} // namespace tests
} // namespace bfc
} // namespace ns3
