/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "facade-test-network.h"

#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <random>

/**
 * @file
 * @ingroup facade-tests
 * What a queue pair sends and when, against arithmetic and a second model, packet by packet.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::tests::Draws;

namespace
{

/// Time of a frame at a rate that must not be exceeded.
/// @param bytes bytes on the wire. @param rate bit/s. @return ps, rounded up.
int64_t
SpacingTime(int64_t bytes, uint64_t rate)
{
    const lossless::Int128 bits = static_cast<lossless::Int128>(bytes) * 8'000'000'000'000LL;
    return static_cast<int64_t>((bits + rate - 1) / rate);
}

/// Two hosts and a switch, 100 Gb/s, 1 us a link, no overhead: a full frame takes 83.84 ns.
struct Pair : Network
{
    Pair()
    {
        Set("Port", "Overhead", 0);
        sim.AddFlowControl("ns3::pfc::Pfc");
        Witness::Install(*this);
        Star(2, 100'000'000'000, 1'000'000);
    }

    /// Build and run. @param until ps. @return problems of the check and of the end; empty: none.
    std::string Run(int64_t until)
    {
        sim.Build();
        std::string problems = sim.Check();
        sim.Run(until);
        return problems + sim.Finish();
    }

    static constexpr int64_t FRAME = 83'840; //!< ps a full frame
};

} // namespace

/// @ingroup facade-tests
/// @brief Completion times on random idle paths.
///
/// The second model is the recursion of store and forward, packet by packet: packet p leaves hop h
/// when it has left hop h - 1 and crossed the link and the switch, and packet p - 1 has left hop h.
class IdlePathTest : public TestCase
{
  public:
    IdlePathTest()
        : TestCase("a message on a random idle path arrives once, in order and at the time of "
                   "store and forward, to the picosecond")
    {
    }

  private:
    /// One random path, and one message on it.
    /// @param seed of everything. @param packets full packets of the message, besides the odd
    /// bytes. @param odd bytes more than full packets, may be negative.
    void RunOnce(uint64_t seed, int64_t packets, int64_t odd)
    {
        std::mt19937_64 random(seed);
        const uint64_t rates[] = {1'000'000'000,
                                  10'000'000'000,
                                  25'000'000'000,
                                  33'333'333'333,
                                  100'000'000'000,
                                  400'000'000'000};
        const int64_t payload = 100 + static_cast<int64_t>(random() % 4000);
        const int64_t header = static_cast<int64_t>(random() % 80);
        const int64_t overhead = random() % 2 ? 20 : 0;
        const int64_t latency = static_cast<int64_t>(random() % 1'000'000);
        const int64_t start = static_cast<int64_t>(random() % 10'000'000);
        const auto switches = static_cast<uint32_t>(1 + random() % 5);
        const int64_t size = std::max<int64_t>(1, packets * payload + odd);
        const uint32_t ackEvery = random() % 2 ? 1 : 1 + random() % 7;
        Network net(seed);
        net.Set("Port", "Overhead", overhead);
        net.Set("Switch", "Latency", std::to_string(latency) + "ps");
        net.Set("QueuePair", "PayloadSize", payload);
        net.Set("QueuePair", "HeaderSize", header);
        net.Set("QueuePair", "AckEvery", ackEvery);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        Witness::Install(net);
        net.Nodes(2, switches);
        std::vector<uint64_t> rate;
        std::vector<int64_t> delay;
        for (uint32_t hop = 0; hop <= switches; ++hop)
        {
            rate.push_back(rates[random() % 6]);
            delay.push_back(static_cast<int64_t>(random() % 3'000'000));
            net.Link(hop == 0 ? 0 : 1 + hop, hop == switches ? 1 : 2 + hop, rate[hop], delay[hop]);
        }
        net.Flow(0, 1, static_cast<uint64_t>(size), start);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "the configuration is possible, seed " << seed);
        net.sim.Run(1'000'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);

        const int64_t n = (size + payload - 1) / payload;
        std::vector<int64_t> left(rate.size(), 0); // when the last packet so far left each hop
        int64_t arrival = 0;
        for (int64_t packet = 0; packet < n; ++packet)
        {
            const int64_t bytes = packet + 1 < n ? payload : size - (n - 1) * payload;
            const int64_t wire = std::max<int64_t>(bytes + header, 64) + overhead;
            arrival = start;
            for (std::size_t hop = 0; hop < rate.size(); ++hop)
            {
                left[hop] = std::max(arrival, left[hop]) + WireTime(wire, rate[hop]);
                arrival = left[hop] + delay[hop] + (hop < switches ? latency : 0);
            }
        }
        const auto what = [&] {
            return std::to_string(size) + " B over " + std::to_string(switches) +
                   " switches, seed " + std::to_string(seed);
        };
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0], arrival, "finish of " << what());
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "ideal_ps")[0],
                              arrival - start,
                              "ideal_ps of " << what());
        for (const char* column : {"delivered_bytes", "sent_bytes", "size_bytes"})
        {
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", column)[0], size, column << " of " << what());
        }
        const Witness::Log& log = Witness::g_logs[0];
        NS_TEST_ASSERT_MSG_EQ(log.received.size(), static_cast<std::size_t>(n), "once: " << what());
        for (int64_t packet = 0; packet < n; ++packet)
        {
            NS_TEST_ASSERT_MSG_EQ(log.received[packet].second, packet, "in order: " << what());
        }
        // every ackEvery-th packet, and the last
        NS_TEST_ASSERT_MSG_EQ(log.acks,
                              static_cast<uint64_t>((n + ackEvery - 1) / ackEvery),
                              "ACKs at one in " << ackEvery << ", " << what());
        for (std::size_t ack = 0; ack < log.acked.size(); ++ack)
        {
            NS_TEST_ASSERT_MSG_EQ(log.acked[ack],
                                  std::min<uint64_t>((ack + 1) * ackEvery, n),
                                  "an ACK confirms what came in order, " << what());
        }
        NS_TEST_ASSERT_MSG_EQ(log.nacks, 0, "no NACK without a loss, " << what());
    }

    void DoRun() override
    {
        uint64_t seed = 0;
        for (int round = 0; round < 40; ++round)
        {
            RunOnce(++seed, 0, 1);
            RunOnce(++seed, 1, -1);
            RunOnce(++seed, 1, 0);
            RunOnce(++seed, 1, 1);
            ++seed;
            RunOnce(seed, 50, static_cast<int64_t>(seed % 100) - 50);
        }
        RunOnce(++seed, 3000, 17);
    }
};

/// @ingroup facade-tests
/// @brief A window bounds the bytes in flight, is used in full, and never stops a flow.
class WindowTest : public TestCase
{
  public:
    WindowTest()
        : TestCase("a window bounds the bytes in flight, is used in full and stops no flow, "
                   "whatever AckEvery is")
    {
    }

  private:
    void DoRun() override
    {
        // Data 2 x 83.84 ns and ACK 2 x 5.12 ns over 4 us of wire: 50.. packets would fill it.
        constexpr int64_t TRIP = 2 * Pair::FRAME + 2 * 5'120 + 4'000'000;
        for (const uint64_t window : {1, 999, 1000, 1001, 1999, 2000, 5000, 5999, 40'000})
        {
            Pair net;
            net.Flow(0, 1, 80'000, 0, 3, 0, window);
            NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", "window " << window);
            const uint64_t packets = std::max<uint64_t>(1, window / 1000);
            NS_TEST_ASSERT_MSG_EQ(Witness::g_logs[0].mostInFlight,
                                  packets,
                                  "packets in flight at a window of " << window << " B");
            const auto rounds = static_cast<int64_t>((80 + packets - 1) / packets);
            const auto inLast = static_cast<int64_t>(80 - (rounds - 1) * packets);
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0],
                                  (rounds - 1) * TRIP + 2'000'000 + (1 + inLast) * Pair::FRAME,
                                  "a window a round trip, " << window << " B");
        }
        {
            Pair net;
            net.Flow(0, 1, 1500, 0, 3, 0, 1500);
            net.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(Witness::g_logs[0].mostInFlight,
                                  2,
                                  "1000 B and 500 B fit a window of 1500 B");
        }
        for (const uint32_t ackEvery : {2, 4, 100})
        {
            for (const uint64_t window : {1000, 3000, 10'000})
            {
                Pair net;
                net.Set("QueuePair", "AckEvery", ackEvery);
                net.Flow(0, 1, 50'000, 0, 3, 0, window);
                NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", "window " << window);
                NS_TEST_ASSERT_MSG_EQ(net.Number("timeouts"),
                                      0,
                                      "a full window of " << window
                                                          << " B is answered though an ACK stands "
                                                             "for "
                                                          << ackEvery << " packets");
                NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "the flow finished");
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief A rate cap spaces packets to the picosecond.
class RateCapTest : public TestCase
{
  public:
    RateCapTest()
        : TestCase("a rate cap spaces packets by wire bytes over rate, rounded up to the "
                   "picosecond; a cap above the line's does nothing")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < 40; ++round)
        {
            const int64_t overhead = round % 2 ? 20 : 0;
            const uint64_t rate = 100'000'000 + random() % 150'000'000'000;
            const bool capped = rate < 100'000'000'000;
            Network net;
            net.Set("Port", "Overhead", overhead);
            Witness::Install(net);
            net.Star(2, 100'000'000'000, 1'000'000);
            net.Flow(0, 1, 50'300, 777, 3, rate);
            net.sim.Build();
            net.sim.Run(100'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            const auto& sent = Witness::g_logs[0].sent;
            NS_TEST_ASSERT_MSG_EQ(sent.size(), 51, "every packet once");
            NS_TEST_ASSERT_MSG_EQ(sent[0].first, 777, "the first goes at once");
            const int64_t gap = capped ? SpacingTime(1048 + overhead, rate)
                                       : WireTime(1048 + overhead, 100'000'000'000);
            for (std::size_t i = 1; i < sent.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(sent[i].first - sent[i - 1].first,
                                      gap,
                                      "gap before packet " << i << " at " << rate << " bit/s");
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief Bursts begin and end when they should, and silence does not count as loss.
class OnOffTest : public TestCase
{
  public:
    OnOffTest()
        : TestCase("packets start only in bursts, as many as fit each, and silence between bursts "
                   "is not taken for loss")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(4);
        for (int round = 0; round < Draws(60); ++round)
        {
            const int64_t on = 1 + static_cast<int64_t>(random() % 20'000'000);
            const int64_t off = 1'000'000 + static_cast<int64_t>(random() % 20'000'000);
            const uint64_t rate = round % 3 == 0 ? 1'000'000'000 + random() % 20'000'000'000 : 0;
            const int64_t start = static_cast<int64_t>(random() % 1'000'000);
            const int64_t gap = rate ? SpacingTime(1048, rate) : Pair::FRAME;
            Pair net;
            // Longer than a round trip of 4.2 us, but not by much.
            net.Set("QueuePair", "Timeout", "10us");
            net.Flow(0, 1, 0, start, 3, rate, 0, 400'000'000);
            net.sim.SetOnOff(0, on, off);
            NS_TEST_ASSERT_MSG_EQ(net.Run(500'000'000), "", "frames are conserved");
            std::map<int64_t, int64_t> bursts; // packets by burst
            for (const auto& [time, psn] : Witness::g_logs[0].sent)
            {
                NS_TEST_ASSERT_MSG_LT((time - start) % (on + off),
                                      on,
                                      "a packet starts inside a burst of " << on << " ps");
                const int64_t burst = (time - start) / (on + off);
                if (gap <= off && bursts[burst] == 0)
                {
                    NS_TEST_ASSERT_MSG_EQ(time, start + burst * (on + off), "it begins in time");
                }
                ++bursts[burst];
            }
            bursts.erase(std::prev(bursts.end())); // the stop may cut it
            const int64_t rest = std::max<int64_t>(0, gap - off);
            for (const auto& [burst, packets] : bursts)
            {
                const int64_t fit = (on + gap - 1) / gap;
                NS_TEST_ASSERT_MSG_EQ((packets == fit || (rest > 0 && packets + 1 == fit)),
                                      true,
                                      packets << " packets in burst " << burst << " of " << on
                                              << " ps, one every " << gap << " ps; " << fit
                                              << " fit");
            }
            NS_TEST_ASSERT_MSG_EQ(net.Number("timeouts"),
                                  0,
                                  "nothing was outstanding for 10 us: bursts of "
                                      << on << " ps, silences of " << off << " ps");
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "delivered_bytes")[0],
                                  net.Column("flow", "sent_bytes")[0],
                                  "all arrived");
        }
    }
};

/// @ingroup facade-tests
/// @brief An endless source stops in time, and what it has sent still arrives.
class StopTest : public TestCase
{
  public:
    StopTest()
        : TestCase("an endless source begins no packet from its stop on, and what it sent before "
                   "arrives, also with losses")
    {
    }

  private:
    void DoRun() override
    {
        for (const int64_t stop : {1LL,
                                   Pair::FRAME * 1LL,
                                   Pair::FRAME + 1LL,
                                   Pair::FRAME * 1000LL,
                                   Pair::FRAME * 1000LL + 1,
                                   77'777'777LL})
        {
            Pair net;
            net.Flow(0, 1, 0, 0, 3, 0, 0, stop);
            NS_TEST_ASSERT_MSG_EQ(net.Run(200'000'000), "", "frames are conserved");
            const int64_t packets = (stop + Pair::FRAME - 1) / Pair::FRAME;
            for (const char* column : {"sent_bytes", "delivered_bytes"})
            {
                NS_TEST_ASSERT_MSG_EQ(net.Column("flow", column)[0],
                                      packets * 1000,
                                      column << " with a stop at " << stop << " ps");
            }
        }
        for (const char* scheme : {"GoBackN", "Selective"})
        {
            // The last packet before the stop is lost: nothing after it informs the receiver.
            Network net;
            net.Set("Port", "Overhead", 0);
            net.Set("QueuePair", "Retransmit", scheme);
            net.Set("QueuePair", "Timeout", "50us");
            bool lost = false;
            Eraser::Install(net, [&](const lossless::Frame& frame) {
                const bool hit = !lost && frame.psn == 9;
                lost = lost || hit;
                return hit;
            });
            Witness::Install(net, std::string(scheme) == "Selective");
            net.Star(2, 100'000'000'000, 1'000'000);
            net.Flow(0, 1, 0, 0, 3, 0, 0, 10 * Pair::FRAME);
            net.sim.Build();
            net.sim.Run(10'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(Witness::g_logs[0].highest, 10, "ten packets before the stop");
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "delivered_bytes")[0],
                                  10'000,
                                  "a packet sent before the stop is repeated after it, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(net.Number("timeouts"), 1, "one time-out, " << scheme);
        }
    }
};

/// @ingroup facade-tests
/// @brief Queue pairs of a NIC take turns, and classes share it according to the port's service.
class SharingTest : public TestCase
{
  public:
    SharingTest()
        : TestCase("queue pairs of a NIC take turns frame by frame; classes share it by priority "
                   "or by turns of bytes; a cap below the fair share is met to the packet")
    {
    }

  private:
    /// Five endless queue pairs, of which one has a cap of a tenth of the line.
    void TakeTurns()
    {
        Pair net;
        for (int i = 0; i < 5; ++i)
        {
            net.Flow(0, 1, 0, 0, 3, i == 2 ? 10'000'000'000 : 0, 0, 1000 * Pair::FRAME);
        }
        NS_TEST_ASSERT_MSG_EQ(net.Run(200'000'000), "", "frames are conserved");
        std::map<int64_t, uint32_t> order; // which queue pair sent, by time
        for (const auto& [flow, log] : Witness::g_logs)
        {
            for (const auto& [time, psn] : log.sent)
            {
                NS_TEST_ASSERT_MSG_EQ(order.count(time), 0, "one frame at a time");
                order[time] = flow;
            }
        }
        NS_TEST_ASSERT_MSG_EQ(order.size(), 1000, "the line is always busy");
        // Between two frames of a queue pair without a cap, each other one has sent exactly one,
        // the one with the cap at most one.
        std::map<uint32_t, std::map<uint32_t, int>> since;
        for (const auto& [time, flow] : order)
        {
            for (const uint32_t other : {0U, 1U, 3U, 4U})
            {
                // The first starts alone, so it sends twice before the others have their turn.
                if (time > 10 * Pair::FRAME && flow != 2 && other != flow)
                {
                    NS_TEST_ASSERT_MSG_EQ(since[flow][other],
                                          1,
                                          "frames of " << other << " between two of " << flow);
                }
            }
            NS_TEST_ASSERT_MSG_LT_OR_EQ(since[flow][2], 1, "frames of the capped one");
            since[flow].clear();
            for (auto& [other, seen] : since)
            {
                seen[flow] += other != flow;
            }
        }
    }

    /// Endless queue pairs with caps share the line with one without.
    ///
    /// The witness is the ideal source: packet i of a queue pair has its time at i x spacing. As
    /// every cap is below the fair share, no packet waits for longer than a round, and none is lost
    /// to waiting: the caps are met to the packet, and the rest of the line is the greedy one's.
    /// @param caps percent of the line
    void ShareWithCaps(const std::vector<uint64_t>& caps)
    {
        constexpr int64_t FRAMES = 4000;
        constexpr int64_t END = FRAMES * Pair::FRAME;
        const auto round = static_cast<int64_t>(caps.size()) + 1;
        Pair net;
        for (const uint64_t percent : caps)
        {
            net.Flow(0, 1, 0, 0, 3, percent * 1'000'000'000, 0, END);
        }
        net.Flow(0, 1, 0, 0, 3, 0, 0, END);
        NS_TEST_ASSERT_MSG_EQ(net.Run(END + 100'000'000), "", "frames are conserved");
        int64_t rest = FRAMES;
        for (uint32_t flow = 0; flow < caps.size(); ++flow)
        {
            const uint64_t rate = caps[flow] * 1'000'000'000;
            const auto& sent = Witness::g_logs[flow].sent;
            for (std::size_t i = 0; i < sent.size(); ++i)
            {
                const auto number = static_cast<int64_t>(i);
                NS_TEST_ASSERT_MSG_GT_OR_EQ(sent[i].first,
                                            SpacingTime(number * 1048, rate),
                                            "packet " << i << " is too early");
                // the time of a packet is that of the one before and a whole number of ps
                const int64_t due = number * SpacingTime(1048, rate);
                NS_TEST_ASSERT_MSG_LT_OR_EQ(sent[i].first,
                                            due + round * Pair::FRAME,
                                            "packet " << i << " waits for a round at most, "
                                                      << caps[flow] << " %");
            }
            const int64_t wanted = FRAMES * static_cast<int64_t>(caps[flow]) / 100;
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<int64_t>(sent.size()),
                                      wanted,
                                      2,
                                      caps[flow] << " % of the line");
            rest -= static_cast<int64_t>(sent.size());
        }
        NS_TEST_ASSERT_MSG_EQ(static_cast<int64_t>(Witness::g_logs[round - 1].sent.size()),
                              rest,
                              "the line is always busy");
    }

    /// A cap above the fair share is neither a hindrance nor a privilege.
    void ShareEvenly()
    {
        Pair net;
        net.Flow(0, 1, 0, 0, 3, 70'000'000'000, 0, 1000 * Pair::FRAME);
        net.Flow(0, 1, 0, 0, 3, 0, 0, 1000 * Pair::FRAME);
        NS_TEST_ASSERT_MSG_EQ(net.Run(200'000'000), "", "frames are conserved");
        for (const auto& [flow, log] : Witness::g_logs)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<int>(log.sent.size()), 500, 1, "half the line");
        }
    }

    /// One endless queue pair in class 5, two in class 3.
    /// @param service ClassService of the ports. @return packets of each.
    std::array<double, 3> TwoClasses(const std::string& service)
    {
        Network net;
        net.Set("Port", "Overhead", 0);
        net.Set("Port", "ClassService", service);
        net.Set("SharedBuffer", "LosslessClasses", 0x28);
        Witness::Install(net);
        net.Star(2, 100'000'000'000, 1'000'000);
        net.Flow(0, 1, 0, 0, 5, 0, 0, 1000 * Pair::FRAME);
        net.Flow(0, 1, 0, 0, 3, 0, 0, 2000 * Pair::FRAME);
        net.Flow(0, 1, 0, 0, 3, 0, 0, 2000 * Pair::FRAME);
        net.sim.Build();
        net.sim.Run(1000 * Pair::FRAME);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        std::array<double, 3> packets{};
        for (uint32_t flow = 0; flow < 3; ++flow)
        {
            packets[flow] = static_cast<double>(Witness::g_logs[flow].sent.size());
        }
        return packets;
    }

    void DoRun() override
    {
        TakeTurns();
        for (const auto& caps : std::vector<std::vector<uint64_t>>{{40},
                                                                   {10},
                                                                   {49},
                                                                   {33, 33},
                                                                   {7, 13, 24},
                                                                   {10, 10, 10, 10, 10, 10, 10}})
        {
            ShareWithCaps(caps);
        }
        ShareEvenly();
        const auto strict = TwoClasses("Strict");
        NS_TEST_ASSERT_MSG_EQ_TOL(strict[0], 1000, 1, "the higher class takes all");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(strict[1] + strict[2], 2, "the lower class waits");
        const auto turns = TwoClasses("Dwrr");
        NS_TEST_ASSERT_MSG_EQ_TOL(turns[0], 500, 4, "half the line for class 5");
        NS_TEST_ASSERT_MSG_EQ_TOL(turns[1], 250, 4, "a quarter for the first of class 3");
        NS_TEST_ASSERT_MSG_EQ_TOL(turns[2], 250, 4, "a quarter for the second of class 3");
    }
};

/// Marks chosen data frames of every switch.
class Marker : public lossless::SwitchAgent, public lossless::QueueAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::Marker")
                                .SetParent<lossless::SwitchAgent>()
                                .SetGroupName("tests")
                                .AddConstructor<Marker>();
        return tid;
    }

    void NotifyDequeue(lossless::Port& /* egress */,
                       uint16_t /* queue */,
                       lossless::Frame& frame) override
    {
        if (frame.kind == lossless::FrameKind::DATA && g_marked.contains(frame.psn))
        {
            frame.ecn = 3;
        }
    }

    static std::set<uint32_t> g_marked; //!< packets to mark
};

std::set<uint32_t> Marker::g_marked;

NS_OBJECT_ENSURE_REGISTERED(Marker);

/// @ingroup facade-tests
/// @brief An ACK reports a mark on any of the packets that it covers, and no other ACK does.
class EcnEchoTest : public TestCase
{
  public:
    EcnEchoTest()
        : TestCase("with AckEvery 1 to 7 an ACK reports that any of the packets since the last "
                   "answer was marked")
    {
    }

  private:
    /// A message of 40 packets.
    /// @param ackEvery packets an ACK. @param marked packets that a switch marks.
    void RunOnce(uint32_t ackEvery, const std::set<uint32_t>& marked)
    {
        Marker::g_marked = marked;
        Network net;
        net.Set("QueuePair", "AckEvery", ackEvery);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.AddAgent("ns3::facade::tests::Marker");
        Witness::Install(net);
        net.Star(2, 100'000'000'000, 1'000'000);
        net.Flow(0, 1, 40'000);
        net.sim.Build();
        net.sim.Run(1'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        const auto& ecn = Witness::g_logs[0].ecn;
        NS_TEST_ASSERT_MSG_EQ(ecn.size(), (40 + ackEvery - 1) / ackEvery, "an ACK for each group");
        std::vector<uint8_t> expected(ecn.size(), 1);
        for (const uint32_t psn : marked)
        {
            expected[psn / ackEvery] = 3;
        }
        for (std::size_t ack = 0; ack < ecn.size(); ++ack)
        {
            NS_TEST_ASSERT_MSG_EQ(+ecn[ack], +expected[ack], ackEvery << ": ACK " << ack);
        }
    }

    void DoRun() override
    {
        RunOnce(4, {0});
        RunOnce(4, {1, 7, 39});
        std::mt19937_64 random(5);
        for (int round = 0; round < 30; ++round)
        {
            std::set<uint32_t> marked;
            for (uint64_t i = random() % 8; i > 0; --i)
            {
                marked.insert(static_cast<uint32_t>(random() % 40));
            }
            RunOnce(1 + random() % 7, marked);
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of QueuePair without loss.
class QueuePairTestSuite : public TestSuite
{
  public:
    QueuePairTestSuite()
        : TestSuite("facade-queue-pair", Type::UNIT)
    {
        AddTestCase(new IdlePathTest, TestCase::Duration::QUICK);
        AddTestCase(new WindowTest, TestCase::Duration::QUICK);
        AddTestCase(new RateCapTest, TestCase::Duration::QUICK);
        AddTestCase(new OnOffTest, TestCase::Duration::QUICK);
        AddTestCase(new StopTest, TestCase::Duration::QUICK);
        AddTestCase(new SharingTest, TestCase::Duration::QUICK);
        AddTestCase(new EcnEchoTest, TestCase::Duration::QUICK);
    }
};

static QueuePairTestSuite g_queuePairTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
