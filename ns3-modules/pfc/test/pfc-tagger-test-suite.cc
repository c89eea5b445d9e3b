/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

#include "ns3/pfc-tagger.h"
#include "ns3/string.h"

/**
 * @file
 * @ingroup pfc-tests
 * Frames that change class in a switch: where they are charged, what is paused, and what
 * DeadlockAnalyzer and DeadlockOracle make of it.
 */

namespace ns3
{
namespace pfc
{
namespace tests
{

using deadlock::tests::DeadlockHost;
using lossless::Fabric;
using lossless::Port;

/// @ingroup pfc-tests
/// @brief Sends frames on in classes that depend on nodes and ports, so that cycles lead through
/// several.
class RandomTags : public lossless::SwitchAgent, public lossless::TagAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::pfc::tests::RandomTags")
                                .SetParent<lossless::SwitchAgent>()
                                .SetGroupName("pfc")
                                .AddConstructor<RandomTags>();
        return tid;
    }

    uint8_t GetEgressClass(const lossless::Frame& frame, const Port& ingress) const override
    {
        // A node forwards everything in one class, whatever it was, except for some ports and
        // classes.
        const uint32_t node = m_node->GetId();
        std::minstd_rand random(1 + node * 4096 + ingress.GetIndex() * 256 + frame.egress * 8U +
                                frame.cls);
        random.discard(3);
        return static_cast<uint8_t>(3 + (random() % 12 == 0 ? random() : node) % N_TAGS);
    }

    static constexpr uint32_t N_TAGS = 3; //!< classes, from 3 on
};

NS_OBJECT_ENSURE_REGISTERED(RandomTags);

/// PFC, and classes that change; so rules with a cycle as well as without.
/// @param fabric the network. @param upTo draws a number.
static void
SetUpTags(Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    deadlock::tests::SetUpPfc(fabric, upTo);
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "56");
    // by strict priority frames that have changed go before those that come in, and a ring empties
    fabric.SetAttribute("ns3::lossless::Port", "ClassService", upTo(2) ? "Fifo" : "Dwrr");
    fabric.AddAgent("ns3::pfc::tests::RandomTags");
}

/// @ingroup pfc-tests
/// @brief Gives the ports of a switch maps, so that a port sends most frames in one queue.
class RandomMaps : public lossless::SwitchAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::pfc::tests::RandomMaps")
                                .SetParent<lossless::SwitchAgent>()
                                .SetGroupName("pfc")
                                .AddConstructor<RandomMaps>();
        return tid;
    }

    void SetUp() override
    {
        for (uint16_t port = 0; port < m_node->GetNPorts(); ++port)
        {
            std::minstd_rand random(1 + m_node->GetId() * 256 + port);
            random.discard(3);
            const uint32_t draw = random() % 6 == 0 ? random() : m_node->GetId();
            const std::string queue = "=" + std::to_string(3 + draw % RandomTags::N_TAGS);
            m_node->GetPort(port).SetAttribute(
                "ClassQueues",
                StringValue("3" + queue + ",4" + queue + ",5" + queue));
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(RandomMaps);

/// PFC, and maps that lead frames to another queue at each hop: every switch takes the class from
/// the wire, and pauses name it.
/// @param fabric the network. @param upTo draws a number.
static void
SetUpMaps(Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    deadlock::tests::SetUpPfc(fabric, upTo);
    fabric.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "56");
    fabric.SetAttribute("ns3::lossless::Port", "ClassService", upTo(2) ? "Fifo" : "Dwrr");
    fabric.AddAgent("ns3::pfc::tests::RandomMaps");
    fabric.AddAgent("ns3::pfc::Tagger");
}

/// @ingroup pfc-tests
/// @brief Maps of ports: group, queue and code point of frames against what the maps say.
class MapsTest : public TestCase
{
  public:
    MapsTest()
        : TestCase("maps of ports give frames their group, queue and code point")
    {
    }

  private:
    /// What a switch makes of a frame.
    struct Outcome
    {
        uint8_t group; //!< charged to it
        uint8_t queue; //!< waits in it
        uint8_t dscp;  //!< leaves with it

        /// Compare. @param other the other one. @return true if equal.
        bool operator==(const Outcome& other) const = default;
    };

    /// Let a frame pass the tagger of a switch s0 from h0 to h1.
    /// @param maps attribute and value of its ports. @param rules of the tagger. @param cls class
    /// on the wire. @param dscp code point. @return what comes of it.
    static Outcome Pass(const std::map<std::string, std::string>& maps,
                        const std::string& rules,
                        uint8_t cls,
                        uint8_t dscp)
    {
        auto fabric = CreateObject<Fabric>();
        fabric->AddAgent("ns3::pfc::Tagger");
        fabric->SetAttribute("ns3::pfc::Tagger", "Rules", rules);
        for (const auto& [name, value] : maps)
        {
            fabric->SetAttribute("ns3::lossless::Port", name, value);
        }
        const uint32_t s0 = fabric->AddSwitch("s0");
        for (const char* name : {"h0", "h1"})
        {
            const uint32_t host = fabric->AddHost(name, CreateObject<DeadlockHost>());
            fabric->AddLink(host, s0, DataRate("10Gbps"), MicroSeconds(1));
        }
        fabric->Build();
        lossless::FabricNode& node = fabric->GetNode(s0);
        lossless::Frame frame;
        frame.cls = cls;
        frame.dscp = dscp;
        frame.egress = 1;
        node.GetRoles().OfferArrival(frame, node.GetPort(0));
        const uint8_t queue = node.GetRoles().GetEgressClass(frame, node.GetPort(0));
        const Outcome outcome{frame.cls, queue, frame.dscp};
        fabric->Finish();
        Simulator::Destroy();
        fabric->Dispose();
        return outcome;
    }

    void DoRun() override
    {
        constexpr uint8_t NONE = lossless::Frame::NO_DSCP;
        const auto check = [](const Outcome& outcome, const Outcome& expected) {
            return outcome == expected;
        };
        NS_TEST_EXPECT_MSG_EQ(check(Pass({}, "", 5, NONE), {5, 5, NONE}), true, "no maps");
        NS_TEST_EXPECT_MSG_EQ(check(Pass({}, "", 5, 26), {5, 5, 26}),
                              true,
                              "without a map of code points the class on the wire counts");
        const std::map<std::string, std::string> all = {{"DscpClasses", "26=3,27=4"},
                                                        {"ClassGroups", "4=3,1=0"},
                                                        {"ClassQueues", "3=4,4=5"},
                                                        {"ClassMarks", "4=34"}};
        NS_TEST_EXPECT_MSG_EQ(check(Pass(all, "", 0, 26), {3, 4, 26}), true, "class 3");
        NS_TEST_EXPECT_MSG_EQ(check(Pass(all, "", 0, 27), {3, 5, 34}), true, "class 4");
        NS_TEST_EXPECT_MSG_EQ(check(Pass(all, "", 0, 47), {5, 5, 47}), true, "not in the map: 5");
        NS_TEST_EXPECT_MSG_EQ(check(Pass(all, "", 1, NONE), {0, 1, 8}), true, "as class 1 says");
        const std::string rule = "h0 > h1 : 3=4";
        NS_TEST_EXPECT_MSG_EQ(check(Pass(all, rule, 0, 26), {3, 5, 34}),
                              true,
                              "charged to the group of 3, and sent as 4");
        NS_TEST_EXPECT_MSG_EQ(check(Pass(all, "h0 > h1 : 3=6", 0, 26), {3, 6, 48}),
                              true,
                              "changed, without a mark of its own: eight times the class");
        NS_TEST_EXPECT_MSG_EQ(check(Pass({}, rule, 3, NONE), {3, 4, NONE}), true, "rules alone");
        NS_TEST_EXPECT_MSG_EQ(check(Pass({}, rule, 3, 26), {3, 4, 32}), true, "rules, marked");
    }
};

/// @ingroup pfc-tests
/// @brief A host sends through s0 and s1 to a host that is slow to hear; s0 or s1 changes class 3
/// to 4.
///
/// h0 - s0 - s1 - h1, and h2 at s1, which sends to h1 as well, so that s1 fills.
class TaggerTest : public deadlock::tests::RandomNetworkTest
{
  public:
    TaggerTest()
        : deadlock::tests::RandomNetworkTest(
              "a frame is charged to the class in which it came, and queued and sent "
              "in the new one")
    {
    }

  private:
    /// What a run shows.
    struct Outcome
    {
        std::set<std::pair<uint32_t, uint8_t>> paused; //!< by whom, and which class
        int64_t wireOld{0};                            //!< bytes of class 3 from s1 to h1
        int64_t wireNew{0};                            //!< bytes of class 4 from s1 to h1
        uint64_t dropped{0};                           //!< of lossless classes
        int64_t most{0};                               //!< bytes charged to class 4 at s1, at most
        double changed{0};                             //!< frames
    };

    /// Run. @param rules of s1. @param charge Charge of the tagger. @return what came of it.
    Outcome Try(const std::string& rules, const std::string& charge)
    {
        m_fabric = CreateObject<Fabric>();
        m_fabric->AddObserver(std::make_unique<deadlock::DeadlockMonitor>(*m_fabric));
        const std::string buffer = "ns3::lossless::SharedBuffer";
        m_fabric->AddFlowControl("ns3::pfc::Pfc");
        m_fabric->SetAttribute("ns3::pfc::Pfc", "Mode", "OnOff");
        m_fabric->SetAttribute(buffer, "Threshold", "Static");
        m_fabric->SetAttribute(buffer, "Size", "10000000");
        m_fabric->SetAttribute(buffer, "Xoff", "9000");
        m_fabric->SetAttribute(buffer, "Xon", "4500");
        m_fabric->SetAttribute(buffer, "LosslessClasses", "24");
        m_fabric->AddAgent("ns3::pfc::Tagger");
        m_fabric->SetAttribute("ns3::pfc::Tagger", "Charge", charge);
        m_fabric->SetAllowLoss(true);
        m_hosts.clear();
        const uint32_t s0 = m_fabric->AddSwitch("s0");
        const uint32_t s1 = m_fabric->AddSwitch("s1");
        for (const uint32_t at : {s0, s1, s1})
        {
            m_hosts.push_back(CreateObject<DeadlockHost>());
            const std::string name = "h" + std::to_string(m_hosts.size() - 1);
            const uint32_t host = m_fabric->AddHost(name, m_hosts.back());
            m_fabric->AddLink(host, at, DataRate("10Gbps"), MicroSeconds(1));
        }
        m_fabric->AddLink(s0, s1, DataRate("10Gbps"), MicroSeconds(1));
        m_fabric->SetNodeAttribute(s1, "ns3::pfc::Tagger", "Rules", rules);
        m_fabric->Build();
        NS_TEST_EXPECT_MSG_EQ(m_fabric->Check(), "", "it can run");
        Outcome outcome;
        for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
        {
            for (uint16_t port = 0; port < m_fabric->GetNode(node).GetNPorts(); ++port)
            {
                m_fabric->GetNode(node).GetPort(port).TraceConnectWithoutContext(
                    "PauseSent",
                    Callback<void, const Port&, uint8_t, bool>(
                        [&outcome, node](const Port&, uint8_t cls, bool) {
                            outcome.paused.emplace(node, cls);
                        }));
            }
        }
        const auto look = [&] {
            for (uint16_t port = 0; port < m_fabric->GetNode(s1).GetNPorts(); ++port)
            {
                outcome.most =
                    std::max(outcome.most,
                             m_fabric->GetNode(s1).GetBuffer().GetUsage(port, 4).Total());
            }
        };
        for (int at = 1; at < 400; ++at)
        {
            Simulator::Schedule(MicroSeconds(at), look);
        }
        for (const uint32_t from : {0U, 2U})
        {
            Simulator::Schedule(MicroSeconds(1),
                                &DeadlockHost::Send,
                                PeekPointer(m_hosts[from]),
                                m_hosts[1]->GetId(),
                                FRAMES);
        }
        Simulator::Run();
        const Port& last = m_hosts[1]->GetPort(0).GetPeer();
        outcome.wireOld = last.GetCounters().wireOut[3];
        outcome.wireNew = last.GetCounters().wireOut[4];
        outcome.dropped = m_fabric->GetNode(s1).GetCounters().droppedLossless;
        lossless::Summary summary;
        m_fabric->Report(summary);
        outcome.changed = summary["tagger_frames_changed"];
        NS_TEST_EXPECT_MSG_EQ(Filled().empty(), true, "all has gone");
        NS_TEST_EXPECT_MSG_EQ(m_fabric->Finish(), "", "frames are conserved");
        for (uint16_t port = 0; port < m_fabric->GetNode(s1).GetNPorts(); ++port)
        {
            for (uint8_t cls = 0; cls < lossless::N_CLASSES; ++cls)
            {
                NS_TEST_EXPECT_MSG_EQ(m_fabric->GetNode(s1).GetBuffer().GetUsage(port, cls).Total(),
                                      0,
                                      "and nothing stays charged");
            }
        }
        Simulator::Destroy();
        m_fabric->Dispose();
        return outcome;
    }

    void DoRun() override
    {
        constexpr uint32_t S0 = 0;
        constexpr uint32_t S1 = 1;
        const int64_t one = FRAMES * (DeadlockHost::FRAME + 20); // with preamble and gap
        const Outcome plain = Try("", "Old");
        NS_TEST_ASSERT_MSG_EQ(plain.changed, 0, "no rule, nothing changes");
        NS_TEST_ASSERT_MSG_EQ(plain.wireOld, 2 * one, "all leave as they came");
        NS_TEST_ASSERT_MSG_EQ(plain.wireNew, 0, "and none in another class");
        NS_TEST_ASSERT_MSG_EQ(plain.paused.count({S1, 3}), 1, "the switch pauses");

        const std::string rule = "s0 h2 > h1 : 3=4";
        const Outcome old = Try(rule, "Old");
        NS_TEST_ASSERT_MSG_EQ(old.changed, 2 * FRAMES, "all change");
        NS_TEST_ASSERT_MSG_EQ(old.wireOld, 0, "and leave");
        NS_TEST_ASSERT_MSG_EQ(old.wireNew, 2 * one, "in the new class");
        NS_TEST_ASSERT_MSG_EQ(old.most, 0, "but are never charged to it");
        NS_TEST_ASSERT_MSG_EQ(old.paused.count({S1, 3}), 1, "the class that comes is paused");
        NS_TEST_ASSERT_MSG_EQ(old.paused.count({S1, 4}), 0, "and no other");
        NS_TEST_ASSERT_MSG_EQ(old.paused.count({S0, 3}), 1, "which goes on to the host");
        NS_TEST_ASSERT_MSG_EQ(old.dropped, 0, "so that nothing is lost");

        const Outcome fresh = Try(rule, "New");
        NS_TEST_ASSERT_MSG_EQ(fresh.changed, 2 * FRAMES, "all change");
        NS_TEST_ASSERT_MSG_GT(fresh.most, 9000, "and are charged to the new class");
        NS_TEST_ASSERT_MSG_EQ(fresh.paused.count({S1, 4}), 1, "which is paused");
        NS_TEST_ASSERT_MSG_EQ(fresh.paused.count({S0, 3}), 0, "but s0 holds none of it");
        NS_TEST_ASSERT_MSG_GT(fresh.dropped, 0, "and goes on: frames of a lossless class are lost");

        const Outcome some = Try("s0 > h1 : 3=4", "Old");
        NS_TEST_ASSERT_MSG_EQ(some.changed, FRAMES, "those of one host");
        NS_TEST_ASSERT_MSG_EQ(some.wireOld, one, "of the other leave as they came");
        NS_TEST_ASSERT_MSG_EQ(some.wireNew, one, "they leave in the new class");

        const Outcome both = Try("s0 h2 > h1 : 3=4, 4=5 ; ; s0 > h2 : 3 = 5", "Old");
        NS_TEST_ASSERT_MSG_EQ(both.changed, 2 * FRAMES, "several ports, classes and rules");
        NS_TEST_ASSERT_MSG_EQ(both.wireNew, 2 * one, "each rule is asked once");
    }

    static constexpr uint32_t FRAMES = 200; //!< of each host
};

/// @ingroup pfc-tests
/// @brief Rules that cannot be.
class TaggerRulesTest : public TestCase
{
  public:
    TaggerRulesTest()
        : TestCase("rules that make no sense are refused in words")
    {
    }

  private:
    /// Check rules of a switch s0 between h0 and h1. @param rules they. @return what is wrong.
    static std::string Try(const std::string& rules)
    {
        auto fabric = CreateObject<Fabric>();
        fabric->AddAgent("ns3::pfc::Tagger");
        fabric->SetAttribute("ns3::pfc::Tagger", "Rules", rules);
        const uint32_t s0 = fabric->AddSwitch("s0");
        for (const char* name : {"h0", "h1"})
        {
            const uint32_t host = fabric->AddHost(name, CreateObject<DeadlockHost>());
            fabric->AddLink(host, s0, DataRate("10Gbps"), MicroSeconds(1));
        }
        fabric->Build();
        std::string problems = fabric->Check();
        fabric->Finish();
        Simulator::Destroy();
        fabric->Dispose();
        return problems;
    }

    void DoRun() override
    {
        const std::string whose = "s0: Rules of the tagger: ";
        NS_TEST_EXPECT_MSG_EQ(Try("h0 > h1 : 3=4"), "", "right");
        NS_TEST_EXPECT_MSG_EQ(Try("  "), "", "none");
        for (const auto& [rules, problem] :
             std::initializer_list<std::pair<const char*, const char*>>{
                 {"h0 > h1", "'h0 > h1' is not of the form FROM > TO : OLD=NEW"},
                 {"h0 h1 : 3=4", "'h0 h1 : 3=4' is not of the form FROM > TO : OLD=NEW"},
                 {" > h1 : 3=4", "' > h1 : 3=4' is not of the form FROM > TO : OLD=NEW"},
                 {"h0 > h2 : 3=4", "'h2' in 'h0 > h2 : 3=4' is not a neighbour"},
                 {"h0 > h1 : 3", "' 3' in 'h0 > h1 : 3' is not OLD=NEW with classes from 0 to 7"},
                 {"h0 > h1 : 3=8",
                  "' 3=8' in 'h0 > h1 : 3=8' is not OLD=NEW with classes from 0 to 7"},
                 {"h0 > h1 : 3=4; h0 > h1 : 3=5",
                  "' h0 > h1 : 3=5' and another rule map class 3 differently"}})
        {
            NS_TEST_EXPECT_MSG_EQ(Try(rules), whose + problem + "\n", rules);
        }
    }
};

/// @ingroup pfc-tests
/// @brief Tests of frames that change class.
class TaggerTestSuite : public TestSuite
{
  public:
    TaggerTestSuite()
        : TestSuite("pfc-tagger", Type::UNIT)
    {
        AddTestCase(new TaggerTest, TestCase::Duration::QUICK);
        AddTestCase(new TaggerRulesTest, TestCase::Duration::QUICK);
        AddTestCase(new MapsTest, TestCase::Duration::QUICK);
        AddTestCase(new deadlock::tests::FormationTest("maps of classes", SetUpMaps, 100, true),
                    TestCase::Duration::QUICK);
        AddTestCase(new deadlock::tests::ProofTest("maps of classes", SetUpMaps, 100),
                    TestCase::Duration::QUICK);
        AddTestCase(new deadlock::tests::FormationTest("classes that change", SetUpTags, 100, true),
                    TestCase::Duration::QUICK);
        AddTestCase(new deadlock::tests::ProofTest("classes that change", SetUpTags, 100),
                    TestCase::Duration::QUICK);
        AddTestCase(
            new deadlock::tests::FormationTest("classes that change, many", SetUpTags, 2000, true),
            TestCase::Duration::TAKES_FOREVER);
        AddTestCase(new deadlock::tests::ProofTest("classes that change, many", SetUpTags, 1000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static TaggerTestSuite g_taggerTestSuite; //!< registers the suite

} // namespace tests
} // namespace pfc
} // namespace ns3
