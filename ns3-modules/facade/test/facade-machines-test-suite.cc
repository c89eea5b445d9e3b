/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/data-rate.h"
#include "ns3/facade-frame-limits.h"
#include "ns3/facade-machines.h"
#include "ns3/lossless-event.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup facade-tests
 * Machines and FrameLimits: against lists of who belongs together and what each port takes.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

/// @ingroup facade-tests
/// @brief Random hosts of several links in random servers, or in none.
class MachinesTest : public TestCase
{
  public:
    MachinesTest()
        : TestCase("nodes are together if they are of one host, or their hosts of one server; "
                   "none can be in two")
    {
    }

  private:
    static constexpr uint32_t NODES = 12; //!< of hosts

    /// A random network. @param random source of chance.
    void Try(std::mt19937& random)
    {
        const auto fabric = CreateObject<lossless::Fabric>();
        for (uint32_t node = 0; node < NODES; ++node)
        {
            fabric->AddHost("h" + std::to_string(node),
                            fabric->Make<lossless::FabricNode>("ns3::rdma::Host"));
        }
        Machines machines(*fabric);
        std::vector<uint32_t> order(NODES);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<uint32_t> hostOf(NODES);
        std::vector<int> serverOf(NODES, -1);
        std::vector<bool> isFast; // by server: it has a domain
        std::vector<uint32_t> members;
        for (uint32_t first = 0, next = 0; first < NODES; first = next)
        {
            next = std::min(NODES, first + 1 + static_cast<uint32_t>(random() % 3));
            if (next - first > 1)
            {
                machines.SetHostPorts(&order[first], next - first);
            }
            for (uint32_t place = first; place < next; ++place)
            {
                hostOf[order[place]] = order[first];
            }
            members.push_back(order[first]);
            if (random() % 2)
            {
                isFast.push_back(random() % 2);
                machines.AddServer(members.data(),
                                   static_cast<uint32_t>(members.size()),
                                   isFast.back() ? 1'000'000'000 : 0,
                                   0,
                                   false);
                for (const uint32_t host : members)
                {
                    serverOf[host] = static_cast<int>(isFast.size()) - 1;
                }
                members.clear();
            }
        }
        for (uint32_t a = 0; a < NODES; ++a)
        {
            NS_TEST_ASSERT_MSG_EQ(machines.HostOf(a), hostOf[a], "host of " << a);
            const int server = serverOf[hostOf[a]];
            const rdma::ScaleUp* domain = machines.FindScaleUp(a);
            NS_TEST_ASSERT_MSG_EQ((domain != nullptr), (server >= 0 && isFast[server]), "domain");
            for (uint32_t b = 0; b < NODES; ++b)
            {
                const bool same = server >= 0 && server == serverOf[hostOf[b]];
                NS_TEST_ASSERT_MSG_EQ(machines.AreInOneServer(a, b), same, a << " and " << b);
                NS_TEST_ASSERT_MSG_EQ(machines.AreTogether(a, b),
                                      (same || hostOf[a] == hostOf[b]),
                                      a << " and " << b);
                const bool shared = domain && domain == machines.FindScaleUp(b);
                NS_TEST_ASSERT_MSG_EQ(shared, (same && domain), "one domain a server");
            }
            bool refused = false;
            try
            {
                machines.AddServer(&a, 1, 0, 0, false);
            }
            catch (const std::invalid_argument&)
            {
                refused = true;
            }
            const bool may = serverOf[a] < 0 && hostOf[a] == a;
            NS_TEST_ASSERT_MSG_EQ(refused, !may, "only a host that is in none: " << a);
            serverOf[a] = may ? static_cast<int>(isFast.size()) : serverOf[a];
            isFast.resize(isFast.size() + 1);
        }
        fabric->Dispose();
    }

    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937 random(9);
        for (int round = 0; round < 100; ++round)
        {
            Try(random);
        }
        Simulator::Destroy();
    }
};

/// @ingroup facade-tests
/// @brief Ports that take frames of random sizes.
class FrameLimitsTest : public TestCase
{
  public:
    FrameLimitsTest()
        : TestCase("a flow fits if the ports of its hosts and all between switches take its frames")
    {
    }

  private:
    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937 random(3);
        uint32_t refusals = 0;
        for (int round = 0; round < 200; ++round)
        {
            const auto fabric = CreateObject<lossless::Fabric>();
            for (uint32_t node = 0; node < 6; ++node)
            {
                const std::string name = "n" + std::to_string(node);
                node < 3
                    ? fabric->AddSwitch(name)
                    : fabric->AddHost(name, fabric->Make<lossless::FabricNode>("ns3::rdma::Host"));
                if (node > 0) // a chain of switches, and a host at each
                {
                    const uint32_t to = node < 3 ? node - 1 : node - 3;
                    fabric->AddLink(to, node, DataRate("10Gbps"), Time(0));
                }
            }
            fabric->Build();
            const auto host = [&fabric](uint32_t node) {
                return dynamic_cast<rdma::QueuePairOwner*>(&fabric->GetNode(node));
            };
            const auto pair = CreateObject<rdma::QueuePair>();
            const uint32_t from = 3 + random() % 3;
            const uint32_t to = 3 + (from + random() % 2 + 1) % 3;
            pair->Connect(0, host(from), host(to), {1'000'000}, nullptr, false);
            const uint32_t frame = pair->GetLargestFrame(false);
            std::vector<bool> small(6); // by node: one of its ports that count takes too little
            for (uint32_t node = 0; node < 6; ++node)
            {
                for (uint16_t index = 0; index < fabric->GetNode(node).GetNPorts(); ++index)
                {
                    lossless::Port& port = fabric->GetNode(node).GetPort(index);
                    const uint32_t kind = random() % 12; // 0: too little, 1: any
                    const uint32_t mtu = kind == 0   ? frame - 1 - random() % 20
                                         : kind == 1 ? 0
                                                     : frame + random() % 20;
                    port.SetAttribute("Mtu", UintegerValue(mtu));
                    const bool toHost = port.GetPeerId() >= 3;
                    small[node] = small[node] || (kind == 0 && !toHost);
                }
            }
            std::string where;
            for (const uint32_t node : {from, to, 0U, 1U, 2U})
            {
                where = where.empty() && small[node] ? "n" + std::to_string(node) : where;
            }
            const std::string found = FrameLimits(*fabric).Check(*pair);
            NS_TEST_ASSERT_MSG_EQ(found.empty(), where.empty(), "round " << round << ": " << found);
            refusals += !found.empty();
            const bool isHost =
                where == "n" + std::to_string(from) || where == "n" + std::to_string(to);
            NS_TEST_ASSERT_MSG_EQ((!isHost || found.find("port of " + where + " to") < 100),
                                  true,
                                  "where: " << found);
            pair->Dispose();
            fabric->Dispose();
            Simulator::Destroy();
        }
        NS_TEST_EXPECT_MSG_GT(refusals, 20, "some do not");
    }
};

/// @ingroup facade-tests
/// @brief Tests of what a network is checked and asked for.
class MachinesTestSuite : public TestSuite
{
  public:
    MachinesTestSuite()
        : TestSuite("facade-machines", Type::UNIT)
    {
        AddTestCase(new MachinesTest, TestCase::Duration::QUICK);
        AddTestCase(new FrameLimitsTest, TestCase::Duration::QUICK);
    }
};

static MachinesTestSuite g_machinesTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
