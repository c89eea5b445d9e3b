/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pffc-flow-control.h"

#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port-owner.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

namespace ns3
{
namespace pffc
{

using lossless::BytesInTime;
using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NEVER;
using lossless::NowPs;
using lossless::Port;

namespace
{

/// How often the end of all pauses is repeated.
constexpr uint8_t REPEATS_WHEN_IDLE = 2;

/// Put a number into a summary if it exceeds the value there.
/// @param summary the summary
/// @param name name of the number
/// @param value its value
void
Largest(lossless::Summary& summary, const char* name, std::size_t value)
{
    double& largest = summary[name];
    largest = std::max(largest, static_cast<double>(value));
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(Pffc);

TypeId
Pffc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::pffc::Pffc")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("pffc")
            .AddConstructor<Pffc>()
            .AddAttribute("Peqs",
                          "Number n of paused egress queues (PEQs) of a class, besides its default "
                          "egress queue.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&Pffc::m_nPeqs),
                          MakeUintegerChecker<uint32_t>(1, N_CLASSES - 1))
            .AddAttribute(
                "FbuXoff",
                "Bytes of a flow at which it is moved to a PEQ; 0: Xon plus two frames. [B]",
                IntegerValue(0),
                MakeIntegerAccessor(&Pffc::m_fbuXoff),
                MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("FbuXon",
                          "Bytes of a flow below which it may return; 0: what the link transfers "
                          "from RESUME to the first frame, so that the flow never underruns. [B]",
                          IntegerValue(0),
                          MakeIntegerAccessor(&Pffc::m_fbuXon),
                          MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("PbuXoff",
                          "PBU below which a PEQ is not paused; 0: it is paused with its first "
                          "flow. [B]",
                          IntegerValue(0),
                          MakeIntegerAccessor(&Pffc::m_pbuXoff),
                          MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("PbuXon",
                          "PBU at or above which a PEQ is not resumed; 0: it is resumed at any "
                          "PBU. [B]",
                          IntegerValue(0),
                          MakeIntegerAccessor(&Pffc::m_pbuXon),
                          MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("PbuScope",
                          "What PBU counts: PerPeq (the flows in the PEQ) or PerIngressPort (all "
                          "bytes of the class that arrived by the port; then PbuXoff also moves "
                          "the flow of the arriving frame to a PEQ).",
                          EnumValue(PbuScope::PER_PEQ),
                          MakeEnumAccessor<PbuScope>(&Pffc::m_pbuScope),
                          MakeEnumChecker(PbuScope::PER_PEQ,
                                          "PerPeq",
                                          PbuScope::PER_INGRESS_PORT,
                                          "PerIngressPort"))
            .AddAttribute(
                "Assignment",
                "How a flow is assigned to a PEQ: FewestFlows, or Hash of the flow.",
                EnumValue(Assignment::FEWEST_FLOWS),
                MakeEnumAccessor<Assignment>(&Pffc::m_assignment),
                MakeEnumChecker(Assignment::FEWEST_FLOWS, "FewestFlows", Assignment::HASH, "Hash"))
            .AddAttribute("RecirculationDelay",
                          "Time after a frame has left until its bytes are subtracted, while its "
                          "clone recirculates in the switch.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Pffc::m_recirculation),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Refresh",
                          "Period at which the state of PEQs and migrated flows is sent again; "
                          "state that was not received for three periods is discarded. 0: never.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&Pffc::m_refresh),
                          lossless::MakePicosecondsChecker())
            .AddTraceSource("Migrate",
                            "A flow is told to move to a PEQ of the upstream port, or back to the "
                            "DEQ (PEQ 0).",
                            MakeTraceSourceAccessor(&Pffc::m_migrateTrace),
                            "ns3::pffc::Pffc::MigrateCallback");
    return tid;
}

Pffc::Pffc()
    : m_tick(this, &Pffc::Refresh),
      m_subtract(this, &Pffc::SubtractDue)
{
}

uint16_t
Pffc::GetOwnQueues() const
{
    return static_cast<uint16_t>(m_nPeqs);
}

void
Pffc::Start()
{
    m_peqs.resize(static_cast<std::size_t>(N_CLASSES) * m_nPeqs);
    m_sender.Start(*m_port, m_nPeqs, m_refresh);
    const int64_t frame = m_port->GetLargestFrame();
    if (m_fbuXon == 0)
    {
        // RESUME waits for a frame and is sent; then a frame arrives from upstream.
        const int64_t overhead = m_port->GetOverhead();
        const int64_t sent = 2 * (frame + overhead) + m_port->GetControlFrameSize() + overhead;
        const int64_t time = 2 * m_port->GetDelay() + m_port->GetPeer().GetControlDelay() +
                             m_recirculation.GetTimeStep();
        m_fbuXon = BytesInTime(m_port->GetRate(), time) + sent;
    }
    if (m_fbuXoff == 0)
    {
        m_fbuXoff = m_fbuXon + 2 * frame;
    }
    lossless::PortOwner& node = m_port->GetNode();
    m_node = node.GetShared<NodeState>();
    m_node->instances.push_back(this);
    m_recirculates = node.IsSwitch();
}

std::string
Pffc::Check() const
{
    std::ostringstream problems;
    if (m_fbuXon > m_fbuXoff)
    {
        problems << "Pffc: FbuXon " << m_fbuXon << " B is above FbuXoff " << m_fbuXoff
                 << " B; it must be at most FbuXoff\n";
    }
    if (m_pbuXon > m_pbuXoff && m_pbuXoff > 0)
    {
        problems << "Pffc: PbuXon " << m_pbuXon << " B is above PbuXoff " << m_pbuXoff
                 << " B; it must be at most PbuXoff\n";
    }
    return problems.str();
}

bool
Pffc::WouldHold(uint16_t queue, const Frame& /* head */, const Rest& rest) const
{
    const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
    const uint32_t number = queue / N_CLASSES;
    if (number == 0 || number > m_nPeqs || !((m_paused[cls] >> number) & 1U))
    {
        return false;
    }
    // The PEQ is paused. It is resumed when none of its flows is above Xon and PBU is low.
    const Peq& peq = PeqOf(cls, number);
    int64_t pbu = 0;
    bool above = false;
    for (const uint32_t flow : peq.flows)
    {
        int64_t bytes = 0;
        for (const Frame* frame : rest.frames)
        {
            bytes += frame->flow == flow ? frame->bytes : 0;
        }
        pbu += bytes;
        // a flow falls below Xon when one of its own frames leaves: PBU may have put it above
        const Usage& usage = *m_node->flows.Find(UsageKey(cls, flow));
        above = above || (usage.above && (bytes >= m_fbuXon || bytes == usage.bytes));
    }
    pbu = m_pbuScope == PbuScope::PER_PEQ ? pbu : rest.bytes;
    return above || (m_pbuXon > 0 && pbu >= m_pbuXon);
}

bool
Pffc::WouldRelease(uint16_t queue, const Frame& /* head */, const ControlFrame& control) const
{
    Message message;
    const uint32_t peq = queue / N_CLASSES;
    return peq > 0 && Read(control, message) && message.opcode == STATE_OPCODE &&
           message.cls == queue % N_CLASSES && !((message.paused >> peq) & 1U);
}

bool
Pffc::WaitsFor(uint16_t queue, const Frame& head, uint16_t other) const
{
    return m_sender.WaitsFor(queue, head, other);
}

int64_t
Pffc::GetFlowHeadroom() const
{
    const int64_t frame = m_port->GetLargestFrame();
    const int64_t overhead = m_port->GetOverhead();
    const int64_t control = m_port->GetControlFrameSize() + overhead;
    const int64_t time = 2 * m_port->GetDelay() + m_port->GetPeer().GetControlDelay();
    const bool fromHost = !m_port->GetPeer().GetNode().IsSwitch();
    return (fromHost ? 4 : 3) * frame + overhead + 2 * control +
           BytesInTime(m_port->GetRate(), time);
}

uint64_t
Pffc::UsageKey(uint8_t cls, uint32_t flow) const
{
    return static_cast<uint64_t>(m_port->GetIndex()) << 40 | static_cast<uint64_t>(cls) << 32 |
           flow;
}

Pffc::Peq&
Pffc::PeqOf(uint8_t cls, uint32_t peq)
{
    return m_peqs[cls * m_nPeqs + peq - 1];
}

const Pffc::Peq&
Pffc::PeqOf(uint8_t cls, uint32_t peq) const
{
    return m_peqs[cls * m_nPeqs + peq - 1];
}

// ---- Receiver's side

void
Pffc::NotifyReceived(Frame& frame, int64_t /* queueBytes */)
{
    const uint8_t cls = frame.cls;
    Usage& usage = m_node->flows.Add(UsageKey(cls, frame.flow));
    m_node->peakFlows = std::max(m_node->peakFlows, m_node->flows.GetEntries());
    usage.bytes += frame.bytes;
    m_bytes[cls] += frame.bytes;
    m_peakFbu = std::max(m_peakFbu, usage.bytes);
    const bool over = usage.bytes >= m_fbuXoff || (m_pbuScope == PbuScope::PER_INGRESS_PORT &&
                                                   m_pbuXoff > 0 && m_bytes[cls] >= m_pbuXoff);
    if (!usage.peq && !over)
    {
        return;
    }
    const bool isNew = !usage.peq;
    if (isNew)
    {
        usage.peq = Assign(cls, frame.flow);
    }
    Peq& peq = PeqOf(cls, usage.peq);
    peq.bytes += isNew ? usage.bytes : frame.bytes;
    if (over && !usage.above)
    {
        usage.above = true;
        ++peq.above;
        m_port->NoteModelChange();
    }
    PauseIfDue(cls, usage.peq);
    if (isNew)
    {
        ++m_migrated;
        m_migrateTrace(*m_port, cls, frame.flow, usage.peq);
        SendFlows(MIGRATE_OPCODE, cls, usage.peq, &frame.flow, 1);
    }
}

void
Pffc::NotifyReleased(const lossless::Departure& departure, int64_t /* queueBytes */)
{
    m_recirculated += departure.bytes;
    if (m_recirculation.IsZero())
    {
        Subtract(departure.cls, departure.flow, departure.bytes);
        return;
    }
    const int64_t delay = m_recirculation.GetTimeStep();
    m_pending.push_back(Pending{NowPs() + delay, departure.flow, departure.bytes, departure.cls});
    m_subtract.Schedule(delay);
}

void
Pffc::SubtractDue()
{
    const Pending pending = m_pending[m_firstPending++];
    if (2 * m_firstPending >= m_pending.size())
    {
        m_pending.erase(m_pending.begin(),
                        m_pending.begin() + static_cast<std::ptrdiff_t>(m_firstPending));
        m_firstPending = 0;
    }
    Subtract(pending.cls, pending.flow, pending.bytes);
}

void
Pffc::Subtract(uint8_t cls, uint32_t flow, uint32_t bytes)
{
    m_bytes[cls] -= bytes;
    const uint64_t key = UsageKey(cls, flow);
    Usage* usage = m_node->flows.Find(key);
    usage->bytes -= bytes;
    const uint8_t assigned = usage->peq;
    if (assigned)
    {
        Peq& peq = PeqOf(cls, assigned);
        peq.bytes -= bytes;
        if (usage->above && usage->bytes < m_fbuXon)
        {
            usage->above = false;
            --peq.above;
        }
    }
    else if (usage->bytes == 0)
    {
        m_node->flows.Remove(key);
    }
    if (m_pbuScope == PbuScope::PER_PEQ)
    {
        if (assigned)
        {
            ResumeIfDue(cls, assigned);
        }
        return;
    }
    for (uint32_t used = m_used[cls]; used; used &= used - 1)
    {
        ResumeIfDue(cls, static_cast<uint8_t>(std::countr_zero(used)));
    }
}

uint8_t
Pffc::Assign(uint8_t cls, uint32_t flow)
{
    uint32_t best = 1;
    if (m_assignment == Assignment::HASH)
    {
        best = 1 + static_cast<uint32_t>((flow * 0x9e3779b97f4a7c15ULL >> 32) % m_nPeqs);
    }
    else
    {
        for (uint32_t peq = 2; peq <= m_nPeqs; ++peq)
        {
            const Peq& a = PeqOf(cls, peq);
            const Peq& b = PeqOf(cls, best);
            const bool better = a.flows.size() != b.flows.size() ? a.flows.size() < b.flows.size()
                                                                 : a.since < b.since;
            best = better ? peq : best;
        }
    }
    Peq& peq = PeqOf(cls, best);
    m_shared += !peq.flows.empty();
    peq.flows.push_back(flow);
    m_used[cls] = static_cast<uint8_t>(m_used[cls] | 1U << best);
    return static_cast<uint8_t>(best);
}

void
Pffc::PauseIfDue(uint8_t cls, uint8_t peq)
{
    const uint32_t bit = 1U << peq;
    const Peq& state = PeqOf(cls, peq);
    const int64_t pbu = m_pbuScope == PbuScope::PER_PEQ ? state.bytes : m_bytes[cls];
    if (m_paused[cls] & bit || state.above == 0 || pbu < m_pbuXoff)
    {
        return;
    }
    m_paused[cls] = static_cast<uint8_t>(m_paused[cls] | bit);
    ++m_pauses;
    SendState(cls);
    StartRefresh();
}

void
Pffc::ResumeIfDue(uint8_t cls, uint8_t peq)
{
    const Peq& state = PeqOf(cls, peq);
    const int64_t pbu = m_pbuScope == PbuScope::PER_PEQ ? state.bytes : m_bytes[cls];
    if (state.flows.empty() || state.above > 0 || (m_pbuXon > 0 && pbu >= m_pbuXon))
    {
        return;
    }
    const uint32_t bit = 1U << peq;
    if (m_paused[cls] & bit)
    {
        m_paused[cls] = static_cast<uint8_t>(m_paused[cls] & ~bit);
        ++m_resumes;
        SendState(cls);
    }
    SendFlows(BACK_OPCODE, cls, peq, state.flows.data(), state.flows.size());
    for (const uint32_t flow : state.flows)
    {
        m_migrateTrace(*m_port, cls, flow, 0);
    }
    m_again[cls] = REPEATS_WHEN_IDLE;
    Disband(cls, peq);
}

void
Pffc::Disband(uint8_t cls, uint8_t peq)
{
    Peq& state = PeqOf(cls, peq);
    for (const uint32_t flow : state.flows)
    {
        const uint64_t key = UsageKey(cls, flow);
        Usage* usage = m_node->flows.Find(key);
        usage->peq = 0;
        usage->above = false;
        if (usage->bytes == 0)
        {
            m_node->flows.Remove(key);
        }
    }
    state.flows.clear();
    state.above = 0;
    state.bytes = 0;
    state.since = NowPs();
    m_used[cls] = static_cast<uint8_t>(m_used[cls] & ~(1U << peq));
}

void
Pffc::SendState(uint8_t cls)
{
    Message message;
    message.opcode = STATE_OPCODE;
    message.cls = cls;
    message.queues = static_cast<uint8_t>((2U << m_nPeqs) - 2);
    message.paused = m_paused[cls];
    Send(message);
}

void
Pffc::SendFlows(uint16_t opcode, uint8_t cls, uint8_t peq, const uint32_t* flows, std::size_t n)
{
    for (std::size_t first = 0; first < n; first += FLOWS_PER_FRAME)
    {
        Message message;
        message.opcode = opcode;
        message.cls = cls;
        message.peq = peq;
        message.nFlows = static_cast<uint8_t>(std::min<std::size_t>(n - first, FLOWS_PER_FRAME));
        std::copy_n(flows + first, message.nFlows, message.flows.begin());
        Send(message);
    }
    StartRefresh();
}

void
Pffc::Send(Message& message)
{
    message.sequence = ++m_sequence[message.cls];
    Frame* frame = FramePool::TakeControl();
    Write(message, *frame->control);
    ++m_frames;
    m_port->SendControl(frame);
}

void
Pffc::StartRefresh()
{
    if (!m_refresh.IsZero())
    {
        m_tick.Schedule(m_refresh.GetTimeStep());
    }
}

void
Pffc::Refresh()
{
    const uint64_t before = m_frames;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (!m_used[cls] && m_again[cls] == 0)
        {
            continue;
        }
        m_again[cls] = m_used[cls] ? m_again[cls] : static_cast<uint8_t>(m_again[cls] - 1);
        SendState(cls);
        for (uint32_t used = m_used[cls]; used; used &= used - 1)
        {
            const auto peq = static_cast<uint8_t>(std::countr_zero(used));
            const Peq& state = PeqOf(cls, peq);
            SendFlows(MIGRATE_OPCODE, cls, peq, state.flows.data(), state.flows.size());
        }
        StartRefresh();
    }
    m_refreshFrames += m_frames - before;
}

// ---- Sender's side

uint16_t
Pffc::SelectQueue(const Frame& frame, uint16_t queue) const
{
    return m_sender.SelectQueue(frame, queue);
}

void
Pffc::NotifyJoined(uint16_t queue, Frame& frame)
{
    m_sender.NotifyJoined(queue, frame);
}

void
Pffc::NotifySent(uint16_t queue, Frame& frame, int64_t /* now */)
{
    m_sender.NotifySent(queue, frame);
}

int64_t
Pffc::GetEarliest(uint16_t queue, const Frame& /* head */, int64_t now) const
{
    return m_sender.IsNext(queue) ? now : NEVER;
}

bool
Pffc::ReceiveControl(const ControlFrame& control)
{
    Message message;
    const bool mine = Read(control, message);
    if (mine && m_port->KeepLossless(1U << message.cls) != 0)
    {
        m_sender.Receive(message);
    }
    return mine;
}

// ---- Both

void
Pffc::NotifyLink(bool up)
{
    if (up)
    {
        return;
    }
    // The port has dropped the frames it held; the peer has discarded its state.
    m_sender.Reset();
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (uint32_t peq = 1; peq <= m_nPeqs; ++peq)
        {
            Disband(cls, static_cast<uint8_t>(peq));
        }
        m_paused[cls] = 0;
        m_again[cls] = 0;
    }
    m_port->GetEgress().Reopen();
}

void
Pffc::Report(lossless::Summary& summary) const
{
    summary["pffc_pauses_sent"] += static_cast<double>(m_pauses);
    summary["pffc_resumes_sent"] += static_cast<double>(m_resumes);
    summary["pffc_flows_migrated"] += static_cast<double>(m_migrated);
    summary["pffc_flows_sharing_a_peq"] += static_cast<double>(m_shared);
    summary["pffc_frames_sent"] += static_cast<double>(m_frames);
    summary["pffc_refresh_frames_sent"] += static_cast<double>(m_refreshFrames);
    summary["pffc_frames_overtaken"] += static_cast<double>(m_sender.GetOvertaken());
    summary["pffc_states_expired"] += static_cast<double>(m_sender.GetExpired());
    summary["pffc_peq_pause_time_ps"] += static_cast<double>(m_sender.GetPausedTime());
    summary["pffc_recirculated_bytes"] += m_recirculates ? static_cast<double>(m_recirculated) : 0;
    Largest(summary, "pffc_peak_flow_bytes", static_cast<std::size_t>(m_peakFbu));
    Largest(summary,
            "pffc_peak_overshoot_bytes",
            static_cast<std::size_t>(std::max<int64_t>(m_peakFbu - m_fbuXoff, 0)));
    Largest(summary, "pffc_flow_headroom_bytes", static_cast<std::size_t>(GetFlowHeadroom()));
    Largest(summary, "pffc_fbu_xoff_bytes", static_cast<std::size_t>(m_fbuXoff));
    Largest(summary, "pffc_peak_migrated_flows", m_sender.GetPeakFlows());
    if (m_node->instances.front() == this)
    {
        std::size_t memory = m_node->flows.GetBytes();
        for (const Pffc* instance : m_node->instances)
        {
            memory += instance->m_sender.GetBytes();
            for (const Peq& peq : instance->m_peqs)
            {
                memory += peq.flows.capacity() * sizeof(uint32_t);
            }
        }
        summary["pffc_tracked_flows"] += static_cast<double>(m_node->flows.GetEntries());
        Largest(summary, "pffc_peak_tracked_flows", m_node->peakFlows);
        Largest(summary, "pffc_peak_state_bytes", memory);
    }
}

} // namespace pffc
} // namespace ns3
