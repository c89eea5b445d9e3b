/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-port.h"

#include "lossless-port-owner.h"

#include "ns3/abort.h"
#include "ns3/data-rate.h"
#include "ns3/enum.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port-observer.h"
#include "ns3/lossless-rate.h"
#include "ns3/lossless-refusal.h"
#include "ns3/object-vector.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(Port);

TypeId
Port::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::lossless::Port")
                          .SetParent<Object>()
                          .SetGroupName("lossless")
                          .AddConstructor<Port>())
            .AddAttribute("FlowControlList",
                          "The chain of flow controls, for paths of ns3::Config.",
                          TypeId::ATTR_GET,
                          ObjectVectorValue(),
                          MakeObjectVectorAccessor(&Port::GetFlowControl, &Port::GetNFlowControls),
                          MakeObjectVectorChecker<FlowControl>())
            .AddAttribute(
                "ClassService",
                "Scheduling of classes: Strict priority (highest class first), Dwrr, or Fifo "
                "(longest wait first).",
                EnumValue(ClassService::STRICT),
                MakeEnumAccessor<ClassService>(&Port::m_classService),
                MakeEnumChecker(ClassService::STRICT,
                                "Strict",
                                ClassService::DWRR,
                                "Dwrr",
                                ClassService::FIFO,
                                "Fifo"))
            .AddAttribute(
                "QueueService",
                "Scheduling within a class: Fifo, or RoundRobin over ingress ports. Queues added "
                "by flow controls have their own schedulers.",
                EnumValue(QueueService::FIFO),
                MakeEnumAccessor<QueueService>(&Port::m_queueService),
                MakeEnumChecker(QueueService::FIFO,
                                "Fifo",
                                QueueService::ROUND_ROBIN,
                                "RoundRobin"))
            .AddAttribute("Quantum",
                          "Bytes per class and round under Dwrr, times the weight of the class. "
                          "[B]",
                          UintegerValue(1600),
                          MakeUintegerAccessor(&Port::m_quantum),
                          MakeUintegerChecker<uint32_t>(1, 1'000'000))
            .AddAttribute("Weights",
                          "Weights of classes under Dwrr, CLASS=WEIGHT separated by commas; 1 for "
                          "the others. Strict: the class is served before all weighted ones, the "
                          "highest of several first (IEEE 802.1Q).",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_weights),
                          MakeByClassChecker(MakeUintegerChecker<uint32_t>(1, 1000), "Strict"))
            .AddAttribute("MinRates",
                          "Rates in wire bytes that classes have at least, CLASS=RATE separated "
                          "by commas: a class below its rate is served before all that are not. "
                          "What it gets counts towards its share under Dwrr.",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_minRates),
                          MakeByClassChecker(MakeRateChecker(SLOWEST_LINK)))
            .AddAttribute("MaxRates",
                          "Rates in wire bytes that classes do not exceed, CLASS=RATE separated by "
                          "commas, except by a burst of two frames and a round.",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_maxRates),
                          MakeByClassChecker(MakeRateChecker(SLOWEST_LINK)))
            .AddAttribute("DscpClasses",
                          "Classes of frames that a switch receives, by their code points, "
                          "DSCP=CLASS separated by commas; the upper three bits of the others. "
                          "Empty: the class on the wire. The agent tagger applies this map and the "
                          "next three.",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_dscpClasses),
                          MakeByDscpChecker(MakeUintegerChecker<uint32_t>(0, N_CLASSES - 1)))
            .AddAttribute("ClassGroups",
                          "Priority groups of frames that a switch receives, to which they are "
                          "charged and which pauses name, CLASS=GROUP separated by commas; those "
                          "of the same number for other classes.",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_classGroups),
                          MakeByClassChecker(MakeUintegerChecker<uint32_t>(0, N_CLASSES - 1)))
            .AddAttribute("ClassQueues",
                          "Egress queues of frames that a switch sends, CLASS=QUEUE separated by "
                          "commas; those of the same number for other classes.",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_classQueues),
                          MakeByClassChecker(MakeUintegerChecker<uint32_t>(0, N_CLASSES - 1)))
            .AddAttribute("ClassMarks",
                          "Code points that frames get as a switch sends them, CLASS=DSCP "
                          "separated by commas; others keep theirs, or get eight times their class "
                          "if Rules of tagger have changed it.",
                          StringValue(""),
                          MakeStringAccessor(&Port::m_classMarks),
                          MakeByClassChecker(MakeUintegerChecker<uint32_t>(0, N_DSCPS - 1)))
            .AddAttribute("ReleaseAt",
                          "When the bytes of a frame leave the shared buffer: End or Start of its "
                          "transmission.",
                          EnumValue(ReleaseAt::END),
                          MakeEnumAccessor<ReleaseAt>(&Port::m_releaseAt),
                          MakeEnumChecker(ReleaseAt::END, "End", ReleaseAt::START, "Start"))
            .AddAttribute("States",
                          "What happens to a PFC or GFC frame that still waits for the wire when a "
                          "newer one follows: Latest (the newer one replaces it: of a RESUME and a "
                          "PAUSE shortly after, only the PAUSE is sent, so that the peer has one "
                          "pause where this port counts two) or All (both are sent).",
                          EnumValue(States::LATEST),
                          MakeEnumAccessor<States>(&Port::m_states),
                          MakeEnumChecker(States::LATEST, "Latest", States::ALL, "All"))
            .AddTraceSource("PauseSent",
                            "This port paused (true) or resumed (false) a class of its peer.",
                            MakeTraceSourceAccessor(&Port::m_pauseSentTrace),
                            "ns3::lossless::Port::PauseCallback")
            .AddTraceSource("Paused",
                            "This port started (true) or ceased (false) to obey a pause of a "
                            "class.",
                            MakeTraceSourceAccessor(&Port::m_pausedTrace),
                            "ns3::lossless::Port::PauseCallback")
            .AddTraceSource("Transmit",
                            "A frame starts transmission.",
                            MakeTraceSourceAccessor(&Port::m_transmitTrace),
                            "ns3::lossless::Port::FrameCallback")
            .AddTraceSource("Receive",
                            "A frame has been received completely.",
                            MakeTraceSourceAccessor(&Port::m_receiveTrace),
                            "ns3::lossless::Port::FrameCallback")
            .AddTraceSource("IngressBytes",
                            "The bytes in the ingress accounting of a class have changed.",
                            MakeTraceSourceAccessor(&Port::m_ingressTrace),
                            "ns3::lossless::Port::BytesCallback")
            .AddTraceSource("Egress",
                            "The number of bytes in the egress queues of a class has changed.",
                            MakeTraceSourceAccessor(&Port::m_egressTrace),
                            "ns3::lossless::Port::EgressCallback");
    return tid;
}

Port::Port()
    : m_egress(*this, m_egressTrace),
      m_transmitEnd(this, &Port::TransmitEnd),
      m_inbound(this),
      m_pending(this),
      m_ideal(this),
      m_wake(this, &Port::Wake)
{
}

Port::~Port() = default;

void
Port::DoDispose()
{
    m_retry = nullptr;
    m_chain.Clear();
    m_egress.Clear();
    Object::DoDispose();
}

void
Port::Attach(PortOwner* node, uint16_t index, Port* peer, uint64_t rate, int64_t delay)
{
    LinkEnd::Attach(index, rate, delay);
    m_node = node;
    m_egress.Attach(node, index);
    m_peer = peer;
    m_outbound.Connect(peer->m_inbound);
    m_idealOutbound.Connect(peer->m_ideal);
}

uint32_t
Port::KeepLossless(uint32_t classes)
{
    const uint32_t kept = classes & m_node->GetBuffer().GetLosslessClasses();
    if (kept != classes)
    {
        m_chain.NoteIgnored();
    }
    return kept;
}

void
Port::SetCell(uint16_t cell)
{
    // Of the same instant: what arrives comes before what leaves. A further kind goes last, or the
    // ties of all others are decided otherwise.
    uint16_t kind = 0;
    const auto next = [&]() { return eventloop::Place(cell, m_node->GetId(), m_index, kind++); };
    m_inbound.SetPlace(next());
    m_ideal.SetPlace(next());
    m_pending.SetPlace(next());
    m_transmitEnd.SetPlace(next());
    m_wake.SetPlace(next());
    if (m_retry)
    {
        m_retry->SetPlaces(next);
    }
}

void
Port::SetApart(bool apart)
{
    m_outbound.SetApart(apart);
    m_idealOutbound.SetApart(apart);
    if (m_retry)
    {
        m_retry->SetApart(apart);
    }
}

void
Port::AddFlowControl(Ptr<FlowControl> flowControl)
{
    NS_ABORT_MSG_IF(m_chain.IsStarted(),
                    flowControl->GetInstanceTypeId().GetName()
                        << " was added to a port of " << m_node->GetName()
                        << " that has already started: it would never be started; agents must add "
                           "flow controls in SetUp");
    flowControl->SetPort(this);
    if (auto* retry = dynamic_cast<LinkRetry*>(PeekPointer(flowControl)))
    {
        NS_ABORT_MSG_IF(m_retry,
                        flowControl->GetInstanceTypeId().GetName()
                            << " was added to a chain that has a retry already; a link has one");
        m_retry = retry;
    }
    m_chain.Add(flowControl);
    m_egress.AddRoles(PeekPointer(flowControl));
}

std::size_t
Port::GetNFlowControls() const
{
    return m_chain.GetMembers().size();
}

Ptr<FlowControl>
Port::GetFlowControl(std::size_t place) const
{
    return m_chain.GetMembers()[place];
}

void
Port::SetErrorStream(int64_t stream)
{
    if (GetBitErrorRate() > 0 || GetLossRate() > 0)
    {
        m_errors = std::make_unique<LinkErrors>(GetBitErrorRate(), GetLossRate(), stream);
    }
}

void
Port::SetErrors(std::unique_ptr<LinkErrors> errors)
{
    m_errors = std::move(errors);
}

Egress::Service
Port::GetService() const
{
    Egress::Service service{};
    service.classes = m_classService;
    service.overhead = m_overhead;
    const bool isFifo = m_queueService == QueueService::FIFO;
    // One for each ingress port, and one for frames made here, which have none.
    service.lanes = static_cast<uint16_t>(isFifo ? 1 : m_node->GetNPorts() + 1);
    const auto where = [this]() {
        return m_node->GetName() + " port to " + GetNeighbourName() + ": ";
    };
    const auto weights = *ReadByClass(m_weights);
    const auto minRates = *ReadByClass(m_minRates);
    const auto maxRates = *ReadByClass(m_maxRates);
    const auto rateOf = [](const std::string& text) {
        return text.empty() ? uint64_t{0} : DataRate(text).GetBitRate();
    };
    uint64_t assured = 0; // of rates that attributes allow no eight overflow
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (!weights[cls].empty() && m_classService != ClassService::DWRR)
        {
            Refuse(where(), "class ", +cls, " has a weight, but only Dwrr serves by weight");
        }
        const bool strict = weights[cls] == "Strict";
        service.strict |= (strict ? 1U : 0U) << cls;
        const bool weighted = !strict && !weights[cls].empty();
        service.quanta[cls] = int64_t{m_quantum} * (weighted ? std::stoi(weights[cls]) : 1);
        service.least[cls] = rateOf(minRates[cls]);
        service.most[cls] = rateOf(maxRates[cls]);
        assured += service.least[cls];
        if (service.most[cls] > 0 && service.least[cls] > service.most[cls])
        {
            Refuse(where(), "the minimum rate of class ", +cls, " is above its maximum");
        }
    }
    if (ByClock(assured) > m_rate) // what the link has nominally can be promised
    {
        Refuse(where(),
               "the minimum rates of its classes, ",
               assured,
               " bit/s together, are more than the ",
               m_rate,
               " bit/s of the link");
    }
    return service;
}

void
Port::Start()
{
    m_controlDelayPs = GetControlDelay();
    m_egress.Start(GetService());
    m_chain.Start();
}

void
Port::SendControl(Frame* frame, bool ideal)
{
    Launch(frame, ideal ? Way::IDEAL : Way::LAST);
}

bool
Port::SendState(Frame* frame, bool first)
{
    frame->control->isState = true;
    ControlFrame* state = m_states == States::LATEST ? m_macQueue.Merge(*frame->control) : nullptr;
    if (state)
    {
        m_node->GetRoles().TellDecorate(*this, *state);
        FramePool::Give(frame);
        NoteModelChange(); // a release on its way may be lost
        return false;
    }
    Launch(frame, first ? Way::FIRST : Way::LAST);
    return true;
}

void
Port::Launch(Frame* frame, Way way)
{
    if (!m_up)
    {
        FramePool::Give(frame);
        return;
    }
    m_node->GetRoles().TellDecorate(*this, *frame->control);
    ++m_counters.controlOut;
    if (way == Way::IDEAL)
    {
        // Obeyed as late as any other: it only saves the wire.
        m_idealOutbound.Send(m_delay + m_peer->m_controlDelayPs, frame);
        return;
    }
    frame->bytes = static_cast<uint16_t>(m_controlFrameSize);
    way == Way::FIRST ? m_macQueue.PushFirst(frame) : m_macQueue.Push(frame);
    Kick();
}

bool
Port::Insert(uint32_t bytes)
{
    // On an idle line it delays nothing, not even what is sent next (idealised).
    m_inserted += m_busy ? bytes : 0;
    return !m_errors || !m_errors->Damages(bytes);
}

void
Port::Block(uint16_t queue)
{
    m_egress.Block(queue);
}

void
Port::Unblock(uint16_t queue)
{
    if (m_egress.Unblock(queue))
    {
        Kick();
    }
}

void
Port::BlockClass(uint8_t cls, bool block)
{
    m_egress.BlockClass(cls, block);
    if (!block)
    {
        Kick();
    }
}

void
Port::SetIgnorePause(uint16_t queue, bool ignore)
{
    m_egress.SetIgnorePause(queue, ignore);
    Kick();
}

bool
Port::IsUnjudged() const
{
    return m_chain.HasUnjudgedGate() ||
           (m_egress.GetHolds().WasBlocked() && m_chain.GetDeadlockModels().empty());
}

void
Port::SetUp(bool up)
{
    if (up == m_up)
    {
        return;
    }
    m_up = up;
    if (!up)
    {
        // What this end has sent is on its way to the other end, which loses it.
        // A control frame that has arrived but not yet taken effect is lost with the link, too: a
        // pause that took effect afterwards would never end.
        const auto lose = [](Frame& frame) { frame.lost = true; };
        m_inbound.ForEach(lose);
        m_pending.ForEach(lose);
        m_ideal.ForEach(lose);
        while (!m_macQueue.IsEmpty())
        {
            FramePool::Give(m_macQueue.Pop());
        }
        while (!m_controlQueue.IsEmpty())
        {
            m_node->Drop(m_controlQueue.Pop(), DropCause::LINK_DOWN);
        }
        for (uint16_t queue = 0; queue < m_egress.GetQueues().size(); ++queue)
        {
            m_egress.DropQueue(queue, DropCause::LINK_DOWN);
        }
    }
    m_chain.NotifyLink(up);
    NoteModelChange();
    Kick();
}

void
Port::TransmitNext()
{
    if (!m_up)
    {
        return;
    }
    if (m_retry) [[unlikely]]
    {
        // A PAUSE that is not protected passes repeats, as headroom is measured without them.
        const bool passes = !m_macQueue.IsEmpty() && !m_retry->Protects(*m_macQueue.Head());
        if (const auto next = m_retry->GetRepeat(); next.bytes > 0 && !passes)
        {
            Repeat(next);
            return;
        }
        if (!m_retry->MaySend() && !passes)
        {
            return;
        }
    }
    if (!m_macQueue.IsEmpty())
    {
        Transmit(m_macQueue.Pop());
        return;
    }
    if (!m_controlQueue.IsEmpty())
    {
        Transmit(m_controlQueue.Pop());
        return;
    }
    if (m_egress.WantsRefill())
    {
        m_busy = true; // frames that join must not be transmitted yet
        m_egress.Refill();
        m_busy = false;
    }
    if (!m_egress.HasEligible())
    {
        return;
    }
    const int64_t now = NowPs();
    const int queue = m_egress.Select(now);
    if (queue >= 0)
    {
        Frame* frame = m_egress.Pop(static_cast<uint16_t>(queue), now);
        if (frame->collects)
        {
            WriteTelemetry(*frame, m_egress.GetQueues()[queue].GetBytes(), now);
        }
        Transmit(frame);
    }
    else if (m_egress.GetWakeTime() < m_wakeAt)
    {
        m_wakeAt = m_egress.GetWakeTime();
        m_wake.Schedule(m_wakeAt - now);
    }
}

void
Port::WriteTelemetry(const Frame& frame, int64_t queueBytes, int64_t now) const
{
    if (frame.src == m_node->GetId())
    {
        return; // switches write telemetry, senders do not
    }
    // Both counts are without this frame: it has left its queue, and Transmit has yet to count it.
    Telemetry& stack = *frame.telemetry;
    if (stack.hops == stack.room)
    {
        stack.missed += stack.missed < UINT8_MAX;
        return;
    }
    const int64_t sent =
        std::accumulate(m_counters.wireOut.begin(), m_counters.wireOut.end(), int64_t{0});
    stack.hop[stack.hops++] = InResolution(TelemetryHop{now, sent, queueBytes, m_rate});
}

void
Port::Wake()
{
    // An earlier wake does not end a later one: that comes, too, and only looks again.
    if (m_wakeAt <= NowPs())
    {
        m_wakeAt = NEVER;
    }
    Kick();
}

void
Port::Transmit(Frame* frame)
{
    m_busy = true;
    const int64_t wire = frame->bytes + static_cast<int64_t>(m_overhead);
    const int64_t time = TakeTimeOf(wire);
    m_counters.wireOut[frame->cls] += wire;
    m_departure = Departure::Of(*frame);
    m_departure.egress = m_index;
    m_releaseDue = frame->charged;
    frame->charged = false;
    if (frame->paced)
    {
        frame->paced = false;
        m_node->NotifyLeft(*frame); // may Kick: the port is already busy
    }
    // Drawn also for a protected frame, whose retry learns now what the peer will find.
    const LinkErrors::Fate fate = DrawFate(frame->bytes);
    const bool isProtected = m_retry && m_retry->Protects(*frame);
    if (fate != LinkErrors::Fate::GOOD && !isProtected) [[unlikely]]
    {
        frame->lost = true;
        frame->corrupted = true;
        NoteModelChange(); // it may have been a release
    }
    m_transmitTrace(*this, *frame);
    PutOnWire(isProtected ? m_retry->NotifySent(frame, fate, NowPs() + time) : frame, time);
    if (m_releaseAt == ReleaseAt::START)
    {
        ReleaseDeparture();
    }
}

void
Port::Repeat(LinkRetry::Repeat next)
{
    m_busy = true;
    const int64_t wire = next.bytes + static_cast<int64_t>(m_overhead);
    const int64_t time = TakeTimeOf(wire);
    m_counters.wireOut[next.cls] += wire;
    PutOnWire(m_retry->NotifyRepeated(DrawFate(next.bytes), NowPs() + time), time);
}

void
Port::PutOnWire(Frame* frame, int64_t time)
{
    m_egress.NoteBusy();
    if (frame) [[likely]]
    {
        m_outbound.Send(time + m_delay, frame);
    }
    m_transmitEnd.Schedule(time);
}

LinkErrors::Fate
Port::DrawFate(uint32_t bytes) const
{
    return m_errors ? m_errors->Draw(bytes) : LinkErrors::Fate::GOOD;
}

int64_t
Port::TakeTimeOf(int64_t wire)
{
    return GetTimeOf(wire + std::exchange(m_inserted, 0));
}

void
Port::ReleaseDeparture()
{
    if (m_releaseDue)
    {
        m_releaseDue = false;
        m_node->Release(m_departure);
    }
}

void
Port::TransmitEnd()
{
    // Still busy: events triggered by the release must not start a transmission inside the end of
    // this one.
    ReleaseDeparture();
    m_busy = false;
    TransmitNext();
    m_inserted = m_busy ? m_inserted : 0; // they took their time while the wire was idle
}

void
Port::Arrive(Frame* frame)
{
    if (m_retry) [[unlikely]]
    {
        frame = m_retry->NotifyArrival(frame);
        if (!frame)
        {
            return;
        }
    }
    if (frame->lost)
    {
        frame->ingress = m_index; // names this port in the trace of drops
        m_node->Drop(frame, frame->corrupted ? DropCause::CORRUPTED : DropCause::LINK_DOWN);
        return;
    }
    m_receiveTrace(*this, *frame);
    if (frame->kind == FrameKind::MAC)
    {
        if (m_controlDelayPs == 0)
        {
            Obey(frame);
            return;
        }
        m_pending.Send(m_controlDelayPs, frame);
        return;
    }
    const uint8_t cls = frame->cls;
    const int64_t wire = frame->bytes + static_cast<int64_t>(m_overhead);
    m_counters.wireIn[cls] += wire;
    m_counters.dataIn += frame->kind == FrameKind::DATA;
    frame->ingress = m_index;
    m_node->Receive(frame, *this);
}

void
Port::Obey(Frame* frame)
{
    if (frame->lost)
    {
        FramePool::Give(frame);
        return;
    }
    const ControlFrame& control = *frame->control;
    m_node->GetRoles().TellControl(*this, control);
    m_chain.ReceiveControl(control);
    FramePool::Give(frame);
}

void
Port::NotePauseSent(uint8_t cls, bool on)
{
    if (on)
    {
        ++m_counters.pausesSent;
    }
    m_pauseSentTrace(*this, cls, on);
    m_node->GetRoles().TellPause(*this, cls, on, true);
}

void
Port::NotePaused(uint8_t cls, bool on)
{
    if (!m_egress.Pause(cls, on))
    {
        return;
    }
    m_pausedTrace(*this, cls, on);
    m_node->GetRoles().TellPause(*this, cls, on, false);
}

void
Port::NoteModelChange() const
{
    if (m_node->GetObserver())
    {
        m_node->GetObserver()->NotifyChange();
    }
}

void
Port::TellReceived(Frame& frame, int64_t queueBytes) const
{
    // Its class is still that of its group: it gets its egress class after it has been charged.
    m_ingressTrace(*this, frame.cls, queueBytes);
    m_chain.NotifyReceived(frame, queueBytes);
}

void
Port::TellReleased(const Departure& departure, int64_t queueBytes) const
{
    m_ingressTrace(*this, departure.cls, queueBytes);
    m_chain.NotifyReleased(departure, queueBytes);
}

uint32_t
Port::GetNodeId() const
{
    return m_node->GetId();
}

uint32_t
Port::GetPeerId() const
{
    return m_peer->GetNodeId();
}

void
Port::SetNeighbour(uint32_t number)
{
    m_neighbour = number;
}

uint32_t
Port::GetNeighbour() const
{
    return m_neighbour == ALL_NODES ? GetPeerId() : m_neighbour;
}

std::string
Port::GetNeighbourName() const
{
    uint16_t place = 0;
    uint16_t links = 0;
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        if (m_node->GetPort(index).GetPeerId() == GetPeerId())
        {
            ++links;
            place += index <= m_index; // ports are in the order of links, at either end
        }
    }
    const std::string& name = m_peer->GetNode().GetName();
    return links > 1 ? name + "#" + std::to_string(place) : name;
}

int64_t
Port::GetIngressBytes(uint8_t cls) const
{
    return m_node->GetBuffer().GetUsage(m_index, cls).Total();
}

uint64_t
Port::CountHeld() const
{
    uint64_t held = m_controlQueue.GetFrames() + m_egress.CountFrames();
    const auto count = [&held](const Frame& frame) { held += frame.kind != FrameKind::MAC; };
    ForEachKept(count);
    m_inbound.ForEach(count);
    return held;
}

} // namespace lossless
} // namespace ns3
