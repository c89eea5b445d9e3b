/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

// The memory of a running network is the reference: what changes in it must have been visited.

#include "facade-test-network.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-state-visitor.h"
#include "ns3/rdma-host.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace facade
{
namespace tests
{

/// @ingroup facade-tests
/// @brief Every variable of the path of a frame that changes while a network is at rest is in the
/// list of its class, and would be missed if it were not.
class StateListTest : public TestCase
{
  public:
    StateListTest()
        : TestCase("what changes on the path of a frame is visited, in every class that has state")
    {
    }

  private:
    using Range = lossless::StateMap::Range;
    using Address = uintptr_t;
    static constexpr std::size_t LONGEST = 128; //!< bytes of a variable: a deque has 80

    /// An object in memory.
    struct Object
    {
        const char* type;           //!< its name
        std::vector<uint8_t> bytes; //!< what it holds
    };

    /// What a network holds at one time.
    struct Memory
    {
        std::map<std::pair<Address, std::size_t>, Object> objects; //!< by address and size
        std::set<std::pair<Address, Address>> visited;             //!< variables: first, end
        bool rests{false};                                         //!< nothing is refused
    };

    /// Where a variable lies: its class, and the distance from the start of an object of it.
    using Variable = std::pair<std::string, std::size_t>;

    /// Visit all, as a search for what repeats does.
    /// @param net the network. @param visitor visitor.
    static void VisitAll(Network& net, lossless::StateVisitor& visitor)
    {
        lossless::Fabric& fabric = net.sim.GetFabric();
        for (uint32_t node = 0; node < fabric.GetNNodes(); ++node)
        {
            auto* host = dynamic_cast<rdma::Host*>(&fabric.GetNode(node));
            for (uint32_t flow = 0; host && flow < host->GetNFlows(); ++flow)
            {
                if (rdma::QueuePair& queuePair = host->GetQueuePair(flow);
                    queuePair.GetSource() == host)
                {
                    queuePair.Visit(visitor, net.sim.Now());
                }
            }
        }
        for (uint32_t node = 0; node < fabric.GetNNodes(); ++node)
        {
            fabric.GetNode(node).Visit(visitor);
        }
    }

    /// Read what the objects of a network hold. @param net the network. @return their bytes.
    static Memory Read(Network& net)
    {
        lossless::State state;
        lossless::StateVisitor writer(state, net.sim.Now());
        VisitAll(net, writer);
        lossless::StateMap map;
        lossless::StateVisitor finder(map);
        VisitAll(net, finder);
        Memory memory;
        memory.rests = state.refusal.empty();
        for (const Range& object : map.objects)
        {
            const auto* first = static_cast<const uint8_t*>(object.first);
            memory.objects[{reinterpret_cast<Address>(first), object.bytes}] = {
                object.type,
                {first, first + object.bytes}};
        }
        for (const Range& variable : map.visited)
        {
            const auto first = reinterpret_cast<Address>(variable.first);
            memory.visited.emplace(first, first + variable.bytes);
        }
        return memory;
    }

    /// Compare what two times found.
    ///
    /// Of nested objects the smallest one owns a byte.
    /// @param before earlier. @param after later.
    void Compare(const Memory& before, const Memory& after)
    {
        std::map<Address, std::pair<std::size_t, Variable>> changed; // by address: size of owner
        for (const auto& [where, object] : after.objects)
        {
            const auto old = before.objects.find(where);
            if (old == before.objects.end())
            {
                continue;
            }
            for (std::size_t at = 0; at < where.second; ++at)
            {
                if (old->second.bytes[at] == object.bytes[at])
                {
                    continue;
                }
                const auto [entry, isNew] = changed.try_emplace(where.first + at);
                if (isNew || where.second < entry->second.first)
                {
                    entry->second = {where.second, {object.type, at}};
                }
            }
        }
        for (const auto& [address, entry] : changed)
        {
            auto range = after.visited.upper_bound({address, UINTPTR_MAX});
            bool found = false;
            while (!found && range != after.visited.begin() &&
                   address - std::prev(range)->first < LONGEST)
            {
                --range;
                found = address < range->second;
            }
            if (!found)
            {
                m_missed.insert(entry.second);
                continue;
            }
            m_found[entry.second.first].insert(range->first - address + entry.second.second);
        }
    }

    /// Run a network, and compare what it holds again and again.
    /// @param settings attributes of queue pairs. @param port attributes of ports. @param acks
    /// packets per ACK.
    void Simulate(const Settings& settings, const Settings& port, int64_t acks)
    {
        Network net;
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        for (const auto& [name, value] : settings)
        {
            net.Set("QueuePair", name, value);
        }
        for (const auto& [name, value] : port)
        {
            net.Set("Port", name, value);
        }
        net.Set("QueuePair", "AckEvery", acks);
        net.Set("SharedBuffer", "Size", "64000000");
        net.Nodes(4, 3);
        for (uint32_t host = 0; host < 4; ++host)
        {
            net.Link(host, 4 + host / 2, 100 * GBPS, US);
        }
        net.Link(4, 6, 100 * GBPS, US);
        net.Link(5, 6, 100 * GBPS, US);
        for (uint32_t host = 0; host < 4; ++host)
        {
            net.Flow(host, (host + 1) % 4, 40'000'000, 0, 3);
            net.Flow(host, (host + 2) % 4, 40'000'000, 0, 2, 0, 600'000);
        }
        net.sim.Build();
        Memory last;
        for (int64_t time = 60 * US; time < 90 * US; time += 531'000)
        {
            net.sim.Run(time);
            Memory next = Read(net);
            if (!next.rests)
            {
                continue;
            }
            if (last.rests)
            {
                Compare(last, next);
                ++m_compared;
            }
            last = std::move(next);
        }
        net.sim.Finish();
    }

    void DoRun() override
    {
        Simulate({}, {}, 1);
        Simulate({{"Retransmit", "Selective"}}, {{"ClassService", "Dwrr"}}, 4);
        Simulate({}, {{"ClassService", "Fifo"}}, 1'000'000);
        NS_TEST_EXPECT_MSG_GT(m_compared, 60, "states at rest are compared");
        for (const auto& [type, at] : m_missed)
        {
            NS_TEST_EXPECT_MSG_EQ(true,
                                  false,
                                  "byte " << at << " of " << type << " is not visited");
        }
        std::string all;
        std::size_t variables = 0;
        for (const auto& [type, places] : m_found)
        {
            all += type + " " + std::to_string(places.size()) + "\n";
            variables += places.size();
        }
        // Without one of these lists, or a variable of them that changed, a byte were not visited.
        for (const std::string name : {"8lossless11EventStream",
                                       "8lossless9FrameFifo",
                                       "8lossless10FabricNode",
                                       "8lossless12BufferPolicy",
                                       "8lossless14ClassScheduler",
                                       "8lossless6Egress",
                                       "8lossless4Port",
                                       "8lossless8ReadySet",
                                       "4rdma8Arrivals",
                                       "4rdma4Host",
                                       "4rdma12LossRecovery",
                                       "4rdma12ReceiveQueue",
                                       "4rdma10Scoreboard",
                                       "4rdma9SendQueue"})
        {
            const bool has = std::ranges::any_of(m_found, [&name](const auto& entry) {
                const std::string whole = "N3ns3" + name;
                return entry.first.starts_with(whole + "E") || entry.first.starts_with(whole + "I");
            });
            NS_TEST_EXPECT_MSG_EQ(has, true, name << " changes nothing that it visits:\n" << all);
        }
        NS_TEST_EXPECT_MSG_GT(variables, 45, "variables change:\n" << all);
    }

    std::set<Variable> m_missed;                          //!< changed, and not visited
    std::map<std::string, std::set<std::size_t>> m_found; //!< by class: variables that changed
    int m_compared{0};                                    //!< pairs of states
};

/// @ingroup facade-tests
/// @brief The suite of the lists of state.
class StateTestSuite : public TestSuite
{
  public:
    StateTestSuite()
        : TestSuite("facade-state", Type::UNIT)
    {
        AddTestCase(new StateListTest(), TestCase::Duration::QUICK);
    }
};

static StateTestSuite g_stateTestSuite; //!< the suite

} // namespace tests
} // namespace facade
} // namespace ns3
