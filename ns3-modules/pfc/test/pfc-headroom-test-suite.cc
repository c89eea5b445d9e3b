/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-rate.h"
#include "ns3/pfc-headroom.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup pfc-tests
 * How much headroom PFC needs: frames counted on paper, a bisection over simulations, and eta'.
 */

namespace ns3
{
namespace pfc
{
namespace tests
{

/// @ingroup pfc-tests
/// @brief A host that sends given frames and accepts everything.
class HeadroomHost : public lossless::tests::TestNode
{
  public:
    using lossless::tests::TestNode::TestNode;

    /// Queue frames back to back.
    /// @param dst destination. @param cls class. @param bytes size of each. @param n how many.
    void Send(uint32_t dst, uint8_t cls, uint16_t bytes, uint32_t n)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            lossless::Frame* frame = lossless::FramePool::Take();
            frame->src = m_id;
            frame->dst = dst;
            frame->cls = cls;
            frame->bytes = bytes;
            Inject(frame);
        }
    }
};

/// A link, its frames, and the time its sender takes to obey.
struct HeadroomSetting
{
    uint64_t rate;        //!< bit/s
    int64_t delay;        //!< ps
    uint16_t mtu;         //!< bytes of every frame
    uint32_t overhead;    //!< wire bytes besides a frame
    int64_t controlDelay; //!< ps

    /// @return ps of a byte on the wire; whole for the rates tested
    int64_t PerByte() const
    {
        return 8'000'000'000'000 / static_cast<int64_t>(rate);
    }

    /// @return ps of a frame on the wire
    int64_t FrameTime() const
    {
        return (mtu + overhead) * PerByte();
    }

    /// @return ps of a pause frame on the wire
    int64_t ControlTime() const
    {
        return (lossless::MIN_FRAME_BYTES + overhead) * PerByte();
    }

    /// @return the setting for messages
    std::string Name() const
    {
        return std::to_string(rate / 1'000'000'000) + " Gb/s, " + std::to_string(delay) + " ps, " +
               std::to_string(mtu) + " + " + std::to_string(overhead) + " B, obeyed after " +
               std::to_string(controlDelay) + " ps";
    }
};

/// @ingroup pfc-tests
/// @brief Hosts and switches: a - s0 - s1 - b with b's port held back, and full frames c - s1 - s0
/// - d that make the pauses of s1 wait.
class HeadroomRig
{
  public:
    /// Build it.
    /// @param setting all links have it. @param headroom of s1; 0: eta'. @param quanta length of a
    /// pause.
    HeadroomRig(const HeadroomSetting& setting,
                int64_t headroom,
                uint32_t quanta = lossless::MAX_QUANTA)
        : m_setting(setting)
    {
        m_fabric = CreateObject<lossless::Fabric>();
        m_fabric->SetAllowLoss(true);
        m_fabric->AddFlowControl("ns3::pfc::Pfc");
        m_fabric->SetAttribute("ns3::pfc::Pfc", "PauseQuanta", std::to_string(quanta));
        m_fabric->SetAttribute("ns3::lossless::Port", "Overhead", std::to_string(setting.overhead));
        m_fabric->SetAttribute("ns3::lossless::Port",
                               "ControlDelay",
                               std::to_string(setting.controlDelay) + "ps");
        const std::string buffer = "ns3::lossless::SharedBuffer";
        m_fabric->SetAttribute(buffer, "Size", "1000000000");
        m_fabric->SetAttribute(buffer, "LosslessClasses", "9");
        m_fabric->SetAttribute(buffer, "Threshold", "Static");
        m_fabric->SetAttribute(buffer, "Xoff", std::to_string(FIT * setting.mtu));
        m_fabric->SetAttribute(buffer, "Xon", "1");
        m_s0 = m_fabric->AddSwitch("s0");
        m_fabric->SetAttribute(buffer, "Headroom", std::to_string(headroom));
        m_s1 = m_fabric->AddSwitch("s1");
        m_fabric->SetAttribute(buffer, "Headroom", "0");
        for (auto* host : {&m_a, &m_b, &m_c, &m_d})
        {
            *host = CreateObject<HeadroomHost>(setting.mtu);
            m_fabric->AddHost("h", *host);
        }
        Link(m_s0, m_s1);
        Link(m_a->GetId(), m_s0);
        Link(m_b->GetId(), m_s1);
        Link(m_c->GetId(), m_s1);
        Link(m_d->GetId(), m_s0);
        m_fabric->Build();
        m_fabric->FindPort(m_s1, m_b->GetId())->Block(CLASS);
        m_fabric->FindPort(m_s1, m_b->GetId())->Block(OTHER_CLASS);
    }

    ~HeadroomRig()
    {
        Simulator::Destroy();
        m_fabric->Dispose();
    }

    /// Send both ways until everything stops. @param phase when a starts (ps); c starts at 0
    void Run(int64_t phase)
    {
        const int64_t frameTime = m_setting.FrameTime();
        const int64_t way = 2 * m_setting.delay + m_setting.controlDelay;
        const auto n = static_cast<uint32_t>(2 * FIT + 8 + 2 * way / frameTime);
        m_c->Send(m_d->GetId(), CLASS, m_setting.mtu, n + 8);
        Simulator::Schedule(TimeStep(phase),
                            &HeadroomHost::Send,
                            PeekPointer(m_a),
                            m_b->GetId(),
                            CLASS,
                            m_setting.mtu,
                            n);
        Simulator::Stop(TimeStep(phase + (n + 16) * frameTime + 4 * way));
        Simulator::Run();
    }

    /// Fill the other class from 0 on until it is paused, and go on as Run does while its pauses
    /// are refreshed.
    /// @param reverse when c starts (ps) @param phase when a's frames of the tested class start
    /// (ps).
    void RunBesideAnother(int64_t reverse, int64_t phase)
    {
        m_a->Send(m_b->GetId(), OTHER_CLASS, m_setting.mtu, 2 * FIT);
        Simulator::Schedule(TimeStep(reverse),
                            &HeadroomHost::Send,
                            PeekPointer(m_c),
                            m_d->GetId(),
                            CLASS,
                            m_setting.mtu,
                            static_cast<uint32_t>(phase / m_setting.FrameTime()));
        Run(phase);
    }

    /// @return the port of s1 whose headroom is tested
    const lossless::Port& Ingress() const
    {
        return *m_fabric->FindPort(m_s1, m_s0);
    }

    /// @return most bytes a headroom of s1 held
    int64_t Peak() const
    {
        return m_fabric->GetNode(m_s1).GetBuffer().GetPeakHeadroom();
    }

    /// @return frames dropped anywhere
    uint64_t Drops() const
    {
        uint64_t drops = 0;
        for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
        {
            drops += m_fabric->GetNode(node).GetCounters().dropped;
        }
        return drops;
    }

    /// @return what Fabric::Warn says
    std::string Warn() const
    {
        return m_fabric->Warn();
    }

    /// @return what Fabric::Finish reports
    std::string Finish() const
    {
        return m_fabric->Finish();
    }

    static constexpr int64_t FIT = 4;         //!< frames that fit under Xoff
    static constexpr uint8_t CLASS = 3;       //!< of the frames whose headroom is tested
    static constexpr uint8_t OTHER_CLASS = 0; //!< of those beside them

  private:
    /// Add a link. @param a node. @param b node.
    void Link(uint32_t a, uint32_t b)
    {
        m_fabric->AddLink(a, b, DataRate(m_setting.rate), PicoSeconds(m_setting.delay));
    }

    HeadroomSetting m_setting;            //!< of all links
    Ptr<lossless::Fabric> m_fabric;       //!< all of it
    uint32_t m_s0;                        //!< sends
    uint32_t m_s1;                        //!< receives and pauses
    Ptr<HeadroomHost> m_a, m_b, m_c, m_d; //!< a to b is stopped, c to d flows
};

/// @ingroup pfc-tests
/// @brief The smallest lossless headroom over all phases of the two directions.
class SmallestHeadroomTest : public TestCase
{
  public:
    SmallestHeadroomTest()
        : TestCase("the smallest lossless headroom equals that of frames counted on paper, is at "
                   "most eta', and is smaller only by what eta' allows for and did not arrive")
    {
    }

  private:
    static constexpr int64_t AMPLE = 100'000'000; //!< headroom that nothing fills (B)

    /// Count on paper the frames that arrive from the one that triggers the pause on.
    /// @param setting the setting. @param phase when a starts (ps) @param tie whether a frame whose
    /// start coincides with the pause's effect goes. @return bytes.
    static int64_t Paper(const HeadroomSetting& setting, int64_t phase, bool tie)
    {
        const int64_t frameTime = setting.FrameTime();
        // frame i leaves s0 from start(i) on; frame FIT arrives and triggers
        const auto start = [&](int64_t i) { return phase + (i + 1) * frameTime + setting.delay; };
        const int64_t trigger = start(HeadroomRig::FIT) + frameTime + setting.delay;
        // the reverse frames follow each other on s1's transmitter from their first arrival on
        const int64_t first = frameTime + setting.delay;
        const int64_t sent = first + (trigger - first + frameTime - 1) / frameTime * frameTime;
        const int64_t effect = sent + setting.ControlTime() + setting.delay + setting.controlDelay;
        int64_t frames = 1;
        while (start(HeadroomRig::FIT + frames) < effect + tie)
        {
            ++frames;
        }
        return frames * setting.mtu;
    }

    /// Simulate with a given headroom.
    /// @param setting the setting. @param phase when a starts (ps) @param headroom bytes.
    /// @return whether nothing was lost.
    static bool Lossless(const HeadroomSetting& setting, int64_t phase, int64_t headroom)
    {
        HeadroomRig rig(setting, headroom);
        rig.Run(phase);
        return rig.Drops() == 0;
    }

    /// Sweep the phases of one setting, then bisect at the worst. @param setting the setting
    void RunSetting(const HeadroomSetting& setting)
    {
        const int64_t frameTime = setting.FrameTime();
        int64_t sufficient = 0;
        int64_t published = 0;
        int64_t worst = 0;
        int64_t worstPhase = 0;
        // A pause waits longest when it comes just after a reverse frame has begun: phase 1.
        for (const int64_t phase : {frameTime / 5,
                                    frameTime * 2 / 5 + 3,
                                    frameTime * 3 / 5 + 7,
                                    frameTime * 4 / 5,
                                    frameTime - 1,
                                    2 * frameTime - setting.delay % frameTime + 1})
        {
            HeadroomRig rig(setting, AMPLE);
            sufficient = SufficientHeadroom(rig.Ingress());
            published = PublishedHeadroom(rig.Ingress());
            rig.Run(phase);
            NS_TEST_ASSERT_MSG_EQ(rig.Finish(), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(rig.Drops(), 0, "nothing fills 100 MB");
            NS_TEST_ASSERT_MSG_GT_OR_EQ(rig.Peak(),
                                        Paper(setting, phase, false),
                                        setting.Name() << ", phase " << phase);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(rig.Peak(),
                                        Paper(setting, phase, true),
                                        setting.Name() << ", phase " << phase);
            if (rig.Peak() > worst)
            {
                worst = rig.Peak();
                worstPhase = phase;
            }
            NS_TEST_ASSERT_MSG_EQ(Lossless(setting, phase, 0),
                                  true,
                                  "nothing is lost at eta', " << setting.Name() << ", phase "
                                                              << phase);
        }
        int64_t loses = 0;
        int64_t holds = 2 * sufficient;
        while (holds - loses > 1)
        {
            const int64_t middle = (holds + loses) / 2;
            (middle > 0 && Lossless(setting, worstPhase, middle) ? holds : loses) = middle;
        }
        NS_TEST_ASSERT_MSG_EQ(holds, worst, "bisection finds the same, " << setting.Name());
        NS_TEST_ASSERT_MSG_LT_OR_EQ(holds, sufficient, "eta' is enough, " << setting.Name());
        // In wire bytes the frames cover eta' except for the rounding to whole frames (less
        // than one) and the part of the standard's response time that this sender did not use.
        const int64_t wire = setting.mtu + setting.overhead;
        const int64_t unused =
            std::max<int64_t>(lossless::RESPONSE_BYTES - setting.controlDelay / setting.PerByte(),
                              0);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(holds / setting.mtu * wire,
                                    sufficient - unused - wire - 3,
                                    "eta' is not generous, " << setting.Name());
        if (setting.overhead == 0 && unused == 0)
        {
            NS_TEST_ASSERT_MSG_GT(holds,
                                  published,
                                  "eta as published loses a frame when the sender takes all the "
                                  "time it may, "
                                      << setting.Name());
        }
        m_least = std::min(m_least, sufficient - holds);
    }

    void DoRun() override
    {
        for (const uint64_t gigabits : {10, 25, 100, 400})
        {
            for (const int64_t delay : {100'000, 1'500'000})
            {
                for (const uint16_t mtu : {1500, 9018})
                {
                    HeadroomSetting setting{gigabits * 1'000'000'000, delay, mtu, 0, 0};
                    const int64_t response = lossless::RESPONSE_BYTES * setting.PerByte();
                    for (const int64_t controlDelay : {int64_t{0}, response, response * 3})
                    {
                        setting.controlDelay = controlDelay;
                        for (const uint32_t overhead : {0, 20})
                        {
                            setting.overhead = overhead;
                            RunSetting(setting);
                            if (IsStatusFailure())
                            {
                                return;
                            }
                        }
                    }
                }
            }
        }
        // Over all settings the tightest leaves less than a frame.
        NS_TEST_ASSERT_MSG_LT(m_least, 1500, "some setting nearly fills eta'");
    }

    int64_t m_least{AMPLE}; //!< least that eta' had to spare (B)
};

/// @ingroup pfc-tests
/// @brief A pause does not wait behind messages of another class.
///
/// The pause that counts comes at every phase around the refresh of a class that is already OFF,
/// and both at every phase of the frames they wait for. Behind the refresh it would wait for one
/// control frame more than eta' allows: a frame of 1500 B is lost where the rest of the sum is
/// nearly full, which it is for this response time.
class TwoClassHeadroomTest : public TestCase
{
  public:
    TwoClassHeadroomTest()
        : TestCase("with two lossless classes nothing is lost at eta', whenever the one is paused")
    {
    }

  private:
    void DoRun() override
    {
        const HeadroomSetting setting{100'000'000'000, 1'000'000, 1500, 0, 392'480};
        constexpr uint32_t QUANTA = 1440;
        const int64_t refresh = QUANTA / 2 * 64 * setting.PerByte();
        const int64_t frameTime = setting.FrameTime();
        for (int64_t reverse = 0; reverse < frameTime; reverse += STEP)
        {
            for (int64_t after = 0; after < frameTime; after += STEP)
            {
                HeadroomRig rig(setting, 0, QUANTA);
                rig.RunBesideAnother(reverse, refresh + after);
                NS_TEST_ASSERT_MSG_EQ(rig.Finish(), "", "frames are conserved");
                NS_TEST_ASSERT_MSG_EQ(rig.Drops(),
                                      0,
                                      "nothing is lost, c starts at "
                                          << reverse << " ps, a " << after
                                          << " ps after the refresh interval");
            }
        }
    }

    static constexpr int64_t STEP = 3'000; //!< between phases (ps); a control frame takes 5120
};

/// @ingroup pfc-tests
/// @brief A headroom too small for one frame loses frames, but the pause comes all the same.
class TinyHeadroomTest : public TestCase
{
  public:
    TinyHeadroomTest()
        : TestCase("a headroom below one frame pauses with the frame it refuses")
    {
    }

  private:
    void DoRun() override
    {
        const HeadroomSetting setting{10'000'000'000, 1'000'000, 1500, 0, 0};
        HeadroomRig tiny(setting, 1499);
        tiny.Run(0);
        const uint64_t lost = tiny.Drops();
        NS_TEST_ASSERT_MSG_EQ(tiny.Finish(), "", "frames are conserved");
        NS_TEST_ASSERT_MSG_EQ(tiny.Ingress().GetCounters().pausesSent,
                              1,
                              "one pause for the whole burst");
        HeadroomRig ample(setting, 0);
        ample.Run(0);
        NS_TEST_ASSERT_MSG_EQ(ample.Drops(), 0, "eta' loses nothing");
        NS_TEST_ASSERT_MSG_EQ(static_cast<int64_t>(lost) * setting.mtu,
                              ample.Peak(),
                              "lost is what an ample headroom would have held");
    }
};

/// @ingroup pfc-tests
/// @brief A pause that can end before its refresh is warned of.
class ShortPauseTest : public TestCase
{
  public:
    ShortPauseTest()
        : TestCase("a pause whose second half is shorter than a frame is warned of")
    {
    }

  private:
    void DoRun() override
    {
        const HeadroomSetting setting{10'000'000'000, 1'000'000, 1500, 20, 0};
        // Half of 48 quanta is 1536 B: a frame of 1520 B fits; of 46 quanta, 1472 B, it does not.
        NS_TEST_ASSERT_MSG_EQ(HeadroomRig(setting, 0, 48).Warn(), "", "the refresh is in time");
        const std::string warning = HeadroomRig(setting, 0, 46).Warn();
        NS_TEST_ASSERT_MSG_NE(warning.find("46 quanta"), std::string::npos, "it reports that");
        NS_TEST_ASSERT_MSG_NE(warning.find("1177600 ps"), std::string::npos, "and how short");
    }
};

/// @ingroup pfc-tests
/// @brief Tests of SufficientHeadroom.
class HeadroomTestSuite : public TestSuite
{
  public:
    HeadroomTestSuite()
        : TestSuite("pfc-headroom", Type::UNIT)
    {
        AddTestCase(new SmallestHeadroomTest, TestCase::Duration::QUICK);
        AddTestCase(new TwoClassHeadroomTest, TestCase::Duration::QUICK);
        AddTestCase(new TinyHeadroomTest, TestCase::Duration::QUICK);
        AddTestCase(new ShortPauseTest, TestCase::Duration::QUICK);
    }
};

static HeadroomTestSuite g_headroomTestSuite; //!< registers the suite

} // namespace tests
} // namespace pfc
} // namespace ns3
