/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/test.h"

#include <algorithm>
#include <random>

/**
 * @file
 * @ingroup facade-tests
 * NICs that process only so many packets a second.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

namespace
{

constexpr uint64_t NIC_LINE = 100'000'000'000; //!< bit/s
constexpr int64_t LINK = 1'000'000;            //!< ps a link

/// A time in ns-3's spelling. @param ps it. @return text.
std::string
Ps(int64_t ps)
{
    return std::to_string(ps) + "ps";
}

/// Hosts at a switch, without overhead, under PFC, whose queue pairs are watched.
struct Watched : Network
{
    /// Set it up.
    /// @param hosts how many. @param send least time between packets sent (ps) @param receive least
    /// time between packets taken (ps).
    Watched(uint32_t hosts, int64_t send, int64_t receive)
    {
        Set("Port", "Overhead", 0);
        Set("SharedBuffer", "Threshold", "Static");
        Set("SharedBuffer", "Xoff", 20'000);
        Set("SharedBuffer", "Xon", 17'000);
        Set("SharedBuffer", "LosslessClasses", 0x18);
        Set("Host", "SendInterval", Ps(send));
        Set("Host", "ReceiveInterval", Ps(receive));
        sim.AddFlowControl("ns3::pfc::Pfc");
        Witness::Install(*this);
        Star(hosts, NIC_LINE, LINK);
    }

    /// Run, and see that all is well. @param end ps. @return problems; empty if there are none.
    std::string Run(int64_t end)
    {
        sim.Build();
        sim.Run(end);
        return sim.Finish();
    }

    /// When a host made data, or took them.
    /// @param flows of the host. @param sent made, else taken. @return times in order (ps).
    static std::vector<int64_t> Times(const std::vector<uint32_t>& flows, bool sent)
    {
        std::vector<int64_t> times;
        for (const uint32_t flow : flows)
        {
            for (const auto& [time, psn] :
                 sent ? Witness::g_logs[flow].sent : Witness::g_logs[flow].received)
            {
                times.push_back(time);
            }
        }
        std::sort(times.begin(), times.end());
        return times;
    }

    /// The least time between two of them. @param times in order (ps) @return ps.
    static int64_t LeastGap(const std::vector<int64_t>& times)
    {
        int64_t least = lossless::NEVER;
        for (std::size_t i = 1; i < times.size(); ++i)
        {
            least = std::min(least, times[i] - times[i - 1]);
        }
        return least;
    }
};

} // namespace

/// @ingroup facade-tests
/// @brief A message on an idle path.
class PacketRatePathTest : public TestCase
{
  public:
    PacketRatePathTest()
        : TestCase("packets of a message are sent and accepted at the lower of line rate and "
                   "packet rate, to the picosecond, and the ideal time accounts for it")
    {
    }

  private:
    /// A message on a random path, against store and forward packet by packet.
    /// @param seed of everything
    void Once(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const uint64_t rates[] = {10'000'000'000, 33'333'333'333, 100'000'000'000, 400'000'000'000};
        const int64_t payload = 1 + static_cast<int64_t>(random() % 2000);
        const int64_t send = random() % 4 ? static_cast<int64_t>(random() % 400'000) : 0;
        const int64_t take = random() % 4 ? static_cast<int64_t>(random() % 400'000) : 0;
        const int64_t nic = random() % 2 ? static_cast<int64_t>(random() % 500'000) : 0;
        const auto switches = static_cast<uint32_t>(1 + random() % 3);
        const auto size = static_cast<int64_t>(1 + random() % 20'000);
        Network net(seed);
        net.Set("Host", "Latency", Ps(nic));
        net.Set("Host", "SendInterval", Ps(send));
        net.Set("Host", "ReceiveInterval", Ps(take));
        net.Set("QueuePair", "PayloadSize", payload);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Nodes(2, switches);
        std::vector<uint64_t> rate;
        for (uint32_t hop = 0; hop <= switches; ++hop)
        {
            rate.push_back(rates[random() % 4]);
            net.Link(hop == 0 ? 0 : 1 + hop, hop == switches ? 1 : 2 + hop, rate[hop], LINK);
        }
        net.Flow(0, 1, static_cast<uint64_t>(size));
        net.sim.Build();
        net.sim.Run(1'000'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);

        const int64_t packets = (size + payload - 1) / payload;
        std::vector<int64_t> left(rate.size(), 0); // when the last packet so far left each hop
        std::vector<int64_t> back(rate.size(), 0); // and the last ACK
        int64_t begun = -send;
        int64_t taken = -take;
        int64_t answered = -send;
        int64_t acked = 0;
        for (int64_t packet = 0; packet < packets; ++packet)
        {
            const int64_t bytes = packet + 1 < packets ? payload : size - (packets - 1) * payload;
            const int64_t wire = std::max<int64_t>(bytes + 48, 64) + 20;
            begun = std::max(begun + send, left[0]);
            int64_t arrival = begun;
            for (std::size_t hop = 0; hop < rate.size(); ++hop)
            {
                left[hop] = std::max(arrival, left[hop]) + WireTime(wire, rate[hop]);
                arrival = left[hop] + LINK + (hop < switches ? 0 : nic);
            }
            taken = std::max(arrival, taken + take);
            answered = std::max(taken + nic, answered + send);
            acked = answered;
            for (std::size_t hop = rate.size(); hop-- > 0;)
            {
                back[hop] = std::max(acked, back[hop]) + WireTime(64 + 20, rate[hop]);
                acked = back[hop] + LINK + (hop > 0 ? 0 : nic);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0], taken, "seed " << seed);
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "ideal_ps")[0], taken, "ideal, seed " << seed);
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "acked_ps")[0], acked, "ACK, seed " << seed);
    }

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 200; ++seed)
        {
            Once(seed);
        }
    }
};

/// @ingroup facade-tests
/// @brief What else decides when a packet goes.
class PacketRateSendTest : public TestCase
{
  public:
    PacketRateSendTest()
        : TestCase("the packet rate holds along with caps, windows, pauses and answers, for all "
                   "queue pairs of a NIC together")
    {
    }

  private:
    /// 64 B take 5.12 ns on the wire, 1048 B 83.84; the NIC sends 100 million packets a second.
    void ByHand()
    {
        Watched net(2, 10'000, 0);
        net.Flow(0, 1, 5'000); // 5 frames of 1048 B, 83.84 ns: the line
        net.Flow(0, 1, 16);    // a frame of 64 B, 5.12 ns
        net.Flow(0, 1, 16);
        net.Flow(0, 1, 16);
        NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", "frames are conserved");
        // The first flow is in line again before the others start: large, large, 3 small ones 10 ns
        // apart, and the rest of the first, which the line spaces.
        const std::vector<int64_t> expected =
            {0, 83'840, 167'680, 177'680, 187'680, 197'680, 281'520, 365'360};
        const auto times = Watched::Times({0, 1, 2, 3}, true);
        NS_TEST_ASSERT_MSG_EQ(times.size(), expected.size(), "packets");
        for (std::size_t i = 0; i < times.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(times[i], expected[i], "packet " << i);
        }
    }

    /// A flow with a limit besides the packet rate: the slower one decides.
    /// @param interval of the NIC (ps) @param cap of the flow (bit/s); 0: none. @param window of
    /// the flow (B); 0: none. @param gap what cap or window allow (ps).
    void Limited(int64_t interval, uint64_t cap, uint64_t window, int64_t gap)
    {
        Watched net(2, interval, 0);
        net.Flow(0, 1, 50'000, 0, 3, cap, window);
        NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", "frames are conserved");
        const auto times = Watched::Times({0}, true);
        for (std::size_t i = 1; i < times.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(times[i] - times[i - 1],
                                  std::max(gap, interval),
                                  "cap " << cap << ", window " << window << " beside " << interval);
        }
    }

    /// Two classes share the packet rate in turn; if the line is the limit, its rate applies.
    void Classes()
    {
        for (const int64_t interval : {200'000, 50'000})
        {
            Watched net(2, interval, 0);
            net.Flow(0, 1, 0, 0, 3);
            net.Flow(0, 1, 0, 0, 4);
            NS_TEST_ASSERT_MSG_EQ(net.Run(100'000'000), "", "frames are conserved");
            const auto low = Watched::Times({0}, true);
            const auto high = Watched::Times({1}, true);
            const int64_t gap = interval > FULL ? 2 * interval : FULL;
            for (std::size_t i = 10; i < high.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(high[i] - high[i - 1], gap, "class 4 beside " << interval);
            }
            NS_TEST_ASSERT_MSG_GT(high.size(), 240, "class 4 beside " << interval);
            if (interval > FULL)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(low.size(), high.size(), 1, "in turn");
            }
            else
            {
                NS_TEST_ASSERT_MSG_LT(low.size(), 10, "the higher class goes first");
            }
        }
    }

    /// Many flows of two classes to a host that pauses, and slow receivers.
    /// @param seed of everything
    void Pauses(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const int64_t send = 50'000 + static_cast<int64_t>(random() % 200'000);
        const int64_t take = static_cast<int64_t>(random() % 2 * (random() % 300'000));
        Watched net(4, send, take);
        std::vector<std::vector<uint32_t>> of(4);
        std::vector<std::vector<uint32_t>> to(4);
        for (int i = 0; i < 12; ++i)
        {
            const auto src = static_cast<uint32_t>(random() % 3);
            const uint32_t dst = i % 2 ? 3 : (src + 1) % 3;
            const auto start = static_cast<int64_t>(random() % 20'000'000);
            const auto flow = net.Flow(src,
                                       dst,
                                       1 + random() % 100'000,
                                       start,
                                       static_cast<uint8_t>(3 + random() % 2),
                                       random() % 3 ? 0 : 1'000'000'000 + random() % NIC_LINE,
                                       random() % 3 ? 0 : 1 + random() % 50'000);
            of[src].push_back(flow);
            to[dst].push_back(flow);
        }
        net.sim.SetReceiveRate(3, 5'000'000'000, 10'000'000);
        net.sim.SetReceiveRate(3, 0, 60'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.Run(100'000'000'000), "", "nothing is lost, seed " << seed);
        NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "finished, seed " << seed);
        m_pauses += net.Number("pauses_sent");
        for (std::size_t host = 0; host < 4; ++host)
        {
            NS_TEST_ASSERT_MSG_GT_OR_EQ(Watched::LeastGap(Watched::Times(of[host], true)),
                                        send,
                                        "sent by " << host << ", seed " << seed);
            NS_TEST_ASSERT_MSG_GT_OR_EQ(Watched::LeastGap(Watched::Times(to[host], false)),
                                        take,
                                        "taken by " << host << ", seed " << seed);
        }
    }

    void DoRun() override
    {
        ByHand();
        for (const int64_t interval : {1'000, 300'000, 400'000, 5'000'000})
        {
            const int64_t trip = 2 * (FULL + LINK) + 2 * (ANSWER + LINK);
            Limited(interval, NIC_LINE / 4, 0, 4 * FULL);
            Limited(interval, 0, 1'000, trip);
        }
        Classes();
        for (uint64_t seed = 1; seed <= 40; ++seed)
        {
            Pauses(seed);
        }
        NS_TEST_ASSERT_MSG_GT(m_pauses, 100, "the hosts were paused, too");
    }

    double m_pauses{0}; //!< PAUSEs of all runs
};

/// @ingroup facade-tests
/// @brief A NIC that takes fewer packets than the line brings.
class PacketRateReceiveTest : public TestCase
{
  public:
    PacketRateReceiveTest()
        : TestCase("a NIC takes data at its packet rate, to the picosecond, whatever their size, "
                   "pauses its switch and loses nothing")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < 20; ++round)
        {
            const int64_t take = 150'000 + static_cast<int64_t>(random() % 200'000);
            Watched net(3, 0, take);
            net.Set("QueuePair", "PayloadSize", static_cast<int64_t>(200 + random() % 800));
            net.Flow(0, 2, 200'000);
            net.Flow(1, 2, 200'000);
            NS_TEST_ASSERT_MSG_EQ(net.Run(10'000'000'000), "", "nothing is lost");
            const auto times = Watched::Times({0, 1}, false);
            for (std::size_t i = 1; i < times.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(times[i] - times[i - 1], take, "packet " << i);
            }
            NS_TEST_ASSERT_MSG_GT(net.Number("pauses_sent"), 0, "it paused its switch");
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of packet rates.
class PacketRateTestSuite : public TestSuite
{
  public:
    PacketRateTestSuite()
        : TestSuite("facade-packet-rate", Type::UNIT)
    {
        AddTestCase(new PacketRatePathTest, TestCase::Duration::QUICK);
        AddTestCase(new PacketRateSendTest, TestCase::Duration::QUICK);
        AddTestCase(new PacketRateReceiveTest, TestCase::Duration::QUICK);
    }
};

static PacketRateTestSuite g_packetRateTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
