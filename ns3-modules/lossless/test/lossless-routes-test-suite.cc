/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-draws.h"
#include "lossless-test-node.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-routes.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * Routes on random graphs against distances and paths found by brute force.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// Links that a frame takes: (node, port) of each.
using Hops = std::vector<std::pair<uint32_t, uint16_t>>;

/// @ingroup lossless-tests
/// @brief A random graph of switches with hosts, kept as a list of links.
class RandomGraph
{
  public:
    /// A link.
    struct Link
    {
        uint32_t a;     //!< node
        uint16_t portA; //!< its port
        uint32_t b;     //!< node
        uint16_t portB; //!< its port
        bool up;        //!< usable
    };

    /// Make one; it may have parallel links and need not be connected. @param random numbers
    explicit RandomGraph(std::mt19937_64& random)
        : switches(2 + random() % 8)
    {
        for (uint32_t node = 0; node < switches; ++node)
        {
            routes.AddNode(true);
            routes.SetSalt(node, static_cast<uint32_t>(random()));
        }
        ports.assign(switches, 0);
        const uint64_t inner = random() % (4 * switches + 1);
        for (uint64_t i = 0; i < inner; ++i)
        {
            const auto a = static_cast<uint32_t>(random() % switches);
            const auto b = static_cast<uint32_t>(random() % switches);
            if (a != b)
            {
                Connect(a, b);
            }
        }
        const uint64_t n = 2 + random() % 6;
        for (uint64_t i = 0; i < n; ++i)
        {
            routes.AddNode(false);
            ports.push_back(0);
            hosts.push_back(static_cast<uint32_t>(ports.size() - 1));
            Connect(hosts.back(), static_cast<uint32_t>(random() % switches));
        }
        routes.Compute();
    }

    /// Take a link down or up. @param link its index. @param up up.
    void SetLink(std::size_t link, bool up)
    {
        links[link].up = up;
        routes.SetLink(links[link].a, links[link].portA, up);
        routes.Compute();
    }

    /// All shortest paths, found by trying every walk of growing length.
    /// @param src host. @param dst host. @return the paths, none if there is no way.
    std::set<Hops> ShortestPaths(uint32_t src, uint32_t dst) const
    {
        std::set<Hops> found;
        Hops path;
        const std::function<void(uint32_t, std::size_t)> walk = [&](uint32_t at, std::size_t left) {
            if (at == dst && left == 0)
            {
                found.insert(path);
            }
            if (left == 0 || (at != src && at >= switches))
            {
                return; // hosts do not forward
            }
            for (const auto& link : links)
            {
                for (const bool forward : {true, false})
                {
                    if (link.up && (forward ? link.a : link.b) == at &&
                        Away(forward ? link.b : link.a, dst) < left)
                    {
                        path.emplace_back(at, forward ? link.portA : link.portB);
                        walk(forward ? link.b : link.a, left - 1);
                        path.pop_back();
                    }
                }
            }
        };
        for (std::size_t length = 1; found.empty() && length <= switches + 1; ++length)
        {
            walk(src, length);
        }
        return found;
    }

    /// Links between two nodes at least, by relaxation over all links until nothing changes.
    /// @param from node. @param to host. @return links, or a large number.
    std::size_t Away(uint32_t from, uint32_t to) const
    {
        constexpr std::size_t FAR = 1000;
        std::vector<std::size_t> away(ports.size(), FAR);
        away[to] = 0;
        for (std::size_t round = 0; round < ports.size(); ++round)
        {
            for (const auto& link : links)
            {
                if (link.up)
                {
                    away[link.a] = std::min(away[link.a], away[link.b] + 1);
                    away[link.b] = std::min(away[link.b], away[link.a] + 1);
                }
            }
        }
        return away[from];
    }

    uint32_t switches;           //!< nodes 0 .. switches - 1
    std::vector<uint32_t> hosts; //!< the others
    std::vector<uint16_t> ports; //!< ports in use, by node
    std::vector<Link> links;     //!< all
    Routes routes;               //!< what is tested

  private:
    /// Add a link. @param a node. @param b node.
    void Connect(uint32_t a, uint32_t b)
    {
        const uint16_t portA = ports[a]++;
        const uint16_t portB = ports[b]++;
        links.push_back(Link{a, portA, b, portB, true});
        routes.AddLink(a, portA, b, portB);
    }
};

/// @ingroup lossless-tests
/// @brief The frame of a flow.
/// @param src host. @param dst host. @param flow number. @return the frame.
Frame
FrameOf(uint32_t src, uint32_t dst, uint32_t flow)
{
    Frame frame;
    frame.src = src;
    frame.dst = dst;
    frame.flow = flow;
    frame.hash = Routes::Hash(src, dst, flow);
    return frame;
}

/// @ingroup lossless-tests
/// @brief The paths that flows take are the shortest paths, all of them, also after failures.
class ShortestPathsTest : public TestCase
{
  public:
    ShortestPathsTest()
        : TestCase("on random graphs with failing links flows take every shortest path and no "
                   "other")
    {
    }

  private:
    /// Probability of the rarest path when every switch chooses evenly.
    /// @param paths all paths, of equal length. @return probability.
    static double Rarest(const std::set<Hops>& paths)
    {
        double rarest = 1;
        for (const Hops& path : paths)
        {
            double probability = 1;
            for (std::size_t i = 1; i < path.size(); ++i)
            {
                std::set<uint16_t> choices;
                for (const Hops& other : paths)
                {
                    if (std::equal(path.begin(), path.begin() + i, other.begin()) &&
                        other[i].first == path[i].first)
                    {
                        choices.insert(other[i].second);
                    }
                }
                probability /= static_cast<double>(choices.size());
            }
            rarest = std::min(rarest, probability);
        }
        return rarest;
    }

    /// Compare all pairs of hosts. @param graph the graph. @param name for messages.
    void Compare(const RandomGraph& graph, const std::string& name)
    {
        for (const uint32_t src : graph.hosts)
        {
            for (const uint32_t dst : graph.hosts)
            {
                if (src == dst)
                {
                    continue;
                }
                const auto expected = graph.ShortestPaths(src, dst);
                std::set<Hops> seen;
                // e^-25: the chance that so many flows leave out the rarest path
                const double flows = expected.empty() ? 1 : 25 / Rarest(expected);
                for (uint32_t flow = 0; flow < flows; ++flow)
                {
                    const Hops hops = graph.routes.Trace(src, FrameOf(src, dst, flow));
                    if (!hops.empty())
                    {
                        seen.insert(hops);
                    }
                    NS_TEST_ASSERT_MSG_EQ(hops.empty(),
                                          expected.empty(),
                                          name << ": a way from " << src << " to " << dst
                                               << " is found if there is one");
                }
                NS_TEST_ASSERT_MSG_EQ((seen == expected),
                                      true,
                                      name << ": " << seen.size() << " paths taken from " << src
                                           << " to " << dst << ", shortest paths there are "
                                           << expected.size());
                m_severed += expected.empty();
                m_several += expected.size() > 1;
            }
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(1);
        for (int round = 0; round < Draws(250) && !IsStatusFailure(); ++round)
        {
            RandomGraph graph(random);
            const std::string name = "graph " + std::to_string(round);
            Compare(graph, name);
            const Frame probe = FrameOf(graph.hosts[0], graph.hosts[1], 7);
            const Hops before = graph.routes.Trace(graph.hosts[0], probe);
            std::vector<std::size_t> failed;
            for (int i = 0; i < 3; ++i)
            {
                failed.push_back(random() % graph.links.size());
                graph.SetLink(failed.back(), false);
            }
            Compare(graph, name + " with failed links");
            for (const std::size_t link : failed)
            {
                graph.SetLink(link, true);
            }
            NS_TEST_ASSERT_MSG_EQ((graph.routes.Trace(graph.hosts[0], probe) == before),
                                  true,
                                  name << ": with its links back a flow takes its old path");
        }
        NS_TEST_ASSERT_MSG_GT(m_severed, 100, "pairs of hosts without a path were among them");
        NS_TEST_ASSERT_MSG_GT(m_several, 100, "pairs with several paths were among them");
    }

    std::size_t m_severed{0}; //!< pairs of hosts without a way
    std::size_t m_several{0}; //!< pairs of hosts with several shortest paths
};

/// @ingroup lossless-tests
/// @brief ECMP spreads flows evenly, and each switch anew.
class BalanceTest : public TestCase
{
  public:
    BalanceTest()
        : TestCase("ECMP shares flows evenly among next hops, and independently at every switch")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t width : {2U, 3U, 4U, 7U, 16U})
        {
            // host - leaf - `width` middles - `width` tops - leaf - host, all to all between
            Routes routes;
            std::vector<uint16_t> ports;
            std::mt19937 random(width);
            const auto add = [&](bool isSwitch) {
                routes.AddNode(isSwitch);
                routes.SetSalt(static_cast<uint32_t>(ports.size()),
                               static_cast<uint32_t>(random()));
                ports.push_back(0);
                return static_cast<uint32_t>(ports.size() - 1);
            };
            const auto connect = [&](uint32_t a, uint32_t b) {
                const uint16_t portA = ports[a]++;
                const uint16_t portB = ports[b]++;
                routes.AddLink(a, portA, b, portB);
            };
            const uint32_t src = add(false);
            const uint32_t dst = add(false);
            const uint32_t first = add(true);
            const uint32_t last = add(true);
            connect(src, first);
            connect(dst, last);
            const auto middle = static_cast<uint32_t>(ports.size());
            for (uint32_t i = 0; i < 2 * width; ++i)
            {
                add(true);
            }
            for (uint32_t i = 0; i < width; ++i)
            {
                connect(first, middle + i);
                for (uint32_t j = 0; j < width; ++j)
                {
                    connect(middle + i, middle + width + j);
                }
                connect(middle + width + i, last);
            }
            routes.Compute();
            const double expected = 200;
            std::map<std::pair<uint16_t, uint16_t>, double> taken;
            const auto flows = static_cast<uint32_t>(expected) * width * width;
            for (uint32_t flow = 0; flow < flows; ++flow)
            {
                const Hops hops = routes.Trace(src, FrameOf(src, dst, flow));
                NS_TEST_ASSERT_MSG_EQ(hops.size(), 5, "five links");
                ++taken[{hops[1].second, hops[2].second}];
            }
            // Pearson's statistic over the width^2 pairs of choices: its mean is the number of
            // pairs less one, its deviation sqrt(2 x that). Choices that depend on each other, as
            // when both switches use the same bits, leave most pairs empty and exceed it by far.
            double statistic = 0;
            for (const auto& [pair, count] : taken)
            {
                statistic += (count - expected) * (count - expected) / expected;
            }
            const double cells = width * width;
            statistic += (cells - static_cast<double>(taken.size())) * expected;
            NS_TEST_ASSERT_MSG_LT(statistic,
                                  cells - 1 + 5 * std::sqrt(2 * (cells - 1)),
                                  "flows over " << cells << " pairs of next hops");
        }
    }
};

/// @ingroup lossless-tests
/// @brief Pinned flows follow their paths, in both directions.
class PinTest : public TestCase
{
  public:
    PinTest()
        : TestCase("a pinned flow follows its path, its answers the same path back; a path that "
                   "cannot be is refused")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(3);
        int pinned = 0;
        for (int round = 0; round < 300; ++round)
        {
            RandomGraph graph(random);
            // a random walk, which may pass a switch twice
            const uint32_t src = graph.hosts[0];
            std::vector<uint32_t> nodes{src};
            uint32_t at = graph.routes.GetEdges(src).front().peer;
            for (int step = 0; step < 30 && (nodes.size() < 2 || nodes.back() < graph.switches);
                 ++step)
            {
                nodes.push_back(at);
                const auto& edges = graph.routes.GetEdges(at);
                const auto& edge = edges[random() % edges.size()];
                if (edge.peer == src)
                {
                    nodes.pop_back();
                    continue;
                }
                at = edge.peer;
                if (at >= graph.switches)
                {
                    nodes.push_back(at);
                    break;
                }
            }
            if (nodes.size() < 3 || nodes.back() < graph.switches)
            {
                continue; // it found no host
            }
            ++pinned;
            const uint32_t dst = nodes.back();
            NS_TEST_ASSERT_MSG_EQ(graph.routes.Pin(5, nodes), "", "a path over links that are up");
            for (const bool forward : {true, false})
            {
                Frame frame = forward ? FrameOf(src, dst, 5) : FrameOf(dst, src, 5);
                frame.pinned = true;
                const Hops hops = graph.routes.Trace(frame.src, frame);
                NS_TEST_ASSERT_MSG_EQ(hops.size(), nodes.size() - 1, "as many links as the path");
                for (std::size_t i = 0; i < hops.size(); ++i)
                {
                    const std::size_t place = forward ? i : nodes.size() - 1 - i;
                    const uint32_t next = nodes[forward ? place + 1 : place - 1];
                    NS_TEST_ASSERT_MSG_EQ(hops[i].first, nodes[place], "node " << i);
                    NS_TEST_ASSERT_MSG_EQ(graph.routes.GetEdges(hops[i].first)[hops[i].second].peer,
                                          next,
                                          "leads to the next node, "
                                              << (forward ? "forward" : "back"));
                }
            }
            NS_TEST_ASSERT_MSG_EQ((graph.routes.IsPinned(5) && !graph.routes.IsPinned(6)),
                                  true,
                                  "only flow 5 is");
            // An unpinned frame of the flow takes a shortest path; an unknown flow has none.
            const auto shortest = graph.ShortestPaths(src, dst);
            NS_TEST_ASSERT_MSG_EQ(shortest.count(graph.routes.Trace(src, FrameOf(src, dst, 5))),
                                  1,
                                  "a frame that is not pinned");
            Frame unknown = FrameOf(src, dst, 6);
            unknown.pinned = true;
            NS_TEST_ASSERT_MSG_EQ(graph.routes.Next(nodes[1], unknown),
                                  NO_PORT,
                                  "a pinned frame of a flow without a path");
            // Over a link that is down, or that is not there, nothing can be pinned.
            const uint16_t lastPort = graph.routes.GetEdges(dst).front().port;
            graph.routes.SetLink(dst, lastPort, false);
            const std::string down = graph.routes.Pin(8, nodes);
            NS_TEST_ASSERT_MSG_EQ((down.find("flow 8") != std::string::npos &&
                                   down.find(std::to_string(dst)) != std::string::npos),
                                  true,
                                  "says which flow and where: " << down);
            NS_TEST_ASSERT_MSG_EQ(graph.routes.IsPinned(8), false, "and pins nothing");
            const std::vector<uint32_t> nonsense{src, dst};
            NS_TEST_ASSERT_MSG_NE(graph.routes.Pin(9, nonsense), "", "no link from host to host");
            // To the switch of another host, into that host and on: all links are there.
            graph.routes.SetLink(dst, lastPort, true);
            std::vector<uint32_t> through = nodes;
            through.insert(through.end(), nodes.rbegin() + 1, nodes.rend());
            NS_TEST_ASSERT_MSG_EQ(graph.routes.Pin(10, through),
                                  "path of flow 10: it leads through node " + std::to_string(dst) +
                                      ", which is a host and cannot forward\n",
                                  "a path through a host");
            NS_TEST_ASSERT_MSG_EQ(graph.routes.IsPinned(10), false, "is not pinned");
        }
        NS_TEST_ASSERT_MSG_GT(pinned, 100, "most random walks end at a host");
    }
};

/// @ingroup lossless-tests
/// @brief A host for frames that go astray.
class RouteHost : public TestNode
{
  public:
    RouteHost()
        : TestNode(1000)
    {
    }

    void Receive(Frame* frame, Port& /* ingress */) override
    {
        m_ttl = frame->ttl;
        Take(frame);
    }

    int m_ttl{-1}; //!< of the last frame received; -1: none
};

/// @ingroup lossless-tests
/// @brief Frames without a way, and frames that go round in circles.
class AstrayTest : public TestCase
{
  public:
    AstrayTest()
        : TestCase("a frame without a route or whose time to live runs out is dropped and counted "
                   "by cause")
    {
    }

  private:
    /**
     * @brief Send a frame round a triangle of switches, pinned.
     *
     * @param rounds times around
     * @param ttl its time to live
     * @param decrement whether switches count it down
     * @param fail take the receiver's link down
     * @return what its time to live was on arrival, or the number of drops of the expected cause
     *         less 1000
     */
    int Send(uint32_t rounds, uint8_t ttl, bool decrement, bool fail)
    {
        auto fabric = CreateObject<Fabric>();
        fabric->SetAllowLoss(true);
        fabric->SetAttribute("ns3::lossless::Switch", "DecrementTtl", decrement ? "1" : "0");
        for (const char* name : {"s0", "s1", "s2"})
        {
            fabric->AddSwitch(name);
        }
        auto a = CreateObject<RouteHost>();
        auto b = CreateObject<RouteHost>();
        const uint32_t idA = fabric->AddHost("a", a);
        const uint32_t idB = fabric->AddHost("b", b);
        const auto link = [&](uint32_t x, uint32_t y) {
            return fabric->AddLink(x, y, DataRate(10'000'000'000), MicroSeconds(1));
        };
        link(0, 1);
        link(1, 2);
        link(2, 0);
        link(idA, 0);
        const uint32_t last = link(idB, 2);
        if (fail)
        {
            fabric->FailLink(last, Seconds(0), Seconds(-1));
        }
        fabric->Build();
        std::vector<uint32_t> path{idA};
        for (uint32_t i = 0; i < rounds; ++i)
        {
            path.insert(path.end(), {0, 1, 2});
        }
        path.push_back(idB);
        if (!fail)
        {
            NS_TEST_EXPECT_MSG_EQ(fabric->GetRoutes().Pin(1, path), "", "the path is there");
        }
        Frame* frame = FramePool::Take();
        *frame = FrameOf(idA, idB, 1);
        frame->bytes = 1000;
        frame->cls = 3;
        frame->ttl = ttl;
        frame->pinned = !fail;
        a->Inject(frame);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(fabric->Finish(), "", "frames are conserved");
        const auto cause = fail ? DropCause::NO_ROUTE : DropCause::TTL;
        uint64_t drops = 0;
        uint64_t ofCause = 0;
        int64_t held = 0;
        for (uint32_t node = 0; node < fabric->GetNNodes(); ++node)
        {
            const auto& counters = fabric->GetNode(node).GetCounters();
            drops += counters.dropped;
            ofCause += counters.byCause[static_cast<std::size_t>(cause)];
            held += fabric->GetNode(node).GetBuffer().GetUsed();
        }
        NS_TEST_EXPECT_MSG_EQ(drops, ofCause, "only drops of the cause there is");
        NS_TEST_EXPECT_MSG_EQ(drops + (b->m_ttl >= 0), 1, "it arrives, or is dropped once");
        NS_TEST_EXPECT_MSG_EQ(held, 0, "no buffer holds its bytes");
        NS_TEST_EXPECT_MSG_EQ(FramePool::GetLive(), 0, "and its record is given back");
        const int result = b->m_ttl >= 0 ? b->m_ttl : static_cast<int>(drops) - 1000;
        Simulator::Destroy();
        fabric->Dispose();
        return result;
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Send(1, 64, true, false), 61, "three switches");
        NS_TEST_ASSERT_MSG_EQ(Send(5, 16, true, false), 1, "fifteen switches");
        NS_TEST_ASSERT_MSG_EQ(Send(5, 15, true, false), -999, "the fifteenth switch drops it");
        NS_TEST_ASSERT_MSG_EQ(Send(5, 1, true, false), -999, "the first switch drops it");
        NS_TEST_ASSERT_MSG_EQ(Send(80, 64, false, false), 64, "240 switches that do not count");
        NS_TEST_ASSERT_MSG_EQ(Send(1, 64, true, true), -999, "the receiver's link is down");
    }
};

/// @ingroup lossless-tests
/// @brief Two switches with several links: each is a port of its own.
class ParallelTest : public TestCase
{
  public:
    ParallelTest()
        : TestCase("parallel links have names, equal shares, failures and paths of their own")
    {
    }

  private:
    /// Count by which of the links of s0 to s1 flows leave.
    /// @param flows how many flows. @return by port of s0.
    std::map<uint16_t, int> Shares(uint32_t flows) const
    {
        std::map<uint16_t, int> shares;
        for (uint32_t flow = 0; flow < flows; ++flow)
        {
            ++shares[m_fabric->GetRoutes()
                         .Trace(m_hosts[0], FrameOf(m_hosts[0], m_hosts[1], flow))[1]
                         .second];
        }
        return shares;
    }

    /// Note the shares during the run.
    void Note()
    {
        m_noted.push_back(Shares(300));
    }

    void DoRun() override
    {
        constexpr int FLOWS = 3000;
        m_fabric = CreateObject<Fabric>();
        for (const char* name : {"s0", "s1"})
        {
            m_fabric->AddSwitch(name);
        }
        for (const char* name : {"h0", "h1"})
        {
            m_hosts.push_back(m_fabric->AddHost(name, CreateObject<TestNode>()));
        }
        const auto link = [this](uint32_t a, uint32_t b) {
            return m_fabric->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1));
        };
        link(0, m_hosts[0]);
        const uint32_t first = link(0, 1);
        link(1, m_hosts[1]);
        const uint32_t second = link(1, 0); // its first node is s1
        link(0, 1);
        m_fabric->FailLink(second, MicroSeconds(10), MicroSeconds(20));
        // frames for h1 leave by the first link for a while
        m_fabric->DivertRoute(0, m_hosts[1], 4 + 2 * first + 1, MicroSeconds(30), MicroSeconds(40));
        m_fabric->Build();

        NS_TEST_ASSERT_MSG_EQ(m_fabric->GetPortName(0, 0), "s0:h0", "a single link has no number");
        NS_TEST_ASSERT_MSG_EQ(m_fabric->GetPortName(0, 1), "s0:s1#1", "the first");
        NS_TEST_ASSERT_MSG_EQ(m_fabric->GetPortName(0, 2), "s0:s1#2", "the second");
        NS_TEST_ASSERT_MSG_EQ(m_fabric->GetPortName(1, 2), "s1:s0#2", "from its other end");
        NS_TEST_ASSERT_MSG_EQ(m_fabric->GetNode(0).GetPort(0).GetNeighbour(), 2, "a node");
        NS_TEST_ASSERT_MSG_EQ(m_fabric->GetNode(0).GetPort(2).GetNeighbour(),
                              4 + 2 * second,
                              "s1 is the first node of its second link");
        for (uint16_t port = 0; port < 4; ++port)
        {
            Port& one = m_fabric->GetNode(0).GetPort(port);
            NS_TEST_ASSERT_MSG_EQ(m_fabric->FindPort(0, one.GetNeighbour()),
                                  &one,
                                  "found by the number that names it");
        }
        NS_TEST_ASSERT_MSG_EQ(m_fabric->FindPort(1, 4 + 2 * second),
                              nullptr,
                              "an end is named from the other one only");

        const auto shares = Shares(FLOWS);
        NS_TEST_ASSERT_MSG_EQ(shares.size(), 3, "the hash uses all links");
        for (const auto& [port, count] : shares)
        {
            // binomial: mean n/3, five deviations of sqrt(2n/9)
            NS_TEST_ASSERT_MSG_EQ_TOL(count, FLOWS / 3, 5 * std::sqrt(2.0 * FLOWS / 9), "share");
        }
        for (const uint16_t port : {1, 2, 3})
        {
            Routes& routes = m_fabric->GetRoutes();
            const uint32_t end = m_fabric->GetNode(0).GetPort(port).GetNeighbour();
            NS_TEST_ASSERT_MSG_EQ(routes.Pin(7, {m_hosts[0], 0, end, m_hosts[1]}), "", "a path");
            Frame frame = FrameOf(m_hosts[0], m_hosts[1], 7);
            frame.pinned = true;
            NS_TEST_ASSERT_MSG_EQ(routes.Next(0, frame), port, "over the link that it names");
            std::swap(frame.src, frame.dst);
            NS_TEST_ASSERT_MSG_EQ(routes.Next(1, frame),
                                  m_fabric->GetNode(0).GetPort(port).GetPeer().GetIndex(),
                                  "answers come back over the same");
        }
        for (const int64_t time : {5, 15, 25, 35, 45})
        {
            Simulator::Schedule(MicroSeconds(time), &ParallelTest::Note, this);
        }
        Simulator::Run();
        const std::vector<std::size_t> links{3, 2, 3, 1, 3};
        for (std::size_t i = 0; i < links.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(m_noted[i].size(), links[i], "links in use, part " << i);
        }
        NS_TEST_ASSERT_MSG_EQ(m_noted[1].contains(2), false, "not the one that failed");
        NS_TEST_ASSERT_MSG_EQ(m_noted[3].contains(1), true, "the one of the diversion");
        Simulator::Destroy();
        m_fabric->Dispose();
    }

    Ptr<Fabric> m_fabric;                         //!< the network
    std::vector<uint32_t> m_hosts;                //!< h0 and h1
    std::vector<std::map<uint16_t, int>> m_noted; //!< shares, in time
};

/// @ingroup lossless-tests
/// @brief Routes that change during a run: diverted ones, and switches that learn late of a link.
class ChangeTest : public TestCase
{
  public:
    ChangeTest()
        : TestCase("a switch forwards by its routes, and learns of a link after its delay")
    {
    }

  private:
    /// Where a switch sends what goes to the host of s3.
    /// @param node the switch. @return the neighbour.
    uint32_t Next(uint32_t node) const
    {
        Frame frame;
        frame.dst = m_host;
        const uint16_t port = m_fabric->GetRoutes().Next(node, frame);
        return port == NO_PORT ? NO_NODE : m_fabric->GetNode(node).GetPort(port).GetPeerId();
    }

    /// Note where all go.
    void Note()
    {
        m_noted[NowPs() / 1'000'000] = {Next(0), Next(1), Next(2)};
    }

    void DoRun() override
    {
        // a square s0 s1 s3 s2 with a host on each
        m_fabric = CreateObject<Fabric>();
        for (const char* name : {"s0", "s1", "s2", "s3"})
        {
            m_fabric->AddSwitch(name);
        }
        m_host = m_fabric->AddHost("h", CreateObject<TestNode>());
        uint32_t toS3 = 0;
        for (const auto& [a, b] :
             {std::pair<uint32_t, uint32_t>{0, 1}, {0, 2}, {2, 3}, {m_host, 3}})
        {
            m_fabric->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1));
        }
        toS3 = m_fabric->AddLink(1, 3, DataRate("10Gbps"), MicroSeconds(1));
        m_fabric->SetNodeAttribute(1, "ns3::lossless::Switch", "RouteDelay", "3us");
        m_fabric->FailLink(toS3, MicroSeconds(10), MicroSeconds(20));
        m_fabric->DivertRoute(2, m_host, 0, MicroSeconds(30), MicroSeconds(40));
        m_fabric->DivertRoute(0, m_host, 1, MicroSeconds(5), MicroSeconds(8));
        m_fabric->Build();
        for (const int64_t time : {1, 6, 9, 11, 12, 14, 21, 22, 24, 31, 41})
        {
            Simulator::Schedule(MicroSeconds(time), &ChangeTest::Note, this);
        }
        Simulator::Run();
        const auto check = [this](int64_t time, uint32_t s1, uint32_t s2, const char* what) {
            NS_TEST_ASSERT_MSG_EQ(m_noted[time][1], s1, what << ", s1 at " << time << " us");
            NS_TEST_ASSERT_MSG_EQ(m_noted[time][2], s2, what << ", s2 at " << time << " us");
        };
        check(1, 3, 3, "shortest");
        NS_TEST_ASSERT_MSG_EQ(m_noted[6][0], 1, "diverted");
        check(11, 3, 3, "s1 does not know yet that its link is down");
        NS_TEST_ASSERT_MSG_EQ(m_noted[11][0], 2, "s0 does");
        check(12, 3, 3, "nor now");
        check(14, 0, 3, "now it does");
        check(21, 0, 3, "nor that it is up again");
        check(24, 3, 3, "now it does");
        check(31, 3, 0, "s2 is diverted");
        check(41, 3, 3, "and back");
        Simulator::Destroy();
        m_fabric->Dispose();
    }

    static constexpr uint32_t NO_NODE = UINT32_MAX; //!< nowhere

    Ptr<Fabric> m_fabric;                               //!< the network
    uint32_t m_host{0};                                 //!< the destination
    std::map<int64_t, std::array<uint32_t, 3>> m_noted; //!< next node of s0, s1, s2 by time (us)
};

/// @ingroup lossless-tests
/// @brief The tree along which frames for all go, against union-find.
class TreeTest : public TestCase
{
  public:
    TreeTest()
        : TestCase("the tree joins whatever the links that are up join, and has no loop")
    {
    }

  private:
    /// The set a node is in.
    /// @param parent of each node. @param node it. @return its representative.
    static uint32_t Find(const std::vector<uint32_t>& parent, uint32_t node)
    {
        while (parent[node] != node)
        {
            node = parent[node];
        }
        return node;
    }

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (int trial = 0; trial < 500; ++trial)
        {
            RandomGraph graph(random);
            for (std::size_t link = 0; link < graph.links.size(); ++link)
            {
                if (random() % 5 == 0)
                {
                    graph.SetLink(link, false);
                }
            }
            std::vector<uint32_t> all(graph.ports.size());
            std::iota(all.begin(), all.end(), 0);
            std::vector<uint32_t> tree = all;
            for (const RandomGraph::Link& link : graph.links)
            {
                const auto has = [&graph](uint32_t node, uint16_t port) {
                    const auto& ports = graph.routes.GetTree(node);
                    return std::count(ports.begin(), ports.end(), port);
                };
                NS_TEST_ASSERT_MSG_EQ(has(link.a, link.portA),
                                      has(link.b, link.portB),
                                      "both ends know, trial " << trial);
                if (link.up)
                {
                    all[Find(all, link.a)] = Find(all, link.b);
                }
                if (has(link.a, link.portA))
                {
                    NS_TEST_ASSERT_MSG_EQ(link.up, true, "only links that are up");
                    NS_TEST_ASSERT_MSG_NE(Find(tree, link.a), Find(tree, link.b), "no loop");
                    tree[Find(tree, link.a)] = Find(tree, link.b);
                }
            }
            for (uint32_t a = 0; a < all.size(); ++a)
            {
                for (uint32_t b = 0; b < a; ++b)
                {
                    NS_TEST_ASSERT_MSG_EQ((Find(tree, a) == Find(tree, b)),
                                          (Find(all, a) == Find(all, b)),
                                          "joined, trial " << trial);
                }
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief Detours, against the distances of loop-free alternates (RFC 5286, inequality 1).
class DetourTest : public TestCase
{
  public:
    DetourTest()
        : TestCase("a detour leads to the destination and not back, with and without failed links")
    {
    }

  private:
    /// A square with a leaf, by hand.
    void CheckSquare()
    {
        // 0 to 1 and 3, both to 2, where host 5 is; 4 hangs on 0 alone; host 6 is on 0
        Routes routes;
        for (uint32_t node = 0; node < 7; ++node)
        {
            routes.AddNode(node < 5);
        }
        routes.AddLink(0, 0, 1, 0);
        routes.AddLink(0, 1, 3, 0);
        routes.AddLink(0, 2, 4, 0);
        routes.AddLink(1, 1, 2, 0);
        routes.AddLink(3, 1, 2, 1);
        routes.AddLink(2, 2, 5, 0);
        routes.AddLink(0, 3, 6, 0);
        routes.Compute();
        using Ports = std::vector<uint16_t>;
        const auto detours = [&routes](uint32_t node, uint32_t dst) {
            return routes.FindDetours(node, FrameOf(6, dst, 1));
        };
        NS_TEST_ASSERT_MSG_EQ((detours(0, 5) == Ports{0, 1}), true, "both ways, not the leaf");
        NS_TEST_ASSERT_MSG_EQ((detours(0, 6) == Ports{3}), true, "the host's own link");
        NS_TEST_ASSERT_MSG_EQ((detours(4, 5) == Ports{0}), true, "the only way");
        NS_TEST_ASSERT_MSG_EQ((detours(2, 6) == Ports{0, 1}), true, "from the other side");
        NS_TEST_ASSERT_MSG_EQ(detours(0, ALL_NODES).empty(), true, "what is for all has a tree");
        routes.SetLink(1, 1, false);
        routes.Compute();
        NS_TEST_ASSERT_MSG_EQ((detours(0, 5) == Ports{1}), true, "1 would send it back");
        NS_TEST_ASSERT_MSG_EQ((detours(1, 5) == Ports{0}), true, "its link is down");
        routes.Divert(3, 5, routes.FindEdge(3, 0)->port);
        NS_TEST_ASSERT_MSG_EQ(detours(0, 5).empty(), true, "3 sends it back, too");
    }

    void DoRun() override
    {
        CheckSquare();
        std::mt19937_64 random(31);
        int certain = 0;
        int excluded = 0;
        for (int round = 0; round < 300; ++round)
        {
            RandomGraph graph(random);
            for (uint64_t failed = random() % 3; failed > 0 && !graph.links.empty(); --failed)
            {
                graph.SetLink(random() % graph.links.size(), false);
            }
            const uint32_t dst = graph.hosts[random() % graph.hosts.size()];
            const auto node = static_cast<uint32_t>(random() % graph.switches);
            const auto found = graph.routes.FindDetours(node, FrameOf(graph.hosts.front(), dst, 7));
            for (const auto link : graph.links)
            {
                if (link.a != node && link.b != node)
                {
                    continue;
                }
                const uint32_t neighbour = link.a == node ? link.b : link.a;
                const uint16_t port = link.a == node ? link.portA : link.portB;
                const bool has = std::find(found.begin(), found.end(), port) != found.end();
                const std::size_t away = graph.Away(neighbour, dst);
                auto cut = graph.links;
                std::swap(cut, graph.links);
                for (auto& other : graph.links)
                {
                    other.up = other.up && other.a != node && other.b != node;
                }
                const std::size_t without = graph.Away(neighbour, dst);
                std::swap(cut, graph.links);
                if (!link.up || without > away || without >= 1000)
                {
                    NS_TEST_ASSERT_MSG_EQ(has, false, "it comes back or nowhere, round " << round);
                    ++excluded;
                }
                else if (away <= graph.Away(node, dst))
                {
                    NS_TEST_ASSERT_MSG_EQ(has, true, "loop-free, round " << round);
                    ++certain;
                }
            }
        }
        NS_TEST_ASSERT_MSG_GT(certain, 100, "many are detours");
        NS_TEST_ASSERT_MSG_GT(excluded, 100, "many are not");
    }
};

/// @ingroup lossless-tests
/// @brief Tests of Routes.
class RoutesTestSuite : public TestSuite
{
  public:
    RoutesTestSuite()
        : TestSuite("lossless-routes", Type::UNIT)
    {
        AddTestCase(new ShortestPathsTest, TestCase::Duration::QUICK);
        AddTestCase(new TreeTest, TestCase::Duration::QUICK);
        AddTestCase(new BalanceTest, TestCase::Duration::QUICK);
        AddTestCase(new PinTest, TestCase::Duration::QUICK);
        AddTestCase(new AstrayTest, TestCase::Duration::QUICK);
        AddTestCase(new ParallelTest, TestCase::Duration::QUICK);
        AddTestCase(new ChangeTest, TestCase::Duration::QUICK);
        AddTestCase(new DetourTest, TestCase::Duration::QUICK);
    }
};

static RoutesTestSuite g_routesTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
