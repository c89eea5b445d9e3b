/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/test.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup facade-tests
 * Several messages on one connection: against one message of their sum, with and without losses,
 * and against a model of the links. Several queue pairs for one message: against several messages.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;

namespace
{

constexpr int64_t PAYLOAD = 1000; //!< of a full packet (B)
constexpr int64_t HEADER = 48;    //!< of a packet (B)

/// A message.
struct Message
{
    int64_t bytes;    //!< its size
    int64_t start{0}; //!< ps
};

/// What a run of one connection gave, by message.
struct Results
{
    std::vector<int64_t> finish;        //!< ps
    std::vector<int64_t> acked;         //!< ps
    std::vector<int64_t> delivered;     //!< B
    std::vector<int64_t> sent;          //!< B
    std::vector<int64_t> retransmitted; //!< B
    double nacks;                       //!< of all
    double timeouts;                    //!< of all
    std::string problems;               //!< of Check
};

/// How a connection is run.
struct Setting
{
    std::string loop{"ns3::eventloop::EventLoop"}; //!< simulator
    std::string retransmit{"GoBackN"};             //!< loss recovery
    uint32_t ackEvery{1};                          //!< packets an ACK
    uint64_t window{0};                            //!< B
    uint64_t lossSeed{0};                          //!< of losses; 0: none
    bool shared{true};                             //!< one connection, or one for each message
};

/// Run messages from one host to another, over a switch at 100 Gb/s.
/// @param messages in the order of their numbers. @param setting how. @return the results.
Results
RunConnection(const std::vector<Message>& messages, const Setting& setting)
{
    Network net;
    net.sim.SetSimulator(setting.loop);
    net.Set("Port", "Overhead", 0);
    net.Set("QueuePair", "PayloadSize", PAYLOAD);
    net.Set("QueuePair", "HeaderSize", HEADER);
    net.Set("QueuePair", "Retransmit", setting.retransmit);
    net.Set("QueuePair", "AckEvery", setting.ackEvery);
    net.Set("QueuePair", "AnswerClass", ANSWER_CLASS);
    net.Set("QueuePair", "Timeout", "50us");
    if (setting.lossSeed)
    {
        auto random = std::make_shared<std::mt19937_64>(setting.lossSeed);
        Eraser::Install(net, [random](const Frame&) { return (*random)() % 12 == 0; });
    }
    net.Star(2, 100 * GBPS, US);
    std::vector<uint32_t> others;
    for (const Message& message : messages)
    {
        others.push_back(net.Flow(0,
                                  1,
                                  static_cast<uint64_t>(message.bytes),
                                  message.start,
                                  DATA_CLASS,
                                  0,
                                  setting.window));
    }
    others.erase(others.begin());
    const std::vector<uint32_t> connections(others.size(), 0);
    if (setting.shared && !others.empty())
    {
        net.sim.SetConnections(others.data(),
                               connections.data(),
                               static_cast<uint32_t>(others.size()));
    }
    net.sim.Build();
    net.sim.Run(20'000 * US);
    Results results;
    results.problems = net.sim.Check() + net.sim.Finish();
    results.finish = net.Column("flow", "finish_ps");
    results.acked = net.Column("flow", "acked_ps");
    results.delivered = net.Column("flow", "delivered_bytes");
    results.sent = net.Column("flow", "sent_bytes");
    results.retransmitted = net.Column("flow", "retransmitted_bytes");
    results.nacks = net.Number("nacks");
    results.timeouts = net.Number("timeouts");
    return results;
}

/// When messages arrive that are sent one after the other, each from its start on.
/// @param messages in the order of their starts. @return by message (ps).
std::vector<int64_t>
Arrivals(const std::vector<Message>& messages)
{
    constexpr uint64_t RATE = 100 * GBPS;
    int64_t host = 0;
    int64_t port = 0;
    std::vector<int64_t> arrivals;
    for (const Message& message : messages)
    {
        for (int64_t left = message.bytes; left > 0;)
        {
            const int64_t payload = std::min(left, PAYLOAD);
            const int64_t time = WireTime(payload + HEADER, RATE);
            left -= payload;
            host = std::max(host, message.start) + time;
            port = std::max(port, host + US) + time;
        }
        arrivals.push_back(port + US);
    }
    return arrivals;
}

/// The sum of a column. @param values its values. @return their sum.
int64_t
Sum(const std::vector<int64_t>& values)
{
    return std::accumulate(values.begin(), values.end(), int64_t{0});
}

} // namespace

/// @ingroup facade-tests
/// @brief Without losses.
class ConnectionOrderTest : public TestCase
{
  public:
    ConnectionOrderTest()
        : TestCase("messages of one connection go one after the other, from their starts on")
    {
    }

  private:
    /// Compare with the model of the links.
    /// @param messages in the order of their starts. @param what is tested.
    void Compare(const std::vector<Message>& messages, const std::string& what)
    {
        const std::vector<int64_t> expected = Arrivals(messages);
        for (const std::string loop : {"ns3::eventloop::EventLoop", "ns3::eventloop::CellLoop"})
        {
            for (const uint32_t ackEvery : {1, 4})
            {
                const Results results =
                    RunConnection(messages, {.loop = loop, .ackEvery = ackEvery});
                NS_TEST_ASSERT_MSG_EQ(results.problems, "", what);
                const bool same = results.finish == expected;
                NS_TEST_EXPECT_MSG_EQ(same, true, what << ": arrivals, " << loop);
                for (std::size_t i = 0; i < messages.size(); ++i)
                {
                    NS_TEST_EXPECT_MSG_EQ(results.delivered[i], messages[i].bytes, what << i);
                    NS_TEST_EXPECT_MSG_EQ(results.sent[i], messages[i].bytes, what << i);
                    NS_TEST_EXPECT_MSG_EQ(results.acked[i],
                                          expected[i] + 2 * US + 2 * WireTime(64, 100 * GBPS),
                                          what << ": ACK of message " << i);
                }
            }
        }
    }

    void DoRun() override
    {
        Compare({{5000}}, "one");
        Compare({{12'000}, {8000}}, "two at once");
        Compare({{1500}, {300}, {2000}}, "three, of which one is shorter than a packet");
        Compare({{12'000}, {8000, US / 2}}, "the second starts while the first is sent");
        Compare({{12'000}, {8000, 50 * US}}, "the second starts after the first was acknowledged");

        // the order of the starts counts, not that of the numbers
        const Results turned = RunConnection({{8000, 50 * US}, {12'000}}, {});
        const std::vector<int64_t> expected = Arrivals({{12'000}, {8000, 50 * US}});
        NS_TEST_EXPECT_MSG_EQ(turned.finish[0], expected[1], "the first one starts later");
        NS_TEST_EXPECT_MSG_EQ(turned.finish[1], expected[0], "the second one starts earlier");

        // with connections of their own, they share the line
        const Results own = RunConnection({{12'000}, {8000}}, {.shared = false});
        NS_TEST_EXPECT_MSG_GT(own.finish[0], Arrivals({{12'000}})[0], "by turns");
    }
};

/// @ingroup facade-tests
/// @brief Random messages and losses.
class ConnectionSumTest : public TestCase
{
  public:
    ConnectionSumTest()
        : TestCase("random messages are, packet by packet, one message of their sum, whatever is "
                   "lost and however that is recovered")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(7);
        double nacks = 0;
        for (int round = 0; round < 120; ++round)
        {
            std::vector<Message> messages;
            int64_t bytes = 0;
            for (uint64_t left = 2 + random() % 4; left > 0; --left)
            {
                messages.push_back({PAYLOAD * static_cast<int64_t>(1 + random() % 12)});
                bytes += messages.back().bytes;
            }
            const Setting setting{.retransmit = round % 2 ? "Selective" : "GoBackN",
                                  .window = random() % 3 * 5000,
                                  .lossSeed = random() % 5 ? random() : 0};
            const Results one = RunConnection({{bytes}}, setting);
            const Results several = RunConnection(messages, setting);
            const std::string what = "round " + std::to_string(round);
            NS_TEST_ASSERT_MSG_EQ(several.problems, "", what);
            NS_TEST_ASSERT_MSG_EQ(several.finish.back(), one.finish[0], what << ": the end");
            NS_TEST_ASSERT_MSG_EQ(several.acked.back(), one.acked[0], what << ": the last ACK");
            NS_TEST_ASSERT_MSG_EQ(Sum(several.sent), one.sent[0], what << ": bytes sent");
            NS_TEST_ASSERT_MSG_EQ(Sum(several.retransmitted), one.retransmitted[0], what);
            NS_TEST_ASSERT_MSG_EQ(Sum(several.delivered), one.delivered[0], what);
            NS_TEST_ASSERT_MSG_EQ(several.nacks, one.nacks, what << ": NACKs");
            NS_TEST_ASSERT_MSG_EQ(several.timeouts, one.timeouts, what << ": timeouts");
            const bool ordered =
                std::ranges::is_sorted(several.finish) && std::ranges::is_sorted(several.acked);
            NS_TEST_ASSERT_MSG_EQ(ordered, true, what << ": one after the other");
            nacks += one.nacks;
            for (std::size_t i = 0; i < messages.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(several.delivered[i], messages[i].bytes, what << ", " << i);
                NS_TEST_ASSERT_MSG_EQ(several.sent[i] - several.retransmitted[i],
                                      messages[i].bytes,
                                      what << ", " << i);
            }
        }
        NS_TEST_EXPECT_MSG_GT(nacks, 100, "much was lost");
    }
};

/// @ingroup facade-tests
/// @brief The last packet of a message is lost, and the next message follows it.
class ConnectionBorderTest : public TestCase
{
  public:
    ConnectionBorderTest()
        : TestCase("a loss at the end of a message is reported by the packets of the next one")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string retransmit : {"GoBackN", "Selective"})
        {
            Network net;
            net.Set("QueuePair", "PayloadSize", PAYLOAD);
            net.Set("QueuePair", "HeaderSize", HEADER);
            net.Set("QueuePair", "Retransmit", retransmit);
            Eraser::Install(net, [](const Frame& frame) {
                return frame.kind == FrameKind::DATA && frame.psn == 4 && !frame.repeat;
            });
            net.Star(2, 100 * GBPS, US);
            net.Flow(0, 1, 4500, 0, DATA_CLASS);
            const uint32_t next = net.Flow(0, 1, 50'000, 0, DATA_CLASS);
            const uint32_t first = 0;
            net.sim.SetConnections(&next, &first, 1);
            net.sim.Build();
            net.sim.Run(1000 * US);
            net.sim.Finish();
            NS_TEST_EXPECT_MSG_EQ(net.Number("timeouts"), 0, retransmit << " waits for no timeout");
            const auto again = net.Column("flow", "retransmitted_bytes");
            NS_TEST_EXPECT_MSG_EQ(again[0], 500, retransmit << ": the short packet");
            NS_TEST_EXPECT_MSG_EQ((again[1] > 0), (retransmit == "GoBackN"), "and what followed");
            const auto finish = net.Column("flow", "finish_ps");
            NS_TEST_EXPECT_MSG_GT(finish[0], 0, "the first arrives");
            NS_TEST_EXPECT_MSG_GT(finish[1], finish[0], "and then the second");
        }
    }
};

/// @ingroup facade-tests
/// @brief Losses that nobody recovers.
class ConnectionWithoutRecoveryTest : public TestCase
{
  public:
    ConnectionWithoutRecoveryTest()
        : TestCase("without loss recovery each message ends at the receiver by itself")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<Message> messages{{5000}, {5000}, {2500}, {5000}};
        for (const uint32_t lost : {2U, 7U, 12U, 17U})
        {
            Network net;
            net.Set("Port", "Overhead", 0);
            net.Set("QueuePair", "PayloadSize", PAYLOAD);
            net.Set("QueuePair", "HeaderSize", HEADER);
            net.Set("QueuePair", "Retransmit", "None");
            Eraser::Install(net, [lost](const Frame& frame) {
                return frame.kind == FrameKind::DATA && frame.psn == lost;
            });
            net.Star(2, 100 * GBPS, US);
            for (const Message& message : messages)
            {
                net.Flow(0, 1, static_cast<uint64_t>(message.bytes), 0, DATA_CLASS);
            }
            const uint32_t others[]{1, 2, 3};
            const uint32_t connections[]{0, 0, 0};
            net.sim.SetConnections(others, connections, 3);
            net.sim.Build();
            net.sim.Run(1000 * US);
            net.sim.Finish();
            const auto finish = net.Column("flow", "finish_ps");
            const auto acked = net.Column("flow", "acked_ps");
            const auto arrivals = Arrivals(messages);
            int64_t next = 0;
            int64_t delivered = 0;
            bool whole = true;
            for (std::size_t i = 0; i < messages.size(); ++i)
            {
                const int64_t first = std::exchange(next, next + (messages[i].bytes + 999) / 1000);
                const bool hit = first <= lost && lost < next;
                NS_TEST_EXPECT_MSG_EQ(finish[i], (hit ? -1 : arrivals[i]), lost << ", " << i);
                whole = whole && !hit;
                NS_TEST_EXPECT_MSG_EQ((acked[i] > 0), whole, "ACKs are cumulative, " << i);
                delivered += hit ? (lost - first) * PAYLOAD : messages[i].bytes;
            }
            NS_TEST_EXPECT_MSG_EQ(net.Number("in_order_bytes"), delivered, lost << ": in order");
            NS_TEST_EXPECT_MSG_EQ(net.Number("flows_finished"), 3, lost << ": finished");
        }
    }
};

/// @ingroup facade-tests
/// @brief Messages in shares.
class ConnectionSharesTest : public TestCase
{
  public:
    ConnectionSharesTest()
        : TestCase("the shares of a message go as messages of their sizes would, and it ends with "
                   "the last of them")
    {
    }

  private:
    /// What a run gave.
    struct Sent
    {
        std::vector<int64_t> finish; //!< by message (ps)
        std::vector<int64_t> acked;  //!< by message (ps)
        std::vector<int64_t> size;   //!< by message (B)
        std::vector<int64_t> sent;   //!< by message (B)
        double finished;             //!< messages
        int64_t end;                 //!< of the run (ps)
        std::string problems;        //!< of Check
    };

    /// Send messages at once, with losses.
    /// @param sizes of the messages, or of the shares of one (B) @param seed of the losses.
    /// @param round of which the event loop and the end of the run depend. @param shared whether
    /// they are shares. @return what happened.
    static Sent Send(const std::vector<uint64_t>& sizes, uint64_t seed, int round, bool shared)
    {
        Network net;
        net.sim.SetSimulator(round % 2 ? "ns3::eventloop::EventLoop" : "ns3::eventloop::CellLoop");
        net.Set("QueuePair", "Timeout", "50us");
        auto losses = std::make_shared<std::mt19937_64>(seed);
        Eraser::Install(net, [losses](const Frame&) { return (*losses)() % 20 == 0; });
        net.Star(2, 100 * GBPS, US);
        if (shared)
        {
            const uint64_t whole = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
            const std::vector<uint32_t> messages(sizes.size() - 1,
                                                 net.Flow(0, 1, whole, US, DATA_CLASS));
            net.sim.AddShares(messages.data(),
                              sizes.data() + 1,
                              static_cast<uint32_t>(messages.size()));
        }
        for (std::size_t i = 0; i < sizes.size() && !shared; ++i)
        {
            net.Flow(0, 1, sizes[i], US, DATA_CLASS);
        }
        net.sim.SetStopWhenDone(true, round % 4 < 2);
        net.sim.Build();
        const std::string problems = net.sim.Check();
        net.sim.Run(20'000 * US);
        net.sim.Finish();
        return {net.Column("flow", "finish_ps"),
                net.Column("flow", "acked_ps"),
                net.Column("flow", "size_bytes"),
                net.Column("flow", "sent_bytes"),
                net.Number("flows_finished"),
                net.sim.Now(),
                problems};
    }

    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < 40; ++round)
        {
            std::vector<uint64_t> sizes;
            for (uint64_t left = 2 + random() % 4; left > 0; --left)
            {
                sizes.push_back(1 + random() % 20'000);
            }
            const uint64_t seed = random();
            const Sent apart = Send(sizes, seed, round, false);
            const Sent shared = Send(sizes, seed, round, true);
            const std::string what = "round " + std::to_string(round);
            NS_TEST_ASSERT_MSG_EQ(shared.problems, "", what);
            for (const auto& [one, all] :
                 {std::pair{shared.finish, apart.finish}, std::pair{shared.acked, apart.acked}})
            {
                NS_TEST_ASSERT_MSG_EQ(one.size(), 1, "one row for the message");
                const int64_t last = std::ranges::min(all) < 0 ? -1 : std::ranges::max(all);
                NS_TEST_EXPECT_MSG_EQ(one[0], last, what << ": its end");
            }
            NS_TEST_EXPECT_MSG_EQ(shared.size[0], Sum(apart.size), what << ": bytes");
            NS_TEST_EXPECT_MSG_EQ(shared.sent[0], Sum(apart.sent), what << ": bytes sent");
            NS_TEST_EXPECT_MSG_EQ(shared.finished, 1, what << ": messages finished");
            NS_TEST_EXPECT_MSG_EQ(shared.end, apart.end, what << ": end of the run");
        }

        // what waits for a message waits for all of its shares, also on shared queue pairs
        Network net;
        net.Set("Port", "Overhead", 0);
        net.Star(2, 100 * GBPS, US);
        const uint32_t first = net.Flow(0, 1, 10'000);
        const uint32_t second = net.Flow(0, 1, 10'000);
        const uint32_t third = net.Flow(0, 1, 1000);
        const uint32_t messages[]{first, second};
        const uint64_t sizes[]{9000, 4000};
        const uint32_t share = net.sim.AddShares(messages, sizes, 2);
        const uint32_t others[]{second, share + 1};
        const uint32_t connections[]{first, share};
        net.sim.SetConnections(others, connections, 2);
        const int64_t delay = US;
        net.sim.AddDependencies(&third, &first, &delay, 1);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "can be");
        net.sim.Run(1000 * US);
        net.sim.Finish();
        const auto finish = net.Column("flow", "finish_ps");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "start_ps")[third], finish[first] + US, "after");
        // by turns of two queue pairs: one has 1 + 6 packets, the other 9 + 4
        const auto at = [](int64_t packets) {
            return (packets + 1) * WireTime(PAYLOAD + HEADER, 100 * GBPS) + 2 * US;
        };
        NS_TEST_EXPECT_MSG_EQ(finish[first], at(7 + 9), "the 9th of the second queue pair");
        NS_TEST_EXPECT_MSG_EQ(finish[second], at(20), "all");
        const auto carrying = net.Column("flow", "queue_pair");
        NS_TEST_EXPECT_MSG_EQ((carrying == std::vector<int64_t>{first, first, third}), true, "");
    }
};

/// @ingroup facade-tests
/// @brief What cannot be on one connection.
class ConnectionRefusalTest : public TestCase
{
  public:
    ConnectionRefusalTest()
        : TestCase("flows that differ, or are endless, cannot use one connection")
    {
    }

  private:
    /// What is said of two flows. @param add adds the second one. @return problems.
    static std::string Problems(const std::function<uint32_t(Network&)>& add)
    {
        Network net;
        net.Star(3, 100 * GBPS, US);
        const uint32_t first = net.Flow(0, 1, 5000);
        const uint32_t second = add(net);
        net.sim.SetConnections(&second, &first, 1);
        net.sim.Build();
        return net.sim.Check();
    }

    void DoRun() override
    {
        const auto expect = [this](const std::string& text, auto add) {
            const bool found = Problems(add).find(text) != std::string::npos;
            NS_TEST_EXPECT_MSG_EQ(found, true, text);
        };
        NS_TEST_EXPECT_MSG_EQ(Problems([](Network& net) { return net.Flow(0, 1, 100); }), "", "");
        expect("other hosts", [](Network& net) { return net.Flow(0, 2, 100); });
        expect("another class", [](Network& net) { return net.Flow(0, 1, 100, 0, 2); });
        expect("endless", [](Network& net) { return net.Flow(0, 1, 0); });
        expect("bursts", [](Network& net) {
            const uint32_t flow = net.Flow(0, 1, 100);
            net.sim.SetOnOff(flow, US, US);
            return flow;
        });
        expect("fixed path", [](Network& net) {
            const uint32_t flow = net.Flow(0, 1, 100);
            const uint32_t nodes[]{0, 3, 1};
            net.sim.SetPath(flow, nodes, 3);
            return flow;
        });
        expect("sequence numbers",
               [](Network& net) { return net.Flow(0, 1, 4'294'967'295'000ULL); });
        std::string refusal;
        try
        {
            Problems([](Network&) { return 0; });
        }
        catch (const std::invalid_argument& error)
        {
            refusal = error.what();
        }
        const bool told = refusal.find("cannot use the connection") != std::string::npos;
        NS_TEST_EXPECT_MSG_EQ(told, true, "its own");
        Network net;
        net.Star(2, 100 * GBPS, US);
        const uint32_t flow = net.Flow(0, 1, 100);
        const uint64_t all = 100;
        std::string reason;
        try
        {
            net.sim.AddShares(&flow, &all, 1);
        }
        catch (const std::invalid_argument& error)
        {
            reason = error.what();
        }
        NS_TEST_EXPECT_MSG_EQ((reason.find("at least a byte") < reason.size()), true, reason);
    }
};

/// @ingroup facade-tests
/// @brief Tests of connections with several messages.
class ConnectionTestSuite : public TestSuite
{
  public:
    ConnectionTestSuite()
        : TestSuite("facade-connection", Type::SYSTEM)
    {
        AddTestCase(new ConnectionOrderTest, TestCase::Duration::QUICK);
        AddTestCase(new ConnectionSumTest, TestCase::Duration::QUICK);
        AddTestCase(new ConnectionBorderTest, TestCase::Duration::QUICK);
        AddTestCase(new ConnectionWithoutRecoveryTest, TestCase::Duration::QUICK);
        AddTestCase(new ConnectionSharesTest, TestCase::Duration::QUICK);
        AddTestCase(new ConnectionRefusalTest, TestCase::Duration::QUICK);
    }
};

static ConnectionTestSuite g_connectionTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
