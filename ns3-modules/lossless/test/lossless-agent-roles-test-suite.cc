/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-agent-roles.h"
#include "ns3/lossless-port.h"
#include "ns3/test.h"

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * AgentRoles: who is asked, in which order, and which agents do not go together.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// What all roles of an agent share.
struct RoleNote
{
    static inline std::vector<int> g_asked; //!< numbers of those asked, in order

    /// Note that it was asked. @return its answer.
    bool Ask() const
    {
        g_asked.push_back(m_number);
        return m_answer;
    }

    int m_number{0};      //!< in the order of their addition
    bool m_answer{false}; //!< to what it is asked
};

/// Takes SIGNAL frames, or not.
struct TransitRole : virtual RoleNote, TransitAgent
{
    bool NotifyTransit(Frame* /* frame */, Port& /* ingress */) override
    {
        return Ask();
    }
};

/// Keeps frames, or not.
struct ArrivalRole : virtual RoleNote, ArrivalAgent
{
    bool NotifyArrival(Frame& /* frame */, Port& /* ingress */) override
    {
        return Ask();
    }
};

/// Changes classes.
struct TagRole : virtual RoleNote, TagAgent
{
    uint8_t GetEgressClass(const Frame& frame, const Port& /* ingress */) const override
    {
        return static_cast<uint8_t>(frame.cls + 1);
    }
};

/// Is asked about refused frames.
struct AdmissionRole : virtual RoleNote, AdmissionAgent
{
    bool NotifyRefused(Frame& /* frame */, Port& /* ingress */) override
    {
        return Ask();
    }

    uint32_t GetTruncatedSize() const override
    {
        return 64;
    }
};

/// An agent with some roles.
template <class... Roles>
class RoleAgent : public SwitchAgent, public virtual RoleNote, public Roles...
{
};

/// @ingroup lossless-tests
/// @brief Agents with random roles are asked.
class AgentRolesTest : public TestCase
{
  public:
    AgentRolesTest()
        : TestCase("those with a role are asked in the order of their addition, a tagger first, "
                   "until one takes or drops the frame; no two tag or admit")
    {
    }

  private:
    /// Agents are added and asked. @param random source of chance.
    void Try(std::mt19937_64& random)
    {
        AgentRoles roles;
        std::vector<Ptr<SwitchAgent>> kept;
        std::vector<int> transit;
        std::vector<int> arrival;
        std::vector<bool> answers;
        const int count = 1 + static_cast<int>(random() % 6);
        const int tagger = static_cast<int>(random() % 8); // none, if there are fewer
        for (int number = 0; number < count; ++number)
        {
            answers.push_back(random() % 4 > 0);
            const auto add = [&](auto agent) {
                agent->m_number = number;
                agent->m_answer = answers.back();
                roles.Add(PeekPointer(agent));
                kept.push_back(agent);
            };
            const uint64_t kind = random() % 4;
            if (number == tagger)
            {
                add(CreateObject<RoleAgent<TagRole, ArrivalRole>>());
                arrival.insert(arrival.begin(), number);
                continue;
            }
            switch (kind)
            {
            case 0:
                add(CreateObject<RoleAgent<>>());
                break;
            case 1:
                add(CreateObject<RoleAgent<TransitRole>>());
                break;
            case 2:
                add(CreateObject<RoleAgent<ArrivalRole>>());
                break;
            default:
                add(CreateObject<RoleAgent<ArrivalRole, TransitRole>>());
            }
            if (kind % 2)
            {
                transit.push_back(number);
            }
            if (kind >= 2)
            {
                arrival.push_back(number);
            }
        }
        const auto port = CreateObject<Port>();
        Frame frame;
        frame.cls = 2;
        Expect(transit, answers, true, [&] { return roles.OfferTransit(&frame, *port); });
        Expect(arrival, answers, false, [&] { return roles.OfferArrival(frame, *port); });
        NS_TEST_ASSERT_MSG_EQ(roles.AsksAtArrival(), !arrival.empty(), "anybody to ask");
        NS_TEST_ASSERT_MSG_EQ(roles.ChangesClasses(), (tagger < count), "a tagger");
        NS_TEST_ASSERT_MSG_EQ(+roles.GetEgressClass(frame, *port), 2 + (tagger < count), "class");
        NS_TEST_ASSERT_MSG_EQ(roles.OfferRefused(frame, *port), false, "nobody admits");
    }

    /// Who is asked? @param members with the role. @param answers of all agents.
    /// @param last answer after which nobody else is asked. @param ask asks them.
    template <class F>
    void Expect(const std::vector<int>& members, const std::vector<bool>& answers, bool last, F ask)
    {
        std::vector<int> asked;
        bool answer = !last;
        for (std::size_t i = 0; i < members.size() && answer != last; ++i)
        {
            asked.push_back(members[i]);
            answer = answers[static_cast<std::size_t>(members[i])];
        }
        RoleNote::g_asked.clear();
        NS_TEST_ASSERT_MSG_EQ(ask(), answer, "what they say");
        NS_TEST_ASSERT_MSG_EQ((RoleNote::g_asked == asked), true, "whom it asks");
    }

    /// Two agents that do not go together.
    template <class First, class Second>
    void Refuses()
    {
        AgentRoles roles;
        const auto first = CreateObject<First>();
        const auto second = CreateObject<Second>();
        roles.Add(PeekPointer(first));
        bool refused = false;
        try
        {
            roles.Add(PeekPointer(second));
        }
        catch (const std::invalid_argument&)
        {
            refused = true;
        }
        NS_TEST_EXPECT_MSG_EQ(refused, true, "only one may");
    }

    void DoRun() override
    {
        std::mt19937_64 random(6);
        for (int round = 0; round < 200; ++round)
        {
            Try(random);
        }
        Refuses<RoleAgent<TagRole>, RoleAgent<TagRole>>();
        Refuses<RoleAgent<AdmissionRole>, RoleAgent<AdmissionRole>>();
        Refuses<RoleAgent<AdmissionRole>, RoleAgent<TagRole>>();
    }
};

/// @ingroup lossless-tests
/// @brief Tests of AgentRoles.
class AgentRolesTestSuite : public TestSuite
{
  public:
    AgentRolesTestSuite()
        : TestSuite("lossless-agent-roles", Type::UNIT)
    {
        AddTestCase(new AgentRolesTest, TestCase::Duration::QUICK);
    }
};

static AgentRolesTestSuite g_agentRolesTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
