/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/double.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/object-factory.h"
#include "ns3/pfc.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <random>

/**
 * @file
 * @ingroup pfc-tests
 * The state machine of PFC and the transmitter it acts on, on two ports joined by a link.
 */

namespace ns3
{
namespace pfc
{
namespace tests
{

using lossless::Frame;
using lossless::FramePool;
using lossless::MAX_QUANTA;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::Port;

/// @ingroup pfc-tests
/// @brief A node that takes what arrives and notes when.
class ProbeNode : public lossless::tests::TestNode
{
  public:
    /// Make one. @param lossless its lossless classes: bit c is set for class c
    explicit ProbeNode(uint32_t lossless)
    {
        SetBuffer(CreateObjectWithAttributes<lossless::SharedBuffer>("LosslessClasses",
                                                                     UintegerValue(lossless)));
    }

    void Receive(Frame* frame, Port& /* ingress */) override
    {
        m_arrivals.emplace_back(NowPs(), frame->cls);
        Take(frame);
    }

    std::vector<std::pair<int64_t, uint8_t>> m_arrivals; //!< when and which class
};

/// @ingroup pfc-tests
/// @brief Two nodes, a link of 100 Gb/s and 1 us, PFC at both ends: a sends, b pauses.
class PfcTest : public TestCase
{
  public:
    /// Name it. @param name what holds
    explicit PfcTest(const std::string& name)
        : TestCase(name)
    {
    }

  protected:
    static constexpr uint64_t RATE = 100'000'000'000; //!< bit/s
    static constexpr int64_t DELAY = 1'000'000;       //!< ps
    static constexpr int64_t FRAME = 1000 * 80;       //!< ps of a 1000 B frame
    static constexpr int64_t CONTROL = 64 * 80;       //!< ps of a control frame
    static constexpr int64_t QUANTUM = 512 * 10;      //!< ps: 512 bit times

    /// Make nodes and link.
    /// @param mode of Pfc. @param quanta of Pfc. @param refreshAt of Pfc. @param controlDelay of
    /// the ports. @param rate of the link (bit/s) @param lossless classes that are lossless at a;
    /// at b all are.
    void Connect(const std::string& mode,
                 uint32_t quanta,
                 double refreshAt,
                 Time controlDelay,
                 uint64_t rate = RATE,
                 uint32_t lossless = 0xff)
    {
        lossless::UsePicoseconds();
        for (auto* node : {&m_a, &m_b})
        {
            *node = CreateObject<ProbeNode>(node == &m_a ? lossless : 0xff);
            auto port = CreateObjectWithAttributes<Port>("Overhead",
                                                         UintegerValue(0),
                                                         "ControlDelay",
                                                         TimeValue(controlDelay));
            port->AddFlowControl(CreateObjectWithAttributes<Pfc>("Mode",
                                                                 StringValue(mode),
                                                                 "PauseQuanta",
                                                                 UintegerValue(quanta),
                                                                 "RefreshAt",
                                                                 DoubleValue(refreshAt)));
            (*node)->AddPort(port);
        }
        m_a->SetIdentity(0, "a");
        m_b->SetIdentity(1, "b");
        PortA().Attach(PeekPointer(m_a), 0, &PortB(), rate, DELAY);
        PortB().Attach(PeekPointer(m_b), 0, &PortA(), rate, DELAY);
        m_a->Start();
        m_b->Start();
    }

    /// Let a send frames of a class at once. @param cls class. @param n how many.
    void Send(uint8_t cls, int n)
    {
        for (int i = 0; i < n; ++i)
        {
            Frame* frame = FramePool::Take();
            frame->cls = cls;
            frame->bytes = 1000;
            m_a->Inject(frame);
        }
    }

    /// At a time b's buffer turns a class OFF or ON.
    /// @param time ps. @param cls class. @param off OFF.
    void Pressure(int64_t time, uint8_t cls, bool off)
    {
        Simulator::Schedule(TimeStep(time),
                            &lossless::FlowControlChain::NotifyXoff,
                            &PortB().GetChain(),
                            cls,
                            off);
    }

    /// Run to a time. @param until ps
    void RunUntil(int64_t until)
    {
        Simulator::Stop(TimeStep(until - NowPs()));
        Simulator::Run();
    }

    /// Arrivals of a class at b in a window.
    /// @param cls class. @param from ps. @param to ps. @return count.
    int Count(uint8_t cls, int64_t from, int64_t to) const
    {
        int count = 0;
        for (const auto& [time, its] : m_b->m_arrivals)
        {
            count += its == cls && time >= from && time < to;
        }
        return count;
    }

    /// @return a's port
    Port& PortA() const
    {
        return m_a->GetPort(0);
    }

    /// @return b's port
    Port& PortB() const
    {
        return m_b->GetPort(0);
    }

    void DoTeardown() override
    {
        Simulator::Destroy();
        m_a = nullptr;
        m_b = nullptr;
        FramePool::Clear();
    }

    Ptr<ProbeNode> m_a; //!< sender
    Ptr<ProbeNode> m_b; //!< receiver
};

/// @ingroup pfc-tests
/// @brief A pause stops its class to the picosecond, the frame being sent completes, other classes
/// go on, a resume ends it.
class PfcPauseTest : public PfcTest
{
  public:
    /// Choose the mode. @param mode of Pfc
    explicit PfcPauseTest(const std::string& mode)
        : PfcTest("pause and resume of one class take effect exactly when they should, mode " +
                  mode),
          m_mode(mode)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PROCESSING = 300'000;
        Connect(m_mode, MAX_QUANTA, 0.5, PicoSeconds(PROCESSING));
        Send(5, 400);
        Send(2, 400);
        Pressure(10 * FRAME + 100, 5, true);
        const int64_t obeyed = 10 * FRAME + 100 + CONTROL + DELAY + PROCESSING;
        Pressure(obeyed + 5'000'000, 5, false);
        const int64_t resumed = obeyed + 5'000'000 + CONTROL + DELAY + PROCESSING;
        RunUntil(100'000'000);
        // Strict priority: class 5 goes alone until it is paused. The frame in transmission at
        // `obeyed` completes.
        const int64_t complete = (obeyed + FRAME - 1) / FRAME; // frames of class 5 begun before
        NS_TEST_ASSERT_MSG_EQ(Count(5, 0, resumed + DELAY),
                              complete,
                              "frames of class 5 begun before the pause was obeyed");
        NS_TEST_ASSERT_MSG_EQ(m_b->m_arrivals[complete].second, 2, "then class 2 goes");
        NS_TEST_ASSERT_MSG_EQ(m_b->m_arrivals[complete].first,
                              (complete + 1) * FRAME + DELAY,
                              "without a gap on the wire");
        // After the resume class 5 starts when the frame of class 2 in transmission is through.
        const int64_t start = (resumed + FRAME - 1) / FRAME * FRAME;
        NS_TEST_ASSERT_MSG_EQ(Count(5, resumed, start + FRAME + DELAY),
                              0,
                              "nothing of class 5 before");
        NS_TEST_ASSERT_MSG_EQ(Count(5, start + FRAME + DELAY, start + FRAME + DELAY + 1),
                              1,
                              "its first frame to the ps");
        NS_TEST_ASSERT_MSG_EQ(Count(5, 0, 200'000'000) + Count(2, 0, 200'000'000),
                              800,
                              "everything arrives in the end");
        NS_TEST_ASSERT_MSG_EQ(PortA().GetPausedTime(),
                              resumed - obeyed,
                              "time in which class 5 was paused");
        NS_TEST_ASSERT_MSG_EQ(PortB().GetCounters().pausesSent, 1, "one pause");
    }

    std::string m_mode; //!< of Pfc
};

/// @ingroup pfc-tests
/// @brief A pause of a class that is not lossless where it arrives.
class PfcLossyClassTest : public PfcTest
{
  public:
    PfcLossyClassTest()
        : PfcTest("a class that is not lossless does not obey a pause, which is counted, and a "
                  "lossless one in the same frame does")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* mode : {"Timer", "OnOff"})
        {
            Connect(mode, MAX_QUANTA, 0.5, PicoSeconds(0), RATE, 1U << 5);
            Send(5, 400);
            Send(2, 400);
            // The second frame goes when the first has gone, and takes over the third's words.
            Pressure(0, 1, true);
            Pressure(1, 2, true);
            Pressure(2, 5, true);
            RunUntil(100'000'000);
            const int begun = (2 * CONTROL + DELAY + FRAME - 1) / FRAME;
            NS_TEST_EXPECT_MSG_EQ(Count(5, 0, NowPs()), begun, "class 5 is paused, " << mode);
            NS_TEST_EXPECT_MSG_EQ(Count(2, 0, NowPs()), 400, "class 2 is not");
            NS_TEST_EXPECT_MSG_EQ(m_b->m_arrivals.back().first,
                                  (400 + begun) * FRAME + DELAY,
                                  "and never waits");
            NS_TEST_EXPECT_MSG_EQ(PortA().IsPaused(1) || PortA().IsPaused(2),
                                  false,
                                  "not even noted");
            NS_TEST_EXPECT_MSG_EQ(PortA().GetPausedTime(),
                                  NowPs() - 2 * CONTROL - DELAY,
                                  "the time of class 5 alone");
            NS_TEST_EXPECT_MSG_EQ(PortA().GetChain().GetIgnored(),
                                  2,
                                  "both frames had such classes");
            NS_TEST_EXPECT_MSG_EQ(PortB().GetCounters().controlOut, 2, "two frames");
            DoTeardown();
        }
    }
};

/// @ingroup pfc-tests
/// @brief What becomes of states that wait behind a frame: only the latest goes, or all do.
class PfcStatesTest : public PfcTest
{
  public:
    PfcStatesTest()
        : PfcTest("a RESUME and a PAUSE that wait together: the latest goes, or both")
    {
    }

  private:
    /// What was seen of one class at a.
    struct Change
    {
        int64_t time; //!< ps
        bool paused;  //!< began or ceased to obey

        bool operator==(const Change&) const = default;
    };

    std::vector<Change> m_changes; //!< so far

    void Note(const Port& /* port */, uint8_t cls, bool paused)
    {
        NS_TEST_EXPECT_MSG_EQ(cls, 3, "no other class");
        m_changes.push_back({NowPs(), paused});
    }

    void Try(const std::string& states, const std::vector<Change>& expected, uint64_t frames)
    {
        Connect("OnOff", MAX_QUANTA, 0.5, PicoSeconds(0));
        PortB().SetAttribute("States", StringValue(states));
        PortA().TraceConnectWithoutContext("Paused", MakeCallback(&PfcStatesTest::Note, this));
        m_changes.clear();
        // A frame of 9000 B holds the wire for 720 ns from 100 ns on. A pause went before; while
        // the frame goes, the class is resumed, paused, resumed and paused again.
        Pressure(0, 3, true);
        Simulator::Schedule(TimeStep(100'000), [this] {
            Frame* frame = FramePool::Take();
            frame->cls = 5;
            frame->bytes = 9000;
            m_b->Inject(frame);
        });
        for (int i = 0; i < 4; ++i)
        {
            Pressure(200'000 + i * 50'000, 3, i % 2 == 1);
        }
        RunUntil(10'000'000);
        NS_TEST_EXPECT_MSG_EQ((m_changes == expected), true, states);
        NS_TEST_EXPECT_MSG_EQ(PortB().GetCounters().controlOut, frames, states);
        DoTeardown();
    }

    void DoRun() override
    {
        constexpr int64_t FIRST = CONTROL + DELAY;
        constexpr int64_t FREE = 100'000 + 9000 * 80 + DELAY; // the long frame has gone
        Try("Latest", {{FIRST, true}}, 2);
        Try("All",
            {{FIRST, true},
             {FREE + CONTROL, false},
             {FREE + 2 * CONTROL, true},
             {FREE + 3 * CONTROL, false},
             {FREE + 4 * CONTROL, true}},
            5);
    }
};

/// @ingroup pfc-tests
/// @brief A timer ends a pause that is not refreshed; a new frame replaces it; refreshes keep a
/// class paused.
class PfcTimerTest : public PfcTest
{
  public:
    PfcTimerTest()
        : PfcTest("quanta are 512 bit times, a new frame replaces the timer, refreshes keep a "
                  "class paused")
    {
    }

  private:
    /// A pause frame reaches a, as if b had sent it. @param quanta its quanta
    void Pause(uint32_t quanta)
    {
        lossless::ControlFrame control;
        control.opcode = lossless::PFC_OPCODE;
        control.classes = 1U << 4;
        control.value.fill(0);
        control.value[4] = quanta;
        PortA().GetChain().GetMembers().front()->ReceiveControl(control);
    }

    void DoRun() override
    {
        Connect("Timer", 100, 0.5, PicoSeconds(0));
        Pause(1000);
        RunUntil(1000 * QUANTUM - 1);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(4), true, "1 ps before 1000 quanta are over");
        RunUntil(1000 * QUANTUM + 1);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(4), false, "1000 quanta are over");
        // Replaced, not prolonged and not the larger of both.
        int64_t now = NowPs();
        Pause(1000);
        RunUntil(now + 10 * QUANTUM);
        Pause(20);
        RunUntil(now + 30 * QUANTUM + 1);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(4),
                              false,
                              "20 quanta from the second frame, regardless of the first");
        now = NowPs();
        Pause(20);
        RunUntil(now + 10 * QUANTUM);
        Pause(1000);
        RunUntil(now + 1010 * QUANTUM - 1);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(4), true, "the longer pause replaced the shorter");
        Pause(0);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(4), false, "zero quanta resume");
        // b keeps class 6 OFF for 40 pause times of 100 quanta (512 ns), less than the link's
        // delay: refreshes follow each other every 50 quanta however long they travel, so a sends
        // what it began before it learnt, and no more.
        now = NowPs();
        Send(6, 50);
        Pressure(0, 6, true);
        RunUntil(now + 100 * QUANTUM * 40);
        NS_TEST_ASSERT_MSG_EQ(Count(6, now, NowPs()),
                              (CONTROL + DELAY + FRAME - 1) / FRAME,
                              "frames begun before the first pause was obeyed");
    }
};

/// @ingroup pfc-tests
/// @brief Refreshes in time hold a class for as long as it is OFF.
class PfcRefreshTest : public PfcTest
{
  public:
    PfcRefreshTest()
        : PfcTest("a class that stays OFF is never released while refreshes come in time")
    {
    }

  private:
    void DoRun() override
    {
        Connect("Timer", 1000, 0.5, PicoSeconds(0));
        Pressure(0, 6, true);
        RunUntil(5 * 1000 * QUANTUM / 1000 + 2'000'000);
        Send(6, 50);
        RunUntil(1000 * QUANTUM * 50);
        NS_TEST_ASSERT_MSG_EQ(Count(6, 0, NowPs()), 0, "50 pause times, no frame");
        lossless::Summary summary;
        PortB().GetChain().GetMembers().front()->Report(summary);
        NS_TEST_ASSERT_MSG_EQ_TOL(summary["pfc_refreshes_sent"],
                                  100,
                                  1,
                                  "one refresh every half pause time");
        // The link fails and comes back: the pause is forgotten, then asked for again.
        PortA().SetUp(false);
        PortB().SetUp(false);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(6), false, "forgotten with the link");
        NS_TEST_ASSERT_MSG_EQ(m_a->GetCounters().dropped,
                              50,
                              "what waited for the link is dropped and counted");
        PortA().SetUp(true);
        PortB().SetUp(true);
        RunUntil(NowPs() + CONTROL + DELAY + 1);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(6), true, "still OFF: paused again");
    }
};

/// @ingroup pfc-tests
/// @brief Regression: a pause whose link fails before it takes effect must not take effect
/// afterwards, for the resume that would end it is lost with the link.
class PfcLinkFailureTest : public PfcTest
{
  public:
    PfcLinkFailureTest()
        : PfcTest("a pause that was being processed when its link failed has no effect")
    {
    }

  private:
    void DoRun() override
    {
        Connect("OnOff", MAX_QUANTA, 0.5, PicoSeconds(2'000'000));
        Pressure(0, 3, true);
        RunUntil(CONTROL + DELAY + 1'000'000); // arrived, half processed
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(3), false, "not obeyed yet");
        PortA().SetUp(false);
        PortB().SetUp(false);
        Pressure(100, 3, false); // the resume finds no link
        RunUntil(NowPs() + 1000);
        PortA().SetUp(true);
        PortB().SetUp(true);
        RunUntil(NowPs() + 10'000'000);
        NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(3), false, "nothing would ever resume it");
    }
};

/// @ingroup pfc-tests
/// @brief Random pause frames against eight clocks: each frame sets the clocks of the classes that
/// it addresses, and no other.
class PfcClocksTest : public PfcTest
{
  public:
    /// Choose the mode. @param mode of Pfc
    explicit PfcClocksTest(const std::string& mode)
        : PfcTest("random class-enable vectors and quanta equal eight clocks, at several rates, "
                  "mode " +
                  mode),
          m_mode(mode)
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (const uint64_t gigabits : {10, 25, 40, 100, 400})
        {
            const uint64_t rate = gigabits * 1'000'000'000;
            const auto quantum = static_cast<int64_t>(512'000 / gigabits); // ps
            Connect(m_mode, MAX_QUANTA, 0.5, PicoSeconds(0), rate);
            std::array<int64_t, N_CLASSES> until{};
            int64_t paused = 0; // ps, summed over classes
            for (int step = 0; step < 300; ++step)
            {
                lossless::ControlFrame control;
                control.opcode = lossless::PFC_OPCODE;
                control.classes = static_cast<uint16_t>(random() & random() & 0xff);
                for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
                {
                    // values of classes that are not addressed mean nothing
                    control.value[cls] = random() % 4 ? static_cast<uint32_t>(random() % 200) : 0;
                    if (control.classes >> cls & 1)
                    {
                        until[cls] = control.value[cls] == 0 ? 0
                                     : m_mode == "OnOff" ? lossless::NEVER
                                                         : NowPs() + control.value[cls] * quantum;
                    }
                }
                NS_TEST_ASSERT_MSG_EQ(
                    PortA().GetChain().GetMembers().front()->ReceiveControl(control),
                    true,
                    "its own");
                control.opcode = 1; // plain PAUSE: not PFC's
                NS_TEST_ASSERT_MSG_EQ(
                    PortA().GetChain().GetMembers().front()->ReceiveControl(control),
                    false,
                    "another opcode");
                const int64_t next = NowPs() + 1 + static_cast<int64_t>(random() % 60) * quantum;
                for (const int64_t end : until)
                {
                    paused += std::max<int64_t>(std::min(end, next) - NowPs(), 0);
                }
                RunUntil(next);
                for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
                {
                    NS_TEST_ASSERT_MSG_EQ(PortA().IsPaused(cls),
                                          (until[cls] > NowPs()),
                                          "class " << +cls << " at " << gigabits
                                                   << " Gb/s after frame " << step);
                }
                NS_TEST_ASSERT_MSG_EQ(PortA().GetPausedTime(), paused, "time paused");
            }
            DoTeardown();
        }
    }

    std::string m_mode; //!< of Pfc
};

/// @ingroup pfc-tests
/// @brief Every class stops for its own pauses only.
class PfcIndependenceTest : public PfcTest
{
  public:
    PfcIndependenceTest()
        : PfcTest("with some classes paused exactly the others flow, for every set of classes")
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t set = 0; set < 256; ++set)
        {
            Connect("Timer", MAX_QUANTA, 0.5, PicoSeconds(0));
            uint32_t pauses = 0;
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                if (set >> cls & 1)
                {
                    Pressure(0, cls, true);
                    Pressure(1, cls, true); // requested twice, sent once
                    ++pauses;
                }
            }
            RunUntil(DELAY + N_CLASSES * CONTROL + 1);
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                Send(cls, 2);
            }
            RunUntil(NowPs() + 20 * FRAME + DELAY);
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                NS_TEST_ASSERT_MSG_EQ(Count(cls, 0, NowPs()),
                                      (set >> cls & 1 ? 0 : 2),
                                      "frames of class " << +cls << " with classes " << set
                                                         << " paused");
            }
            NS_TEST_ASSERT_MSG_EQ(PortB().GetCounters().pausesSent, pauses, "one pause a class");
            DoTeardown();
        }
    }
};

/// @ingroup pfc-tests
/// @brief How late a refresh may be: it waits for a frame in transmission.
class PfcLateRefreshTest : public PfcTest
{
  public:
    PfcLateRefreshTest()
        : PfcTest("refreshes hold a class OFF if a pause outlasts their interval by a frame's "
                  "time, and do not if they come when it ends")
    {
    }

  private:
    /// Keep class 6 OFF while full frames make the refreshes wait.
    /// @param quanta of a pause. @param refreshAt share after which it is refreshed. @param phase
    /// when the class turns OFF (ps) @return frames of the class that went all the same.
    int Leaks(uint32_t quanta, double refreshAt, int64_t phase)
    {
        Connect("Timer", quanta, refreshAt, PicoSeconds(0));
        const int64_t span = 30 * quanta * QUANTUM;
        for (int64_t i = 0; i < span / FRAME; ++i)
        {
            Frame* frame = FramePool::Take();
            frame->bytes = 1000;
            m_b->Inject(frame);
        }
        Pressure(phase, 6, true);
        RunUntil(phase + FRAME + CONTROL + DELAY + 1);
        Send(6, 100);
        RunUntil(span);
        const int leaks = Count(6, 0, span);
        DoTeardown();
        return leaks;
    }

    void DoRun() override
    {
        int late = 0;
        for (int64_t phase = 0; phase < FRAME; phase += FRAME / 16 + 1)
        {
            // (1 - RefreshAt) x quanta x 64 B must be 1000 B: 157 quanta at 0.9, 32 at 0.5
            NS_TEST_ASSERT_MSG_EQ(Leaks(158, 0.9, phase), 0, "a frame's time to spare, at 0.9");
            NS_TEST_ASSERT_MSG_EQ(Leaks(33, 0.5, phase), 0, "a frame's time to spare, at 0.5");
            late += Leaks(158, 1.0, phase);
        }
        NS_TEST_ASSERT_MSG_GT(late, 0, "no time to spare: some refresh comes too late");
    }
};

/// @ingroup pfc-tests
/// @brief Tests of Pfc.
class PfcTestSuite : public TestSuite
{
  public:
    PfcTestSuite()
        : TestSuite("pfc-flow-control", Type::UNIT)
    {
        AddTestCase(new PfcPauseTest("Timer"), TestCase::Duration::QUICK);
        AddTestCase(new PfcPauseTest("OnOff"), TestCase::Duration::QUICK);
        AddTestCase(new PfcLossyClassTest, TestCase::Duration::QUICK);
        AddTestCase(new PfcStatesTest, TestCase::Duration::QUICK);
        AddTestCase(new PfcTimerTest, TestCase::Duration::QUICK);
        AddTestCase(new PfcRefreshTest, TestCase::Duration::QUICK);
        AddTestCase(new PfcLinkFailureTest, TestCase::Duration::QUICK);
        AddTestCase(new PfcClocksTest("Timer"), TestCase::Duration::QUICK);
        AddTestCase(new PfcClocksTest("OnOff"), TestCase::Duration::QUICK);
        AddTestCase(new PfcIndependenceTest, TestCase::Duration::QUICK);
        AddTestCase(new PfcLateRefreshTest, TestCase::Duration::QUICK);
    }
};

static PfcTestSuite g_pfcTestSuite; //!< registers the suite

} // namespace tests
} // namespace pfc
} // namespace ns3
