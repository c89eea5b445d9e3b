/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/boolean.h"
#include "ns3/llr-flow-control.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <random>

/**
 * @file
 * @ingroup llr-tests
 * A link with retry: sequences computed by hand, a second model of the protocol, and what holds
 * whatever is lost.
 */

namespace ns3
{
namespace llr
{
namespace tests
{

using lossless::DropCause;
using lossless::Frame;
using lossless::FramePool;
using lossless::LinkErrors;
using lossless::NowPs;
using Fate = LinkErrors::Fate;

namespace
{

constexpr uint64_t RATE = 100'000'000'000; //!< of the link (bit/s)
constexpr int64_t BYTE = 80;               //!< time of a byte (ps)
constexpr int64_t DELAY = 1'000'000;       //!< of the link (ps)
constexpr uint16_t FRAME = 1230;           //!< with 20 B of overhead 100 ns (B)
constexpr int64_t SLOT = 100'000;          //!< its time (ps)
constexpr int64_t MESSAGE = 8 * BYTE;      //!< time of a message (ps)
constexpr uint16_t LARGEST = 1500;         //!< that the nodes say they send (B)

/// What becomes of the frames, and of the messages, that a port sends, in order.
struct Script
{
    std::vector<Fate> frames;   //!< those after the last one are good
    std::vector<bool> messages; //!< true: damaged
    Fate rest{Fate::GOOD};      //!< of frames after the last one
    bool mute{false};           //!< messages after the last one are damaged
};

/// Errors by a script.
class ScriptedErrors : public LinkErrors
{
  public:
    /// Constructor. @param script of the port.
    explicit ScriptedErrors(Script script)
        : LinkErrors(0, 0, 1),
          m_script(std::move(script))
    {
    }

    Fate Draw(uint32_t /* bytes */) override
    {
        const std::size_t index = m_frame++;
        return index < m_script.frames.size() ? m_script.frames[index] : m_script.rest;
    }

    bool Damages(uint32_t /* bytes */) override
    {
        const std::size_t index = m_message++;
        return index < m_script.messages.size() ? m_script.messages[index] : m_script.mute;
    }

  private:
    Script m_script;          //!< see there
    std::size_t m_frame{0};   //!< index of the next frame
    std::size_t m_message{0}; //!< of the next message
};

/// A frame that arrived.
struct Arrival
{
    uint32_t id;  //!< which one
    int64_t time; //!< ps

    /// Is it the same? @param other another one.
    bool operator==(const Arrival& other) const = default;
};

/// A host that notes what arrives.
class NotingNode : public lossless::tests::TestNode
{
  public:
    NotingNode()
        : TestNode(LARGEST)
    {
        SetBuffer(CreateObject<lossless::SharedBuffer>());
    }

    void Receive(Frame* frame, lossless::Port& /* ingress */) override
    {
        m_got.push_back({frame->flow, NowPs()});
        Take(frame);
    }

    std::vector<Arrival> m_got; //!< in order
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Two hosts and a link with retry.
class Line
{
  public:
    /// Connect them. @param set attributes of both ends. @param delay ps.
    explicit Line(const Settings& set = {}, int64_t delay = DELAY)
    {
        lossless::UsePicoseconds();
        for (auto& node : m_nodes)
        {
            node = CreateObject<NotingNode>();
            node->AddPort(CreateObject<lossless::Port>());
        }
        for (uint32_t end : {0, 1})
        {
            m_nodes[end]->SetIdentity(end, end == 0 ? "a" : "b");
            Port(end).Attach(PeekPointer(m_nodes[end]), 0, &Port(1 - end), RATE, delay);
            Port(end).SetLargestFrame(LARGEST);
            m_retries[end] = CreateObject<Llr>();
            for (const auto& [name, value] : set)
            {
                m_retries[end]->SetAttribute(name, StringValue(value));
            }
            Port(end).AddFlowControl(m_retries[end]);
        }
        for (const auto& node : m_nodes)
        {
            node->Start();
        }
    }

    ~Line()
    {
        Simulator::Destroy();
        for (const auto& node : m_nodes)
        {
            node->Dispose();
        }
        FramePool::Clear();
    }

    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    /// The errors of an end. @param end 0 or 1. @param script of what it sends.
    void Spoil(uint32_t end, const Script& script)
    {
        Port(end).SetErrors(std::make_unique<ScriptedErrors>(script));
    }

    /// Queue frames. @param end from which. @param sizes of the frames (B).
    void Queue(uint32_t end, const std::vector<uint16_t>& sizes)
    {
        for (const uint16_t bytes : sizes)
        {
            Frame* frame = FramePool::Take();
            frame->bytes = bytes;
            frame->cls = 3;
            frame->flow = m_next[end]++;
            m_nodes[end]->Inject(frame);
        }
    }

    /// A port. @param end 0 or 1. @return it.
    lossless::Port& Port(uint32_t end)
    {
        return m_nodes[end]->GetPort(0);
    }

    /// A retry. @param end 0 or 1. @return it.
    Llr& Retry(uint32_t end)
    {
        return *m_retries[end];
    }

    /// What arrived. @param end where. @return frames in order.
    const std::vector<Arrival>& Got(uint32_t end) const
    {
        return m_nodes[end]->m_got;
    }

    /// A number of the summary, of both ends. @param name its name. @return it.
    double Sum(const std::string& name) const
    {
        lossless::Summary summary;
        for (const auto& retry : m_retries)
        {
            retry->Report(summary);
        }
        return summary.at(name);
    }

    /// Frames made less those that ended or are held somewhere. @return 0 if none is missing.
    int64_t Missing()
    {
        int64_t missing = 0;
        for (const auto& node : m_nodes)
        {
            const auto& counters = node->GetCounters();
            missing += static_cast<int64_t>(counters.made) -
                       static_cast<int64_t>(counters.taken + counters.dropped +
                                            node->GetPort(0).CountHeld());
        }
        return missing;
    }

    /// Frames that were dropped. @param cause why. @return count, of both ends.
    uint64_t Dropped(DropCause cause) const
    {
        uint64_t dropped = 0;
        for (const auto& node : m_nodes)
        {
            dropped += node->GetCounters().byCause[static_cast<std::size_t>(cause)];
        }
        return dropped;
    }

  private:
    std::array<Ptr<NotingNode>, 2> m_nodes; //!< the ends
    std::array<Ptr<Llr>, 2> m_retries;      //!< of their ports
    std::array<uint32_t, 2> m_next{};       //!< next frame of each end
};

/// Frames of the size that takes SLOT. @param n how many. @return sizes.
std::vector<uint16_t>
Equal(std::size_t n)
{
    return std::vector<uint16_t>(n, FRAME);
}

/// A script in which some frames have a fate. @param frames of these transmissions.
/// @param fate that. @return script.
Script
Lose(const std::vector<std::size_t>& frames, Fate fate)
{
    Script script;
    script.frames.resize(*std::max_element(frames.begin(), frames.end()) + 1, Fate::GOOD);
    for (const std::size_t frame : frames)
    {
        script.frames[frame] = fate;
    }
    return script;
}

/// A script in which a message is damaged. @param index which one. @return script.
Script
Damage(std::size_t index)
{
    Script script;
    script.messages.resize(index + 1);
    script.messages[index] = true;
    return script;
}

} // namespace

/// @ingroup llr-tests
/// @brief Frames, ACKs and NACKs that are lost one at a time, with times computed by hand.
class HandTest : public TestCase
{
  public:
    HandTest()
        : TestCase("what a lost frame, NACK, ACK and last frame cost, to the picosecond")
    {
    }

  private:
    /// When each of some frames arrives. @param n how many. @param from the first that is late.
    /// @param late when it arrives (ps). @return one arrival a slot before and after.
    static std::vector<Arrival> Expected(uint32_t n, uint32_t from, int64_t late)
    {
        std::vector<Arrival> expected;
        for (uint32_t id = 0; id < n; ++id)
        {
            expected.push_back(
                {id, id < from ? (id + 1) * SLOT + DELAY : late + (id - from) * SLOT});
        }
        return expected;
    }

    /// Compare. @param line after its run. @param expected arrivals. @param what of it.
    void Compare(const Line& line, const std::vector<Arrival>& expected, const std::string& what)
    {
        const auto& got = line.Got(1);
        NS_TEST_ASSERT_MSG_EQ(got.size(), expected.size(), what << ": frames that arrive");
        for (std::size_t i = 0; i < got.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(got[i].id, expected[i].id, what << ": order");
            NS_TEST_ASSERT_MSG_EQ(got[i].time, expected[i].time, what << ": frame " << i);
        }
    }

    void DoRun() override
    {
        // Frames arrive at 1100, 1200, ... ns. An ACK goes at 1100; the next messages follow at
        // intervals of 2048 B = 163.84 ns: ACKs of 1, 3 and 4 at 1263.84, 1427.68 and 1591.52, so
        // that the NACK, due as frame 6 arrives at 1700, goes at 1755.36. It takes 0.64 + 1000 ns;
        // the frame in transmission ends at 2800 ns.
        constexpr int64_t LATE = 2'800'000 + SLOT + DELAY;
        for (const Fate fate : {Fate::LOST, Fate::WRONG})
        {
            Line line;
            line.Spoil(0, Lose({5}, fate));
            line.Queue(0, Equal(60));
            Simulator::Run();
            Compare(line, Expected(60, 5, LATE), "a frame");
            // all that was sent since: 5 to 27, of which 6 to 27 were discarded
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_frames_repeated"), 23, "go-back-N");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_frames_out_of_order"), 22, "discarded");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_nacks_sent"), 1, "one NACK");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_replays"), 1, "one replay");
            NS_TEST_ASSERT_MSG_EQ(line.Dropped(DropCause::CORRUPTED), 0, "none is lost");
            NS_TEST_ASSERT_MSG_EQ(line.Missing(), 0, "nor missing");
        }
        // three loops of 2000 + 2056 B = 164.48 ns, and 500 ns
        constexpr int64_t TIMER = 3 * 2'164'480 + 500'000;
        {
            Line line;
            NS_TEST_ASSERT_MSG_EQ(line.Retry(0).GetReplayTimer(), TIMER, "rule of Slingshot");
            NS_TEST_ASSERT_MSG_EQ(line.Retry(0).GetNeededBytes(),
                                  2'164'480 / BYTE + 2 * LARGEST,
                                  "rate x loop and whole frames");
            line.Spoil(0, Lose({0}, Fate::LOST));
            line.Queue(0, Equal(1));
            Simulator::Run();
            Compare(line, {{0, SLOT + TIMER + SLOT + DELAY}}, "the last frame");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_timeouts"), 1, "by the timer");
        }
        {
            // ACKs of 0, 1, 3 and 4, then the NACK; frame 5 was sent until 600 ns
            Line line;
            line.Spoil(0, Lose({5}, Fate::LOST));
            line.Spoil(1, Damage(4));
            line.Queue(0, Equal(60));
            Simulator::Run();
            Compare(line, Expected(60, 5, 6 * SLOT + TIMER + SLOT + DELAY), "a NACK");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_timeouts"), 1, "by the timer");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_messages_damaged"), 1, "the NACK");
        }
        {
            // the only ACK: the frame is repeated, discarded and acknowledged again
            Line line;
            line.Spoil(1, Damage(0));
            line.Queue(0, Equal(1));
            Simulator::Run();
            Compare(line, {{0, SLOT + DELAY}}, "the last ACK");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_frames_duplicate"), 1, "once more");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_acks_sent"), 2, "two ACKs");
            NS_TEST_ASSERT_MSG_EQ(line.Retry(0).GetBuffer().GetFrames(), 0, "all acknowledged");
        }
    }
};

/// @ingroup llr-tests
/// @brief The rate that the replay buffer allows.
class WindowTest : public TestCase
{
  public:
    WindowTest()
        : TestCase("the replay buffer limits the rate to its bytes per loop")
    {
    }

  private:
    void DoRun() override
    {
        // ACKs of single frames: 400 B are shorter than a frame. A frame may be sent as soon as
        // the fifth before it is acknowledged.
        constexpr int64_t CYCLE = SLOT + 2 * DELAY + MESSAGE;
        for (const Settings& limit : {Settings{{"MaxBytes", std::to_string(4 * FRAME + LARGEST)}},
                                      Settings{{"MaxFrames", "5"}}})
        {
            Settings set = limit;
            set.emplace_back("AckSpacing", "400");
            Line line(set);
            line.Queue(0, Equal(500));
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).size(), 500, "all");
            for (int64_t id = 0; id < 500; ++id)
            {
                NS_TEST_ASSERT_MSG_EQ(line.Got(1)[id].time,
                                      id / 5 * CYCLE + (id % 5 + 1) * SLOT + DELAY,
                                      "5 frames a loop");
            }
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_peak_replay_bytes"), 5 * FRAME, "the most kept");
            NS_TEST_ASSERT_MSG_NE(line.Retry(0).Warn(), "", "that is below line rate");
        }
        std::mt19937 random(5);
        for (const char* spacing : {"400", "2048", "16384"})
        {
            std::vector<uint16_t> sizes(2000);
            for (uint16_t& bytes : sizes)
            {
                bytes = static_cast<uint16_t>(64 + random() % (LARGEST - 63));
            }
            const int64_t bytes = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
            const int64_t least = (bytes + 20 * 2000) * BYTE + DELAY;
            Line line(Settings{{"AckSpacing", spacing}});
            line.Queue(0, sizes);
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).back().time, least, "line rate");
            NS_TEST_ASSERT_MSG_EQ(line.Retry(0).Warn(), "", "no warning");
            const double peak = line.Sum("llr_peak_replay_bytes");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(peak, line.Retry(0).GetMaxBytes(), "within the limit");
            Line small(Settings{{"AckSpacing", spacing},
                                {"MaxBytes", std::to_string(line.Retry(0).GetMaxBytes() / 2)}});
            small.Queue(0, sizes);
            Simulator::Run();
            NS_TEST_ASSERT_MSG_GT(small.Got(1).back().time, least, "half of it is too little");
        }
        // A sample of SONiC's for 400 Gb/s and 5 m: 58,768 B, 1,175 ns of line rate. With the
        // latency that they imply the rule gives as much and two frames.
        constexpr int64_t SAMPLE = 58'768;
        Line line(Settings{{"Latency", "1100ns"}}, 25'000);
        const double loop = static_cast<double>(line.Retry(0).GetLoop() - 2056 * BYTE) / 1000;
        NS_TEST_ASSERT_MSG_EQ_TOL(loop * 50, SAMPLE, 0.025 * SAMPLE, "bytes at 50 B/ns");
    }
};

namespace
{

/// The second model: one direction, numbers that never wrap, copies of frames, and no event loop:
/// what comes next is sought among the few things that may.
class Model
{
  public:
    /// Constructor. @param sizes of the frames (B). @param frames their fates.
    /// @param messages those of the messages. @param spacing B. @param limit B.
    /// @param timer ps. @param delay ps.
    Model(std::vector<uint16_t> sizes,
          Script frames,
          Script messages,
          int64_t spacing,
          int64_t limit,
          int64_t timer,
          int64_t delay)
        : m_sizes(std::move(sizes)),
          m_frames(std::move(frames)),
          m_messages(std::move(messages)),
          m_spacing(spacing * BYTE),
          m_limit(limit),
          m_timer(timer),
          m_delay(delay),
          m_ends(m_sizes.size(), 0)
    {
    }

    /// Run to the end. @return what arrives.
    std::vector<Arrival> Run()
    {
        for (;;)
        {
            const int64_t arrival = m_wire.empty() ? NEVER : m_wire.front().time;
            const int64_t message = m_back.empty() ? NEVER : m_back.front().time;
            const int64_t word = m_nackDue || m_ackDue ? std::max(m_now, m_free) : NEVER;
            const int64_t alarm =
                m_acked < m_sent && m_cursor > m_acked ? m_ends[m_acked] + m_timer : NEVER;
            const int64_t start = CanSend() ? std::max(m_now, m_idle) : NEVER;
            const int64_t next = std::min({arrival, message, word, alarm, start});
            if (next == NEVER)
            {
                return m_got;
            }
            m_now = next;
            if (next == arrival)
            {
                Arrive();
            }
            else if (next == word)
            {
                Say();
            }
            else if (next == message)
            {
                Hear();
            }
            else if (next == alarm)
            {
                m_cursor = m_acked;
            }
            else
            {
                Send();
            }
        }
    }

  private:
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max(); //!< no time

    /// On the way to the receiver.
    struct Flying
    {
        int64_t time;   //!< of its arrival (ps)
        std::size_t id; //!< frame
        bool good;      //!< without wrong bits
    };

    /// On the way back.
    struct Word
    {
        int64_t time;     //!< of its arrival (ps)
        std::size_t upTo; //!< frames before this one were accepted
        bool nack;        //!< repeat the rest
    };

    bool CanSend() const
    {
        if (m_cursor < m_sent)
        {
            return true;
        }
        int64_t kept = LARGEST;
        for (std::size_t id = m_acked; id < m_sent; ++id)
        {
            kept += m_sizes[id];
        }
        return m_sent < m_sizes.size() && kept <= m_limit;
    }

    void Send()
    {
        const std::size_t id = m_cursor++;
        m_sent = std::max(m_sent, m_cursor);
        m_idle = m_now + (m_sizes[id] + 20) * BYTE;
        m_ends[id] = m_idle;
        const Fate fate = m_transmissions < m_frames.frames.size()
                              ? m_frames.frames[m_transmissions]
                              : Fate::GOOD;
        ++m_transmissions;
        if (fate != Fate::LOST)
        {
            m_wire.push_back({m_idle + m_delay, id, fate == Fate::GOOD});
        }
    }

    void Arrive()
    {
        const Flying frame = m_wire.front();
        m_wire.pop_front();
        if (frame.good && frame.id == m_expected)
        {
            m_got.push_back({static_cast<uint32_t>(frame.id), m_now});
            ++m_expected;
            m_waits = m_nackDue = false;
            m_ackDue = true;
        }
        else if (frame.good && frame.id < m_expected)
        {
            m_waits = false;
            m_ackDue = m_ackDue || !m_nackDue;
        }
        else if (!m_waits)
        {
            m_nackDue = true;
            m_ackDue = false;
        }
    }

    void Say()
    {
        const bool nack = m_nackDue;
        m_waits = nack;
        m_nackDue = m_ackDue = false;
        m_free = m_now + m_spacing;
        const bool damaged = m_said < m_messages.messages.size() && m_messages.messages[m_said];
        ++m_said;
        if (!damaged)
        {
            m_back.push_back({m_now + MESSAGE + m_delay, m_expected, nack});
        }
    }

    void Hear()
    {
        const Word word = m_back.front();
        m_back.pop_front();
        m_acked = std::max(m_acked, word.upTo);
        m_cursor = word.nack ? m_acked : std::max(m_cursor, m_acked);
    }

    std::vector<uint16_t> m_sizes; //!< of the frames (B)
    Script m_frames;               //!< their fates
    Script m_messages;             //!< those of the messages
    int64_t m_spacing;             //!< ps
    int64_t m_limit;               //!< B
    int64_t m_timer;               //!< ps
    int64_t m_delay;               //!< ps
    std::vector<int64_t> m_ends;   //!< when each was sent last (ps)

    int64_t m_now{0};               //!< ps
    int64_t m_idle{0};              //!< when the sender's wire is free (ps)
    int64_t m_free{0};              //!< when the receiver may speak (ps)
    std::size_t m_acked{0};         //!< frames before it are acknowledged
    std::size_t m_sent{0};          //!< frames before it were sent
    std::size_t m_cursor{0};        //!< next to be sent, new or again
    std::size_t m_expected{0};      //!< by the receiver
    std::size_t m_transmissions{0}; //!< so far
    std::size_t m_said{0};          //!< messages so far
    bool m_ackDue{false};           //!< receiver
    bool m_nackDue{false};          //!< receiver
    bool m_waits{false};            //!< receiver: NACK sent
    std::deque<Flying> m_wire;      //!< in order
    std::deque<Word> m_back;        //!< in order
    std::vector<Arrival> m_got;     //!< in order
};

} // namespace

/// @ingroup llr-tests
/// @brief Random errors: every arrival as in the second model.
class ModelTest : public TestCase
{
  public:
    ModelTest()
        : TestCase("with random errors every frame arrives when a second model says so")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(11);
        for (int round = 0; round < 200; ++round)
        {
            // sizes of which no sum equals the spacing, and delays that are no whole bytes: the
            // order of simultaneous events is not part of the protocol
            const int64_t delay = 7 + 1000 * static_cast<int64_t>(random() % 1500);
            const int64_t spacing = 400 + 7 * static_cast<int64_t>(random() % 1000) + 2;
            std::vector<uint16_t> sizes(300);
            for (uint16_t& bytes : sizes)
            {
                bytes = static_cast<uint16_t>(7 * (10 + random() % 200) - 20);
            }
            const uint32_t share = random() % 30;
            Script frames;
            for (int frame = 0; frame < 4000; ++frame)
            {
                const bool bad = random() % 100 < share;
                frames.frames.push_back(!bad           ? Fate::GOOD
                                        : random() % 2 ? Fate::LOST
                                                       : Fate::WRONG);
            }
            Script messages;
            for (int message = 0; message < 2000; ++message)
            {
                messages.messages.push_back(random() % 100 < share);
            }
            Settings set{{"AckSpacing", std::to_string(spacing)},
                         {"InitialSequence", std::to_string(SEQUENCES - random() % 300)}};
            if (random() % 2)
            {
                set.emplace_back("MaxBytes", std::to_string(LARGEST + random() % 20'000));
            }
            Line line(set, delay);
            line.Spoil(0, frames);
            line.Spoil(1, messages);
            line.Queue(0, sizes);
            Simulator::Run();
            const auto expected = Model(sizes,
                                        frames,
                                        messages,
                                        spacing,
                                        line.Retry(0).GetMaxBytes(),
                                        line.Retry(0).GetReplayTimer(),
                                        delay)
                                      .Run();
            NS_TEST_ASSERT_MSG_EQ(expected.size(), sizes.size(), "round " << round << ": all");
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).size(), sizes.size(), "round " << round << ": all");
            for (std::size_t i = 0; i < sizes.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(line.Got(1)[i].id, expected[i].id, "round " << round);
                NS_TEST_ASSERT_MSG_EQ(line.Got(1)[i].time,
                                      expected[i].time,
                                      "round " << round << ": frame " << i);
            }
        }
    }
};

/// @ingroup llr-tests
/// @brief Both directions at once.
class BothWaysTest : public TestCase
{
  public:
    BothWaysTest()
        : TestCase("whatever is damaged, all frames arrive once and in order, both ways")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(3);
        for (int round = 0; round < 60; ++round)
        {
            Line line(Settings{{"InitialSequence", std::to_string(SEQUENCES - random() % 500)}},
                      static_cast<int64_t>(random() % 300'000));
            for (const uint32_t end : {0U, 1U})
            {
                Script script;
                const uint32_t share = random() % 50;
                for (int i = 0; i < 3000; ++i)
                {
                    const bool bad = random() % 100 < share;
                    script.frames.push_back(!bad           ? Fate::GOOD
                                            : random() % 2 ? Fate::LOST
                                                           : Fate::WRONG);
                    script.messages.push_back(random() % 100 < share);
                }
                line.Spoil(end, script);
                line.Queue(end, Equal(300));
            }
            Simulator::Run();
            for (const uint32_t end : {0U, 1U})
            {
                NS_TEST_ASSERT_MSG_EQ(line.Got(end).size(), 300, "all");
                for (uint32_t id = 0; id < 300; ++id)
                {
                    NS_TEST_ASSERT_MSG_EQ(line.Got(end)[id].id, id, "once, in order");
                }
                NS_TEST_ASSERT_MSG_EQ(line.Retry(end).GetBuffer().GetFrames(), 0, "none kept");
            }
            NS_TEST_ASSERT_MSG_EQ(line.Missing(), 0, "none missing");
            NS_TEST_ASSERT_MSG_EQ(FramePool::GetLive(), 0, "none left in the pool");
        }
        // With frames both ways each end sends 8 B for 2048 of the wire.
        Line line({}, 0);
        line.Queue(0, Equal(1000));
        line.Queue(1, Equal(1000));
        Simulator::Run();
        const double bytes = 1000 * 1250.0;
        const double share = static_cast<double>(line.Got(1).back().time) / BYTE / bytes - 1;
        NS_TEST_ASSERT_MSG_EQ_TOL(share, 8.0 / 2048, 8.0 / 2048 * 0.01, "8 B in 2048");
    }
};

/// @ingroup llr-tests
/// @brief When the sender gives up, and starts again.
class FlushTest : public TestCase
{
  public:
    FlushTest()
        : TestCase("a flush loses what the other end lacks; INIT starts anew")
    {
    }

  private:
    void DoRun() override
    {
        using State = Llr::State;
        {
            // LLR-07 of a public test plan for switches: with 3 replays and 10 frames the other
            // end receives 40, of which 30 are duplicates
            Script mute;
            mute.mute = true;
            Line line(Settings{{"ReplayCount", "3"}, {"MaxFrames", "10"}});
            line.Spoil(1, mute);
            line.Queue(0, Equal(10));
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_frames_sent") + line.Sum("llr_frames_repeated"),
                                  40,
                                  "received");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_frames_duplicate"), 30, "duplicates");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_replays"), 3, "replays");
            NS_TEST_ASSERT_MSG_EQ((line.Retry(0).GetState() == State::FLUSH), true, "then FLUSH");
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).size(), 10, "each was accepted once");
            NS_TEST_ASSERT_MSG_EQ(line.Dropped(DropCause::CORRUPTED), 0, "so that none is lost");
        }
        for (const bool again : {false, true})
        {
            Script gone;
            gone.frames.assign(12, Fate::LOST); // 3 frames, 3 replays
            Line line(Settings{{"ReplayCount", "3"}, {"Reinitialize", again ? "true" : "false"}});
            line.Spoil(0, gone);
            line.Queue(0, Equal(3));
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Dropped(DropCause::CORRUPTED), 3, "lost");
            NS_TEST_ASSERT_MSG_EQ(line.Missing(), 0, "and counted");
            NS_TEST_ASSERT_MSG_EQ(
                (line.Retry(0).GetState() == (again ? State::ADVANCE : State::FLUSH)),
                true,
                "state");
            line.Queue(0, Equal(5));
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).size(), 5, "new ones arrive");
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_frames_sent"), (again ? 8 : 3), "protected or not");
        }
        {
            // an INIT is lost, and sent again by the timer; new frames wait
            Script gone;
            gone.frames.assign(2, Fate::LOST);
            gone.messages.assign(1, true);
            Line line(
                Settings{{"ReplayCount", "1"}, {"Reinitialize", "true"}, {"NewFrames", "Block"}});
            line.Spoil(0, gone);
            line.Queue(0, Equal(1));
            const int64_t timer = line.Retry(0).GetReplayTimer();
            const int64_t flush = 2 * (SLOT + timer);
            Simulator::Schedule(TimeStep(flush + 1), [&line]() { line.Queue(0, Equal(1)); });
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Sum("llr_inits_sent"), 2, "twice");
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).size(), 1, "the second frame");
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).front().time,
                                  flush + timer + 2 * (MESSAGE + DELAY) + SLOT + DELAY,
                                  "after the second INIT and its ECHO");
        }
        for (int64_t at = 0; at < 8'000'000; at += 137'000)
        {
            // a frame that is being sent as the sender gives up must not arrive behind INIT
            Script script;
            script.frames.assign(40, Fate::WRONG);
            script.messages.assign(3, false);
            Line line(Settings{{"ReplayCount", "1"}, {"Reinitialize", "true"}});
            line.Spoil(0, script);
            Simulator::Schedule(TimeStep(at), [&line]() { line.Queue(0, Equal(90)); });
            line.Queue(0, Equal(1));
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Missing(), 0, "all are accounted for");
            NS_TEST_ASSERT_MSG_EQ(line.Got(1).size() + line.Dropped(DropCause::CORRUPTED), 91, "");
        }
    }
};

/// @ingroup llr-tests
/// @brief A link that fails and comes back, with errors before and after.
class LinkTest : public TestCase
{
  public:
    LinkTest()
        : TestCase("a link that fails loses what it held, and is initialised when it is back")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(17);
        for (int round = 0; round < 60; ++round)
        {
            Line line(Settings{{"NewFrames", "Block"}}, 250'000);
            for (const uint32_t end : {0U, 1U})
            {
                Script script;
                for (int i = 0; i < 3000; ++i)
                {
                    script.frames.push_back(random() % 5 ? Fate::GOOD : Fate::LOST);
                    script.messages.push_back(random() % 5 == 0);
                }
                line.Spoil(end, script);
                line.Queue(end, Equal(200));
            }
            const int64_t down = 1 + static_cast<int64_t>(random() % 20'000'000);
            const int64_t away = 1 + static_cast<int64_t>(random() % 1'000'000);
            for (const bool up : {false, true})
            {
                Simulator::Schedule(TimeStep(up ? down + away : down), [&line, up]() {
                    line.Port(0).SetUp(up);
                    line.Port(1).SetUp(up);
                });
            }
            Simulator::Schedule(TimeStep(down + away + 10'000'000), [&line]() {
                line.Queue(0, Equal(50));
                line.Queue(1, Equal(50));
            });
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(line.Missing(), 0, "all are accounted for");
            for (const uint32_t end : {0U, 1U})
            {
                const auto& got = line.Got(end);
                NS_TEST_ASSERT_MSG_EQ((line.Retry(end).GetState() == Llr::State::ADVANCE), 1, "");
                NS_TEST_ASSERT_MSG_GT_OR_EQ(got.size(), 50, "those after it");
                NS_TEST_ASSERT_MSG_EQ(got.back().id, 249, "to the last");
                NS_TEST_ASSERT_MSG_EQ(std::is_sorted(got.begin(),
                                                     got.end(),
                                                     [](auto& a, auto& b) { return a.id <= b.id; }),
                                      true,
                                      "in order");
            }
        }
    }
};

/// @ingroup llr-tests
/// @brief MAC control frames during a replay.
class ControlTest : public TestCase
{
  public:
    ControlTest()
        : TestCase("a PAUSE waits for no replay unless it is protected, and is then never lost")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool guarded : {false, true})
        {
            for (const bool lost : {false, true})
            {
                // Frame 0 has wrong bits: the NACK goes at 1100 ns, is there at 2100.64, and the
                // replay of 22 frames starts at 2200. A PAUSE that is queued at 2250 is sent at
                // 2300, after frame 0 (transmission 23), or after the replay and those before it.
                Line line(Settings{{"ProtectControl", guarded ? "true" : "false"}});
                Script script = Lose({0}, Fate::WRONG);
                script.frames.resize(60, Fate::GOOD);
                script.frames[guarded ? 44 : 23] = lost ? Fate::WRONG : Fate::GOOD;
                line.Spoil(0, script);
                line.Queue(0, Equal(100));
                std::vector<int64_t> heard;
                line.Port(1).TraceConnectWithoutContext(
                    "Receive",
                    Callback<void, const lossless::Port&, const Frame&>(
                        [&heard](const lossless::Port&, const Frame& frame) {
                            if (frame.kind == lossless::FrameKind::MAC)
                            {
                                heard.push_back(NowPs());
                            }
                        }));
                Simulator::Schedule(TimeStep(2'250'000), [&line]() {
                    line.Port(0).SendControl(FramePool::TakeControl());
                });
                Simulator::Run();
                constexpr int64_t WIRE = 84 * BYTE;
                NS_TEST_ASSERT_MSG_EQ(heard.size(), (guarded || !lost ? 1 : 0), "arrivals");
                if (!lost)
                {
                    const int64_t sent = guarded ? 4'400'000 : 2'300'000;
                    NS_TEST_ASSERT_MSG_EQ(heard.front(), sent + WIRE + DELAY, "when");
                }
                NS_TEST_ASSERT_MSG_EQ(line.Got(1).size(), 100, "all frames");
            }
        }
    }
};

/// @ingroup llr-tests
/// @brief What is refused before a run.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("settings that cannot work are refused")
    {
    }

  private:
    /// What a line says of its settings. @param set them. @param delay ps. @return problems.
    static std::string Problems(const Settings& set, int64_t delay = DELAY)
    {
        Line line(set, delay);
        return line.Retry(0).Check();
    }

    void DoRun() override
    {
        const auto says = [this](const std::string& text, const std::string& part) {
            NS_TEST_ASSERT_MSG_NE(text.find(part), std::string::npos, text << " says " << part);
        };
        NS_TEST_ASSERT_MSG_EQ(Problems({}), "", "defaults work");
        NS_TEST_ASSERT_MSG_EQ(Problems({{"MaxBytes", "1500"}}), "", "one frame at a time");
        says(Problems({{"MaxBytes", "1499"}}),
             "a port to b: Llr: MaxBytes 1499 B is below the largest frame, 1500 B");
        says(Problems({{"ReplayTimer", "2164ns"}}), "ReplayTimer 2164 ns is shorter than the loop");
        NS_TEST_ASSERT_MSG_EQ(Problems({{"ReplayTimer", "2165ns"}}), "", "longer than the loop");
        says(Problems({}, 40'000'000), "the link, or Latency, is too long for LLR");
        says(Problems({{"NewFrames", "Block"}, {"ReplayCount", "3"}}), "stops the link for ever");
        NS_TEST_ASSERT_MSG_EQ(Problems({{"NewFrames", "Block"}}), "", "no flush");
        auto alone = CreateObject<Llr>();
        for (const auto& [name, value] : Settings{{"AckSpacing", "399"},
                                                  {"AckSpacing", "16385"},
                                                  {"MaxFrames", "524289"},
                                                  {"MaxFrames", "0"},
                                                  {"ReplayTimer", "65536ns"},
                                                  {"ReplayCount", "0"},
                                                  {"ReplayCount", "256"},
                                                  {"InitialSequence", "1048576"}})
        {
            NS_TEST_ASSERT_MSG_EQ(alone->SetAttributeFailSafe(name, StringValue(value)),
                                  false,
                                  name << " " << value);
        }
    }
};

/// @ingroup llr-tests
/// @brief Tests of Llr.
class LlrTestSuite : public TestSuite
{
  public:
    LlrTestSuite()
        : TestSuite("llr-flow-control", Type::UNIT)
    {
        AddTestCase(new HandTest, TestCase::Duration::QUICK);
        AddTestCase(new WindowTest, TestCase::Duration::QUICK);
        AddTestCase(new ModelTest, TestCase::Duration::QUICK);
        AddTestCase(new BothWaysTest, TestCase::Duration::QUICK);
        AddTestCase(new FlushTest, TestCase::Duration::QUICK);
        AddTestCase(new LinkTest, TestCase::Duration::QUICK);
        AddTestCase(new ControlTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static LlrTestSuite g_llrTestSuite; //!< registers the suite

} // namespace tests
} // namespace llr
} // namespace ns3
