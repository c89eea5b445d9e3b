/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-test-network.h"

#include "ns3/boolean.h"
#include "ns3/dcfit-detector.h"
#include "ns3/lossless-fabric.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>

/**
 * @file
 * @ingroup dcfit-tests
 * DCFIT's detector: the rules of section 3 message by message, deadlocks on and off the loop, and
 * pauses that are none.
 */

namespace ns3
{
namespace dcfit
{
namespace tests
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;

/// Names and values.
using Attributes = std::vector<std::pair<std::string, std::string>>;

/// @ingroup dcfit-tests
/// @brief One switch with four neighbours, all but the last of them switches with DCFIT, and its
/// agent, which is notified of frames by hand.
class Bench
{
  public:
    static constexpr uint8_t CLS = 3; //!< class of everything

    /// Make it. @param attributes names and values of Dcfit
    explicit Bench(const Attributes& attributes = {})
    {
        lossless::UsePicoseconds();
        m_fabric = CreateObject<lossless::Fabric>();
        m_fabric->AddFlowControl("ns3::pfc::Pfc");
        m_fabric->SetAttribute("ns3::dcfit::Dcfit", "Evidence", "Map"); // as in the paper
        for (const auto& [name, value] : attributes)
        {
            m_fabric->SetAttribute("ns3::dcfit::Dcfit", name, value);
        }
        m_fabric->AddAgent("ns3::dcfit::Dcfit");
        for (uint32_t i = 0; i < 4; ++i)
        {
            m_fabric->AddSwitch(std::string("s").append(std::to_string(i)));
        }
        m_fabric->AddHost("h", m_fabric->Make<lossless::FabricNode>("ns3::rdma::Host"));
        for (uint32_t peer = 1; peer < 5; ++peer)
        {
            m_fabric->AddLink(0, peer, DataRate("10Gbps"), MicroSeconds(1));
        }
        m_fabric->Build();
    }

    ~Bench()
    {
        Simulator::Destroy();
        m_fabric->Dispose();
    }

    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    /// The agent.
    /// @return it
    Dcfit& Agent() const
    {
        return dynamic_cast<Dcfit&>(*m_fabric->GetNode(0).GetAgents().front());
    }

    /// A port. @param port number. @return it.
    lossless::Port& Port(uint16_t port) const
    {
        return m_fabric->GetNode(0).GetPort(port);
    }

    /// A frame is in the switch; a pause of its ingress would be because of it.
    /// @param ingress port. @param egress port.
    void Hold(uint16_t ingress, uint16_t egress)
    {
        Frame* frame = FramePool::Take();
        frame->cls = CLS;
        frame->bytes = 1500;
        frame->ingress = ingress;
        m_fabric->GetNode(0).Charge(frame, Port(ingress), egress);
        const_cast<lossless::FeedMap*>(m_fabric->GetNode(0).GetFeeds())
            ->NoteCause(ingress, CLS, egress);
    }

    /// The switch pauses or resumes the peer of a port, because of the last frame held.
    /// @param port number. @param on pauses.
    void Overflow(uint16_t port, bool on = true)
    {
        Agent().NotifyPauseSent(Port(port), CLS, on);
    }

    /// The peer of a port pauses or resumes it.
    /// @param port number. @param message in the frame, or nullptr. @param on paused.
    void Pause(uint16_t port, const Message* message, bool on = true)
    {
        ControlFrame control;
        control.opcode = lossless::PFC_OPCODE;
        control.classes = 1U << CLS;
        control.value.fill(0);
        control.value[CLS] = on ? 0xffff : 0;
        if (message)
        {
            Block block(Kind::CHECK);
            block.Add(CLS, *message);
            block.AppendTo(control);
        }
        const bool was = Port(port).IsPaused(CLS);
        Agent().NotifyControl(Port(port), control);
        if (was != on)
        {
            Port(port).NotePaused(CLS, on);
        }
    }

    /// A message comes alone. @param port number. @param kind of it. @param message it.
    void Alone(uint16_t port, Kind kind, const Message& message)
    {
        ControlFrame control;
        control.opcode = DCFIT_OPCODE;
        control.classes = 1U << CLS;
        control.value.fill(0);
        Block block(kind);
        block.Add(CLS, message);
        block.AppendTo(control);
        Agent().NotifyControl(Port(port), control);
    }

    /// The tag of the pause that a port would send now.
    /// @param port number. @return it; of switch 16383 if there is none.
    Message Tag(uint16_t port) const
    {
        ControlFrame control;
        control.opcode = lossless::PFC_OPCODE;
        control.classes = 1U << CLS;
        control.value.fill(0xffff);
        Agent().Decorate(Port(port), control);
        Block block;
        Message message{16383, 0, 0, 0, 0};
        if (block.ReadFrom(control))
        {
            block.Get(CLS, message);
        }
        return message;
    }

    /// A number of the agent's summary. @param name its name. @return value.
    double Number(const std::string& name) const
    {
        lossless::Summary summary;
        Agent().Report(summary);
        return summary[name];
    }

  private:
    Ptr<lossless::Fabric> m_fabric; //!< all of it
};

/// @ingroup dcfit-tests
/// @brief Who is an initial trigger (section 3.1), and what a pause carries.
class TriggerTest : public TestCase
{
  public:
    TriggerTest()
        : TestCase("a pause carries its switch's own name if the egress behind it is not paused, "
                   "else what is stored at that egress")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench;
        bench.Hold(0, 1);
        bench.Overflow(0);
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(0) == Message{0, 0, 1, 0, 0}),
                              true,
                              "egress 1 is free: this switch is the trigger");
        bench.Overflow(0, false);
        NS_TEST_ASSERT_MSG_EQ(bench.Tag(0).node, 16383, "no pause, no tag");

        const Message other{77, 9, 200, 0, 0};
        bench.Pause(1, &other);
        bench.Hold(2, 1);
        bench.Overflow(2);
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(2) == other), true, "the message of egress 1 goes on");
        bench.Pause(1, nullptr, false);
        bench.Overflow(2, false);
        bench.Overflow(2);
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(2) == Message{0, 2, 1, 0, 0}),
                              true,
                              "what was stored is gone with the resume");

        // A server that pauses is a trigger of the name of its port.
        Bench server;
        server.Pause(3, nullptr);
        server.Hold(0, 3);
        server.Overflow(0);
        NS_TEST_ASSERT_MSG_EQ((server.Tag(0) == Message{0, 3, 1, 0, 0}), true, "its first pause");
        server.Pause(3, nullptr);
        NS_TEST_ASSERT_MSG_EQ((server.Tag(0) == Message{0, 3, 1, 0, 0}), true, "a refresh is none");
        server.Overflow(3);
        NS_TEST_ASSERT_MSG_EQ(server.Tag(3).node, 16383, "a server gets no message");
    }
};

/// @ingroup dcfit-tests
/// @brief Forwarding, the loop and the consistency round (section 3.2).
class RulesTest : public TestCase
{
  public:
    RulesTest()
        : TestCase("messages go where they have causes; a loop is declared after a round in which "
                   "nothing has resumed")
    {
    }

  private:
    /// Non-initiators forward to the ports that feed the paused one and pause their upstreams.
    void Forward()
    {
        Bench bench;
        const Message other{77, 9, 200, 0, 0};
        bench.Pause(1, &other);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 0, "no port waits for port 1");
        bench.Hold(0, 1);
        bench.Hold(2, 1);
        bench.Overflow(2);
        const Message newer{77, 9, 201, 0, 0};
        bench.Alone(1, Kind::CHECK, newer);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 1, "to port 2, not to port 0");
        bench.Alone(1, Kind::CHECK, newer);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"),
                              1,
                              "a repeated message is not forwarded");
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(2) == newer), true, "the latest is remembered");
        bench.Alone(1, Kind::CONSISTENCY, other);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 1, "another sequence: refuted");
        bench.Alone(1, Kind::CONSISTENCY, newer);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 2, "it goes on");
        bench.Alone(1, Kind::CONSISTENCY, newer);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 2, "once a round");

        // Lemma 3.2, case 3: a resume and a new pause in the same episode.
        bench.Pause(1, nullptr, false);
        bench.Pause(1, &newer);
        const double refuted = bench.Number("dcfit_checks_refuted");
        bench.Alone(1, Kind::CONSISTENCY, newer);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_checks_refuted"), refuted + 1, "it had resumed");
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_repeats_refuted"), 1, "and was paused again");
        const Message next{77, 9, 202, 0, 0};
        bench.Alone(1, Kind::CHECK, next);
        bench.Alone(1, Kind::CONSISTENCY, next);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_checks_refuted"),
                              refuted + 1,
                              "in the next episode it has not");
    }

    /// The initiator declares when check and consistency message come back by a port that it feeds.
    void Declare()
    {
        Bench bench;
        bench.Hold(0, 1);
        bench.Overflow(0);
        const Message own = bench.Tag(0);
        bench.Alone(1, Kind::CHECK, own);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_loops_suspected"), 0, "port 1 is not paused");
        bench.Pause(2, &own);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_loops_suspected"), 0, "port 0 feeds not port 2");
        Message stale = own;
        ++stale.sequence;
        bench.Pause(1, &stale);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_loops_suspected"), 0, "not the latest");
        bench.Alone(1, Kind::CHECK, own);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_loops_suspected"), 1, "a loop");
        bench.Alone(1, Kind::CONSISTENCY, own);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_detections_on_loop"), 1, "a deadlock");
        bench.Alone(1, Kind::CONSISTENCY, own);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_detections"), 1, "it is declared once");

        Bench resumed;
        resumed.Hold(0, 1);
        resumed.Overflow(0);
        const Message mine = resumed.Tag(0);
        resumed.Pause(1, &mine);
        NS_TEST_ASSERT_MSG_EQ(resumed.Number("dcfit_loops_suspected"), 1, "a loop");
        resumed.Overflow(0, false);
        resumed.Alone(1, Kind::CONSISTENCY, mine);
        NS_TEST_ASSERT_MSG_EQ(resumed.Number("dcfit_detections"), 0, "the upstream was resumed");
    }

    /// A middle switch begins a process of its own, once, and again only for what is new.
    void Middle()
    {
        Bench bench;
        const Message trigger{77, 9, 200, 0, 0};
        bench.Hold(0, 2);
        bench.Hold(0, 1);
        bench.Pause(1, &trigger);
        bench.Overflow(0);
        const Message later{77, 9, 201, 0, 0};
        const double begun = bench.Number("dcfit_processes");
        bench.Pause(2, &later); // the same trigger by another port
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_processes"), begun + 1, "one process begins");
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 1, "and its message goes");
        const Message own = bench.Tag(0);
        NS_TEST_ASSERT_MSG_EQ((own.node == 0 && own.port == 0 && own.rank == 1), true, "its name");
        const Message third{77, 9, 202, 0, 0};
        bench.Alone(1, Kind::CHECK, third);
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(0) == own), true, "the trigger's next pause ends it not");
        bench.Alone(2, Kind::CHECK, own);
        bench.Alone(2, Kind::CONSISTENCY, own);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_detections_off_loop"), 1, "off the loop");

        // A resume removes what is stored (section 3.2): if it comes before the loop has closed, no
        // switch has the name of the trigger at two ports, and Lemma 3.4 finds no middle switch
        // (study dcfit/off-loop).
        Bench gone(Attributes{std::pair("Untold", "false")});
        gone.Hold(0, 2);
        gone.Hold(0, 1);
        gone.Pause(1, &trigger);
        gone.Overflow(0);
        gone.Pause(1, nullptr, false);
        gone.Overflow(0, false);
        gone.Pause(2, &later);
        const double none = gone.Number("dcfit_processes");
        gone.Hold(0, 2);
        gone.Overflow(0);
        NS_TEST_ASSERT_MSG_EQ(gone.Number("dcfit_processes"), none, "no process begins");
        NS_TEST_ASSERT_MSG_EQ((gone.Tag(0) == later), true, "the trigger's message goes around");

        // The same port twice does not make a middle switch (Lemma 3.4).
        Bench same;
        same.Hold(0, 1);
        same.Overflow(0);
        const double before = same.Number("dcfit_processes");
        same.Pause(1, &trigger);
        same.Pause(1, nullptr, false);
        same.Pause(1, &later);
        NS_TEST_ASSERT_MSG_EQ(same.Number("dcfit_processes"), before, "no process");
    }

    /// A pause of which no message is there: one of the additions to the paper.
    void Untold()
    {
        for (const bool untold : {true, false})
        {
            Bench bench(Attributes{std::pair("Untold", untold ? "true" : "false")});
            bench.Pause(1, nullptr); // by a switch, without a message
            bench.Hold(0, 1);
            bench.Overflow(0);
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_processes"), untold, "begun if it is to");
            NS_TEST_ASSERT_MSG_EQ(bench.Tag(0).node, (untold ? 0 : 16383), "else no message goes");
        }
    }

    /// Of several initiators one gets round.
    void Conflict()
    {
        Message low{5, 0, 1, 0, 0};
        Message high{6, 0, 1, 0, 0};
        if (low.Precedes(high))
        {
            std::swap(low, high);
        }
        const Message ranked{4, 0, 1, 1, 0};
        Bench bench;
        bench.Hold(0, 1);
        bench.Pause(1, &low);
        bench.Overflow(0);
        bench.Alone(1, Kind::CHECK, high);
        bench.Alone(1, Kind::CHECK, low);
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(0) == high), true, "the one that precedes stays");
        bench.Alone(1, Kind::CHECK, ranked);
        NS_TEST_ASSERT_MSG_EQ((bench.Tag(0) == ranked), true, "a rank goes before any number");
        Bench newest(Attributes{std::pair("Conflict", "Newest")});
        newest.Hold(0, 1);
        newest.Pause(1, &high);
        newest.Overflow(0);
        newest.Alone(1, Kind::CHECK, low);
        NS_TEST_ASSERT_MSG_EQ((newest.Tag(0) == low), true, "the newest");
    }

    void DoRun() override
    {
        Forward();
        Declare();
        Middle();
        Untold();
        Conflict();
    }
};

/// @ingroup dcfit-tests
/// @brief Memory, against facts: 0.1 KB for 4 ports and 1 KB for 64 (section 5).
class MemoryTest : public TestCase
{
  public:
    MemoryTest()
        : TestCase("the memory of a switch stays within what is published")
    {
    }

  private:
    void DoRun() override
    {
        Bench exact;
        // 60 bits a port, all of them named in PortState, and the map
        NS_TEST_ASSERT_MSG_EQ(exact.Agent().GetStateBits(4), 4 * 4 + 4 * 60, "4 ports");
        NS_TEST_ASSERT_MSG_EQ(exact.Agent().GetStateBits(64), 64 * 64 + 64 * 60, "64 ports");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(exact.Agent().GetStateBits(4), 800, "0.1 KB");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(exact.Agent().GetStateBits(64), 8000, "1 KB");
        NS_TEST_ASSERT_MSG_EQ(exact.Agent().GetCounterBits(64), 8 * 8192, "8 KB of counters");
        NS_TEST_ASSERT_MSG_EQ(exact.Agent().GetHandlingBits(64), 0, "no trigger is handled");
        Bench bytes(Attributes{std::pair("Clearing", "Row"), std::pair("Evidence", "Bytes")});
        NS_TEST_ASSERT_MSG_EQ(bytes.Agent().GetCounterBits(64), 8 * 8192, "bytes are counted");
        Bench handles(Attributes{std::pair("HandleTrigger", "true")});
        // an egress: 4 flows of 96 bits, 2 bits and a time of 32; 8 limited flows of 128
        NS_TEST_ASSERT_MSG_EQ(handles.Agent().GetHandlingBits(4), 4 * 418 + 8 * 128, "4 ports");
        NS_TEST_ASSERT_MSG_EQ(handles.Number("dcfit_handling_bits"), 4 * 418 + 8 * 128, "told");
        Bench row(Attributes{std::pair("Clearing", "Row"), std::pair("Conflict", "Newest")});
        NS_TEST_ASSERT_MSG_EQ(row.Agent().GetStateBits(64), 64 * 64 + 64 * 52, "without ranks");
        NS_TEST_ASSERT_MSG_EQ(row.Agent().GetCounterBits(64), 0, "a row needs no counters");
    }
};

/// @ingroup dcfit-tests
/// @brief Numbers of switches: hosts take none.
class NumberTest : public TestCase
{
  public:
    NumberTest()
        : TestCase("switches are numbered without the hosts, up to what their bits allow")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t switches : {3U, 4U})
        {
            Network net;
            net.Agent();
            net.Set("dcfit::Dcfit", "SwitchBits", "2"); // three, and one for none
            net.Ring(switches);                         // as many hosts, which come first
            net.RingFlows(switches, 1, 0);
            const bool tooMany = net.Run(1'000'000).find("can number 3 switches") < 1000;
            NS_TEST_ASSERT_MSG_EQ(tooMany, (switches == 4), switches << " switches");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief Notices, and what is treated because of them, on one switch.
class TreatmentTest : public TestCase
{
  public:
    TreatmentTest()
        : TestCase("a notice goes on where a pause came from; a server that was treated is spared "
                   "when it has been calm, and flows are limited as the attributes say")
    {
    }

  private:
    /// Frames that go back the way they came: the suspect is where the notice came from.
    void Back()
    {
        Bench bench(Attributes{std::pair("HandleTrigger", "true")});
        const Message other{77, 9, 200, 0, 0};
        const Message notice{78, 3, 5, 0, 2};
        bench.Pause(1, &other);
        bench.Alone(1, Kind::NOTICE, notice);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 0, "it came from there");
        bench.Hold(1, 1);
        bench.Alone(1, Kind::NOTICE, notice);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 1, "it goes back");
        Message last = notice;
        last.round = 0;
        bench.Alone(1, Kind::NOTICE, last);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), 1, "not for ever");
    }

    /// Around a loop a notice passes once, with as many hops left as before.
    void Around()
    {
        Bench bench(Attributes{std::pair("HandleTrigger", "true")});
        const Message loop{77, 9, 200, 0, 0};
        Message notice = loop;
        notice.round = 0;
        bench.Pause(1, &loop);
        bench.Hold(0, 1);
        bench.Overflow(0);
        const double before = bench.Number("dcfit_messages_sent");
        bench.Alone(0, Kind::NOTICE, notice);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), before + 1, "it goes on");
        bench.Alone(0, Kind::NOTICE, notice);
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_messages_sent"), before + 1, "once");
    }

    /// Let time pass. @param ms so long
    static void Wait(int64_t ms)
    {
        Simulator::Stop(MilliSeconds(ms));
        Simulator::Run();
    }

    /// A server is spared when it has not paused for a while.
    void Server()
    {
        for (const char* restoration : {"1ms", "0ms"})
        {
            Bench bench(Attributes{std::pair("HandleTrigger", "true"),
                                   std::pair("Restoration", restoration)});
            bench.Pause(3, nullptr);
            bench.Alone(0, Kind::NOTICE, Message{78, 3, 5, 0, 2});
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_handled"), 1, "the server");
            bench.Alone(0, Kind::NOTICE, Message{78, 3, 6, 0, 2});
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_handled"), 1, "once");
            Wait(5);
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_restored"), 0, "it still pauses");
            bench.Pause(3, nullptr, false);
            Wait(5);
            const bool spared = std::string(restoration) == "1ms";
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_restored"), spared, "it is calm");
            bench.Pause(3, nullptr);
            bench.Alone(0, Kind::NOTICE, Message{78, 3, 7, 0, 2});
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_handled"), 1 + spared, "again");
        }
    }

    /// Frames of a flow come.
    /// @param bench where. @param flow its number. @param n how many. @return how many are let in.
    static uint32_t Send(Bench& bench, uint32_t flow, uint32_t n)
    {
        uint32_t passed = 0;
        for (; n > 0; --n)
        {
            Frame* frame = FramePool::Take();
            frame->cls = Bench::CLS;
            frame->bytes = 1500;
            frame->egress = 1;
            frame->flow = flow;
            passed += bench.Agent().NotifyArrival(*frame, bench.Port(0));
            FramePool::Give(frame);
        }
        return passed;
    }

    /// A notice limits the heaviest flow, as the attributes say; the rest is TriggerCure's.
    void Flows()
    {
        Bench bench(Attributes{std::pair("HandleTrigger", "true"),
                               std::pair("Limits", "1"),
                               std::pair("LimitRate", "12Mbps"), // a frame a millisecond
                               std::pair("LimitBurst", "3000")});
        bench.Hold(0, 1);
        bench.Overflow(0); // egress 1 is behind it
        for (uint32_t flow = 1; flow <= 2; ++flow)
        {
            Send(bench, flow, 100 * flow);
            bench.Alone(0, Kind::NOTICE, Message{78, 3, static_cast<uint16_t>(flow), 0, 2});
            NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_handled"), flow, "the heaviest");
            Wait(1);
        }
        NS_TEST_ASSERT_MSG_EQ(bench.Number("dcfit_triggers_restored"), 1, "the first gives way");
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 2, 50), 1, "the second is limited");
        Wait(5);
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 2, 50), 2, "no more than its burst is saved up");
    }

    void DoRun() override
    {
        Back();
        Around();
        Server();
        Flows();
    }
};

/// @ingroup dcfit-tests
/// @brief Rings that deadlock: the trigger is on the loop.
class OnLoopTest : public TestCase
{
  public:
    OnLoopTest()
        : TestCase("the deadlock of a ring is found after it has formed, in two rounds of messages")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t n : {3U, 4U, 5U})
        {
            for (const int64_t stagger : {0LL, 3'100'000LL, 17'000'000LL})
            {
                for (const char* clearing : {"Counters", "Row"})
                {
                    Network net;
                    net.Agent();
                    net.Set("dcfit::Dcfit", "Clearing", clearing);
                    net.Ring(n);
                    net.RingFlows(n, 2, stagger);
                    NS_TEST_ASSERT_MSG_EQ(net.Run(8'000'000'000), "", "a proper run");
                    NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 1, "a deadlock");
                    NS_TEST_ASSERT_MSG_GT(net.Number("dcfit_detections"), 0, "it is found");
                    const double formed = net.Number("deadlock_formed_ps");
                    const double found = net.Number("dcfit_first_detection_ps");
                    NS_TEST_ASSERT_MSG_GT(found, formed, "not before it is there");
                    // a hop: the frame in transmission, the message, propagation; two rounds, or a
                    // retry
                    const double hop = 1538 * 800.0 + 84 * 800.0 + 1e6;
                    const double limit =
                        2 * n * hop + (net.Number("dcfit_detections_on_loop") > 0 ? 0 : 1e8);
                    NS_TEST_ASSERT_MSG_LT(found - formed, limit, "in two rounds");
                }
            }
        }
    }
};

/// @ingroup dcfit-tests
/// @brief Two switches that send a destination's frames to each other: the loop leaves each switch
/// by the port it came in by.
class RoutingLoopTest : public TestCase
{
  public:
    RoutingLoopTest()
        : TestCase("the deadlock of a routing loop of two switches is found")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t rate : {8'000'000'000ULL, 1'000'000'000ULL})
        {
            Network net;
            net.Agent();
            net.Set("rdma::QueuePair", "Ttl", "16");
            net.Set("rdma::QueuePair", "Retransmit", "None");
            net.sim.SetAllowLoss(true); // of frames whose time to live is over
            net.Nodes(2, 2);
            net.Link(0, 2);
            net.Link(2, 3);
            net.Link(1, 3);
            net.sim.DivertRoute(3, 1, 2, 0, -1);
            const uint32_t src = 0;
            const uint32_t dst = 1;
            const uint64_t endless = 0;
            const int64_t start = 0;
            const int64_t never = -1;
            const uint8_t cls = 3;
            net.sim.AddFlows(&src, &dst, &endless, &start, &never, &cls, &rate, &endless, 1);
            NS_TEST_ASSERT_MSG_EQ(net.Run(8'000'000'000), "", "a proper run");
            // It cannot carry more than 2 B / TTL = 1.25 Gb/s.
            const bool deadlocked = rate > 1'250'000'000;
            NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), deadlocked, "as HotNets'16 has it");
            NS_TEST_ASSERT_MSG_EQ((net.Number("dcfit_detections") > 0), deadlocked, "found");
            if (deadlocked)
            {
                NS_TEST_ASSERT_MSG_GT(net.Number("dcfit_first_detection_ps"),
                                      net.Number("deadlock_formed_ps"),
                                      "not before it is there");
            }
        }
    }
};

/// @ingroup dcfit-tests
/// @brief A ring of four switches whose links are 90 % utilised, and outside it a switch that
/// receives more than its host accepts: it pauses the ring again and again until the ring is
/// deadlocked.
class OffLoopTest : public TestCase
{
  public:
    OffLoopTest()
        : TestCase("congestion off the loop brings a deadlock about; it is found when it is there, "
                   "and by the paper's rule before")
    {
    }

  private:
    /// Run it.
    /// @param net where to. @param cap rate of each flow. @return what Check and Finish say.
    static std::string Run(Network& net, uint64_t cap)
    {
        // hosts 0 to 3 on switches 5 to 8, host 4 on switch 9 next to switch 5
        net.Nodes(5, 5);
        for (uint32_t i = 0; i < 4; ++i)
        {
            net.Link(i, 5 + i);
            net.Link(5 + i, 5 + (i + 1) % 4);
        }
        net.Link(5, 9);
        net.Link(9, 4, 1'000'000'000);
        net.Flow({0, 5, 6, 7, 8, 3}, 0, 0, -1, cap);
        net.Flow({1, 6, 7, 8, 5, 9, 4}, 0, 0, -1, cap);
        net.Flow({2, 7, 8, 5, 6, 1}, 0, 0, -1, cap);
        net.Flow({3, 8, 5, 6, 7, 2}, 0, 0, -1, cap);
        return net.Run(20'000'000'000);
    }

    void DoRun() override
    {
        uint32_t offLoop = 0;
        for (const uint64_t cap : {2'000'000'000U, 2'500'000'000U, 3'000'000'000U})
        {
            for (const bool bytes : {true, false})
            {
                Network net; // one at a time: a process has one simulator
                net.Agent();
                net.Set("dcfit::Dcfit", "Evidence", bytes ? "Bytes" : "Map");
                NS_TEST_ASSERT_MSG_EQ(Run(net, cap), "", "a proper run");
                NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 1, "a deadlock");
                const double formed = net.Number("deadlock_formed_ps");
                const double found = net.Number("dcfit_first_detection_ps");
                NS_TEST_ASSERT_MSG_GT(found, 0, "it is found");
                if (bytes)
                {
                    NS_TEST_ASSERT_MSG_GT(found, formed, "not before it is there");
                    NS_TEST_ASSERT_MSG_LT(found, formed + 2e8, "some looks and rounds later");
                    continue;
                }
                // What the paper asks of a loop holds whenever every hop is paused for a while.
                // That one of them also waits for a slow port, and so will be resumed, it does not
                // see.
                NS_TEST_ASSERT_MSG_LT(found, formed - 1e9, "declared a millisecond too early");
                offLoop += net.Number("dcfit_detections_off_loop") > 0;
            }
        }
        NS_TEST_ASSERT_MSG_GT(offLoop, 0, "a middle switch finds the loop");
    }
};

/// @ingroup dcfit-tests
/// @brief Two flows around a square: a cyclic dependency without a deadlock.
class SquareTest : public TestCase
{
  public:
    SquareTest()
        : TestCase("two flows around a square, and a host of theirs that pauses for a while")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* service : {"Fifo", "RoundRobin"})
        {
            for (int64_t us = 0; us <= 1500; us += 150)
            {
                for (const char* evidence : {"Map", "Bytes"})
                {
                    Network net;
                    net.Agent();
                    net.Set("lossless::Port", "QueueService", service);
                    net.Set("dcfit::Dcfit", "Evidence", evidence);
                    net.Ring(4);
                    net.Flow({0, 4, 5, 6, 7, 3});
                    net.Flow({2, 6, 7, 4, 5, 1});
                    if (us > 0)
                    {
                        net.sim.AddPauseStorm(3, 3, 100'000'000, 100'000'000 + us * 1'000'000);
                    }
                    NS_TEST_ASSERT_MSG_EQ(net.Run(4'000'000'000), "", "a proper run");
                    NS_TEST_ASSERT_MSG_EQ(net.Number("flow_cycle_egresses"), 4, "a dependency");
                    NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 0, "no deadlock");
                    NS_TEST_ASSERT_MSG_EQ(net.Number("dcfit_detections"), 0, "none declared");
                }
            }
        }
    }
};

/// @ingroup dcfit-tests
/// @brief Figure 4: two branches bring the same trigger's messages to one switch, without a loop.
class DiamondTest : public TestCase
{
  public:
    DiamondTest()
        : TestCase("a switch that gets the same trigger's messages by two ports looks for a loop "
                   "and finds none")
    {
    }

  private:
    void DoRun() override
    {
        // hosts 0, 1 - switch 3 - switches 4 and 5 - switch 6 - host 2, whose pauses come and go
        Network net;
        net.Agent();
        net.Nodes(3, 4);
        net.Link(0, 3);
        net.Link(1, 3);
        net.Link(3, 4);
        net.Link(3, 5);
        net.Link(4, 6);
        net.Link(5, 6);
        net.Link(2, 6);
        net.Flow({0, 3, 4, 6, 2});
        net.Flow({1, 3, 5, 6, 2});
        for (int64_t at = 1; at < 8; ++at)
        {
            net.sim.AddPauseStorm(2, 3, at * 1'000'000'000, at * 1'000'000'000 + 900'000'000);
        }
        NS_TEST_ASSERT_MSG_EQ(net.Run(10'000'000'000), "", "a proper run");
        NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 0, "there is no cycle");
        NS_TEST_ASSERT_MSG_GT(net.Number("dcfit_messages_sent"), 0, "it looks");
        NS_TEST_ASSERT_MSG_EQ(net.Number("dcfit_loops_suspected"), 0, "no message comes back");
        NS_TEST_ASSERT_MSG_EQ(net.Number("dcfit_detections"), 0, "none declared");
    }
};

/// @ingroup dcfit-tests
/// @brief Storms of pauses in a tree, and the loop of a ring that is resumed.
class StormTest : public TestCase
{
  public:
    StormTest()
        : TestCase("storms without a loop, and pauses around a ring that are resumed, are none")
    {
    }

  private:
    void DoRun() override
    {
        {
            Network tree;
            tree.Agent();
            tree.Nodes(6, 3);
            for (uint32_t host = 0; host < 6; ++host)
            {
                tree.Link(host, 6 + host / 2);
            }
            tree.Link(6, 7);
            tree.Link(7, 8);
            for (uint32_t host = 0; host < 5; ++host)
            {
                std::vector<uint32_t> path{host};
                for (uint32_t node = 6 + host / 2; node <= 8; ++node)
                {
                    path.push_back(node);
                }
                path.push_back(5);
                tree.Flow(path);
            }
            for (int64_t at = 10; at < 5000; at += 30)
            {
                tree.sim.AddPauseStorm(5, 3, at * 1'000'000, (at + 20) * 1'000'000);
            }
            NS_TEST_ASSERT_MSG_EQ(tree.Run(6'000'000'000), "", "a proper run");
            NS_TEST_ASSERT_MSG_GT(tree.Number("pauses_sent"), 100, "a storm");
            NS_TEST_ASSERT_MSG_EQ(tree.Number("dcfit_detections"), 0, "none declared");
        }

        // One hop around a ring: every host pauses in turn, nothing waits in a cycle.
        Network ring;
        ring.Agent();
        ring.Ring(4);
        ring.RingFlows(4, 1, 0);
        for (int64_t at = 10; at < 5000; at += 100)
        {
            ring.sim.AddPauseStorm(static_cast<uint32_t>(at / 100 % 4),
                                   3,
                                   at * 1'000'000,
                                   (at + 400) * 1'000'000);
        }
        NS_TEST_ASSERT_MSG_EQ(ring.Run(8'000'000'000), "", "a proper run");
        NS_TEST_ASSERT_MSG_EQ(ring.Number("deadlocked"), 0, "no dependency");
        NS_TEST_ASSERT_MSG_EQ(ring.Number("dcfit_detections"), 0, "none declared");
    }
};

/// @ingroup dcfit-tests
/// @brief The suite.
class DetectorTestSuite : public TestSuite
{
  public:
    DetectorTestSuite()
        : TestSuite("dcfit-detector", Type::UNIT)
    {
        AddTestCase(new TriggerTest, Duration::QUICK);
        AddTestCase(new RulesTest, Duration::QUICK);
        AddTestCase(new MemoryTest, Duration::QUICK);
        AddTestCase(new NumberTest, Duration::QUICK);
        AddTestCase(new TreatmentTest, Duration::QUICK);
        AddTestCase(new OnLoopTest, Duration::QUICK);
        AddTestCase(new RoutingLoopTest, Duration::QUICK);
        AddTestCase(new OffLoopTest, Duration::QUICK);
        AddTestCase(new SquareTest, Duration::QUICK);
        AddTestCase(new DiamondTest, Duration::QUICK);
        AddTestCase(new StormTest, Duration::QUICK);
    }
};

static DetectorTestSuite g_detectorTestSuite; //!< registers the suite

} // namespace tests
} // namespace dcfit
} // namespace ns3
