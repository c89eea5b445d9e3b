/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-detector.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-switch.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace ns3
{
namespace dcfit
{

NS_LOG_COMPONENT_DEFINE("Dcfit");

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NO_PORT;
using lossless::NowPs;
using lossless::PFC_OPCODE;
using lossless::Port;
using lossless::Summary;

NS_OBJECT_ENSURE_REGISTERED(Dcfit);

namespace
{

constexpr uint32_t MAX_PORTS = 1U << PORT_BITS;
constexpr uint32_t MAX_SWITCHES = 1U << SWITCH_BITS;
/// Bits of a counter of the exact map: 2^16 cells of a packet buffer.
constexpr uint64_t COUNTER_BITS = 16;
/// Bits of a stored time.
constexpr uint64_t TIME_BITS = 32;
/// Bits of an entry of HeavyHitters: flow, count and error.
constexpr uint64_t HITTER_BITS = 96;
/// Bits of a limited flow: flow, tokens and two times.
constexpr uint64_t LIMIT_BITS = 64 + 2 * TIME_BITS;
/// Bits of a stored sequence number; the paper only says that there is one.
constexpr uint32_t KEPT_SEQUENCE_BITS = 7;
constexpr uint32_t LAST_SEQUENCE = (1U << KEPT_SEQUENCE_BITS) - 1;

} // namespace

TypeId
Dcfit::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::dcfit::Dcfit")
            .SetParent<Breaker>()
            .SetGroupName("dcfit")
            .AddConstructor<Dcfit>()
            .AddAttribute("SwitchBits",
                          "Bits of a stored switch number: a network of 10,000 switches needs 14.",
                          UintegerValue(SWITCH_BITS),
                          MakeUintegerAccessor(&Dcfit::m_switchBits),
                          MakeUintegerChecker<uint32_t>(1, SWITCH_BITS))
            .AddAttribute("Clearing",
                          "How a bit of the traffic map is cleared: Counters (when the last byte "
                          "from that ingress has been sent) or Row (with all of its row, when the "
                          "egress becomes empty; needs no counters).",
                          EnumValue(Clearing::COUNTERS),
                          MakeEnumAccessor<Clearing>(&Dcfit::m_clearing),
                          MakeEnumChecker(Clearing::COUNTERS, "Counters", Clearing::ROW, "Row"))
            .AddAttribute("Cause",
                          "Which egress is considered the cause of a pause: Arriving (that of the "
                          "frame that triggered it) or Largest (that for which the ingress holds "
                          "most bytes).",
                          EnumValue(Cause::ARRIVING),
                          MakeEnumAccessor<Cause>(&Dcfit::m_cause),
                          MakeEnumChecker(Cause::ARRIVING, "Arriving", Cause::LARGEST, "Largest"))
            .AddAttribute("Conflict",
                          "Which of several initiators' messages a port keeps: Highest (by rank, "
                          "then number) or Newest.",
                          EnumValue(Conflict::HIGHEST),
                          MakeEnumAccessor<Conflict>(&Dcfit::m_conflict),
                          MakeEnumChecker(Conflict::HIGHEST, "Highest", Conflict::NEWEST, "Newest"))
            .AddAttribute("Evidence",
                          "What a consistency round checks at an ingress that waits for a paused "
                          "egress: Map (that it feeds the egress and pauses its upstream, as in "
                          "the paper) or Bytes (also that it would remain paused if only the "
                          "frames waiting for paused egresses with the same message were left; "
                          "needs the counters).",
                          EnumValue(Evidence::BYTES),
                          MakeEnumAccessor<Evidence>(&Dcfit::m_evidence),
                          MakeEnumChecker(Evidence::MAP, "Map", Evidence::BYTES, "Bytes"))
            .AddAttribute("Rounds",
                          "Number of consistency rounds before a deadlock is declared; one in the "
                          "paper.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&Dcfit::m_rounds),
                          MakeUintegerChecker<uint32_t>(1, 3))
            .AddAttribute("Retry",
                          "An ingress that has paused its upstream for one to two Retry periods, "
                          "and waits for a paused egress, starts a process of its own, repeatedly, "
                          "unless it has received the message of another one since the last check; "
                          "0: never, as in the paper.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Dcfit::m_retry),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Drained",
                          "An ingress that pauses its upstream starts a process of its own when an "
                          "egress sends its last frame from that ingress, if it also waits for a "
                          "paused egress: this can make a deadlock certain without a new pause. "
                          "Not in the paper.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Dcfit::m_drained),
                          MakeBooleanChecker())
            .AddAttribute("Untold",
                          "An ingress that pauses its upstream because of a paused egress for "
                          "whose pause no message was received starts a process of its own. Not in "
                          "the paper, where that PAUSE is sent without a message.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Dcfit::m_untold),
                          MakeBooleanChecker())
            .AddAttribute("HandleTrigger",
                          "When a deadlock is declared, notify the initial trigger, so that it "
                          "limits the heaviest flow or acts on its server.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Dcfit::m_handle),
                          MakeBooleanChecker())
            .AddAttribute("ServerCure",
                          "Action on a server whose pauses are the initial trigger: Ignore (its "
                          "pauses) or Lossy (its frames use LossyClass).",
                          EnumValue(ServerCure::IGNORE),
                          MakeEnumAccessor<ServerCure>(&Dcfit::m_serverCure),
                          MakeEnumChecker(ServerCure::IGNORE, "Ignore", ServerCure::LOSSY, "Lossy"))
            .AddAttribute("HeavyHitters",
                          "Number of flows tracked per egress, to find the heaviest.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&Dcfit::m_heavyEntries),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("LimitRate",
                          "Rate limit of a heavy flow that is the initial trigger; the excess is "
                          "dropped, an intended loss.",
                          DataRateValue(DataRate("1Gbps")),
                          MakeDataRateAccessor(&Dcfit::m_limitRate),
                          lossless::MakeRateChecker())
            .AddAttribute("LimitBurst",
                          "Burst size of a limited flow. [B]",
                          UintegerValue(10'000),
                          MakeUintegerAccessor(&Dcfit::m_limitBurst),
                          MakeUintegerChecker<uint32_t>(1, 1'000'000))
            .AddAttribute("Limits",
                          "Maximum number of flows that a switch limits at a time; a further one "
                          "replaces the flow that has stayed within LimitRate for longest.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&Dcfit::m_mostLimits),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Restoration",
                          "Time without a pause, or within LimitRate, after which a server or a "
                          "flow is no longer acted on; 0: never. The default is that of SONiC's "
                          "PFC watchdog.",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&Dcfit::m_restoration),
                          lossless::MakePicosecondsChecker());
    return tid;
}

Dcfit::Dcfit()
    : m_look(this, &Dcfit::Look)
{
}

void
Dcfit::Start()
{
    if (const auto* node = dynamic_cast<const lossless::Switch*>(m_node))
    {
        m_number = static_cast<uint16_t>(std::min(node->GetNumber(), MAX_SWITCHES - 1));
    }
    // As link-layer discovery would report: does the neighbour support DCFIT?
    std::vector<bool> hasDcfit(m_node->GetNPorts());
    for (uint16_t port = 0; port < hasDcfit.size(); ++port)
    {
        const auto& agents = m_node->GetPort(port).GetPeer().GetNode().GetAgents();
        hasDcfit[port] = std::any_of(agents.begin(), agents.end(), [](const auto& agent) {
            return dynamic_cast<const Dcfit*>(PeekPointer(agent)) != nullptr;
        });
    }
    m_map.Start(*m_node, m_number, std::move(hasDcfit), {m_clearing, m_conflict, m_evidence});
    if (m_handle)
    {
        m_cure.Start(*m_node,
                     m_map,
                     {m_serverCure,
                      GetLossyClass(),
                      m_heavyEntries,
                      m_limitRate.GetBitRate(),
                      m_limitBurst,
                      m_mostLimits,
                      m_restoration.GetTimeStep()});
    }
}

std::string
Dcfit::Check() const
{
    std::ostringstream problems;
    problems << Breaker::Check();
    if (m_node->GetNPorts() > MAX_PORTS)
    {
        problems << m_node->GetName() << ": DCFIT's messages can number " << MAX_PORTS
                 << " ports, but the switch has " << m_node->GetNPorts() << "\n";
    }
    const uint32_t switches = (1U << m_switchBits) - 1; // the last number is reserved
    if (!m_node->IsSwitch())
    {
        problems << m_node->GetName() << ": DCFIT is an agent for switches, but this is a host\n";
    }
    else if (m_number >= switches)
    {
        problems << m_node->GetName() << ": with SwitchBits " << m_switchBits
                 << " DCFIT can number " << switches << " switches, but this is number "
                 << m_number + 1 << " of them\n";
    }
    if (m_handle && m_serverCure == ServerCure::LOSSY &&
        m_node->GetBuffer().IsLossless(GetLossyClass()))
    {
        problems << m_node->GetName() << ": ServerCure is Lossy, but LossyClass "
                 << +GetLossyClass() << " is lossless\n";
    }
    return problems.str();
}

void
Dcfit::Begin(uint16_t ingress, uint8_t cls, Way way, bool trigger, uint8_t rank)
{
    State& state = m_map.At(ingress, cls);
    state.sequence = static_cast<uint16_t>((state.sequence + 1U) & LAST_SEQUENCE);
    // It stands for the ingress from here on: messages of an older number, or of another rank, are
    // void when they return.
    state.rank = rank;
    state.own = true;
    state.trigger = trigger;
    state.way = way;
    state.aged = false;
    state.begunAt = NowPs();
    state.loopAt = -1;
    ++m_begun;
}

void
Dcfit::NotifyPauseSent(Port& port, uint8_t cls, bool on)
{
    const uint16_t ingress = port.GetIndex();
    State& state = m_map.At(ingress, cls);
    state.pausing = on;
    state.own = false;
    state.trigger = false;
    state.aged = false;
    state.declared = false;
    if (!on)
    {
        return;
    }
    const lossless::FeedMap& feeds = *m_node->GetFeeds();
    const uint16_t cause =
        m_cause == Cause::ARRIVING ? feeds.GetCause(ingress, cls) : feeds.FindLargest(ingress, cls);
    // Without a cause (a storm) it is the ingress itself, whose own egress is then asked.
    state.cause = static_cast<uint8_t>(cause == NO_PORT ? ingress : cause);
    if (!m_retry.IsZero() && !m_lookPending)
    {
        m_lookPending = true;
        m_look.Schedule(m_retry.GetTimeStep());
    }
    const bool trigger = !m_map.At(state.cause, cls).paused;
    // A server upstream could not send a message on: its pause starts nothing.
    if (trigger || !m_map.HasDcfit(ingress))
    {
        if (m_map.HasDcfit(ingress))
        {
            Begin(ingress, cls, ON_LOOP, true, m_map.RankAbove(ingress, cls));
        }
        state.trigger = trigger;
        return;
    }
    const uint16_t from = m_map.FindInfo(ingress, cls);
    if (from == NO_PORT)
    {
        if (m_untold)
        {
            Begin(ingress, cls, AGAIN, false, 0);
        }
    }
    else if (m_map.IsMiddle(from, cls, m_map.At(from, cls).info))
    {
        const uint8_t rank = m_map.RankAbove(ingress, cls);
        Begin(ingress, cls, OFF_LOOP, false, rank);
    }
}

void
Dcfit::NotifyPaused(Port& port, uint8_t cls, bool on)
{
    State& state = m_map.At(port.GetIndex(), cls);
    if (on)
    {
        state.known = state.known && state.paused; // a pause not caused by a PFC frame
        state.paused = true;
        return;
    }
    state.paused = false;
    state.known = false;
    state.resumed = true;
}

void
Dcfit::Decorate(Port& port, ControlFrame& control)
{
    if (control.opcode != PFC_OPCODE || !m_map.HasDcfit(port.GetIndex()))
    {
        return;
    }
    Block block(Kind::CHECK);
    uint64_t added = 0;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        Message message;
        if ((control.classes >> cls) & 1U && control.value[cls] > 0 &&
            m_map.FindTag(port.GetIndex(), cls, message) && block.Add(cls, message))
        {
            ++added;
        }
    }
    if (block.AppendTo(control))
    {
        m_tags += added;
    }
}

void
Dcfit::NotifyControl(Port& port, const ControlFrame& control)
{
    const uint16_t index = port.GetIndex();
    Block block;
    const bool has = block.ReadFrom(control);
    // A pause of another class is not obeyed, so it holds nothing up.
    const uint32_t classes = control.classes & m_node->GetBuffer().GetLosslessClasses();
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (!((classes >> cls) & 1U))
        {
            continue;
        }
        Message message;
        const bool tagged = has && block.Get(cls, message);
        if (control.opcode == PFC_OPCODE)
        {
            if (control.value[cls] > 0)
            {
                ReceivePause(index, cls, tagged, message);
            }
        }
        else if (control.opcode == DCFIT_OPCODE && tagged)
        {
            switch (block.GetKind())
            {
            case Kind::CHECK:
                ReceiveCheck(index, cls, message, false);
                break;
            case Kind::CONSISTENCY:
                ReceiveConsistency(index, cls, message);
                break;
            case Kind::NOTICE:
            case Kind::FOUND:
                ReceiveNotice(index, cls, block.GetKind(), message);
                break;
            }
        }
    }
}

void
Dcfit::ReceivePause(uint16_t port, uint8_t cls, bool tagged, const Message& message)
{
    State& state = m_map.At(port, cls);
    const bool fresh = !state.paused; // else a refresh, which begins no episode
    state.paused = true;
    state.pausedAt = NowPs();
    if (tagged)
    {
        ReceiveCheck(port, cls, message, fresh);
        return;
    }
    if (!fresh)
    {
        return;
    }
    state.known = false;
    state.resumed = false;
    if (!m_map.HasDcfit(port))
    {
        // A server: it is the initial trigger, identified by its port of this switch.
        state.sequence = static_cast<uint16_t>((state.sequence + 1U) & LAST_SEQUENCE);
        const Message own{m_number, static_cast<uint8_t>(port), state.sequence, 0, 0};
        ReceiveCheck(port, cls, own, true);
    }
}

void
Dcfit::ReceiveCheck(uint16_t port, uint8_t cls, const Message& message, bool fresh)
{
    if (!m_map.At(port, cls).paused)
    {
        return; // a resume has overtaken it
    }
    if (message.node == m_number && m_map.HasDcfit(message.port))
    {
        State& own = m_map.At(message.port, cls);
        if (!own.own || !own.pausing || own.sequence != message.sequence ||
            own.rank != message.rank)
        {
            if (fresh)
            {
                m_map.At(port, cls).known = false;
            }
            return; // not the latest
        }
        if (m_map.Remember(port, cls, message, fresh) && m_map.Feeds(port, message.port, cls))
        {
            ++m_suspected;
            own.loopAt = NowPs();
            SendAlone(Kind::CONSISTENCY, message.port, cls, message);
        }
        return;
    }
    if (!m_map.Remember(port, cls, message, fresh))
    {
        return;
    }
    if (!m_map.IsMiddle(port, cls, message))
    {
        ForwardFrom(Kind::CHECK, port, cls, message);
        return;
    }
    for (uint16_t ingress = 0; ingress < m_node->GetNPorts(); ++ingress)
    {
        State& state = m_map.At(ingress, cls);
        if (!state.pausing || !m_map.HasDcfit(ingress) || !m_map.Feeds(port, ingress, cls) ||
            (state.own && !state.aged && (state.rank > message.rank || state.way == OFF_LOOP)))
        {
            // A process of its own goes on that has precedence, or was started for this reason; in
            // particular, not every pause of the trigger starts a new one.
            continue;
        }
        Begin(ingress, cls, OFF_LOOP, false, m_map.NextRank(message));
        Message own;
        m_map.FindTag(ingress, cls, own);
        SendAlone(Kind::CHECK, ingress, cls, own);
    }
}

void
Dcfit::ReceiveConsistency(uint16_t port, uint8_t cls, const Message& message)
{
    State& state = m_map.At(port, cls);
    if (!state.paused || state.resumed || !state.known || !state.info.HasEpisodeOf(message))
    {
        ++m_refuted;
        m_repeated += state.paused && state.resumed && state.info.HasEpisodeOf(message);
        return;
    }
    if (message.round < state.checked)
    {
        return; // it arrived by another path before
    }
    // At the initiator, too: what comes back by this port again is ignored.
    state.checked = static_cast<uint8_t>(message.round + 1);
    if (message.node != m_number || !m_map.HasDcfit(message.port))
    {
        ForwardFrom(Kind::CONSISTENCY, port, cls, message);
        return;
    }
    const State& own = m_map.At(message.port, cls);
    if (!own.own || !own.pausing || own.declared || own.sequence != message.sequence ||
        own.rank != message.rank || !m_map.Feeds(port, message.port, cls))
    {
        return;
    }
    if (!m_map.StaysOff(message.port, cls, message))
    {
        ++m_refuted;
        return;
    }
    if (message.round + 1U < m_rounds)
    {
        Message next = message;
        ++next.round;
        SendAlone(Kind::CONSISTENCY, message.port, cls, next);
        return;
    }
    Declare(port, message.port, cls);
}

void
Dcfit::ForwardFrom(Kind kind, uint16_t port, uint8_t cls, const Message& message)
{
    for (uint16_t ingress = 0; ingress < m_node->GetNPorts(); ++ingress)
    {
        if (!m_map.At(ingress, cls).pausing || !m_map.Feeds(port, ingress, cls))
        {
            continue;
        }
        if (kind == Kind::CONSISTENCY && !m_map.StaysOff(ingress, cls, message))
        {
            ++m_refuted;
            continue;
        }
        SendAlone(kind, ingress, cls, message);
    }
}

void
Dcfit::SendAlone(Kind kind, uint16_t port, uint8_t cls, const Message& message)
{
    if (!m_map.HasDcfit(port))
    {
        return;
    }
    Frame* frame = FramePool::TakeControl();
    frame->control->opcode = DCFIT_OPCODE;
    frame->control->classes = static_cast<uint16_t>(1U << cls);
    Block block(kind);
    block.Add(cls, message);
    block.AppendTo(*frame->control);
    Port& way = m_node->GetPort(port);
    ++m_alone;
    m_messageBytes += way.GetControlFrameSize() + way.GetOverhead();
    way.SendControl(frame);
}

void
Dcfit::BeginAgain(uint16_t ingress, uint8_t cls)
{
    Begin(ingress, cls, AGAIN, m_map.At(ingress, cls).trigger, m_map.RankAbove(ingress, cls));
    Message message;
    m_map.FindTag(ingress, cls, message);
    SendAlone(Kind::CHECK, ingress, cls, message);
}

void
Dcfit::NotifyDequeue(Port& egress, uint16_t /* queue */, Frame& frame)
{
    if (!m_drained || !frame.charged || frame.ingress == NO_PORT ||
        !m_map.At(frame.ingress, frame.cls).pausing)
    {
        return;
    }
    // The frame counts until its last bit has been sent.
    const uint32_t held = m_node->GetFeeds()->GetBytes(egress.GetIndex(), frame.ingress, frame.cls);
    if (held == m_node->GetBuffer().InCells(frame.bytes) && m_map.HasDcfit(frame.ingress) &&
        !m_map.At(frame.ingress, frame.cls).declared &&
        m_map.WaitsForPaused(frame.ingress, frame.cls))
    {
        BeginAgain(frame.ingress, frame.cls);
    }
}

void
Dcfit::Look()
{
    bool any = false;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (uint16_t ingress = 0; ingress < m_node->GetNPorts(); ++ingress)
        {
            State& state = m_map.At(ingress, cls);
            if (!state.pausing || !m_map.HasDcfit(ingress) || (state.declared && !Cures()))
            {
                continue;
            }
            any = true;
            // Aged: it lasted through a whole period, and not only from within one.
            if (state.aged && m_map.WaitsForPaused(ingress, cls) &&
                !m_map.FeedsRecentMessage(ingress, cls))
            {
                state.declared = false;
                BeginAgain(ingress, cls);
            }
            state.aged = true;
        }
    }
    m_map.Age();
    m_lookPending = any;
    if (any)
    {
        m_look.Schedule(m_retry.GetTimeStep());
    }
}

void
Dcfit::Declare(uint16_t port, uint16_t ingress, uint8_t cls)
{
    State& own = m_map.At(ingress, cls);
    own.declared = true;
    ++m_detections[own.way];
    NS_LOG_INFO(m_node->GetName() << " declares a deadlock at port " << port << ", class " << +cls);
    if (m_firstAt < 0)
    {
        m_firstAt = NowPs();
        m_firstBegun = own.begunAt;
        m_firstLooped = own.loopAt;
    }
    m_detectionTrace(m_node->GetPort(port), {cls, own.way, own.begunAt, own.loopAt});
    if (!m_handle)
    {
        Break(m_node->GetPort(port), m_node->GetPort(ingress), cls);
        return;
    }
    // First the notice travels around the loop: once broken, the loop cannot be followed any more.
    Message notice;
    m_map.FindTag(ingress, cls, notice);
    notice.round = MAX_ROUND; // in a notice: hops that it may go beyond the loop
    const bool found = TellSuspects(ingress, cls, notice);
    SendAlone(found ? Kind::FOUND : Kind::NOTICE, port, cls, notice);
}

bool
Dcfit::TellSuspects(uint16_t ingress, uint8_t cls, const Message& message)
{
    bool found = false;
    for (uint16_t egress = 0; egress < m_node->GetNPorts(); ++egress)
    {
        const State& state = m_map.At(egress, cls);
        const bool paused = state.paused || state.resumed; // now, or before
        const bool onLoop = state.known && state.info.HasEpisodeOf(message);
        // Frames that arrived by a port leave by it only where frames are sent back.
        if (!paused || onLoop || (egress == ingress && !m_map.Feeds(egress, ingress, cls)))
        {
            continue;
        }
        found = true;
        if (!m_map.HasDcfit(egress))
        {
            m_cure.TreatServer(egress, cls);
        }
        else if (message.round > 0)
        {
            SendAlone(Kind::NOTICE, egress, cls, message);
        }
    }
    return found;
}

void
Dcfit::ReceiveNotice(uint16_t ingress, uint8_t cls, Kind kind, Message message)
{
    if (!m_handle)
    {
        return;
    }
    const uint16_t loop = m_map.FindLoop(ingress, cls, message);
    if (message.node == m_number && m_map.HasDcfit(message.port))
    {
        if (message.port == ingress && m_map.At(ingress, cls).declared && loop != NO_PORT)
        {
            if (kind == Kind::NOTICE)
            {
                m_cure.TreatFlows(loop); // no port off the loop: the trigger is here
            }
            Break(m_node->GetPort(loop), m_node->GetPort(ingress), cls);
        }
        return;
    }
    if (loop != NO_PORT)
    {
        // Once around the loop, however long it is.
        if (!std::exchange(m_map.At(loop, cls).noticed, true))
        {
            const bool found = TellSuspects(ingress, cls, message);
            SendAlone(found ? Kind::FOUND : kind, loop, cls, message);
        }
        return;
    }
    if (message.round == 0)
    {
        return;
    }
    --message.round;
    if (!TellSuspects(ingress, cls, message))
    {
        m_cure.TreatFlows(
            m_map.At(ingress, cls).cause); // the end of the path: the congested egress here
    }
}

bool
Dcfit::NotifyArrival(Frame& frame, Port& /* ingress */)
{
    if (!m_handle || !m_node->GetBuffer().IsLossless(frame.cls))
    {
        return true;
    }
    return m_cure.Admit(frame);
}

uint64_t
Dcfit::GetStateBits(uint32_t ports) const
{
    const uint64_t rank = m_conflict == Conflict::HIGHEST ? 2 * RANK_BITS : 0;
    const uint64_t checked = m_rounds == 1 ? 1 : 2;
    const uint64_t egress = m_switchBits + PORT_BITS + KEPT_SEQUENCE_BITS + 5 + checked;
    const uint64_t ingress = 1 + PORT_BITS + KEPT_SEQUENCE_BITS + 1 + 2 + 1 + 1;
    return static_cast<uint64_t>(ports) * ports + ports * (egress + ingress + rank);
}

uint64_t
Dcfit::GetCounterBits(uint32_t ports) const
{
    const bool counts = m_clearing == Clearing::COUNTERS || m_evidence == Evidence::BYTES;
    return counts ? COUNTER_BITS * ports * ports : 0;
}

uint64_t
Dcfit::GetHandlingBits(uint32_t ports) const
{
    if (!m_handle)
    {
        return 0;
    }
    const uint64_t port = uint64_t{m_heavyEntries} * HITTER_BITS + 2 + TIME_BITS;
    return ports * port + uint64_t{m_mostLimits} * LIMIT_BITS;
}

void
Dcfit::Report(Summary& summary) const
{
    Breaker::Report(summary);
    summary["dcfit_detections"] +=
        static_cast<double>(m_detections[ON_LOOP] + m_detections[OFF_LOOP] + m_detections[AGAIN]);
    summary["dcfit_detections_on_loop"] += static_cast<double>(m_detections[ON_LOOP]);
    summary["dcfit_detections_off_loop"] += static_cast<double>(m_detections[OFF_LOOP]);
    summary["dcfit_detections_again"] += static_cast<double>(m_detections[AGAIN]);
    summary["dcfit_processes"] += static_cast<double>(m_begun);
    summary["dcfit_loops_suspected"] += static_cast<double>(m_suspected);
    summary["dcfit_checks_refuted"] += static_cast<double>(m_refuted);
    summary["dcfit_repeats_refuted"] += static_cast<double>(m_repeated);
    summary["dcfit_messages_sent"] += static_cast<double>(m_alone);
    summary["dcfit_tags_sent"] += static_cast<double>(m_tags);
    summary["dcfit_message_bytes"] += static_cast<double>(m_messageBytes);
    summary["dcfit_triggers_handled"] += static_cast<double>(m_cure.GetHandled());
    summary["dcfit_triggers_restored"] += static_cast<double>(m_cure.GetRestored());
    const uint32_t ports = m_node->GetNPorts();
    double& state = summary["dcfit_state_bits"];
    state = std::max(state, static_cast<double>(GetStateBits(ports)));
    double& counters = summary["dcfit_counter_bits"];
    counters = std::max(counters, static_cast<double>(GetCounterBits(ports)));
    double& handling = summary["dcfit_handling_bits"];
    handling = std::max(handling, static_cast<double>(GetHandlingBits(ports)));
    const auto found = summary.find("dcfit_first_detection_ps");
    if (m_firstAt >= 0 &&
        (found == summary.end() || static_cast<double>(m_firstAt) < found->second))
    {
        summary["dcfit_first_detection_ps"] = static_cast<double>(m_firstAt);
        summary["dcfit_first_begun_ps"] = static_cast<double>(m_firstBegun);
        summary["dcfit_first_looped_ps"] = static_cast<double>(m_firstLooped);
    }
}

} // namespace dcfit
} // namespace ns3
