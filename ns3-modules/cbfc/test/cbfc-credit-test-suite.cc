/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/cbfc-credit.h"
#include "ns3/facade-simulation.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <tuple>

/**
 * @file
 * @ingroup cbfc-tests
 * Credits: nothing beyond what was promised, nothing lost, and what a cyclic dependency does.
 */

namespace ns3
{
namespace cbfc
{
namespace tests
{

/// The summary of a run by name. @param sim the run. @return numbers.
std::map<std::string, double>
Summary(const facade::Simulation& sim)
{
    const auto pairs = sim.GetSummary();
    return {pairs.begin(), pairs.end()};
}

/// Names of nodes that no test reads. @param n how many. @return one a line.
std::string
Names(std::size_t n)
{
    std::string names;
    for (std::size_t i = 0; i < n; ++i)
    {
        names.append("n").append(std::to_string(i)).append("\n");
    }
    return names;
}

/// @ingroup cbfc-tests
/// @brief A flow control before Credit in every chain: it keeps books of its own of what came, is
/// held and went, writes down every credit message, and may lose some.
class Auditor : public lossless::FlowControl,
                public lossless::ByteObserver,
                public lossless::SentListener
{
  public:
    /// Books of one port and class, in blocks of 64 B.
    struct Books
    {
        uint32_t received{0}; //!< that came in
        uint32_t held{0};     //!< in the buffer
        uint32_t sent{0};     //!< whose sending has begun
    };

    /// A credit message as the peer's chain saw it.
    struct Message
    {
        int64_t time;       //!< of its effect (ps)
        uint32_t from;      //!< node that sent it
        uint32_t to;        //!< node that got it
        uint8_t cls;        //!< class
        uint16_t classes;   //!< class-enable vector
        uint32_t limit;     //!< FCCL
        uint32_t peerSent;  //!< FCTBS
        Books sender;       //!< books of the port that sent it, at the time of its effect
        uint32_t recipient; //!< blocks that the port which got it has received
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::cbfc::tests::Auditor")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Auditor>();
        return tid;
    }

    /// Put one before the chain of every port, and forget what others saw.
    /// @param sim the run. @param choose says whether to lose a credit message.
    static void Install(facade::Simulation& sim, std::function<bool()> choose = {})
    {
        g_books.clear();
        g_messages.clear();
        g_lost = 0;
        g_choose = std::move(choose);
        sim.AddFlowControl("ns3::cbfc::tests::Auditor");
    }

    void NotifyReceived(lossless::Frame& frame, int64_t /* queueBytes */) override
    {
        Mine(frame.cls).received += (frame.bytes + 63) / 64;
        Mine(frame.cls).held += (frame.bytes + 63) / 64;
    }

    void NotifyReleased(const lossless::Departure& departure, int64_t) override
    {
        Mine(departure.cls).held -= (departure.bytes + 63) / 64;
    }

    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t) override
    {
        Mine(static_cast<uint8_t>(queue)).sent += (frame.bytes + 63) / 64;
    }

    bool ReceiveControl(const lossless::ControlFrame& control) override
    {
        if (g_choose && g_choose())
        {
            ++g_lost;
            return true;
        }
        uint8_t cls = 0;
        while (!((control.classes >> cls) & 1U))
        {
            ++cls;
        }
        const uint32_t from = m_port->GetPeerId();
        const uint32_t to = m_port->GetNodeId();
        g_messages.push_back({lossless::NowPs(),
                              from,
                              to,
                              cls,
                              control.classes,
                              control.value[0],
                              control.value[1],
                              g_books[{from, to, cls}],
                              Mine(cls).received});
        return false;
    }

    static std::vector<Message> g_messages; //!< that had effect
    static uint64_t g_lost;                 //!< messages lost
    static std::function<bool()> g_choose;  //!< see Install
    static std::map<std::tuple<uint32_t, uint32_t, uint8_t>, Books>
        g_books; //!< by node, neighbour and class

  private:
    /// The books of this port. @param cls class. @return books.
    Books& Mine(uint8_t cls) const
    {
        return g_books[{m_port->GetNodeId(), m_port->GetPeerId(), cls}];
    }
};

NS_OBJECT_ENSURE_REGISTERED(Auditor);

std::vector<Auditor::Message> Auditor::g_messages;
uint64_t Auditor::g_lost = 0;
std::function<bool()> Auditor::g_choose;
std::map<std::tuple<uint32_t, uint32_t, uint8_t>, Auditor::Books> Auditor::g_books;

/// @ingroup cbfc-tests
/// @brief A switch agent that loses data frames on the wire behind its switch, as bit errors do.
class Eraser : public lossless::SwitchAgent, public lossless::QueueAgent
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::cbfc::tests::Eraser")
                                .SetParent<lossless::SwitchAgent>()
                                .SetGroupName("tests")
                                .AddConstructor<Eraser>();
        return tid;
    }

    void NotifyDequeue(lossless::Port&, uint16_t, lossless::Frame& frame) override
    {
        if (g_choose && g_choose())
        {
            frame.lost = true;
            g_blocks += BlocksOf(frame.bytes);
        }
    }

    static std::function<bool()> g_choose; //!< says whether to lose a frame
    static uint64_t g_blocks;              //!< blocks lost
};

NS_OBJECT_ENSURE_REGISTERED(Eraser);

std::function<bool()> Eraser::g_choose;
uint64_t Eraser::g_blocks = 0;

/// Refuse every byte beyond what is promised: no shared buffer would hide a broken promise.
/// @param sim the run, before it is built
void
HaveOnlyWhatIsPromised(facade::Simulation& sim)
{
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "1");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "0");
}

/// A star at 10 Gb/s with links of 1 us, and a Buffer that is promised to each (port, class).
class Star
{
  public:
    /// Promise a buffer, and have no more. @param buffer bytes
    explicit Star(int64_t buffer)
    {
        Set("Buffer", std::to_string(buffer));
        HaveOnlyWhatIsPromised(sim);
        sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "40"); // 3 and 5
    }

    /// Set an attribute of Credit. @param name attribute. @param value in ns-3's spelling.
    void Set(const std::string& name, const std::string& value)
    {
        sim.SetAttribute("ns3::cbfc::Credit", name, value);
    }

    /// Add hosts 0 .. n - 1 and switch n; attributes and agents are set before.
    /// @param hosts how many. @param next flow control after Credit in the chain, if any.
    void Nodes(uint32_t hosts, const std::string& next = "")
    {
        sim.AddFlowControl("ns3::cbfc::Credit");
        if (!next.empty())
        {
            sim.AddFlowControl(next);
        }
        std::vector<uint8_t> kinds(hosts, 0);
        kinds.push_back(1);
        sim.AddNodes(kinds.data(), Names(kinds.size()), hosts + 1);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            const uint64_t rate = 10'000'000'000;
            const int64_t delay = 1'000'000;
            sim.AddLinks(&host, &hosts, &rate, &delay, 1);
        }
    }

    /// Add a flow.
    /// @param src host. @param dst host. @param bytes size; 0: endless. @param cls class.
    void Flow(uint32_t src, uint32_t dst, uint64_t bytes, uint8_t cls = 3)
    {
        const int64_t start = 0;
        const int64_t never = -1;
        const uint64_t none = 0;
        sim.AddFlows(&src, &dst, &bytes, &start, &never, &cls, &none, &none, 1);
    }

    facade::Simulation sim{1}; //!< the run
};

/// @ingroup cbfc-tests
/// @brief The content of messages, against the test's own accounts, and their times.
class MessageTest : public TestCase
{
  public:
    MessageTest()
        : TestCase("messages carry FCTBS and FCCL = ABR + free blocks of one virtual lane, every "
                   "Period, with OnChange at least MinGap apart")
    {
    }

  private:
    void DoRun() override
    {
        const std::pair<uint32_t, uint32_t> blocks[] = {{1, 1},
                                                        {63, 1},
                                                        {64, 1},
                                                        {65, 2},
                                                        {1048, 17}};
        for (const auto& [bytes, expected] : blocks)
        {
            NS_TEST_ASSERT_MSG_EQ(BlocksOf(bytes), expected, bytes << " B in blocks of 64 B");
        }
        for (const bool onChange : {false, true})
        {
            Star star(64'000);
            star.Set("Period", "7us");
            star.Set("MinGap", "500ns");
            star.Set("OnChange", onChange ? "true" : "false");
            star.sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", "777");
            star.sim.SetAttribute("ns3::lossless::Port", "ClassService", "Dwrr");
            Auditor::Install(star.sim);
            star.Nodes(3);
            star.Flow(0, 2, 0, 3);
            star.Flow(1, 2, 0, 5);
            star.Flow(0, 1, 0, 1); // lossy: no credit, no message, and it goes all the same
            star.sim.Build();
            star.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(star.sim.Finish(), "", "nothing is lost");
            std::map<std::tuple<uint32_t, uint32_t, uint8_t>, std::vector<int64_t>> times;
            bool changed = false;
            for (const Auditor::Message& message : Auditor::g_messages)
            {
                NS_TEST_ASSERT_MSG_EQ(message.classes, 1 << message.cls, "one virtual lane each");
                times[{message.from, message.to, message.cls}].push_back(message.time);
                // The message left a wire and its own time ago: FCCL = released + Buffer lies
                // between what it is now and what it was when nothing had been released since.
                const uint32_t released = message.sender.received - message.sender.held;
                NS_TEST_ASSERT_MSG_LT_OR_EQ(message.limit,
                                            released + 1000,
                                            "FCCL never promises more");
                NS_TEST_ASSERT_MSG_GT_OR_EQ(message.limit + 80,
                                            released + 1000,
                                            "nor less than a message's time ago");
                changed |= message.limit != 1000;
                // All blocks that FCTBS counts came before the message.
                NS_TEST_ASSERT_MSG_EQ((message.peerSent <= message.recipient), true, "FCTBS came");
                NS_TEST_ASSERT_MSG_GT_OR_EQ(message.peerSent + 80,
                                            message.recipient,
                                            "FCTBS is new");
            }
            NS_TEST_ASSERT_MSG_EQ(changed, true, "credit was granted anew");
            // class 3 on h0 and h2, class 5 on h1 and h2, in both directions of each link
            NS_TEST_ASSERT_MSG_EQ(times.size(), 8, "every lane with traffic, at both ends");
            for (const auto& [lane, when] : times)
            {
                for (std::size_t i = 1; i < when.size(); ++i)
                {
                    // A message may wait for a frame (845 B with its overhead take 676 ns) and for
                    // a message of the other class.
                    const int64_t gap = when[i] - when[i - 1];
                    const int64_t wait = 676'000 + 2 * 67'200;
                    NS_TEST_ASSERT_MSG_LT_OR_EQ(gap, 7'000'000 + wait, "at least every Period");
                    NS_TEST_ASSERT_MSG_GT_OR_EQ(gap,
                                                (onChange ? 67'200 : 7'000'000 - wait),
                                                "and no more often");
                }
                // the switch to the senders, and the receiver to the switch
                const bool releases = std::get<1>(lane) < 2 || std::get<0>(lane) == 2;
                const auto count = static_cast<double>(when.size());
                NS_TEST_ASSERT_MSG_LT_OR_EQ(count, 1e9 / 500e3 + 1e9 / 7e6, "MinGap, on average");
                if (onChange && releases)
                {
                    NS_TEST_ASSERT_MSG_GT(count, 500, "one for every release of a frame or two");
                }
                else
                {
                    NS_TEST_ASSERT_MSG_EQ_TOL(count, 1e9 / 7e6, 2, "one a Period");
                }
            }
        }
    }
};

/// @ingroup cbfc-tests
/// @brief Lost data frames and lost credit messages cost no credit for ever.
class ResyncTest : public TestCase
{
  public:
    ResyncTest()
        : TestCase("ABR is taken over from FCTBS: many times the buffer may be lost, and flows "
                   "finish; a lost credit message is made good by the next")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* bits : {"32", "12"})
        {
            std::mt19937_64 random(5);
            Star star(20'000);
            star.Set("Period", "5us");
            star.Set("CounterBits", bits);
            star.sim.SetAttribute("ns3::rdma::QueuePair", "Timeout", "100us");
            star.sim.SetStopWhenDone(true);
            Eraser::g_blocks = 0;
            Eraser::g_choose = [&random] { return random() % 10 == 0; };
            star.sim.AddAgent("ns3::cbfc::tests::Eraser");
            Auditor::Install(star.sim, [&random] { return random() % 2 == 0; });
            star.Nodes(3);
            star.Flow(0, 2, 2'000'000);
            star.Flow(1, 2, 2'000'000);
            star.sim.Build();
            NS_TEST_ASSERT_MSG_EQ(star.sim.Check(), "", "possible");
            star.sim.Run(1'000'000'000'000);
            auto summary = Summary(star.sim);
            NS_TEST_ASSERT_MSG_EQ(summary["flows_unfinished"], 0, "with counters of " << bits);
            NS_TEST_ASSERT_MSG_EQ(summary["dropped_headroom_frames"], 0, "no promise was broken");
            // 312 blocks are promised.
            NS_TEST_ASSERT_MSG_GT(Eraser::g_blocks, 10 * 312, "far more was lost than promised");
            NS_TEST_ASSERT_MSG_GT(Auditor::g_lost, 100, "and messages too");
            // What was lost at the very end may still be unknown.
            NS_TEST_ASSERT_MSG_LT_OR_EQ(summary["cbfc_resynced_blocks"],
                                        static_cast<double>(Eraser::g_blocks),
                                        "no block is made good twice");
            NS_TEST_ASSERT_MSG_GT_OR_EQ(summary["cbfc_resynced_blocks"],
                                        static_cast<double>(Eraser::g_blocks) - 2 * 312,
                                        "all blocks are made good");
        }
    }
};

/// @ingroup cbfc-tests
/// @brief Counters of 12 bits, as InfiniBand's, do what those of 32 bits do.
class CounterTest : public TestCase
{
  public:
    CounterTest()
        : TestCase("12-bit counters wrap without a trace; a buffer beyond them is refused")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<std::pair<std::string, double>> first;
        for (const char* bits : {"32", "12"})
        {
            Star star(2047 * 64);
            star.Set("CounterBits", bits);
            star.Set("Period", "20us");
            star.Nodes(3);
            star.Flow(0, 2, 0);
            star.Flow(1, 2, 0);
            star.sim.Build();
            NS_TEST_ASSERT_MSG_EQ(star.sim.Check(), "", "2047 blocks are possible");
            star.sim.Run(10'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(star.sim.Finish(), "", "nothing is lost");
            const auto summary = star.sim.GetSummary();
            if (first.empty())
            {
                first = summary;
                NS_TEST_ASSERT_MSG_GT(Summary(star.sim)["delivered_bytes"],
                                      20.0 * 4096 * 64,
                                      "the counters wrap many times");
            }
            NS_TEST_ASSERT_MSG_EQ((summary == first), true, "every number is the same");
        }
        Star star(2048 * 64);
        star.Set("CounterBits", "12");
        star.Nodes(2);
        star.sim.Build();
        NS_TEST_ASSERT_MSG_NE(star.sim.Check().find("2048 blocks, but counters of 12 bits"),
                              std::string::npos,
                              "too much to promise: " << star.sim.Check());
    }
};

/// @ingroup cbfc-tests
/// @brief Random stars: no queue holds more than was promised, all flows finish, a failing link
/// does not eat credit.
class PromiseTest : public TestCase
{
  public:
    PromiseTest()
        : TestCase("no queue holds more than was promised, flows finish, also after a link failed")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < 60; ++round)
        {
            const int64_t buffer = 2048 + static_cast<int64_t>(random() % 200'000);
            const uint32_t senders = 2 + random() % 5;
            facade::Simulation sim(1);
            sim.SetAttribute("ns3::cbfc::Credit", "Buffer", std::to_string(buffer));
            sim.SetAttribute("ns3::cbfc::Credit",
                             "Period",
                             std::to_string(1 + random() % 20) + "us");
            sim.SetAttribute("ns3::cbfc::Credit", "OnChange", random() % 2 ? "true" : "false");
            sim.SetAttribute("ns3::rdma::QueuePair", "Timeout", "500us");
            HaveOnlyWhatIsPromised(sim);
            sim.AddFlowControl("ns3::cbfc::Credit");
            sim.SetAllowLoss(round % 3 == 0); // of what is on a link that fails
            sim.SetStopWhenDone(true);
            std::vector<uint8_t> kinds(senders + 1, 0);
            kinds.push_back(1);
            sim.AddNodes(kinds.data(), Names(kinds.size()), static_cast<uint32_t>(kinds.size()));
            const uint64_t rate = 25'000'000'000;
            for (uint32_t host = 0; host <= senders; ++host)
            {
                const uint32_t hub = senders + 1;
                const auto delay = static_cast<int64_t>(random() % 2'000'000);
                sim.AddLinks(&host, &hub, &rate, &delay, 1);
            }
            if (round % 3 == 0)
            {
                sim.FailLink(0, 30'000'000, 90'000'000);
            }
            for (uint32_t host = 0; host < senders; ++host)
            {
                const uint64_t bytes = 50'000 + random() % 300'000;
                const auto start = static_cast<int64_t>(random() % 20'000'000);
                const int64_t never = -1;
                const uint8_t cls = 3;
                const uint64_t none = 0;
                sim.AddFlows(&host, &senders, &bytes, &start, &never, &cls, &none, &none, 1);
            }
            sim.Build();
            NS_TEST_ASSERT_MSG_EQ(sim.Check(), "", "the configuration is possible");
            sim.Run(200'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "frames are conserved, round " << round);
            auto summary = Summary(sim);
            NS_TEST_ASSERT_MSG_EQ(summary["dropped_headroom_frames"],
                                  0,
                                  "none refused, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary["flows_unfinished"], 0, "all finished, round " << round);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(summary["peak_queue_bytes"],
                                        buffer,
                                        "as promised, round " << round);
            NS_TEST_ASSERT_MSG_GT(summary["cbfc_messages_sent"], 0, "credits were sent");
            NS_TEST_ASSERT_MSG_EQ(summary["deadlocked"], 0, "a star cannot deadlock");
        }
    }
};

/// @ingroup cbfc-tests
/// @brief A link of 100 us, 100 Gb/s: what is promised is set aside, no headroom is, and no loss
/// need be allowed; what cannot be held is refused.
class LongLinkTest : public TestCase
{
  public:
    LongLinkTest()
        : TestCase("a long link needs no headroom, takes all of the buffer, and gives what the "
                   "promise over the round trip gives; too large a promise is refused")
    {
    }

  private:
    static constexpr int64_t DELAY = 100'000'000;      //!< of the long link (ps)
    static constexpr int64_t DURATION = 4'000'000'000; //!< of a run (ps)

    /// h0, s0, the long link, s1, h1; one flow.
    /// @param sim the run. @param flowControl TypeId name. @param size of the buffers (B), nothing
    /// of it for lossy classes. @return what Check says.
    static std::string Build(facade::Simulation& sim, const std::string& flowControl, int64_t size)
    {
        sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", std::to_string(size));
        sim.SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", "0");
        sim.SetAttribute("ns3::cbfc::Credit", "Period", "2us");
        sim.AddFlowControl(flowControl);
        const std::vector<uint8_t> kinds{0, 1, 1, 0};
        sim.AddNodes(kinds.data(), Names(kinds.size()), 4);
        const std::vector<uint32_t> a{0, 1, 2};
        const std::vector<uint32_t> b{1, 2, 3};
        const std::vector<uint64_t> rates(3, 100'000'000'000);
        const std::vector<int64_t> delays{100'000, DELAY, 100'000};
        sim.AddLinks(a.data(), b.data(), rates.data(), delays.data(), 3);
        sim.AddFlow(0, 3, 3);
        sim.Build();
        return sim.Check();
    }

    void DoRun() override
    {
        // 2 D, at most 2 us until a message, and half a microsecond for frames and messages
        constexpr double TRIP = (2.0 * DELAY + 2'500'000) / 1e12; // s
        constexpr double LINE = 100e9 / 8 * 1000 / 1068;          // payload B/s: 1000 of 1068 B
        for (const int64_t blocks : {9'000, 20'000, 42'000})
        {
            // The two ports of a switch are promised all of its buffer, to the byte.
            const int64_t promised = blocks * BLOCK_BYTES;
            facade::Simulation sim(1);
            sim.SetAttribute("ns3::cbfc::Credit", "Buffer", std::to_string(promised));
            NS_TEST_ASSERT_MSG_EQ(Build(sim, "ns3::cbfc::Credit", 2 * promised),
                                  "",
                                  "no headroom besides the promise, " << promised << " B");
            sim.Run(DURATION);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing is lost, " << promised << " B");
            // frames of 1048 B take 17 blocks
            const double most = std::min(LINE, static_cast<double>(blocks / 17) * 1000 / TRIP);
            const double seconds = (DURATION - DELAY) / 1e12;
            NS_TEST_ASSERT_MSG_EQ_TOL(Summary(sim)["delivered_bytes"],
                                      most * seconds,
                                      0.05 * most * seconds,
                                      "the promise over the round trip, " << promised << " B");
        }
        const auto refusal = [](const std::string& flowControl, int64_t size) {
            facade::Simulation sim(1);
            sim.SetAttribute("ns3::cbfc::Credit", "Buffer", "1000063");
            return Build(sim, flowControl, size);
        };
        const std::string tooSmall = refusal("ns3::pfc::Pfc", 2 * 9'000 * BLOCK_BYTES);
        NS_TEST_ASSERT_MSG_NE(tooSmall.find("Pfc: eta' = 2 (C D + L_wire)"),
                              std::string::npos,
                              "PFC's headroom of 2.5 MB does not fit into the least of these "
                              "buffers: "
                                  << tooSmall);
        NS_TEST_ASSERT_MSG_EQ(refusal("ns3::cbfc::Credit", 2'000'000), "", "it just fits");
        const std::string refused = refusal("ns3::cbfc::Credit", 1'999'999);
        for (const char* word : {"n1: buffer over-committed",
                                 "Size 1999999 B is 1 B less",
                                 "ns3::cbfc::Credit: Buffer 1000063 B in whole blocks of 64 B = "
                                 "1000000 B",
                                 "in total 2000000 B are promised, but at most 1999999 B can be"})
        {
            NS_TEST_ASSERT_MSG_NE(refused.find(word), std::string::npos, word << ": " << refused);
        }
    }
};

/// @ingroup cbfc-tests
/// @brief PFC after Credit in one chain: a port may be paused by both.
class ChainTest : public TestCase
{
  public:
    ChainTest()
        : TestCase("time without credit and pauses by PFC overlap: the time of a port is that of "
                   "either, in the summary and in the table, to the picosecond")
    {
    }

  private:
    static constexpr int64_t FRAME = 854'400;   //!< ps of 1048 B and 20 B at 10 Gb/s
    static constexpr int64_t WIRE = 1'000'000;  //!< ps a link
    static constexpr int64_t PAUSE = 67'200;    //!< ps of a PFC frame
    static constexpr int64_t END = 900'000'000; //!< ps a run

    /// Pause times of a run in which host 0 sends to host 1 across a switch, and host 1 storms.
    /// @param star the network, of which attributes may be set. @param storms start and end of each
    /// (ps) @param slow rate at which host 1 receives (bit/s); 0: as fast as the link.
    /// @return pause time of the switch's port to host 1, and of all ports (ps).
    std::pair<int64_t, int64_t> Run(Star& star,
                                    const std::vector<std::pair<int64_t, int64_t>>& storms,
                                    uint64_t slow = 0)
    {
        facade::Simulation& sim = star.sim;
        sim.SetAttribute("ns3::pfc::Pfc", "Mode", "OnOff");
        star.Nodes(2, "ns3::pfc::Pfc");
        if (slow)
        {
            sim.SetReceiveRate(1, slow, 0);
        }
        star.Flow(0, 1, 0);
        for (const auto& [start, stop] : storms)
        {
            sim.AddPauseStorm(1, 3, start, stop);
        }
        const std::array<uint32_t, 4> nodes{0, 1, 2, 2};
        const std::array<int64_t, 4> peers{2, 2, 0, 1};
        sim.Trace("pause", nodes.data(), peers.data(), 4, 1U << 3, 0);
        sim.Build();
        NS_TEST_EXPECT_MSG_EQ(sim.Check(), "", "possible");
        sim.Run(END);
        NS_TEST_EXPECT_MSG_EQ(sim.Finish(), "", "nothing is lost");
        std::pair<int64_t, int64_t> time{};
        std::map<uint64_t, int64_t> last; // end of the last pause of (node, peer)
        Rows(sim, [&](int64_t start, int64_t end, uint32_t node, uint32_t peer) {
            int64_t& before = last.try_emplace(uint64_t{node} << 32 | peer, -1).first->second;
            NS_TEST_EXPECT_MSG_GT_OR_EQ(start, before, "pauses of a port do not overlap");
            before = end;
            time.first += node == 2 && peer == 1 ? end - start : 0;
            time.second += end - start;
        });
        NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(Summary(sim)["pause_time_ps"]),
                              time.second,
                              "the summary is the sum of the table");
        return time;
    }

    /// Look at the pauses that ports obeyed.
    /// @param sim the run. @param look called with start, end, node and peer.
    static void Rows(const facade::Simulation& sim,
                     const std::function<void(int64_t, int64_t, uint32_t, uint32_t)>& look)
    {
        uint32_t table = 0;
        while (sim.GetTableName(table) != "pause")
        {
            ++table;
        }
        std::map<std::string, uintptr_t> columns;
        for (uint32_t i = 0; i < sim.GetNColumns(table); ++i)
        {
            columns[sim.GetColumnName(table, i)] = sim.GetColumnData(table, i);
        }
        const auto* start = reinterpret_cast<const int64_t*>(columns.at("start_ps"));
        const auto* end = reinterpret_cast<const int64_t*>(columns.at("end_ps"));
        const auto* node = reinterpret_cast<const uint32_t*>(columns.at("node"));
        const auto* peer = reinterpret_cast<const uint32_t*>(columns.at("peer"));
        const auto* side = reinterpret_cast<const uint8_t*>(columns.at("side"));
        for (uint64_t row = 0; row < sim.GetNRows(table); ++row)
        {
            if (side[row] == 1)
            {
                look(start[row], end[row], node[row], peer[row]);
            }
        }
    }

    void DoRun() override
    {
        // 1000 blocks and no grant before the end: 58 frames of 17 blocks go over each link, and a
        // port is out of credit when it starts the last.
        constexpr int64_t LAST = 57 * FRAME;
        constexpr int64_t HOST = END - LAST;
        const auto starved = FRAME + WIRE + LAST; // when the switch starts its last frame
        {
            Star star(64'000);
            star.Set("Period", "1ms");
            const auto time = Run(star, {{200'000'000, 300'000'000}, {400'000'000, 500'000'000}});
            NS_TEST_ASSERT_MSG_EQ(time.first, END - starved, "storms without credit add nothing");
            NS_TEST_ASSERT_MSG_EQ(time.second, END - starved + HOST, "nor elsewhere");
        }
        {
            Star star(64'000);
            star.Set("Period", "1ms");
            const auto time = Run(star, {{200'000'000, -1}});
            NS_TEST_ASSERT_MSG_EQ(time.first, END - starved, "nor does one that does not end");
        }
        {
            // The class is paused before the first frame comes, and then sends all in one go.
            constexpr int64_t STOP = 100'000'000;
            Star star(64'000);
            star.Set("Period", "1ms");
            const auto time = Run(star, {{0, STOP}, {500'000'000, 600'000'000}});
            const int64_t resumed = STOP + PAUSE + WIRE;
            NS_TEST_ASSERT_MSG_EQ(time.first,
                                  STOP + END - (resumed + LAST),
                                  "one pause before, and one from the last frame on");
        }
        // Credit comes and goes, storms begin and end whenever they like.
        std::mt19937_64 random(3);
        for (int round = 0; round < 30; ++round)
        {
            Star star(static_cast<int64_t>(3000 + random() % 30'000));
            star.Set("Period", std::to_string(1 + random() % 50) + "us");
            star.Set("OnChange", round % 2 ? "true" : "false");
            std::vector<std::pair<int64_t, int64_t>> storms;
            for (int storm = 0; storm < 5; ++storm)
            {
                const auto start = static_cast<int64_t>(random() % 800'000'000);
                storms.emplace_back(start,
                                    start + 1 + static_cast<int64_t>(random() % 100'000'000));
            }
            Run(star, storms, 1'000'000'000 + random() % 5'000'000'000);
        }
    }
};

/// @ingroup cbfc-tests
/// @brief A ring in which every host sends two hops: CBFC deadlocks, as the GFC paper says, and
/// stays so.
class RingTest : public TestCase
{
  public:
    RingTest()
        : TestCase("a cyclic dependency deadlocks, and the deadlock outlives its sources")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t N = 5;
        facade::Simulation sim(1);
        sim.SetAttribute("ns3::cbfc::Credit", "Buffer", "100000");
        sim.SetAttribute("ns3::cbfc::Credit", "Period", "5us");
        sim.SetAttribute("ns3::rdma::QueuePair", "Retransmit", "None");
        sim.AddFlowControl("ns3::cbfc::Credit");
        std::vector<uint8_t> kinds(2 * N, 1);
        std::fill_n(kinds.begin(), N, 0);
        sim.AddNodes(kinds.data(), Names(2 * N), 2 * N);
        const uint64_t rate = 40'000'000'000;
        const int64_t delay = 1'000'000;
        for (uint32_t i = 0; i < N; ++i)
        {
            const uint32_t here = N + i;
            const uint32_t next = N + (i + 1) % N;
            sim.AddLinks(&i, &here, &rate, &delay, 1);
            sim.AddLinks(&here, &next, &rate, &delay, 1);
        }
        for (uint32_t i = 0; i < N; ++i)
        {
            const uint32_t dst = (i + 2) % N;
            const uint64_t none = 0;
            const int64_t start = 0;
            const int64_t stop = 5'000'000'000;
            const uint8_t cls = 3;
            sim.AddFlows(&i, &dst, &none, &start, &stop, &cls, &none, &none, 1);
        }
        sim.Build();
        sim.Run(5'000'000'000);
        const double halfway = Summary(sim)["delivered_bytes"];
        NS_TEST_ASSERT_MSG_LT(Summary(sim)["last_delivery_ps"], 4e9, "nothing arrives any more");
        // The sources are silent now, and still nothing moves.
        sim.Run(50'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "and nothing is lost");
        auto summary = Summary(sim);
        NS_TEST_ASSERT_MSG_EQ(summary["deadlocked"], 1, "a deadlock for certain");
        NS_TEST_ASSERT_MSG_EQ(summary["deadlock_cycle_queues"], N, "all around the ring");
        NS_TEST_ASSERT_MSG_EQ(summary["deadlock_stuck_queues"], 2 * N, "and every host behind it");
        NS_TEST_ASSERT_MSG_EQ(summary["delivered_bytes"], halfway, "what is stuck stays stuck");
        NS_TEST_ASSERT_MSG_GT(Summary(sim)["sent_bytes"], halfway, "and there is something stuck");
    }
};

/// @ingroup cbfc-tests
/// @brief Tests of Credit.
class CreditTestSuite : public TestSuite
{
  public:
    CreditTestSuite()
        : TestSuite("cbfc-credit", Type::UNIT)
    {
        AddTestCase(new MessageTest, TestCase::Duration::QUICK);
        AddTestCase(new ResyncTest, TestCase::Duration::QUICK);
        AddTestCase(new CounterTest, TestCase::Duration::QUICK);
        AddTestCase(new PromiseTest, TestCase::Duration::QUICK);
        AddTestCase(new LongLinkTest, TestCase::Duration::QUICK);
        AddTestCase(new ChainTest, TestCase::Duration::QUICK);
        AddTestCase(new RingTest, TestCase::Duration::QUICK);
    }
};

static CreditTestSuite g_creditTestSuite; //!< registers the suite

} // namespace tests
} // namespace cbfc
} // namespace ns3
