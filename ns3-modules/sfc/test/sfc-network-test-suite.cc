/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "sfc-test-network.h"

#include "ns3/lossless-rate.h"
#include "ns3/sfc-two-hash-filter.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>
#include <set>
#include <span>
#include <tuple>
#include <vector>

/**
 * @file
 * @ingroup sfc-tests
 * Source flow control in small networks, against what a witness on every node saw.
 */

namespace ns3
{
namespace sfc
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::N_CLASSES;
using lossless::TransmissionTime;
using lossless::tests::Draws;

constexpr int64_t OVERHEAD = 20; //!< B a frame on the wire

/// A data frame that joined a queue above the threshold.
struct Above
{
    int64_t time;     //!< ps
    Frame data;       //!< it
    int64_t octets;   //!< wire bytes in the queue
    uint64_t episode; //!< times the queue rose above the threshold
    int64_t gone;     //!< its last bit left the queue (ps); -1: it is still there
};

/// Work out, from what joined and left, which frames found an egress queue above the threshold.
/// @param node switch. @param port egress. @param cls class. @param threshold B. @param rate of the
/// port (bit/s) @return them.
std::vector<Above>
FindAbove(uint32_t node, uint16_t port, uint8_t cls, int64_t threshold, uint64_t rate)
{
    std::vector<Above> found;
    std::map<std::pair<uint32_t, uint32_t>, std::size_t> waiting; // by flow and packet
    int64_t bytes = 0;
    int64_t octets = 0;
    uint64_t episode = 0;
    bool above = false;
    for (const Log::Moved& moved : Witness::g_seen.moved)
    {
        if (moved.node != node || moved.port != port || moved.data.cls != cls)
        {
            continue;
        }
        const int64_t wire = moved.data.bytes + OVERHEAD;
        bytes += moved.joined ? moved.data.bytes : -moved.data.bytes;
        octets += moved.joined ? wire : -wire;
        const auto name = std::make_pair(moved.data.flow, moved.data.psn);
        if (bytes <= threshold)
        {
            above = false;
        }
        else if (moved.joined)
        {
            episode += !above;
            above = true;
            waiting[name] = found.size();
            found.push_back({moved.time, moved.data, octets, episode, -1});
        }
        if (!moved.joined && waiting.contains(name))
        {
            found[waiting[name]].gone = moved.time + TransmissionTime(wire, rate);
            waiting.erase(name);
        }
    }
    return found;
}

/// The interval of a queue, in whole ns. @param octets B. @param rate bit/s. @return ps.
int64_t
Interval(int64_t octets, uint64_t rate)
{
    return (TransmissionTime(octets, rate) + 999) / 1000 * 1000;
}

/// @ingroup sfc-tests
/// @brief Messages, intervals and pauses at all rates.
class RatesTest : public TestCase
{
  public:
    RatesTest()
        : TestCase("10 to 400G: a message for every frame above the threshold, its interval "
                   "is the drain time, and the source is silent for the longest of all")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t gbps : {10, 25, 40, 100, 200, 400})
        {
            for (const char* window : {"0ps", "10us"})
            {
                CheckRate(gbps * 1'000'000'000, window);
            }
        }
    }

    /// Two senders, one receiver. @param rate bit/s. @param window of the bandwidth.
    void CheckRate(uint64_t rate, const std::string& window)
    {
        constexpr int64_t THRESHOLD = 60'000;
        constexpr int64_t DELAY = 500'000;
        Network net;
        net.SetPoint("Threshold", std::to_string(THRESHOLD));
        net.SetPoint("BandwidthWindow", window);
        net.SetPoint("MessageClass", "7");
        net.sim.SetAttribute("ns3::rdma::QueuePair", "AckEvery", "1000000");
        net.Star(3, rate, DELAY);
        net.Flow(1, 0, 0);
        net.Flow(2, 0, 0, 777'000);
        net.m_egress = {3, 0};
        NS_TEST_ASSERT_MSG_EQ(net.Run(400'000'000), "", "nothing lost");
        CheckTrace(net.sim);

        const auto above = FindAbove(3, 0, 3, THRESHOLD, rate);
        const auto& made = Witness::g_seen.made;
        NS_TEST_ASSERT_MSG_GT(above.size(), 20, "the threshold was passed");
        NS_TEST_ASSERT_MSG_EQ(made.size(), above.size(), "one message for each of them");
        const int64_t frame = TransmissionTime(1048 + OVERHEAD, rate);
        for (std::size_t i = 0; i < above.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(made[i].time, above[i].time, "at once");
            NS_TEST_ASSERT_MSG_EQ(made[i].host, above[i].data.src, "to its source");
            NS_TEST_ASSERT_MSG_EQ(+made[i].message.cls, 3, "class");
            NS_TEST_ASSERT_MSG_EQ(made[i].octets, above[i].octets, "octets");
            NS_TEST_ASSERT_MSG_EQ(made[i].message.interval,
                                  Interval(above[i].octets, rate),
                                  "interval at " << rate);
            if (above[i].gone >= 0)
            {
                // The queue drains when the frame under way and then its octets have gone.
                const int64_t drained = above[i].gone - above[i].time;
                const int64_t rest = drained - TransmissionTime(above[i].octets, rate);
                NS_TEST_ASSERT_MSG_GT_OR_EQ(rest, -1000, "drained no sooner");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(rest, frame + 1000, "nor later than a frame more");
            }
        }
        CheckPauses(3);
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_sent"), made.size(), "counted");
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_received"),
                              Witness::g_seen.arrived.size(),
                              "all those that arrived");
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_frames_above_threshold"), above.size(), "counted");
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_late"), 0, "none is late");
        // Sent over the wire as 148 B, behind nothing: at most the message before it is under way.
        for (std::size_t i = 0; i < Witness::g_seen.arrived.size(); ++i)
        {
            const auto& arrived = Witness::g_seen.arrived[i];
            NS_TEST_ASSERT_MSG_GT_OR_EQ(arrived.time - arrived.message.stamp,
                                        TransmissionTime(128 + OVERHEAD, rate) + DELAY,
                                        "takes its time");
        }
    }

    /// The table "egress" tells what the witness saw. @param sim the run
    void CheckTrace(const facade::Simulation& sim)
    {
        std::vector<int64_t> expected{0};
        for (const Log::Moved& moved : Witness::g_seen.moved)
        {
            if (moved.node == 3 && moved.port == 0)
            {
                expected.push_back(expected.back() +
                                   (moved.joined ? moved.data.bytes : -moved.data.bytes));
            }
        }
        NS_TEST_ASSERT_MSG_EQ(sim.GetTableName(1), "egress", "the table is there");
        NS_TEST_ASSERT_MSG_EQ(sim.GetColumnName(1, 4), "bytes", "and its column");
        NS_TEST_ASSERT_MSG_EQ(sim.GetNRows(1), expected.size(), "a row for every change");
        const auto* bytes = reinterpret_cast<const int64_t*>(sim.GetColumnData(1, 4));
        NS_TEST_ASSERT_MSG_EQ(std::equal(expected.begin(), expected.end(), bytes), true, "bytes");
    }

  public:
    /// No frame of a class leaves a host in a pause; pauses are the longest of all.
    /// @param hosts how many
    void CheckPauses(uint32_t hosts)
    {
        std::vector<int64_t> until(hosts, 0);
        std::size_t next = 0;
        const auto& paused = Witness::g_seen.paused;
        const auto& arrived = Witness::g_seen.arrived;
        NS_TEST_ASSERT_MSG_EQ(paused.size(), arrived.size(), "every message is obeyed");
        for (std::size_t i = 0; i < paused.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(paused[i].until,
                                  arrived[i].time + arrived[i].message.interval,
                                  "as long as it says");
        }
        uint64_t frames = 0;
        for (const Log::Moved& moved : Witness::g_seen.moved)
        {
            if (moved.node >= hosts || moved.joined)
            {
                continue;
            }
            while (next < paused.size() && paused[next].time < moved.time)
            {
                int64_t& end = until[paused[next].node];
                end = std::max(end, paused[next].until);
                ++next;
            }
            NS_TEST_ASSERT_MSG_GT_OR_EQ(moved.time, until[moved.node], "silent in the pause");
            ++frames;
        }
        NS_TEST_ASSERT_MSG_GT(frames, 100, "frames were sent");
    }
};

/// @ingroup sfc-tests
/// @brief Overlapping messages, scopes, unknown sources and flows, latencies of the NIC.
class ReactionTest : public TestCase
{
  public:
    ReactionTest()
        : TestCase("reaction point: the longer of what remains and what is new, by class, "
                   "interface and flow; unknown sources and flows are counted and dropped")
    {
    }

  private:
    /// Sends messages of its own making from a switch.
    class Sender
    {
      public:
        explicit Sender(std::mt19937_64& random, uint32_t host)
            : m_random(random),
              m_host(host)
        {
        }

        /// Send one, and plan the next. @param node switch
        void Send(lossless::FabricNode* node)
        {
            Message message;
            message.interval = static_cast<int64_t>(m_random() % 30'000'000);
            message.stamp = lossless::NowPs();
            message.cls = static_cast<uint8_t>(3 + m_random() % 2);
            Frame* frame = lossless::FramePool::Take();
            frame->kind = FrameKind::SIGNAL;
            frame->bytes = 128;
            frame->cls = lossless::CONTROL_CLASS;
            frame->src = node->GetId();
            frame->dst = m_host;
            frame->flow = static_cast<uint32_t>(m_random() % 5); // 0, 1 of class 3, 4; 2 of others
            Write(message, *frame);
            node->Inject(frame);
            Simulator::Schedule(TimeStep(m_random() % 20'000'000), &Sender::Send, this, node);
        }

      private:
        std::mt19937_64& m_random; //!< of the round
        uint32_t m_host;           //!< to whom
    };

    void DoRun() override
    {
        std::mt19937_64 random(11);
        for (const std::string scope : {"Class", "Interface", "Flow"})
        {
            for (const int64_t latency : {0, 300'000})
            {
                Round(random, scope, latency);
            }
        }
    }

    void Round(std::mt19937_64& random, const std::string& scope, int64_t latency)
    {
        Network net;
        net.SetPoint("Threshold", "900000000"); // only messages made here
        net.sim.SetAttribute("ns3::sfc::SfcReactionPoint", "Scope", scope);
        net.sim.SetAttribute("ns3::sfc::SfcReactionPoint",
                             "SendLatency",
                             std::to_string(latency) + "ps");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "24");
        net.sim.SetAttribute("ns3::lossless::Port", "ClassService", "Dwrr");
        net.Star(4, 25'000'000'000, 500'000);
        net.Flow(1, 0, 0, 0, 3);
        net.Flow(1, 0, 0, 0, 4);
        net.Flow(2, 3, 1000, 0, 3);
        Sender sender(random, 1);
        Witness::g_start = [&](lossless::FabricNode& node) {
            if (node.GetId() == 4)
            {
                Simulator::Schedule(TimeStep(1), &Sender::Send, &sender, &node);
            }
        };
        uint64_t count = 0;
        uint64_t strangers = 0;
        Witness::g_tamper = [&](Frame& frame) {
            if (++count % 10 == 0)
            {
                frame.dst = 2; // as if the switch had sent it to the wrong host
                ++strangers;
            }
        };
        NS_TEST_ASSERT_MSG_EQ(net.Run(5'000'000'000), "", "nothing lost");

        // The reference: by flow, until when it is silent.
        std::array<int64_t, 2> until{};
        uint64_t unknown = 0;
        uint64_t covered = 0;
        int64_t held = 0;
        std::vector<std::array<int64_t, 3>> silences; // flow, from, until
        for (const Log::Said& arrived : Witness::g_seen.arrived)
        {
            if (arrived.host != 1)
            {
                continue;
            }
            if (arrived.flow > 1)
            {
                ++unknown;
                continue;
            }
            const int64_t from = arrived.time + latency;
            const int64_t end = from + arrived.message.interval;
            bool longer = false;
            for (uint32_t flow = 0; flow < 2; ++flow)
            {
                if (scope == "Interface" || (scope == "Flow" && flow == arrived.flow) ||
                    (scope == "Class" && flow + 3U == arrived.message.cls))
                {
                    const int64_t before = std::max(from, until[flow]);
                    if (end > before)
                    {
                        longer = true;
                        held += scope == "Interface" && flow == 1 ? 0 : end - before;
                        until[flow] = end;
                    }
                    silences.push_back({flow, from, end});
                }
            }
            covered += !longer;
        }
        NS_TEST_ASSERT_MSG_GT(Witness::g_seen.paused.size(), 100, "many messages");
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_unknown_flow_messages"), unknown, scope);
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_unknown_source_messages"), strangers, scope);
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_covered"), covered, scope);
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_hold_time_ps"), held, scope);
        NS_TEST_ASSERT_MSG_GT(std::min(unknown, strangers), 10, "both happened");
        NS_TEST_ASSERT_MSG_GT(covered, 5, "some lengthened nothing");
        // One frame that was made before a pause of its flow may still wait at the port.
        std::array<int64_t, 2> silent{};
        std::array<uint64_t, 2> sent{};
        std::array<bool, 2> late{};
        std::size_t next = 0;
        for (const Log::Moved& moved : Witness::g_seen.moved)
        {
            if (moved.node != 1 || moved.joined)
            {
                continue;
            }
            while (next < silences.size() && silences[next][1] < moved.time)
            {
                int64_t& end = silent[silences[next][0]];
                if (silences[next][1] >= end)
                {
                    late[silences[next][0]] = false;
                }
                end = std::max(end, silences[next][2]);
                ++next;
            }
            const uint32_t flow = moved.data.flow;
            if (moved.time < silent[flow])
            {
                NS_TEST_ASSERT_MSG_EQ((scope == "Flow" && !late[flow]),
                                      true,
                                      scope << ": sent in a pause at " << moved.time);
                late[flow] = true;
            }
            ++sent[flow];
        }
        NS_TEST_ASSERT_MSG_GT(std::min(sent[0], sent[1]), 500, "both flows had their share");
    }
};

/// @ingroup sfc-tests
/// @brief Filters against a reference on the log.
class FilterTest : public TestCase
{
  public:
    FilterTest()
        : TestCase("filters: who is told, against a second model of each")
    {
    }

  private:
    /// A message that is expected.
    using Expected = std::tuple<int64_t, uint32_t, int64_t>; // time, source, interval

    void DoRun() override
    {
        for (const std::string filter :
             {"None", "First", "FirstAndLast", "FirstAndExpiry", "TwoHash"})
        {
            for (const std::string key : {"Hosts", "Flow"})
            {
                Round(filter, key);
            }
        }
    }

    void Round(const std::string& filter, const std::string& key)
    {
        constexpr int64_t THRESHOLD = 20'000;
        constexpr uint64_t RATE = 25'000'000'000;
        constexpr int64_t EPOCH = 7'000'000;
        constexpr int64_t GAP = 2'000'000;
        Network net;
        net.SetPoint("Threshold", std::to_string(THRESHOLD));
        net.SetPoint("BandwidthWindow", "0ps");
        net.SetPoint("Filter", filter);
        net.SetPoint("Key", key);
        net.SetPoint("Epoch", "7us");
        net.SetPoint("HashBits", "4");
        net.Star(6, RATE, 1'000'000);
        for (uint32_t host = 1; host < 6; ++host)
        {
            net.Flow(host, 0, 300'000, host * 3'000'000);
            net.Flow(host, 0, 300'000, host * 11'000'000);
        }
        NS_TEST_ASSERT_MSG_EQ(net.Run(3'000'000'000), "", "nothing lost");
        NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, filter << ": all finish");

        const auto above = FindAbove(6, 0, 3, THRESHOLD, RATE);
        std::vector<Expected> expected;

        /// What the reference knows of a key.
        struct Known
        {
            uint64_t episode{0};              //!< of the last message
            int64_t expires{0};               //!< of the last message (ps)
            const Above* suppressed{nullptr}; //!< the latest since
        };

        std::map<uint32_t, Known> known;
        std::map<uint32_t, std::set<int64_t>> said; // by source: epochs
        std::set<uint32_t> first;
        std::set<uint32_t> second;
        TwoHashFilter places;
        places.Configure(4, EPOCH);
        int64_t epoch = 0;
        uint64_t expired = 0;
        const auto flush = [&](int64_t now) {
            for (auto& [name, one] : known)
            {
                if (one.suppressed && one.suppressed->time + GAP <= now)
                {
                    const int64_t rest = Interval(one.suppressed->octets, RATE) - GAP;
                    const int64_t time = one.suppressed->time + GAP;
                    if (rest > 0)
                    {
                        expected.emplace_back(time, one.suppressed->data.src, rest);
                        one.expires = time + rest;
                    }
                    one.suppressed = nullptr;
                }
            }
        };
        for (const Above& frame : above)
        {
            if (filter == "FirstAndLast")
            {
                flush(frame.time);
            }
            const int64_t interval = Interval(frame.octets, RATE);
            Known& one = known[key == "Flow" ? frame.data.flow : frame.data.src];
            const bool fresh = one.episode != frame.episode;
            const bool over = frame.time > one.expires;
            expired += !fresh && over;
            bool tell = filter == "None" || fresh || (filter == "FirstAndExpiry" && over);
            if (filter == "TwoHash")
            {
                if (frame.time / EPOCH != epoch)
                {
                    first.clear();
                    second.clear();
                    epoch = frame.time / EPOCH;
                }
                const auto [a, b] = places.Places(frame.data.src, frame.data.dst, 3);
                tell = !first.contains(a) || !second.contains(b);
                first.insert(a);
                second.insert(b);
            }
            if (tell)
            {
                expected.emplace_back(frame.time, frame.data.src, interval);
                one = {frame.episode, frame.time + interval, nullptr};
            }
            else if (filter == "FirstAndLast")
            {
                one.suppressed = &frame;
            }
        }
        flush(3'000'000'000);
        std::sort(expected.begin(), expected.end());
        std::vector<Expected> made;
        for (const Log::Said& message : Witness::g_seen.made)
        {
            made.emplace_back(message.time, message.host, message.message.interval);
        }
        std::sort(made.begin(), made.end());
        NS_TEST_ASSERT_MSG_EQ(made.size(), expected.size(), filter << " by " << key);
        NS_TEST_ASSERT_MSG_EQ((made == expected), true, filter << " by " << key);
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_frames_after_expiry"), expired, filter);
        if (filter != "None")
        {
            NS_TEST_ASSERT_MSG_LT(made.size(), above.size(), filter << " suppresses some");
            NS_TEST_ASSERT_MSG_GT(made.size(), 4, filter << " lets some through");
        }
    }
};

/// @ingroup sfc-tests
/// @brief Lost and late messages.
class LossTest : public TestCase
{
  public:
    LossTest()
        : TestCase("lost messages are missed, not waited for; late ones are counted")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t share : {2, 10, 1})
        {
            Network net;
            net.SetPoint("Threshold", "20000");
            net.SetPoint("MessageClass", "6");
            net.sim.SetAllowLoss(true);
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "0");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LossyPool", "16000000");
            net.Star(5, 25'000'000'000, 1'000'000);
            for (uint32_t host = 1; host < 5; ++host)
            {
                net.Flow(host, 0, 2'000'000);
            }
            uint64_t seen = 0;
            uint64_t lost = 0;
            Witness::g_lose = [&](Frame&) {
                const bool lose = ++seen % share == 0;
                lost += lose;
                return lose;
            };
            NS_TEST_ASSERT_MSG_EQ(net.Run(20'000'000'000), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "all finish");
            NS_TEST_ASSERT_MSG_GT(lost, 20, "messages were lost");
            NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_sent"),
                                  net.Number("sfc_messages_received") + static_cast<double>(lost),
                                  "the others arrived");
            NS_TEST_ASSERT_MSG_EQ(net.Number("dropped_link_down_frames"), lost, "none but these");
            if (share > 1)
            {
                NS_TEST_ASSERT_MSG_LT(net.Number("sfc_peak_queue_bytes"),
                                      200'000,
                                      "one message of many suffices");
            }
            else
            {
                NS_TEST_ASSERT_MSG_GT(net.Number("sfc_peak_queue_bytes"),
                                      3'000'000,
                                      "without any nobody pauses");
            }
        }

        // 300 us of wire: what is above the threshold is gone when the message comes.
        Network net;
        net.SetPoint("Threshold", "20000");
        net.Star(3, 25'000'000'000, 300'000'000);
        net.Flow(1, 0, 120'000);
        net.Flow(2, 0, 120'000);
        NS_TEST_ASSERT_MSG_EQ(net.Run(5'000'000'000), "", "nothing lost");
        uint64_t late = 0;
        for (const Log::Said& arrived : Witness::g_seen.arrived)
        {
            late += arrived.time - arrived.message.stamp > arrived.message.interval;
        }
        NS_TEST_ASSERT_MSG_GT(late, 50, "messages were late");
        NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_late"), late, "and counted");
    }
};

/// @ingroup sfc-tests
/// @brief Plain NICs behind a proxy.
class ProxyTest : public TestCase
{
  public:
    ProxyTest()
        : TestCase("proxy: quanta that cover the interval; PFC of the same port never shortens a "
                   "pause, nor is shortened; what cannot work is refused")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<uint64_t> rates{100, 10, 25, 40, 200, 400};
        for (const uint64_t gbps : std::span(rates).first(Draws(6)))
        {
            for (const int64_t xoff : {0, 15'000, 60'000})
            {
                for (const std::string scope : {"Class", "Interface"})
                {
                    Round(gbps * 1'000'000'000, xoff, scope);
                }
            }
        }
        NS_TEST_ASSERT_MSG_GT(m_raised, Draws(100), "both paused at once");
        {
            Network without(true);
            without.Star(3, 10'000'000'000, 0);
            without.Flow(1, 0, 0);
            NS_TEST_ASSERT_MSG_NE(without.Run(1000).find("does not obey PFC"),
                                  std::string::npos,
                                  "no PFC at the NIC");
            without.sim.Finish();
        }
        Network forever(true);
        forever.sim.AddFlowControl("ns3::pfc::Pfc");
        forever.sim.SetAttribute("ns3::pfc::Pfc", "Mode", "OnOff");
        forever.Star(3, 10'000'000'000, 0);
        forever.Flow(1, 0, 0);
        NS_TEST_ASSERT_MSG_NE(forever.Run(1000).find("must be Timer"),
                              std::string::npos,
                              "a pause without an end");
    }

    void Round(uint64_t rate, int64_t xoff, const std::string& scope)
    {
        constexpr int64_t DELAY = 500'000;
        constexpr int64_t LATENCY = 400'000;
        Network net(true);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.SetPoint("Threshold", "12000");
        net.sim.SetAttribute("ns3::sfc::SfcProxy", "Scope", scope);
        net.sim.SetAttribute("ns3::lossless::Switch", "Latency", std::to_string(LATENCY) + "ps");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Xoff",
                             std::to_string(xoff ? xoff : 4'000'000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Xon",
                             std::to_string(xoff ? xoff / 2 : 1000));
        // h1, h2 at the first switch, h3 and the receiver h0 at the second
        net.Nodes(4, 2);
        net.Link(1, 4, rate, DELAY);
        net.Link(2, 4, rate, DELAY);
        net.Link(0, 5, rate, DELAY);
        net.Link(3, 5, rate, DELAY);
        net.Link(4, 5, rate, DELAY);
        for (uint32_t host = 1; host < 4; ++host)
        {
            net.Flow(host, 0, 0);
        }
        NS_TEST_ASSERT_MSG_EQ(net.Run(600'000'000), "", "nothing lost");
        const auto& log = Witness::g_seen;
        NS_TEST_ASSERT_MSG_GT(net.Number("sfc_proxy_pfc_frames"), 10, "it acted");
        NS_TEST_ASSERT_MSG_EQ(log.arrived.size(), 0, "no message reaches a NIC");
        m_raised += xoff ? net.Number("sfc_proxy_words_raised") : 0;
        if (xoff == 0)
        {
            NS_TEST_ASSERT_MSG_EQ(net.Number("pauses_sent"), 0, "PFC itself had no reason");
        }
        // A message for h3 is made in its own switch; the proxy has it at once, the NIC after at
        // most a frame, the PFC frame and the wire. From then to the end of the interval, counted
        // from the proxy, no frame of the class may begin.
        const int64_t slack = TransmissionTime(1048 + OVERHEAD, rate) +
                              2 * TransmissionTime(64 + OVERHEAD, rate) + DELAY;
        std::vector<std::pair<int64_t, int64_t>> silences;
        for (const Log::Said& message : log.made)
        {
            if (message.host == 3)
            {
                silences.emplace_back(message.time + slack,
                                      message.time + message.message.interval);
            }
        }
        NS_TEST_ASSERT_MSG_GT(silences.size(), 10, "h3 was told");
        int64_t until = 0;
        std::size_t next = 0;
        uint64_t sent = 0;
        for (const Log::Moved& moved : log.moved)
        {
            if (moved.node == 3 && !moved.joined)
            {
                while (next < silences.size() && silences[next].first < moved.time)
                {
                    until = std::max(until, silences[next++].second);
                }
                NS_TEST_ASSERT_MSG_GT_OR_EQ(moved.time,
                                            until,
                                            "silent, xoff " << xoff << " rate " << rate);
                ++sent;
            }
        }
        NS_TEST_ASSERT_MSG_GT(sent, 30, "h3 did send");
        // Where PFC has no reason every frame that reaches a NIC is the proxy's: the longest of
        // all intervals, in quanta rounded up, and no more.
        if (xoff == 0)
        {
            uint64_t frames = 0;
            for (const Log::Told& told : log.told)
            {
                if (told.node != 3)
                {
                    continue;
                }
                ++frames;
                NS_TEST_ASSERT_MSG_EQ(told.control.classes,
                                      (scope == "Class" ? 0x08 : 0xff),
                                      "classes");
                int64_t longest = 0;
                const int64_t left = told.time - DELAY - TransmissionTime(64 + OVERHEAD, rate);
                for (const Log::Said& message : log.made)
                {
                    if (message.host == 3 && message.time <= left)
                    {
                        longest = std::max(longest, message.time + message.message.interval);
                    }
                }
                const int64_t quantum = TransmissionTime(64, rate);
                const int64_t pause = told.control.value[3] * quantum;
                // Its words were spelled when it was queued, at most a frame before it left.
                NS_TEST_ASSERT_MSG_GT_OR_EQ(left + pause, longest, "covers the interval");
                NS_TEST_ASSERT_MSG_LT(left + pause,
                                      longest + 2 * quantum + TransmissionTime(1500, rate),
                                      "and little more");
            }
            NS_TEST_ASSERT_MSG_GT(frames, 3, "h3 was paused");
        }
    }

    double m_raised{0}; //!< words of PFC that the proxy made longer
};

/// @ingroup sfc-tests
/// @brief A slow receiver, and queues that do not get the line.
class BandwidthTest : public TestCase
{
  public:
    BandwidthTest()
        : TestCase("a slow receiver tells the sources at its own pace; a queue that gets half of "
                   "the line asks for twice the pause; one that is paused, for the longest")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t percent : {10, 40, 90})
        {
            constexpr uint64_t RATE = 25'000'000'000;
            constexpr int64_t THRESHOLD = 30'000;
            const uint64_t slow = RATE * percent / 100;
            Network net;
            net.SetPoint("Threshold", std::to_string(THRESHOLD));
            net.Star(2, RATE, 500'000);
            net.sim.SetReceiveRate(0, slow, 0);
            net.Flow(1, 0, 0);
            NS_TEST_ASSERT_MSG_EQ(net.Run(2'000'000'000), "", "nothing lost");
            NS_TEST_ASSERT_MSG_GT(Witness::g_seen.made.size(), 20, "it told");
            for (const Log::Said& message : Witness::g_seen.made)
            {
                NS_TEST_ASSERT_MSG_EQ(message.node, 0, "the host, not the switch");
                NS_TEST_ASSERT_MSG_GT(message.octets, THRESHOLD, "above the threshold");
                NS_TEST_ASSERT_MSG_EQ(message.message.interval,
                                      Interval(message.octets, slow),
                                      "at its own pace");
            }
            // Two frames beyond what comes in the time of the loop: two delays, frames, message.
            const int64_t loop = 4 * 500'000 + 6 * TransmissionTime(1068, RATE);
            NS_TEST_ASSERT_MSG_LT(net.Number("sfc_peak_queue_bytes"),
                                  THRESHOLD + lossless::BytesInTime(RATE, loop),
                                  "bounded");
            NS_TEST_ASSERT_MSG_GT(net.Number("delivered_bytes"),
                                  0.9 * static_cast<double>(slow) * 2e-3 / 8 * 1000 / 1048,
                                  "and busy all the time");
        }

        // Classes 3 and 4 share an egress by DRR: each drains at half of the line.
        for (const bool shared : {false, true})
        {
            Network net;
            net.SetPoint("Threshold", "100000");
            net.SetPoint("LongestInterval", "10ms");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "24");
            net.sim.SetAttribute("ns3::lossless::Port", "ClassService", "Dwrr");
            net.sim.SetAttribute("ns3::lossless::Port", "Quantum", "1048");
            net.Star(5, 25'000'000'000, 500'000);
            net.Flow(1, 0, 400'000, 0, 3);
            net.Flow(2, 0, 400'000, 0, 3);
            if (shared)
            {
                net.Flow(3, 0, 400'000, 0, 4);
                net.Flow(4, 0, 400'000, 0, 4);
            }
            NS_TEST_ASSERT_MSG_EQ(net.Run(2'000'000'000), "", "nothing lost");
            const auto above = FindAbove(5, 0, 3, 100'000, 25'000'000'000);
            std::size_t i = 0;
            for (const Log::Said& message : Witness::g_seen.made)
            {
                if (message.message.cls == 3)
                {
                    const uint64_t rate = shared ? 12'500'000'000 : 25'000'000'000;
                    const auto expected = static_cast<double>(Interval(above[i].octets, rate));
                    const double tolerance = shared ? 0.1 * expected : 0.5;
                    NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(message.message.interval),
                                              expected,
                                              tolerance,
                                              "message " << i);
                    ++i;
                }
            }
            NS_TEST_ASSERT_MSG_EQ(i, above.size(), "all of them");
            NS_TEST_ASSERT_MSG_GT(i, 10, "some of them");
        }

        // The receiver keeps pausing its switch from 50 us on: nothing drains.
        Network net;
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.SetPoint("Threshold", "30000");
        net.SetPoint("LowestBandwidth", "0.01");
        net.SetPoint("LongestInterval", "100ms");
        net.Star(3, 25'000'000'000, 500'000);
        net.Flow(1, 0, 0, 0, 3, 5'000'000'000);
        net.Flow(2, 0, 0, 0, 3, 5'000'000'000);
        net.sim.AddPauseStorm(0, 3, 50'000'000, -1);
        NS_TEST_ASSERT_MSG_EQ(net.Run(2'000'000'000), "", "nothing lost");
        NS_TEST_ASSERT_MSG_GT(Witness::g_seen.made.size(), 1, "told");
        bool lowest = false;
        for (const Log::Said& message : Witness::g_seen.made)
        {
            lowest |= message.message.interval == Interval(message.octets, 250'000'000);
        }
        NS_TEST_ASSERT_MSG_EQ(lowest, true, "as if at a hundredth of the line");
    }
};

/// @ingroup sfc-tests
/// @brief The slides' arithmetic.
class LatencyTest : public TestCase
{
  public:
    LatencyTest()
        : TestCase("reaction times are the sum of chips, wires and messages, to the ps; the time "
                   "stamp takes off twice the way")
    {
    }

  private:
    void DoRun() override
    {
        // h0, h1 at ToR 3; h2 at ToR 4; spine 5. 1 us a NIC and ToR, 3 us the spine.
        constexpr uint64_t RATE = 25'000'000'000;
        const int64_t message = TransmissionTime(128 + OVERHEAD, RATE);
        for (const bool stamped : {false, true})
        {
            for (const std::string place : {"local", "spine", "destination", "receiver"})
            {
                Network net;
                net.SetPoint("Latency", "1us");
                net.SetPoint("Threshold", "500");
                net.SetPoint("Filter", "First");
                net.SetPoint("Correction", stamped ? "TimeStamp" : "None");
                net.sim.SetAttribute("ns3::lossless::Switch", "Latency", "1us");
                net.sim.SetAttribute("ns3::rdma::Host", "Latency", "1us");
                net.sim.SetAttribute("ns3::rdma::QueuePair", "AckEvery", "100000");
                net.Nodes(4, 3);
                net.Link(0, 4, RATE, 500'000);
                net.Link(1, 4, RATE, 500'000);
                net.Link(2, 5, RATE, 500'000);
                net.Link(3, 5, RATE, 500'000);
                net.Link(4, 6, RATE, 500'000);
                net.Link(5, 6, RATE, 500'000);
                net.sim.SetNodeAttribute(6, "ns3::lossless::Switch", "Latency", "3us");
                // Where two frames of h0 meet decides who sends the message: only that one has a
                // threshold that they pass.
                const std::map<std::string, uint32_t> nodes{
                    {"local", 4},
                    {"spine", 6},
                    {"destination", 5},
                    {"receiver", 2},
                };
                for (const auto& [name, node] : nodes)
                {
                    if (name != place)
                    {
                        net.sim.SetNodeAttribute(node,
                                                 "ns3::sfc::SfcCongestionPoint",
                                                 "Threshold",
                                                 "900000000");
                    }
                }
                net.sim.SetReceiveRate(2, RATE / 2, 0);
                net.Flow(0, 2, 30'000);
                NS_TEST_ASSERT_MSG_EQ(net.Run(1'000'000'000), "", "nothing lost");
                NS_TEST_ASSERT_MSG_GT(Witness::g_seen.arrived.size(), 0, place);
                // From the congested queue: its own making 1 us; at a host the NIC too.
                const std::map<std::string, int64_t> chips{
                    {"local", 1'000'000},
                    {"spine", 1'000'000 + 1'000'000},
                    {"destination", 1'000'000 + 3'000'000 + 1'000'000},
                    {"receiver", 1'000'000 + 1'000'000 + 1'000'000 + 3'000'000 + 1'000'000},
                };
                const std::map<std::string, int> wires{
                    {"local", 1},
                    {"spine", 2},
                    {"destination", 3},
                    {"receiver", 4},
                };
                const int64_t expected =
                    chips.at(place) + wires.at(place) * (500'000 + message) + 1'000'000;
                const auto& arrived = Witness::g_seen.arrived.front();
                NS_TEST_ASSERT_MSG_EQ(arrived.time - arrived.message.stamp, expected, place);
                for (const Log::Said& paused : Witness::g_seen.paused)
                {
                    const int64_t pause = paused.message.interval -
                                          (stamped ? 2 * (paused.from - paused.message.stamp) : 0);
                    NS_TEST_ASSERT_MSG_EQ(paused.until - paused.from, pause, place);
                }
                NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_received"),
                                      Witness::g_seen.arrived.size(),
                                      place);
                NS_TEST_ASSERT_MSG_EQ(net.Number("sfc_messages_spent") +
                                          static_cast<double>(Witness::g_seen.paused.size()),
                                      net.Number("sfc_messages_received"),
                                      place);
            }
        }
    }
};

/// @ingroup sfc-tests
/// @brief With PFC below it, and for a reserve.
class CombinedTest : public TestCase
{
  public:
    CombinedTest()
        : TestCase("in front of PFC it saves pauses and nothing is lost; a reserve shortens "
                   "intervals by its drain time; the queue stays below the closed form")
    {
    }

  private:
    void DoRun() override
    {
        std::array<double, 2> pauses{};
        for (const bool sfc : {false, true})
        {
            Network net;
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.SetPoint("Threshold", sfc ? "40000" : "900000000");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "20000");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "17000");
            net.Star(9, 25'000'000'000, 500'000);
            for (uint32_t host = 1; host < 9; ++host)
            {
                net.Flow(host, 0, 1'000'000);
            }
            NS_TEST_ASSERT_MSG_EQ(net.Run(20'000'000'000), "", "nothing lost");
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "all finish");
            pauses[sfc] = net.Number("pauses_sent");
        }
        NS_TEST_ASSERT_MSG_LT(pauses[1], pauses[0] / 4, "fewer pauses");

        std::mt19937_64 random(13);
        for (int round = 0; round < 20; ++round)
        {
            const uint64_t rate = random() % 2 ? 25'000'000'000 : 100'000'000'000;
            const auto delay = static_cast<int64_t>(random() % 2'000'000);
            const uint32_t senders = 2 + random() % 8;
            const auto threshold = static_cast<int64_t>(20'000 + random() % 100'000);
            const std::string share = round % 2 ? "0.2" : "0";
            Network net;
            net.SetPoint("Threshold", std::to_string(threshold));
            net.SetPoint("Correction", "Reserve");
            net.SetPoint("Reserve", share);
            net.SetPoint("Buffer", "50000");
            net.SetPoint("BandwidthWindow", "0ps");
            net.Star(senders + 1, rate, delay);
            for (uint32_t host = 1; host <= senders; ++host)
            {
                net.Flow(host, 0, 0, static_cast<int64_t>(random() % 1000));
            }
            NS_TEST_ASSERT_MSG_EQ(net.Run(500'000'000), "", "nothing lost");
            const int64_t reserve = round % 2 ? 10'000 : 0;
            for (const Log::Said& made : Witness::g_seen.made)
            {
                NS_TEST_ASSERT_MSG_EQ(made.message.interval,
                                      Interval(made.octets - reserve, rate),
                                      "down to the reserve");
            }
            // (N - 1) C (TTS + TFS), with frames under way at both ends and the message's own time.
            const int64_t frame = 1048 + OVERHEAD;
            const int64_t way =
                2 * delay + TransmissionTime(3 * frame + 4 * (128 + OVERHEAD), rate);
            const int64_t bound = threshold + (senders - 1) * lossless::BytesInTime(rate, way) +
                                  static_cast<int64_t>(senders) * frame;
            NS_TEST_ASSERT_MSG_LT_OR_EQ(net.Number("sfc_peak_queue_bytes"),
                                        static_cast<double>(bound),
                                        "round " << round);
        }
        // Marks, pauses of SFC and pauses of PFC on the same queues; plain NICs as well.
        for (const bool plain : {false, true})
        {
            Network net(plain);
            net.sim.AddAgent("ns3::lossless::EcnMarking");
            net.sim.SetCongestionControl("ns3::dcqcn::Dcqcn");
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.SetPoint("Threshold", "40000");
            net.sim.SetAttribute("ns3::lossless::EcnMarking", "Kmin", "20000");
            net.sim.SetAttribute("ns3::lossless::EcnMarking", "Kmax", "20000");
            net.sim.SetAttribute("ns3::lossless::EcnMarking", "Pmax", "1");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "6000");
            net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "4500");
            net.Star(9, 25'000'000'000, 500'000);
            for (uint32_t host = 1; host < 9; ++host)
            {
                net.Flow(host, 0, 1'000'000);
            }
            NS_TEST_ASSERT_MSG_EQ(net.Run(50'000'000'000), "", "nothing lost");
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "all finish");
            NS_TEST_ASSERT_MSG_GT(net.Number("sfc_messages_received"), 0, "SFC acted");
            NS_TEST_ASSERT_MSG_GT(net.Number("pauses_sent"), 0, "PFC acted");
            NS_TEST_ASSERT_MSG_GT(net.Number("rate_cuts"), 0, "DCQCN acted");
        }

        {
            Network wrong;
            wrong.SetPoint("LongestInterval", "1ns");
            wrong.SetPoint("Resolution", "1us");
            wrong.SetPoint("Correction", "Reserve");
            wrong.sim.AddAgent("ns3::sfc::SfcReactionPoint");
            wrong.sim.AddFlowControl("ns3::pfc::Pfc");
            wrong.sim.AddHostAgent("ns3::sfc::SfcProxy");
            wrong.Star(2, 10'000'000'000, 0);
            wrong.Flow(0, 1, 0);
            const std::string problems = wrong.Run(1000);
            for (const std::string text :
                 {"is less than Resolution", "'host_agents'", "'agents'", "Reserve needs Buffer"})
            {
                NS_TEST_ASSERT_MSG_NE(problems.find(text), std::string::npos, problems);
            }
            wrong.sim.Finish();
        }

        // A reserve may be above the threshold, but is said to be: 30 % of 125 KB, 37.5 KB.
        for (const auto& [threshold, said] :
             std::map<std::string, bool>{{"30000", true}, {"37500", true}, {"37501", false}})
        {
            Network high;
            high.SetPoint("Threshold", threshold);
            high.SetPoint("Correction", "Reserve");
            high.SetPoint("Reserve", "0.3");
            high.SetPoint("Buffer", "125000");
            high.Star(2, 10'000'000'000, 0);
            high.Flow(0, 1, 0);
            NS_TEST_ASSERT_MSG_EQ(high.Run(1000), "", "allowed");
            const std::string warnings = high.sim.Warnings();
            NS_TEST_ASSERT_MSG_EQ(
                (warnings.find("reserve of 37500 B (0.3 of a Buffer of 125000 B)") !=
                 std::string::npos),
                said,
                threshold << ": " << warnings);
        }
    }
};

/// @ingroup sfc-tests
/// @brief Tests in networks.
class NetworkTestSuite : public TestSuite
{
  public:
    NetworkTestSuite()
        : TestSuite("sfc-network", Type::UNIT)
    {
        AddTestCase(new RatesTest, TestCase::Duration::QUICK);
        AddTestCase(new ReactionTest, TestCase::Duration::QUICK);
        AddTestCase(new FilterTest, TestCase::Duration::QUICK);
        AddTestCase(new LossTest, TestCase::Duration::QUICK);
        AddTestCase(new ProxyTest, TestCase::Duration::QUICK);
        AddTestCase(new BandwidthTest, TestCase::Duration::QUICK);
        AddTestCase(new LatencyTest, TestCase::Duration::QUICK);
        AddTestCase(new CombinedTest, TestCase::Duration::QUICK);
    }
};

static NetworkTestSuite g_networkTestSuite; //!< registers the suite

} // namespace tests
} // namespace sfc
} // namespace ns3
