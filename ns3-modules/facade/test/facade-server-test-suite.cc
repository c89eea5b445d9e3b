/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/rdma-scale-up.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <limits>

/**
 * @file
 * @ingroup facade-tests
 * Servers of several hosts: what goes over their scale-up domains, and what moves when a link
 * fails. All times are computed by hand.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

namespace
{

// A domain whose rate makes times round: 1 B is 26.67 ps.
constexpr uint64_t DOMAIN_RATE = 300 * GBPS; //!< bit/s
constexpr int64_t DOMAIN_DELAY = 500'000;    //!< ps
constexpr int64_t ONE_BYTE = 27;             //!< ps of 1 B on a link of the domain
constexpr int64_t SMALL = 2'667;             //!< ps of 100 B
constexpr int64_t LARGE = 26'667;            //!< ps of 1,000 B

/// When n full packets that follow each other, the first from time 0 on, have come through a
/// switch.
/// @param n how many. @return ps.
constexpr int64_t
ThroughSwitch(int64_t n)
{
    return (n + 1) * FULL + 2 * US;
}

/// When an answer has come through a switch (ps).
constexpr int64_t ANSWER_THROUGH_SWITCH = 2 * ANSWER + 2 * US;

/// Make hosts a server.
/// @param net their network, not yet built. @param hosts their numbers. @param rate of the scale-up
/// domain (bit/s); 0: none. @param failover flows move when a link fails.
void
Join(Network& net, const std::vector<uint32_t>& hosts, uint64_t rate, bool failover)
{
    net.sim.AddServer(hosts.data(),
                      static_cast<uint32_t>(hosts.size()),
                      rate,
                      DOMAIN_DELAY,
                      failover);
}

/// Two servers of two hosts, h0 and h1, h2 and h3, each with a scale-up domain; all four at a
/// switch.
/// @param net where. @param failover flows move when a link fails.
void
TwoServers(Network& net, bool failover = false)
{
    net.Set("Port", "Overhead", 0);
    net.sim.SetAllowLoss(true);
    net.Star(4, 100 * GBPS, US);
    Join(net, {0, 1}, DOMAIN_RATE, failover);
    Join(net, {2, 3}, DOMAIN_RATE, failover);
}

/// Let a flow leave by another host of its server.
/// @param net its network, not yet built. @param flow its number. @param out the host. @param in
/// its destination.
void
LeaveBy(Network& net, uint32_t flow, uint32_t out, uint32_t in)
{
    net.sim.SetNics(&flow, &out, &in, 1);
}

} // namespace

/// @ingroup facade-tests
/// @brief A scale-up domain by itself, and when its messages have arrived.
class ScaleUpQueueTest : public TestCase
{
  public:
    ScaleUpQueueTest()
        : TestCase("messages over a scale-up domain take its delay and their own length, and "
                   "follow each other on the links that they share")
    {
    }

  private:
    /// A message, in the order of the starts.
    struct Message
    {
        int64_t start;    //!< ps
        uint32_t from;    //!< host
        uint32_t to;      //!< host
        uint64_t bytes;   //!< size
        int64_t expected; //!< when it has arrived (ps)
    };

    /// Carry messages over a domain of their own, and look when they arrive.
    /// @param what for the report. @param messages which. @param order their numbers as they
    /// arrive.
    void CheckArrivals(const std::string& what,
                       const std::vector<Message>& messages,
                       const std::vector<std::size_t>& order)
    {
        Network net; // only its clock is used
        net.Star(2, 100 * GBPS, US);
        net.sim.Build();
        rdma::ScaleUp domain(DOMAIN_RATE, DOMAIN_DELAY);
        std::vector<int64_t> arrived(messages.size(), -1);
        std::vector<std::size_t> seen;
        for (std::size_t i = 0; i < messages.size(); ++i)
        {
            const Message& message = messages[i];
            const Callback<void> done([&arrived, &seen, i] {
                arrived[i] = lossless::NowPs();
                seen.push_back(i);
            });
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(message.start)), [&, done] {
                domain.Carry(message.from, message.to, message.bytes, done);
            });
        }
        net.sim.Run(1'000 * US);
        for (std::size_t i = 0; i < messages.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(arrived[i], messages[i].expected, what << ", message " << i);
        }
        NS_TEST_EXPECT_MSG_EQ((seen == order), true, what << ": order of the arrivals");
    }

    void DoRun() override
    {
        const rdma::ScaleUp domain(DOMAIN_RATE, DOMAIN_DELAY);
        NS_TEST_EXPECT_MSG_EQ(domain.GetTime(0), 500'000, "nothing takes the delay");
        NS_TEST_EXPECT_MSG_EQ(domain.GetTime(1), 500'027, "26.67 ps round up");
        NS_TEST_EXPECT_MSG_EQ(domain.GetTime(2), 500'053, "53.33 ps round down");
        NS_TEST_EXPECT_MSG_EQ(domain.GetTime(3), 500'080, "a whole number stays");
        NS_TEST_EXPECT_MSG_EQ(domain.GetTime(1'000'000'000'000),
                              26'666'666'666'667 + DOMAIN_DELAY,
                              "1 TB, whose bits in picoseconds have no room in 64 bits");
        NS_TEST_EXPECT_MSG_EQ(domain.GetTime(std::numeric_limits<uint64_t>::max()),
                              lossless::NEVER,
                              "what outlasts all time does not wrap");

        const int64_t alone = DOMAIN_DELAY + LARGE;
        CheckArrivals("alone", {{7, 0, 1, 1'000, 7 + alone}}, {0});
        CheckArrivals("smallest", {{7, 0, 1, 1, 7 + DOMAIN_DELAY + ONE_BYTE}}, {0});
        CheckArrivals("empty", {{7, 0, 1, 0, 7 + DOMAIN_DELAY}}, {0});
        CheckArrivals("both ways", {{0, 0, 1, 1'000, alone}, {0, 1, 0, 1'000, alone}}, {0, 1});
        CheckArrivals("other pairs", {{0, 0, 1, 1'000, alone}, {0, 2, 3, 1'000, alone}}, {0, 1});
        CheckArrivals("one outward link",
                      {{0, 0, 1, 1'000, alone}, {0, 0, 2, 100, alone + SMALL}},
                      {0, 1});
        CheckArrivals("one inward link",
                      {{0, 0, 2, 1'000, alone}, {0, 1, 2, 100, alone + SMALL}},
                      {0, 1});
        // The first bits come one after the other already.
        CheckArrivals("both links",
                      {{0, 0, 1, 1'000, alone}, {0, 0, 1, 100, alone + SMALL}},
                      {0, 1});
        CheckArrivals("an empty one behind another",
                      {{0, 0, 1, 1'000, alone}, {0, 0, 1, 0, alone}},
                      {0, 1});
        // Where its inward link is busy a message waits between the links: the third leaves as soon
        // as the second has left, and is there before it.
        CheckArrivals("waiting in between",
                      {{0, 0, 2, 1'000, alone},
                       {10'000, 1, 2, 100, alone + SMALL},
                       {10'000, 1, 3, 100, 10'000 + DOMAIN_DELAY + 2 * SMALL}},
                      {2, 0, 1});
        // Inward the first bit counts, not the start: the second leaves only when the first has.
        CheckArrivals("first bits, not starts",
                      {{0, 0, 1, 1'000, alone},
                       {0, 0, 2, 1'000, 10'000 + alone + LARGE},
                       {10'000, 1, 2, 1'000, 10'000 + alone}},
                      {0, 2, 1});
        CheckArrivals("free again",
                      {{0, 0, 1, 1'000, alone}, {LARGE, 0, 1, 1, alone + ONE_BYTE}},
                      {0, 1});
        CheckArrivals("idle since long",
                      {{0, 0, 1, 1'000, alone}, {10 * US, 0, 1, 1'000, 10 * US + alone}},
                      {0, 1});
    }
};

/// @ingroup facade-tests
/// @brief Flows of a server over its domain: the whole way, or to the host by which they leave.
class RailRelayTest : public TestCase
{
  public:
    RailRelayTest()
        : TestCase("flows within a server stay off the network, and one that leaves by another "
                   "host is sent there as soon as it is there as a whole")
    {
    }

  private:
    void DoRun() override
    {
        CheckInside();
        CheckRelayed();
    }

    /// Flows that stay in their servers.
    void CheckInside()
    {
        Network net;
        TwoServers(net);
        net.sim.SetStopWhenDone(true);
        net.Flow(0, 1, 1);
        net.Flow(0, 1, 1'000);
        net.Flow(3, 2, 1'000'000, US);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "possible");
        NS_TEST_EXPECT_MSG_EQ(net.sim.Run(1'000 * US), false, "all are done");
        NS_TEST_EXPECT_MSG_EQ(net.sim.Now(), 28'166'667, "when the last one is");
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "conserved");
        const std::vector<int64_t> inside{DOMAIN_DELAY + ONE_BYTE,
                                          DOMAIN_DELAY + ONE_BYTE + LARGE,
                                          US + DOMAIN_DELAY + 26'666'667};
        const std::vector<int64_t> ideal{500'027, 526'667, 27'166'667};
        NS_TEST_EXPECT_MSG_EQ((net.Column("flow", "finish_ps") == inside), true, "received");
        NS_TEST_EXPECT_MSG_EQ((net.Column("flow", "acked_ps") == inside), true, "and known");
        NS_TEST_EXPECT_MSG_EQ((net.Column("flow", "ideal_ps") == ideal), true, "alone");
        NS_TEST_EXPECT_MSG_EQ(net.Number("delivered_bytes"), 1'001'001, "every byte");
        NS_TEST_EXPECT_MSG_EQ(net.Number("data_hops"), 0, "none on the network");
    }

    /// A message that leaves by h1 goes over the domain as a whole, then in three packets; the link
    /// of h0, which is slower by far, has no part in it.
    void CheckRelayed()
    {
        Network rail;
        rail.Set("Port", "Overhead", 0);
        rail.Nodes(4, 1);
        for (uint32_t host = 0; host < 4; ++host)
        {
            rail.Link(host, 4, host == 0 ? GBPS : 100 * GBPS, US);
        }
        Join(rail, {0, 1}, DOMAIN_RATE, false);
        Join(rail, {2, 3}, DOMAIN_RATE, false);
        const uint32_t relayed = rail.Flow(0, 3, 3'000);
        LeaveBy(rail, relayed, 1, 3);
        // This one must wait for the outward link of h0, and then shares no link with the first.
        rail.Flow(0, 1, 1'000);
        // And this one goes from h1 meanwhile, as if there were no other.
        rail.Flow(1, 2, 1'000);
        rail.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(rail.sim.Check(), "", "possible");
        rail.sim.Run(1'000 * US);
        NS_TEST_EXPECT_MSG_EQ(rail.sim.Finish(), "", "conserved");
        const int64_t there = DOMAIN_DELAY + 80'000; // 3,000 B
        const std::vector<int64_t> finish{there + ThroughSwitch(3),
                                          there + LARGE,
                                          ThroughSwitch(1)};
        NS_TEST_EXPECT_MSG_EQ((rail.Column("flow", "finish_ps") == finish), true, "received");
        NS_TEST_EXPECT_MSG_EQ(rail.Column("flow", "ideal_ps")[relayed], finish[0], "alone");
        NS_TEST_EXPECT_MSG_EQ(rail.Column("flow", "acked_ps")[relayed],
                              finish[0] + ANSWER_THROUGH_SWITCH,
                              "the ACK ends at the relay");
    }
};

/// @ingroup facade-tests
/// @brief Flows of a host whose link fails.
class HostFailoverTest : public TestCase
{
  public:
    HostFailoverTest()
        : TestCase("when the link of a host fails, its flows move to other hosts of the server, "
                   "and what was lost is repeated, at the computed times")
    {
    }

  private:
    static constexpr int64_t DOWN = 500'000;       //!< the link fails, with packet 5 in it (ps)
    static constexpr int64_t LOST = 6;             //!< packets sent by then; none has arrived
    static constexpr int64_t TIMEOUT = 1'000 * US; //!< of a silence (ps)

    /// When the last of ten packets has come, the first six of which are lost: a NACK of the
    /// seventh makes the sender begin again, with all others sent by then.
    /// @param seventh when it is sent (ps) @return ps.
    static constexpr int64_t Repaired(int64_t seventh)
    {
        return seventh + ThroughSwitch(1) + ANSWER_THROUGH_SWITCH + ThroughSwitch(10);
    }

    /// Five hosts at a switch, some of them a server, and flows of ten packets.
    /// @param net where. @param server the hosts of the server; empty: none. @param retransmit
    /// Retransmit.
    void Prepare(Network& net,
                 const std::vector<uint32_t>& server,
                 const std::string& retransmit = "GoBackN")
    {
        net.Set("Port", "Overhead", 0);
        net.Set("QueuePair", "Retransmit", retransmit);
        net.Set("QueuePair", "Timeout", std::to_string(TIMEOUT) + "ps");
        net.sim.SetAllowLoss(true);
        net.sim.SetStopWhenDone(true);
        net.Star(5, 100 * GBPS, US);
        Join(net, server, 0, true);
    }

    /// Run to the end.
    /// @param net prepared. @param what for the report. @param finish when each flow should be
    /// received whole (ps); -1: never. @param repeated payload that should be repeated (B).
    void CheckRun(Network& net,
                  const std::string& what,
                  const std::vector<int64_t>& finish,
                  double repeated)
    {
        net.sim.Build();
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", what << ": possible");
        net.sim.Run(10 * TIMEOUT);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", what << ": frames are conserved");
        const auto found = net.Column("flow", "finish_ps");
        NS_TEST_ASSERT_MSG_EQ(found.size(), finish.size(), what << ": flows");
        for (std::size_t flow = 0; flow < finish.size(); ++flow)
        {
            NS_TEST_EXPECT_MSG_EQ(found[flow], finish[flow], what << ": flow " << flow);
        }
        NS_TEST_EXPECT_MSG_EQ(net.Number("retransmitted_bytes"), repeated, what << ": repeated");
        NS_TEST_EXPECT_MSG_EQ(net.Number("timeouts"), 0, what << ": no silence");
    }

    void DoRun() override
    {
        {
            Network net;
            Prepare(net, {0, 1});
            net.sim.FailLink(0, DOWN, -1);
            net.Flow(0, 2, 10'000, 0, DATA_CLASS);
            CheckRun(net, "source", {Repaired(DOWN)}, 10'000);
        }
        {
            Network net;
            Prepare(net, {0, 1});
            net.sim.FailLink(0, DOWN, -1);
            net.Flow(2, 0, 10'000, 0, DATA_CLASS);
            CheckRun(net, "destination", {Repaired(LOST * FULL)}, 10'000);
        }
        {
            // Without repeats the receiver waits for ever, although all others come.
            Network net;
            Prepare(net, {0, 1}, "None");
            net.sim.FailLink(0, DOWN, -1);
            net.Flow(0, 2, 10'000, 0, DATA_CLASS);
            CheckRun(net, "nothing is repeated", {-1}, 0);
        }
        {
            // Each flow has half of the six packets; then flow 0 goes by h1, flow 1 by h2, each on
            // a separate line.
            Network net;
            Prepare(net, {0, 1, 2});
            net.sim.FailLink(0, DOWN, -1);
            net.Flow(0, 3, 10'000, 0, DATA_CLASS);
            net.Flow(0, 4, 10'000, 0, DATA_CLASS);
            CheckRun(net, "two flows", {Repaired(DOWN), Repaired(DOWN)}, 20'000);
        }
        {
            // No link is up until that of h1 is.
            Network net;
            Prepare(net, {0, 1});
            net.sim.FailLink(1, DOWN / 2, 2 * US);
            net.sim.FailLink(0, DOWN, -1);
            net.Flow(0, 2, 10'000, 0, DATA_CLASS);
            CheckRun(net, "no link", {Repaired(2 * US)}, 10'000);
        }
        {
            // A flow that begins in between leaves by h1 at once.
            Network net;
            Prepare(net, {0, 1});
            net.sim.FailLink(0, DOWN, -1);
            net.Flow(0, 2, 10'000, US, DATA_CLASS);
            CheckRun(net, "begins later", {US + ThroughSwitch(10)}, 0);
        }
        {
            // And it stays with h1 when the link is back: it shares the line with a flow of h1.
            // Flow 0 is alone for the first two of its turns, so that its last packet is the 18th.
            Network net;
            Prepare(net, {0, 1});
            net.sim.FailLink(0, DOWN, 2 * US);
            net.Flow(0, 2, 10'000, 5 * US, DATA_CLASS);
            net.Flow(1, 3, 10'000, 5 * US, DATA_CLASS);
            CheckRun(net, "stays", {5 * US + ThroughSwitch(18), 5 * US + ThroughSwitch(20)}, 0);
        }
        CheckRelay();
    }

    /// The relay of a message loses its link while the message is on its way there.
    void CheckRelay()
    {
        for (const bool failover : {false, true})
        {
            Network net;
            TwoServers(net, failover);
            net.sim.SetStopWhenDone(true);
            net.sim.FailLink(1, DOWN, 20 * US);
            const uint32_t flow = net.Flow(0, 3, 1'000);
            LeaveBy(net, flow, 1, 3);
            const int64_t ready = failover ? DOMAIN_DELAY + LARGE : 20 * US;
            CheckRun(net,
                     failover ? "relay" : "relay without failover",
                     {ready + ThroughSwitch(1)},
                     0);
        }
    }
};

/// @ingroup facade-tests
/// @brief Hosts with several links.
class SeveralLinksTest : public TestCase
{
  public:
    SeveralLinksTest()
        : TestCase("a host with several links sends by the chosen one and, when it fails, by the "
                   "one from which the other end is nearest, at the computed times")
    {
    }

  private:
    static constexpr int64_t DOWN = 500'000; //!< a link fails, six packets sent (ps)

    /// Two hosts, each with a link to each of two switches: h0 and its port h2, h1 and h3.
    /// @param net where. @param joined the switches have a link to each other.
    static void TwoPlanes(Network& net, bool joined)
    {
        net.Set("Port", "Overhead", 0);
        net.Set("QueuePair", "Retransmit", "GoBackN");
        net.sim.SetAllowLoss(true);
        net.sim.SetStopWhenDone(true);
        net.Nodes(4, 2);
        net.Link(0, 4, 100 * GBPS, US);
        net.Link(1, 4, 100 * GBPS, US);
        net.Link(2, 5, 100 * GBPS, US);
        net.Link(3, 5, 100 * GBPS, US);
        if (joined)
        {
            net.Link(4, 5, 100 * GBPS, US);
        }
        for (const uint32_t host : {0U, 1U})
        {
            const uint32_t ports[] = {host, host + 2};
            net.sim.SetHostPorts(ports, 2);
        }
    }

    /// Run ten packets from h0 to h1, and compare.
    /// @param net prepared. @param what for the report. @param finish when they should be there
    /// (ps) @param second they should leave and arrive by the second links.
    void CheckRun(Network& net, const std::string& what, int64_t finish, bool second)
    {
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", what << ": possible");
        net.sim.Run(1'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", what << ": frames are conserved");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "finish_ps")[0], finish, what << ": received");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "src")[0], 0, what << ": it is a flow of h0");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "dst")[0], 1, what << ": to h1");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "src_link")[0],
                              (second ? 2 : 0),
                              what << ": leaves by");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "dst_link")[0],
                              (second ? 3 : 1),
                              what << ": arrives by");
    }

    void DoRun() override
    {
        // A NACK of the seventh packet, the first one that arrives, makes the sender begin again.
        constexpr int64_t REPAIRED =
            DOWN + ThroughSwitch(1) + ANSWER_THROUGH_SWITCH + ThroughSwitch(10);
        for (const bool joined : {false, true})
        {
            const std::string net = joined ? "joined" : "planes";
            {
                Network own;
                TwoPlanes(own, joined);
                own.Flow(0, 1, 10'000, 0, DATA_CLASS);
                CheckRun(own, net + ", first", ThroughSwitch(10), false);
            }
            {
                Network chosen;
                TwoPlanes(chosen, joined);
                LeaveBy(chosen, chosen.Flow(0, 1, 10'000, 0, DATA_CLASS), 2, 3);
                CheckRun(chosen, net + ", second", ThroughSwitch(10), true);
            }
            // Both ends move to the other switch, also where a longer path would do.
            for (const uint32_t link : {0U, 1U})
            {
                Network failing;
                TwoPlanes(failing, joined);
                failing.sim.FailLink(link, DOWN, -1);
                failing.Flow(0, 1, 10'000, 0, DATA_CLASS);
                CheckRun(failing, net + ", fails", REPAIRED, true);
            }
            {
                // The link that it does not use may fail.
                Network other;
                TwoPlanes(other, joined);
                other.sim.FailLink(2, DOWN, -1);
                other.Flow(0, 1, 10'000, 0, DATA_CLASS);
                CheckRun(other, net + ", other fails", ThroughSwitch(10), false);
            }
        }
        CheckDomain();
    }

    /// Hosts of a server keep to their scale-up domain, whatever links they have.
    void CheckDomain()
    {
        Network net;
        TwoPlanes(net, true);
        Join(net, {0, 1}, DOMAIN_RATE, false);
        net.Flow(0, 1, 1'000);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "possible");
        net.sim.Run(1'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "conserved");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "finish_ps")[0], DOMAIN_DELAY + LARGE, "inside");
        NS_TEST_EXPECT_MSG_EQ(net.Number("data_hops"), 0, "none on the network");
    }
};

/// @ingroup facade-tests
/// @brief Runs that end, and networks that go, while messages are on their way.
class ServerTeardownTest : public TestCase
{
  public:
    ServerTeardownTest()
        : TestCase("a run may end, and its network go, with messages anywhere on their way, and "
                   "the next run is as the first")
    {
    }

  private:
    /// Messages over the domains, to a relay and by the network, and a link that fails.
    /// @param until when the run ends (ps) @param finish ask for results. @return when the flows
    /// were received whole (ps); empty if nobody asked.
    std::vector<int64_t> RunOnce(int64_t until, bool finish)
    {
        Network net;
        net.Set("QueuePair", "Retransmit", "GoBackN");
        TwoServers(net, true);
        net.sim.FailLink(1, 2 * US, 4 * US);
        net.Flow(0, 1, 1'000);
        net.Flow(0, 1, 100);
        net.Flow(2, 3, 1'000, 3 * US);
        LeaveBy(net, net.Flow(0, 3, 3'000, US), 1, 3);
        net.Flow(1, 2, 30'000, 0, DATA_CLASS);
        net.sim.Build();
        net.sim.Run(until);
        if (!finish)
        {
            return {};
        }
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "conserved at " << until << " ps");
        return net.Column("flow", "finish_ps");
    }

    void DoRun() override
    {
        const int64_t end = 100'000 * US;
        const auto whole = RunOnce(end, true);
        NS_TEST_ASSERT_MSG_EQ(whole.size(), 5, "all flows");
        NS_TEST_EXPECT_MSG_EQ(whole[1], DOMAIN_DELAY + LARGE + SMALL, "over the domain");
        for (const int64_t finish : whole)
        {
            NS_TEST_EXPECT_MSG_GT(finish, 0, "all are received");
        }
        // Before the first leaves, between its links, on its way in, at the relay; the link up,
        // down and up again.
        for (const int64_t until : {0LL,
                                    10'000LL,
                                    400'000LL,
                                    510'000LL,
                                    528'000LL,
                                    1'550'000LL,
                                    1'600'000LL,
                                    2'500'000LL,
                                    3'510'000LL,
                                    4'100'000LL})
        {
            RunOnce(until, false);
            const auto cut = RunOnce(until, true);
            NS_TEST_ASSERT_MSG_EQ(cut.size(), whole.size(), "all flows, " << until << " ps");
            for (std::size_t flow = 0; flow < whole.size(); ++flow)
            {
                NS_TEST_EXPECT_MSG_EQ(cut[flow],
                                      (whole[flow] < until ? whole[flow] : -1),
                                      "flow " << flow << " at " << until << " ps");
            }
        }
        NS_TEST_EXPECT_MSG_EQ((RunOnce(end, true) == whole), true, "nothing is left behind");
    }
};

/// @ingroup facade-tests
/// @brief Tests of ScaleUp and Failover.
class ServerTestSuite : public TestSuite
{
  public:
    ServerTestSuite()
        : TestSuite("facade-server", Type::UNIT)
    {
        AddTestCase(new ScaleUpQueueTest, TestCase::Duration::QUICK);
        AddTestCase(new RailRelayTest, TestCase::Duration::QUICK);
        AddTestCase(new HostFailoverTest, TestCase::Duration::QUICK);
        AddTestCase(new SeveralLinksTest, TestCase::Duration::QUICK);
        AddTestCase(new ServerTeardownTest, TestCase::Duration::QUICK);
    }
};

static ServerTestSuite g_serverTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
