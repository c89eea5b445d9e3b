/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-next-message.h"

#include "ns3/dcqcn.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

/**
 * @file
 * @ingroup dcqcn-tests
 * DCQCN's sender and receiver against sequences computed by hand, a second model with real timers,
 * and whole networks with and without PFC.
 */

namespace ns3
{
namespace dcqcn
{
namespace tests
{

using facade::tests::Network;
using facade::tests::Settings;
using lossless::Frame;
using lossless::FrameKind;
using lossless::NEVER;
using lossless::NowPs;
using rdma::QueuePair;

namespace
{

constexpr int64_t US = 1'000'000;                        //!< ps
constexpr uint64_t GBPS = 1'000'000'000;                 //!< bit/s
const char* const DCQCN = "ns3::dcqcn::Dcqcn";           //!< type
const char* const MARKING = "ns3::lossless::EcnMarking"; //!< type

/// presets.toml's "paper".
const Settings PAPER{{"Notification", "Paced"},
                     {"CutOn", "Cnp"},
                     {"DecreaseInterval", "0us"},
                     {"AlphaInterval", "55us"},
                     {"IncreaseInterval", "55us"},
                     {"ByteCounter", "10000000"},
                     {"FastRecovery", "5"},
                     {"AdditiveIncrease", "40Mbps"},
                     {"HyperIncrease", "400Mbps"},
                     {"MinRate", "10Mbps"},
                     {"ClampTarget", "true"}};

/// The paper's values, with others. @param values what differs. @return all.
Settings
Paper(const Settings& values)
{
    Settings all = PAPER;
    all.insert(all.end(), values.begin(), values.end());
    return all;
}

/// A cut or an increase.
struct Change
{
    int64_t time;     //!< ps
    uint64_t current; //!< bit/s
    uint64_t target;  //!< bit/s

    bool operator==(const Change&) const = default;
};

} // namespace

/// @ingroup dcqcn-tests
/// @brief DCQCN that the test feeds with notifications and bytes, and that keeps its history.
class FedDcqcn : public Dcqcn
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::dcqcn::tests::FedDcqcn")
                                .SetParent<Dcqcn>()
                                .SetGroupName("tests")
                                .AddConstructor<FedDcqcn>();
        return tid;
    }

    void Start(rdma::Sender& sender, uint64_t lineRate) override
    {
        Dcqcn::Start(sender, lineRate);
        TraceConnectWithoutContext("State", MakeCallback(&FedDcqcn::Keep, this));
        g_last = this;
    }

    /// Another receiver's half, which the test feeds. @return it.
    std::unique_ptr<rdma::CongestionReceiver> MakeAnother() const
    {
        return MakeReceiver();
    }

    /// What comes from the network when a NACK does.
    void Refuse()
    {
        Frame frame;
        frame.kind = FrameKind::NACK;
        static_cast<rdma::SendQueue*>(m_sender)->Receive(frame);
    }

    /// What comes from the network when a notification does.
    void Notify()
    {
        Frame frame;
        frame.kind = FrameKind::CNP;
        static_cast<rdma::SendQueue*>(m_sender)->Receive(frame);
    }

    /// As if a frame had been sent. @param bytes its size.
    void Send(uint16_t bytes)
    {
        Frame frame;
        frame.bytes = bytes;
        NotifySent(frame);
        m_sender->Reconsider();
    }

    /// Write down a change.
    /// @param flow of it. @param current Rc. @param target Rt. @param alpha ignored.
    void Keep(uint32_t /* flow */, uint64_t current, uint64_t target, double /* alpha */)
    {
        m_history.push_back(Change{NowPs(), current, target});
    }

    static FedDcqcn* g_last;       //!< the one of the run
    std::vector<Change> m_history; //!< all changes
};

FedDcqcn* FedDcqcn::g_last = nullptr;
NS_OBJECT_ENSURE_REGISTERED(FedDcqcn);

namespace
{

/// A flow that sends one frame and then next to nothing, so that what DCQCN sees comes from the
/// test.
struct Fed : Network
{
    /// Make it.
    /// @param line rate of its links in bit/s. @param values attributes of DCQCN in ns-3's
    /// spelling.
    Fed(uint64_t line, const Settings& values)
    {
        // What is done at a time comes after the start of the flow, which was scheduled before.
        sim.SetSimulator("ns3::eventloop::EventLoop");
        for (const auto& [name, value] : values)
        {
            sim.SetAttribute("ns3::dcqcn::tests::FedDcqcn", name, value);
        }
        sim.AddFlowControl("ns3::pfc::Pfc");
        sim.SetCongestionControl("ns3::dcqcn::tests::FedDcqcn");
        sim.SetDeadlockTest(0, false); // its looks are events
        Star(2, line, US);
        Flow(0, 1, 0, 0, 3, 1000);
        sim.Build();
    }

    /// Do something with the flow's DCQCN later. @param time ps. @param action takes it.
    static void At(int64_t time, std::function<void(FedDcqcn&)> action)
    {
        Simulator::Schedule(PicoSeconds(time), [action] { action(*FedDcqcn::g_last); });
    }

    /// Notifications at times. @param times ps
    static void NotifyAt(const std::vector<int64_t>& times)
    {
        for (const int64_t time : times)
        {
            At(time, [](FedDcqcn& dcqcn) { dcqcn.Notify(); });
        }
    }

    /// Run. @param until ps. @return all changes of the rate.
    std::vector<Change> Run(int64_t until)
    {
        sim.Run(until);
        return FedDcqcn::g_last->m_history;
    }
};

/// Write changes for a message. @param changes them. @return text.
std::string
Show(const std::vector<Change>& changes)
{
    std::string text;
    for (const Change& change : changes)
    {
        text += std::to_string(change.time) + ":" + std::to_string(change.current) + "/" +
                std::to_string(change.target) + " ";
    }
    return text;
}

} // namespace

/// @ingroup dcqcn-tests
/// @brief Rate sequences computed by hand.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase(
              "cuts, alpha, fast recovery, additive and hyper increase, clamp and line rate give "
              "the rates computed by hand")
    {
    }

  private:
    /// Compare histories. @param got what came. @param expected by hand. @param what is tested.
    void Compare(const std::vector<Change>& got,
                 const std::vector<Change>& expected,
                 const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ((got == expected), true, what << ": " << Show(got));
    }

    /// The paper's values, timer only: two cuts, five halvings, one AI, then HAI, then alpha =
    /// (1-g)^8.
    void TimerOnly()
    {
        Fed net(40 * GBPS, Paper({{"ByteCounter", "0"}}));
        Fed::NotifyAt({100 * US, 150 * US, 600 * US});
        Compare(net.Run(601 * US),
                {{100 * US, 20'000'000'000, 40'000'000'000},
                 {150 * US, 10'000'000'000, 20'000'000'000},
                 {205 * US, 15'000'000'000, 20'000'000'000},
                 {260 * US, 17'500'000'000, 20'000'000'000},
                 {315 * US, 18'750'000'000, 20'000'000'000},
                 {370 * US, 19'375'000'000, 20'000'000'000},
                 {425 * US, 19'687'500'000, 20'000'000'000},
                 {480 * US, 19'863'750'000, 20'040'000'000},
                 {535 * US, 20'151'875'000, 20'440'000'000},
                 {590 * US, 20'495'937'500, 20'840'000'000},
                 {600 * US, 10'563'873'408, 20'495'937'500}},
                "timer only");
    }

    /// The first notification sets rate and alpha: from 10 of 40 Gb/s a cut by half of alpha.
    void First()
    {
        Fed net(40 * GBPS,
                Paper({{"ByteCounter", "0"}, {"FirstRate", "10Gbps"}, {"InitialAlpha", "0.5"}}));
        Fed::NotifyAt({100 * US});
        Compare(
            net.Run(156 * US),
            {{100 * US, 7'500'000'000, 10'000'000'000}, {155 * US, 8'750'000'000, 10'000'000'000}},
            "first notification");
    }

    /// A NACK and a timeout cut like notifications, or not at all.
    void Losses()
    {
        for (const bool cut : {false, true})
        {
            Fed net(40 * GBPS,
                    Paper({{"ByteCounter", "0"}, {"CutOnLoss", cut ? "true" : "false"}}));
            Fed::At(100 * US, [](FedDcqcn& dcqcn) { dcqcn.Refuse(); });
            Fed::At(110 * US, [](FedDcqcn& dcqcn) { dcqcn.NotifyTimeout(); });
            const std::vector<Change> cuts{{100 * US, 20'000'000'000, 40'000'000'000},
                                           {110 * US, 10'000'000'000, 20'000'000'000}};
            Compare(net.Run(120 * US), cut ? cuts : std::vector<Change>{}, "losses");
        }
    }

    /// The target follows a cut after an increase by the timer, or keeps its place.
    void AfterTimer()
    {
        for (const bool clamp : {false, true})
        {
            Fed net(40 * GBPS,
                    Paper({{"ByteCounter", "0"},
                           {"Gain", "0"},
                           {"ClampTarget", "false"},
                           {"ClampAfterTimer", clamp ? "true" : "false"}}));
            Fed::NotifyAt({100 * US, 160 * US});
            Compare(net.Run(161 * US),
                    {{100 * US, 20'000'000'000, 40'000'000'000},
                     {155 * US, 30'000'000'000, 40'000'000'000},
                     {160 * US, 15'000'000'000, (clamp ? 30U : 40U) * GBPS}},
                    "after the timer");
        }
    }

    /// Both counters at 100 Gb/s with F = 2: additive with the first beyond F, hyper with both.
    void BytesAndTimer()
    {
        Fed net(100 * GBPS,
                Paper({{"ByteCounter", "3000"},
                       {"FastRecovery", "2"},
                       {"AdditiveIncrease", "100000000bps"},
                       {"HyperIncrease", "1000000000bps"}}));
        Fed::NotifyAt({0, 1 * US});
        // Frames that were sent before the cut do not count; a sum that passes the counter keeps
        // the rest.
        Fed::At(US / 2, [](FedDcqcn& dcqcn) { dcqcn.Send(2999); });
        const std::pair<int, int> sent[] = {{2, 2000}, {3, 1000}, {4, 5000}, {5, 1000}};
        for (const auto& [at, bytes] : sent)
        {
            const auto size = static_cast<uint16_t>(bytes);
            Fed::At(at * US, [size](FedDcqcn& dcqcn) { dcqcn.Send(size); });
        }
        Compare(net.Run(222 * US),
                {{0, 50'000'000'000, 100'000'000'000},
                 {1 * US, 25'000'000'000, 50'000'000'000},
                 {3 * US, 37'500'000'000, 50'000'000'000},
                 {4 * US, 43'750'000'000, 50'000'000'000},
                 {5 * US, 46'925'000'000, 50'100'000'000},
                 {56 * US, 48'562'500'000, 50'200'000'000},
                 {111 * US, 49'431'250'000, 50'300'000'000},
                 {166 * US, 49'915'625'000, 50'400'000'000},
                 {221 * US, 50'657'812'500, 51'400'000'000}},
                "bytes and timer");
    }

    /// The target after a second cut, an increase by bytes, a third cut, an increase by the timer
    /// and a fourth cut.
    /// @param clamp ClampTarget. @param targets after the four cuts (Gb/s).
    void Clamps(bool clamp, const std::array<double, 4>& targets)
    {
        Fed net(64 * GBPS,
                Paper({{"ByteCounter", "1000"}, {"ClampTarget", clamp ? "true" : "false"}}));
        Fed::NotifyAt({0, 1 * US, 3 * US, 60 * US});
        Fed::At(2 * US, [](FedDcqcn& dcqcn) { dcqcn.Send(1000); });
        const auto history = net.Run(61 * US);
        const std::size_t cuts[] = {0, 1, 3, 5};
        NS_TEST_ASSERT_MSG_EQ(history.size(), 6, clamp << ": " << Show(history));
        for (std::size_t i = 0; i < 4; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(history[cuts[i]].target) / 1e9,
                                      targets[i],
                                      1e-9,
                                      clamp << ", cut " << i + 1 << ": " << Show(history));
        }
    }

    /// The defaults at 25 Gb/s.
    void Alpha()
    {
        Fed net(25 * GBPS, {{"Notification", "Paced"}});
        Fed::NotifyAt({10 * US});
        net.Run(615 * US);
        NS_TEST_EXPECT_MSG_EQ_TOL(FedDcqcn::g_last->GetAlpha(),
                                  std::pow(255.0 / 256, 605),
                                  1e-12,
                                  "alpha falls every microsecond");
    }

    /// Rmin holds, the rate comes back to the line exactly, and then nothing is scheduled any more.
    void Ends()
    {
        Fed net(10 * GBPS, Paper({{"MinRate", "3000000000bps"}}));
        Fed::NotifyAt({0, 50 * US, 100 * US});
        const auto history = net.Run(10'000 * US);
        NS_TEST_EXPECT_MSG_EQ(history[1].current, 3 * GBPS, "Rmin instead of 2.5 Gb/s");
        NS_TEST_EXPECT_MSG_EQ(history[2].current, 3 * GBPS, "and again");
        NS_TEST_EXPECT_MSG_LT(history.back().current, 10 * GBPS, "AI alone takes 10 ms and more");
        net.sim.Run(100'000 * US);
        const auto& all = FedDcqcn::g_last->m_history;
        NS_TEST_EXPECT_MSG_EQ(all.back().current, 10 * GBPS, "the line's rate");
        NS_TEST_EXPECT_MSG_EQ(all.back().target, 10 * GBPS, "and the target");
        NS_TEST_EXPECT_MSG_EQ(FedDcqcn::g_last->GetRate(), 0, "no limit any more");
        const uint64_t before = net.sim.GetEventCount();
        net.sim.Run(600'000 * US);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(net.sim.GetEventCount() - before,
                                    1, // the end of the run
                                    "an unlimited flow has no timers");
    }

    /// A least time between cuts; alpha moves with every notification.
    void LeastTime()
    {
        Fed net(32 * GBPS, Paper({{"DecreaseInterval", "200us"}, {"Gain", "0.5"}}));
        // alpha: 1 at first, halved at 55 and 110 us, then 5/8 and 13/16 by two notifications
        Fed::NotifyAt({0, 120 * US, 154 * US, 200 * US});
        const auto history = net.Run(201 * US);
        NS_TEST_ASSERT_MSG_EQ(history.front().current, 16 * GBPS, "the first cuts by half");
        // increases at 55, 110 and 165 us: 24, 28, 30 Gb/s
        NS_TEST_ASSERT_MSG_EQ(history.size(), 5, "one cut in 200 us: " << Show(history));
        NS_TEST_EXPECT_MSG_EQ(history.back().time, 200 * US, "and one then");
        NS_TEST_EXPECT_MSG_EQ(history.back().current,
                              static_cast<uint64_t>(30e9 * (1 - 13.0 / 32)),
                              "alpha moved with every notification");
    }

    /// With a Latency all changes come so much later; two notifications may be under way at once.
    void Late()
    {
        Fed net(40 * GBPS, Paper({{"ByteCounter", "0"}, {"Latency", "3us"}}));
        Fed::NotifyAt({97 * US, 98 * US, 202 * US});
        Compare(net.Run(206 * US),
                {{100 * US, 20'000'000'000, 40'000'000'000},
                 {101 * US, 10'000'000'000, 20'000'000'000},
                 {156 * US, 15'000'000'000, 20'000'000'000},
                 {205 * US, 7'529'296'875, 15'000'000'000}},
                "a notification that counts later");
    }

    void DoRun() override
    {
        First();
        Losses();
        AfterTimer();
        TimerOnly();
        Late();
        BytesAndTimer();
        // Rates: 64 -> 32 -> 16; bytes: half-way to the target; timer: half-way again.
        Clamps(true, {64, 32, 24, 12 * (1 + 1.0 / 2)});
        Clamps(false, {64, 64, 40, 30});
        Alpha();
        Ends();
        LeastTime();
    }
};

/// @ingroup dcqcn-tests
/// @brief The sender with the HPCC simulator's timers, which tick whether or not there is anything
/// to do, against Dcqcn, which schedules only what is needed.
class SecondModelTest : public TestCase
{
  public:
    SecondModelTest()
        : TestCase("random notifications give the rates of a second model with periodic timers, "
                   "exactly, from 10 to 400 Gbps")
    {
    }

  private:
    /// The second model.
    /// @param line bit/s. @param times of notifications (ps), ascending. @param until ps.
    /// @param alphaPeriod ps. @param cutPeriod ps. @param increasePeriod ps. @return all changes.
    static std::vector<Change> Model(uint64_t line,
                                     const std::vector<int64_t>& times,
                                     int64_t until,
                                     int64_t alphaPeriod,
                                     int64_t cutPeriod,
                                     int64_t increasePeriod)
    {
        std::vector<Change> changes;
        uint64_t current = line;
        uint64_t target = line;
        double alpha = 1;
        bool alphaSeen = false;
        bool cutSeen = true;
        int stage = 0;
        int64_t nextAlpha = times.front() + alphaPeriod;
        int64_t nextLook = times.front() + cutPeriod;
        int64_t nextIncrease = NEVER;
        std::size_t next = 1;
        for (;;)
        {
            const int64_t notified = next < times.size() ? times[next] : NEVER;
            const int64_t now = std::min({nextAlpha, nextLook, nextIncrease, notified});
            if (now > until)
            {
                return changes;
            }
            if (now == nextAlpha)
            {
                alpha = (1 - 1.0 / 256) * alpha + (alphaSeen ? 1.0 / 256 : 0);
                alphaSeen = false;
                nextAlpha += alphaPeriod;
            }
            else if (now == nextIncrease)
            {
                const uint64_t unit = line / 25; // AI = 5 Mb/s, HAI = 50 Mb/s at 25 Gb/s
                target += stage == 1 ? unit * 5 / 1000 : stage > 1 ? unit * 50 / 1000 : 0;
                target = std::min(target, line);
                current = (current + target + 1) / 2;
                ++stage;
                changes.push_back(Change{now, current, target});
                nextIncrease = current == line ? NEVER : now + increasePeriod;
            }
            else if (now == nextLook)
            {
                if (cutSeen)
                {
                    target = stage > 0 ? current : target;
                    current = std::max<uint64_t>(
                        std::min(line, GBPS),
                        static_cast<uint64_t>(static_cast<double>(current) * (1 - alpha / 2)));
                    stage = 0;
                    cutSeen = false;
                    nextIncrease = now + increasePeriod;
                    changes.push_back(Change{now, current, target});
                }
                nextLook += cutPeriod;
            }
            else
            {
                alphaSeen = true;
                cutSeen = true;
                ++next;
            }
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (const uint64_t gbps : {10, 25, 40, 100, 200, 400})
        {
            for (const bool paper : {false, true})
            {
                const int64_t until = 30'000 * US;
                std::vector<int64_t> times;
                int64_t time = 1 + static_cast<int64_t>(random() % US);
                while (time < until)
                {
                    times.push_back(time | 1); // never at a whole microsecond after the first
                    const int64_t scale = random() % 20 == 0 ? 4000 * US : 8 * US;
                    time += 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(scale));
                }
                times.front() &= ~1LL;
                Settings values{{"Notification", "PerPacket"}, {"ReferenceRate", "25Gbps"}};
                if (paper)
                {
                    values.insert(values.end(),
                                  {{"DecreaseInterval", "50us"},
                                   {"AlphaInterval", "50us"},
                                   {"IncreaseInterval", "55us"}});
                }
                Fed net(gbps * GBPS, values);
                Fed::NotifyAt(times);
                const auto got = net.Run(until);
                const auto expected = Model(gbps * GBPS,
                                            times,
                                            until,
                                            paper ? 50 * US : US,
                                            paper ? 50 * US : 4 * US,
                                            paper ? 55 * US : 300 * US);
                NS_TEST_ASSERT_MSG_GT(expected.size(), 100, "the test does something");
                const auto [a, b] =
                    std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
                NS_TEST_EXPECT_MSG_EQ((got == expected),
                                      true,
                                      gbps << " Gb/s: " << got.size() << " changes against "
                                           << expected.size() << "; first difference: "
                                           << Show({a, a == got.end() ? a : a + 1}) << "against "
                                           << Show({b, b == expected.end() ? b : b + 1}));
            }
        }
    }
};

/// @ingroup dcqcn-tests
/// @brief What the receiver sends, and what the sender takes as a notification.
class NotificationTest : public TestCase
{
  public:
    NotificationTest()
        : TestCase("CNPs are paced, or one a packet, or a bit of the ACK; they take their bytes of "
                   "the wire")
    {
    }

  private:
    /// Which of the marked packets that come at some times cause a CNP?
    /// @param how Notification. @return a mark for each.
    static std::string Answered(const std::string& how)
    {
        Fed net(100 * GBPS, {{"Notification", how}, {"CnpInterval", "50us"}});
        static std::string answers;
        static std::unique_ptr<rdma::CongestionReceiver> receiver;
        receiver = nullptr;
        answers.clear();
        for (const int64_t time :
             {10 * US, 20 * US, 60 * US - 1, 60 * US, 109 * US, 300 * US, 349 * US})
        {
            Fed::At(time, [](FedDcqcn& dcqcn) {
                receiver = receiver ? std::move(receiver) : dcqcn.MakeAnother();
                Frame frame;
                frame.ecn = 1;
                const bool plain = receiver->NotifyData(frame);
                frame.ecn = 3;
                answers += plain ? '!' : receiver->NotifyData(frame) ? 'x' : '.';
            });
        }
        net.Run(400 * US);
        return answers;
    }

    /// An ACK or a NACK counts in one mode only, and if it has the bit.
    void Bits()
    {
        for (const bool bit : {false, true})
        {
            Fed net(100 * GBPS, {{"Notification", bit ? "AckBit" : "Paced"}, {"CutOn", "Cnp"}});
            for (const FrameKind kind : {FrameKind::ACK, FrameKind::NACK})
            {
                Fed::At(kind == FrameKind::ACK ? 10 * US : 20 * US, [kind](FedDcqcn& dcqcn) {
                    Frame frame;
                    frame.kind = kind;
                    dcqcn.NotifyAck(rdma::Acknowledgement(frame));
                    frame.ecn = 3;
                    dcqcn.NotifyAck(rdma::Acknowledgement(frame));
                });
            }
            NS_TEST_EXPECT_MSG_EQ(net.Run(30 * US).size(), (bit ? 2U : 0U), "bit " << bit);
        }
    }

    /// Two flows into one port; the answers have a class of their own, whose bytes are counted.
    void Wire()
    {
        Network net;
        net.Set("QueuePair", "AnswerClass", 5);
        net.Set("QueuePair", "AckEvery", 4);
        for (const auto& [name, value] : Paper({{"IncreaseInterval", "5us"}}))
        {
            net.sim.SetAttribute(DCQCN, name, value);
        }
        net.sim.SetAttribute(MARKING, "Kmin", "20000");
        net.sim.SetAttribute(MARKING, "Kmax", "20000");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.AddAgent(MARKING);
        net.sim.SetCongestionControl(DCQCN);
        net.Star(3, 40 * GBPS, US);
        net.Flow(0, 2, 0, 0, 3, 0, 0, 1000 * US);
        net.Flow(1, 2, 0, 0, 3, 0, 0, 1000 * US);
        net.sim.Build();
        const uint32_t node = 2;
        const int64_t peer = 3;
        net.sim.Trace("rate", &node, &peer, 1, 0xff, 2000 * US);
        net.sim.Run(2000 * US);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "conserved");
        int64_t answered = 0;
        const auto classes = net.Column("rate", "class");
        const auto bytes = net.Column("rate", "tx_bytes");
        for (std::size_t row = 0; row < classes.size(); ++row)
        {
            answered += classes[row] == 5 ? bytes[row] : 0;
        }
        int64_t packets = 0;
        for (const int64_t delivered : net.Column("flow", "delivered_bytes"))
        {
            packets += delivered / 1000 / 4;
        }
        const auto cnps = static_cast<int64_t>(net.Number("cnps_sent"));
        NS_TEST_EXPECT_MSG_GT(cnps, 10, "there was congestion");
        const auto windows = static_cast<int64_t>(net.Number("last_delivery_ps")) / (50 * US);
        NS_TEST_EXPECT_MSG_LT_OR_EQ(cnps, 2 * (windows + 1), "one CNP a flow in 50 us at most");
        NS_TEST_EXPECT_MSG_EQ(net.Number("cnps_received"), cnps, "they arrive");
        NS_TEST_EXPECT_MSG_EQ_TOL(answered, (packets + cnps) * 84, 2 * 84, "each takes 84 B");
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Answered("Paced"), "x..x.x.", "at most one in 50 us");
        NS_TEST_EXPECT_MSG_EQ(Answered("PerPacket"), "xxxxxxx", "one a packet");
        NS_TEST_EXPECT_MSG_EQ(Answered("AckBit"), ".......", "none");
        Bits();
        Wire();
    }
};

/// @ingroup dcqcn-tests
/// @brief The line's rate in the parameters, and those that cannot be.
class ParametersTest : public TestCase
{
  public:
    ParametersTest()
        : TestCase("increases grow with the line from the reference rate on, or with none not; a "
                   "timer needs its period")
    {
    }

  private:
    /// By how much the target grows in the first additive increase.
    /// @param line bit/s. @param reference attribute ReferenceRate. @return bit/s.
    static uint64_t Growth(uint64_t line, const std::string& reference)
    {
        Fed net(line,
                Paper({{"ByteCounter", "0"}, {"FastRecovery", "0"}, {"ReferenceRate", reference}}));
        Fed::NotifyAt({0, 1 * US}); // the second cut moves the target away from the line's rate
        const auto history = net.Run(57 * US);
        return history.back().target - line / 2;
    }

    void DoRun() override
    {
        for (const uint64_t gbps : {10, 25, 40, 50, 100, 200, 400})
        {
            NS_TEST_EXPECT_MSG_EQ(Growth(gbps * GBPS, "0bps"), 40'000'000, "on any line");
            NS_TEST_EXPECT_MSG_EQ(Growth(gbps * GBPS, "25Gbps"), 40'000'000 * gbps / 25, "scaled");
        }
        for (const bool given : {false, true})
        {
            Network net;
            net.sim.SetAttribute(DCQCN, "DecreaseInterval", given ? "50us" : "0us");
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.sim.SetCongestionControl(DCQCN);
            net.Star(2, 40 * GBPS, US);
            net.Flow(0, 1, 1000);
            net.sim.Build();
            NS_TEST_EXPECT_MSG_EQ(
                (net.sim.Check().find("Timer needs a DecreaseInterval") == std::string::npos),
                given,
                net.sim.Check());
        }
    }
};

/// @ingroup dcqcn-tests
/// @brief Whole networks.
class NetworkTest : public TestCase
{
  public:
    NetworkTest()
        : TestCase(
              "flows share a port fairly from 10 to 400 Gbps, runs repeat, and messages arrive "
              "with and without PFC")
    {
    }

  private:
    /// What a run of two greedy flows gave.
    struct Shares
    {
        std::array<double, 2> goodput{}; //!< of the later half, share of the line's payload
        std::vector<int64_t> times;      //!< of changes of the rates
        std::vector<int64_t> rates;      //!< at them
        double marked{0};                //!< frames
    };

    /// Two greedy flows into one port, the second later, 40 ms at 25 Gb/s and as many frames at
    /// other rates.
    /// @param gbps line. @param seed of the run. @return what came.
    Shares Share(uint64_t gbps, uint64_t seed)
    {
        Network net(seed);
        const int64_t end = 12'000 * US;
        net.sim.SetAttribute(MARKING, "ReferenceRate", "25Gbps");
        // Larger steps than usual, to converge within the run.
        net.sim.SetAttribute(DCQCN, "AdditiveIncrease", "50000000bps");
        net.sim.SetAttribute(DCQCN, "HyperIncrease", "250000000bps");
        net.sim.SetAttribute(DCQCN, "ReferenceRate", "25Gbps");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.AddAgent(MARKING);
        net.sim.SetCongestionControl(DCQCN);
        net.Set("SharedBuffer", "Size", 64'000'000);
        net.Star(3, gbps * GBPS, US);
        net.Flow(0, 2, 0);
        net.Flow(1, 2, 0, end / 20);
        net.sim.Build();
        net.Trace("flow_rate", 0, -1);
        net.Trace("flow_rate", 1, 3);
        Shares shares;
        net.sim.Run(end);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved and none is lost");
        shares.times = net.Column("flow_rate", "time_ps");
        shares.rates = net.Column("flow_rate", "rate_bps");
        shares.marked = net.Number("marked_frames");
        const auto flows = net.Column("flow_rate", "flow");
        // Time mean of each flow's rate over the later half.
        for (int64_t flow = 0; flow < 2; ++flow)
        {
            double sum = 0;
            int64_t since = end / 2;
            int64_t rate = 0;
            for (std::size_t row = 0; row < flows.size(); ++row)
            {
                if (flows[row] != flow)
                {
                    continue;
                }
                const int64_t time = std::max(since, shares.times[row]);
                sum += static_cast<double>(rate) * static_cast<double>(time - since);
                since = time;
                rate = shares.rates[row];
            }
            sum += static_cast<double>(rate) * static_cast<double>(end - since);
            shares.goodput[flow] =
                sum / static_cast<double>(end / 2) / 1e9 / static_cast<double>(gbps);
        }
        return shares;
    }

    /// Eight messages of 200 KB at once into one port with little buffer.
    /// @param lossless class 3 is lossless and has PFC. @param retransmit of queue pairs.
    /// @param dcqcn use it. @return retransmitted bytes.
    double Incast(bool lossless, const std::string& retransmit, bool dcqcn)
    {
        Network net;
        net.Set("SharedBuffer", "Size", 1'000'000);
        net.Set("SharedBuffer", "LosslessClasses", lossless ? 8 : 0);
        net.Set("SharedBuffer", "LossyPool", lossless ? 0 : 200'000);
        net.Set("QueuePair", "Retransmit", retransmit);
        net.Set("QueuePair", "Timeout", "200us");
        if (lossless)
        {
            net.sim.AddFlowControl("ns3::pfc::Pfc");
        }
        if (dcqcn)
        {
            // Marks must come before the pool is full: it is an eighth of the usual one.
            net.sim.SetAttribute(MARKING, "Kmin", "5000");
            net.sim.SetAttribute(MARKING, "Kmax", "20000");
            net.sim.AddAgent(MARKING);
            net.sim.SetCongestionControl(DCQCN);
        }
        net.Star(9, 25 * GBPS, US);
        for (uint32_t src = 0; src < 8; ++src)
        {
            net.Flow(src, 8, 200'000);
        }
        net.sim.Build();
        net.sim.Run(100'000 * US);
        const std::string what = (lossless ? "PFC, " : "no PFC, ") + retransmit;
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", what);
        NS_TEST_EXPECT_MSG_EQ(net.Number("flows_finished"), 8, what << ": all finish");
        NS_TEST_EXPECT_MSG_EQ(net.Number("delivered_bytes"), 1'600'000, what << ": once each");
        NS_TEST_EXPECT_MSG_EQ(net.Number("cnps_sent"), 0, "with AckBit there are no CNPs");
        return net.Number("retransmitted_bytes");
    }

    /// Two greedy flows on one NIC, of which one is cut: wire bytes of its class and of the
    /// other's.
    /// @param window of the flow that is cut (B); 0: none. @return bytes of the cut flow and of the
    /// other in 40 us, a while after the cut.
    std::array<int64_t, 2> OnTheWire(uint64_t window)
    {
        Network net;
        for (const auto& [name, value] : PAPER)
        {
            net.sim.SetAttribute("ns3::dcqcn::tests::FedDcqcn", name, value);
        }
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetCongestionControl("ns3::dcqcn::tests::FedDcqcn");
        net.Set("Port", "ClassService", "Dwrr");
        net.Set("SharedBuffer", "LosslessClasses", 24);
        net.Star(3, 40 * GBPS, US);
        net.Flow(0, 1, 0, 0, 4); // starts first, so that the one fed is the other
        net.Flow(0, 2, 0, 1, 3, 0, window);
        net.sim.Build();
        const uint32_t node = 0;
        const int64_t peer = 3;
        net.sim.Trace("rate", &node, &peer, 1, 0xff, 20 * US);
        Fed::NotifyAt({10 * US, 15 * US});
        net.sim.Run(61 * US);
        NS_TEST_EXPECT_MSG_EQ(FedDcqcn::g_last->GetRate(), 10 * GBPS, "two halvings");
        const auto times = net.Column("rate", "time_ps");
        const auto classes = net.Column("rate", "class");
        const auto bytes = net.Column("rate", "tx_bytes");
        std::array<int64_t, 2> sent{};
        for (std::size_t row = 0; row < times.size(); ++row)
        {
            if (times[row] > 20 * US && (classes[row] == 3 || classes[row] == 4))
            {
                sent[classes[row] - 3] += bytes[row];
            }
        }
        return sent;
    }

    /// The rate is that of the wire; another flow of the NIC takes what is left; a window still
    /// holds.
    void Wire()
    {
        constexpr int64_t WIRE = 1068; // B of a full frame with preamble and gap
        const auto rate = OnTheWire(0);
        NS_TEST_EXPECT_MSG_EQ_TOL(rate[0], 50'000, WIRE, "10 Gb/s for 40 us");
        NS_TEST_EXPECT_MSG_EQ_TOL(rate[1], 150'000, 2 * WIRE, "the rest of 40 Gb/s");
        // Two packets a round trip of 4 links of 1 us, two frames that are stored and forwarded,
        // and an answer: 4.4 us and what the other flow's frames before them take.
        const auto window = OnTheWire(2000);
        NS_TEST_EXPECT_MSG_LT(window[0], 2 * WIRE * 40 * 10 / 44 + 2 * WIRE, "the lower one holds");
        NS_TEST_EXPECT_MSG_GT(window[0], 10 * WIRE, "and the flow goes on");
    }

    /// The rows of a flow in "flow_rate" begin with the line's rate and end with 0 when it is done.
    void Trace()
    {
        Network net;
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Star(2, 25 * GBPS, US);
        net.Flow(0, 1, 10'000, 5 * US);
        net.Flow(0, 1, 10'000, 7 * US, 4);
        net.sim.Build();
        net.Trace("flow_rate", 0, 2); // class 3 only
        net.sim.Run(1000 * US);
        const std::vector<int64_t> rates{25'000'000'000, 0};
        NS_TEST_EXPECT_MSG_EQ((net.Column("flow_rate", "rate_bps") == rates), true, "line, then 0");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow_rate", "time_ps").front(), 5 * US, "from the start");
    }

    void DoRun() override
    {
        for (const uint64_t gbps : {10, 25, 100, 400})
        {
            const Shares shares = Share(gbps, 1);
            NS_TEST_EXPECT_MSG_GT(shares.marked, 0, "there are marks");
            NS_TEST_EXPECT_MSG_EQ_TOL(shares.goodput[0] / shares.goodput[1],
                                      1,
                                      0.25,
                                      gbps << " Gb/s: fair to a quarter");
            NS_TEST_EXPECT_MSG_EQ_TOL(shares.goodput[0] + shares.goodput[1],
                                      1,
                                      0.1,
                                      gbps << " Gb/s: the rates add up to the line's");
        }
        const Shares first = Share(25, 1);
        const Shares again = Share(25, 1);
        const Shares other = Share(25, 2);
        NS_TEST_EXPECT_MSG_EQ((first.times == again.times && first.rates == again.rates),
                              true,
                              "the same seed gives the same run");
        NS_TEST_EXPECT_MSG_EQ((first.rates == other.rates), false, "another seed another");
        NS_TEST_EXPECT_MSG_EQ(Incast(true, "GoBackN", true), 0, "PFC loses nothing");
        const double with = Incast(false, "GoBackN", true);
        const double without = Incast(false, "GoBackN", false);
        NS_TEST_EXPECT_MSG_GT(with, 0, "without PFC the burst loses packets");
        NS_TEST_EXPECT_MSG_LT(with, without, "and DCQCN repeats less than line rate");
        NS_TEST_EXPECT_MSG_GT(Incast(false, "Selective", true), 0, "selective repeat too");
        Trace();
        Wire();
    }
};

/// @ingroup dcqcn-tests
/// @brief Two messages on one connection.
class NextMessageTest : public TestCase
{
  public:
    NextMessageTest()
        : TestCase("a message starts at the rate that the one before it on its connection left")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool shared : {true, false})
        {
            // no increase within 5 ms, and one each microsecond: they go on during the silence
            for (const std::string interval : {"10ms", "1us"})
            {
                Network net;
                net.sim.AddFlowControl("ns3::pfc::Pfc");
                net.sim.SetAttribute(MARKING, "Kmin", "5000");
                net.sim.SetAttribute(MARKING, "Kmax", "20000");
                net.sim.SetAttribute(DCQCN, "IncreaseInterval", interval);
                net.sim.SetAttribute(DCQCN, "HyperIncrease", "1Gbps");
                net.sim.AddAgent(MARKING);
                net.sim.SetCongestionControl(DCQCN);
                const auto next = facade::tests::RunNextMessage(net, shared);
                if (interval == "10ms")
                {
                    NS_TEST_EXPECT_MSG_LT(next.left, 24'000'000'000, "the first one was cut");
                }
                NS_TEST_EXPECT_MSG_EQ(
                    next.begins,
                    (shared && interval == "10ms" ? next.left : facade::tests::NextMessage::LINE),
                    "the second one, increases " << interval);
                NS_TEST_EXPECT_MSG_EQ(next.silent, 0, "nothing is traced while nothing is sent");
            }
        }
    }
};

/// @ingroup dcqcn-tests
/// @brief Tests of Dcqcn.
class DcqcnTestSuite : public TestSuite
{
  public:
    DcqcnTestSuite()
        : TestSuite("dcqcn-rate", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondModelTest, TestCase::Duration::QUICK);
        AddTestCase(new NotificationTest, TestCase::Duration::QUICK);
        AddTestCase(new ParametersTest, TestCase::Duration::QUICK);
        AddTestCase(new NetworkTest, TestCase::Duration::QUICK);
        AddTestCase(new NextMessageTest, TestCase::Duration::QUICK);
    }
};

static DcqcnTestSuite g_dcqcnTestSuite; //!< registers the suite

} // namespace tests
} // namespace dcqcn
} // namespace ns3
