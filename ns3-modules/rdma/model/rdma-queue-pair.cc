/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-queue-pair.h"

#include "rdma-queue-pair-owner.h"
#include "rdma-scale-up.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-routes.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::NEVER;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("RdmaQueuePair");

namespace
{

/// Packets of the largest window, whose bytes fit in 64 bits.
constexpr double MOST_WINDOW = 1e12;

} // namespace

NS_OBJECT_ENSURE_REGISTERED(QueuePair);

TypeId
QueuePair::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::rdma::QueuePair")
                          .SetParent<Object>()
                          .SetGroupName("rdma")
                          .AddConstructor<QueuePair>())
            .AddAttribute("AckEvery",
                          "Number of packets per ACK. The last packet of a message, and the one "
                          "that fills the window, request an ACK at once (AckReq of RoCE's BTH).",
                          UintegerValue(1),
                          MakeUintegerAccessor(&QueuePair::m_ackEvery),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "ReorderWindow",
                "Number of packets, from the next one in order on, that a receiver keeps and "
                "acknowledges in any order; only a packet beyond them indicates a loss. 0: every "
                "gap is a loss. The window takes 1 bit per packet.",
                UintegerValue(0),
                MakeUintegerAccessor(&QueuePair::m_reorderWindow),
                MakeUintegerChecker<uint32_t>(0, 1U << 20))
            .AddAttribute("WindowBdps",
                          "Maximum packets in flight, as a multiple of the BDP of the longest base "
                          "round-trip time of all flows at the sender's line rate (BDP-FC of IRN: "
                          "1), rounded up to whole packets. A window set by the traffic applies as "
                          "well. 0: no limit.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&QueuePair::m_windowBdps),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("RateChange",
                          "What a change of the rate changes: the rest of the spacing to the next "
                          "packet (Integrated), nothing (NextPacket), all of it (LastPacket).",
                          EnumValue(lossless::RateChange::INTEGRATED),
                          MakeEnumAccessor<lossless::RateChange>(&QueuePair::m_rateChange),
                          lossless::MakeRateChangeChecker())
            .AddTraceSource("Rate",
                            "The rate that the sender may use has changed: flow, bit/s on the "
                            "wire.",
                            MakeTraceSourceAccessor(&QueuePair::m_rateTrace),
                            "ns3::rdma::QueuePair::RateCallback");
    return tid;
}

QueuePair::QueuePair() = default;

QueuePair::~QueuePair() = default;

void
QueuePair::DoDispose()
{
    m_control = nullptr;
    Object::DoDispose();
}

void
QueuePair::Connect(uint32_t flow,
                   QueuePairOwner* src,
                   QueuePairOwner* dst,
                   const Demand& demand,
                   Ptr<CongestionControl> control,
                   bool pinned)
{
    m_flow = flow;
    m_src = src;
    m_dst = dst;
    m_demand = demand;
    m_window = demand.window;
    m_control = control;
    m_collects = control && control->WantsTelemetry();
    m_pinned = pinned;
    m_packets =
        demand.bytes == 0 ? static_cast<uint64_t>(NEVER) : (demand.bytes - 1) / m_payloadSize + 1;
    StartRecovery();
    if (!IsGoBackN() || m_reorderWindow > 0)
    {
        m_arrivals.KeepAhead();
    }
    Hash();
}

void
QueuePair::Hash()
{
    m_hash = lossless::Routes::Hash(m_src->GetId(), m_dst->GetId(), m_flow);
    m_reverseHash = lossless::Routes::Hash(m_dst->GetId(), m_src->GetId(), m_flow);
}

void
QueuePair::SetCarrier(ScaleUp* scaleUp, uint32_t from, uint32_t to)
{
    m_carrier = scaleUp;
    m_carryFrom = from;
    m_carryTo = to;
    m_inside = to == m_dst->GetId();
}

void
QueuePair::SetPath(int64_t baseRtt, uint32_t hops)
{
    if (baseRtt == m_baseRtt && hops == m_hops)
    {
        return;
    }
    m_baseRtt = baseRtt;
    m_hops = hops;
    if (m_control && IsSending())
    {
        m_control->NotifyPath();
        Reconsider();
    }
}

void
QueuePair::SetLongestRtt(int64_t baseRtt)
{
    if (m_windowBdps == 0)
    {
        return;
    }
    const lossless::Port& port = m_src->GetPort(0);
    const int64_t wire = static_cast<int64_t>(m_payloadSize) + m_headerSize + GetTelemetryBytes() +
                         port.GetOverhead();
    const auto packet = static_cast<double>(lossless::TransmissionTime(wire, port.GetRate()));
    const double packets = std::ceil(m_windowBdps * static_cast<double>(baseRtt) / packet);
    const uint64_t window =
        static_cast<uint64_t>(std::clamp(packets, 1.0, MOST_WINDOW)) * m_payloadSize;
    m_window = m_demand.window ? std::min(m_demand.window, window) : window;
    if (IsSending())
    {
        Reconsider();
    }
}

void
QueuePair::SetAnswersPinned(bool pinned)
{
    m_answersPinned = pinned;
}

void
QueuePair::Start()
{
    NS_LOG_INFO("flow " << m_flow << " starts, " << m_demand.bytes << " B");
    m_started = true;
    m_demand.start = NowPs(); // for a flow that waits for others it is only known now
    if (m_carrier)
    {
        m_underway = true;
        m_carrier->Carry(m_carryFrom,
                         m_carryTo,
                         m_demand.bytes,
                         MakeCallback(&QueuePair::NotifyCarried, this));
        return;
    }
    Send();
}

void
QueuePair::NotifyCarried()
{
    m_underway = false;
    if (!m_inside)
    {
        Send();
        return;
    }
    m_outcome.sent = m_outcome.delivered = m_demand.bytes;
    m_outcome.finish = m_outcome.acked = NowPs();
    m_first = m_next = m_highest = m_packets;
    m_dst->NoteDelivery(0); // only the network's share counts as delivered
    m_dst->NoteFinished(m_flow);
    m_src->NoteAcknowledged();
}

bool
QueuePair::MayMove() const
{
    return !m_inside && !m_pinned && !m_answersPinned && !IsAcknowledged();
}

void
QueuePair::Move(QueuePairOwner* src, QueuePairOwner* dst)
{
    NS_LOG_INFO("flow " << m_flow << " moves to " << src->GetName() << " and " << dst->GetName());
    m_src = src;
    m_dst = dst;
    Hash();
    Reconsider();
}

bool
QueuePair::IsSending() const
{
    return m_started && !m_underway && !IsAcknowledged();
}

void
QueuePair::Send()
{
    if (m_control)
    {
        m_control->Start(this, m_src->GetPort(0).GetRate());
    }
    Reconsider();
}

void
QueuePair::UpdateRate(int64_t now)
{
    const uint64_t line = m_src->GetPort(0).GetRate();
    uint64_t rate = m_demand.rate ? m_demand.rate : line;
    if (m_control && m_control->GetRate())
    {
        rate = std::min(rate, m_control->GetRate());
    }
    m_paced = rate < line || m_rateChange != lossless::RateChange::INTEGRATED;
    if (m_limiter.GetRate() != rate)
    {
        m_limiter.SetRate(rate, now, m_rateChange);
        m_rateTrace(m_flow, rate);
    }
}

void
QueuePair::Reconsider()
{
    if (m_started && !m_underway)
    {
        UpdateRate(NowPs());
        m_src->Activate(this);
    }
}

int64_t
QueuePair::HoldUntil(int64_t until)
{
    const int64_t before = std::max(NowPs(), m_holdUntil);
    m_holdUntil = std::max(m_holdUntil, until);
    return std::max<int64_t>(0, until - before);
}

bool
QueuePair::CanSend(int64_t now) const
{
    if (m_inPort)
    {
        return false; // a pause may hold it there: the next one's time is not known yet
    }
    if (HasMissing())
    {
        return true;
    }
    if (m_next >= m_packets || (m_next >= m_highest && now >= m_demand.stop))
    {
        return false;
    }
    uint64_t window = m_window;
    if (m_control && m_control->GetWindow())
    {
        window = window ? std::min(window, m_control->GetWindow()) : m_control->GetWindow();
    }
    // At least one packet may always be in flight: a window smaller than a packet must not stop the
    // flow forever.
    return window == 0 || m_next == m_first ||
           (m_next - m_first) * m_payloadSize + GetPayload(m_next) <= window;
}

int64_t
QueuePair::GetEarliest(int64_t now) const
{
    int64_t earliest = std::max(now, m_holdUntil);
    if (m_paced)
    {
        earliest = std::max(earliest, m_limiter.GetEarliest(now));
    }
    if (m_demand.on > 0)
    {
        const int64_t cycle = m_demand.on + m_demand.off;
        const int64_t phase = (earliest - m_demand.start) % cycle;
        if (phase >= m_demand.on)
        {
            const int64_t silence = cycle - phase;
            earliest = silence > NEVER - earliest ? NEVER : earliest + silence;
        }
    }
    return earliest;
}

void
QueuePair::WaitForTurn(int64_t now)
{
    if (m_paced && m_rateChange == lossless::RateChange::INTEGRATED)
    {
        m_limiter.Wait(now);
    }
}

uint32_t
QueuePair::GetPayload(uint64_t psn) const
{
    return psn + 1 == m_packets ? static_cast<uint32_t>(m_demand.bytes - psn * m_payloadSize)
                                : m_payloadSize;
}

uint32_t
QueuePair::GetFrameBytes(uint64_t psn) const
{
    return std::max(GetPayload(psn) + m_headerSize + GetTelemetryBytes(), m_minFrame);
}

uint64_t
QueuePair::GetInOrder() const
{
    const uint64_t expected = m_arrivals.GetExpected();
    return m_inside || expected == m_packets ? m_outcome.delivered : expected * m_payloadSize;
}

Time
QueuePair::GetBaseRtt() const
{
    return Time::From(m_baseRtt, Time::PS);
}

Frame
QueuePair::GetHeader() const
{
    Frame frame;
    frame.flow = m_flow;
    frame.src = m_src->GetId();
    frame.dst = m_dst->GetId();
    frame.hash = m_hash;
    frame.pinned = m_pinned;
    frame.cls = m_demand.cls;
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.ecn = m_ecnCapable ? Frame::ECN_CAPABLE : 0;
    return frame;
}

Frame*
QueuePair::MakeNext(int64_t now)
{
    bool repeat;
    const uint64_t psn = TakeNext(repeat);
    Frame* frame = FramePool::Take();
    *frame = GetHeader();
    frame->psn = static_cast<uint32_t>(psn);
    frame->payload = static_cast<uint16_t>(GetPayload(psn));
    frame->bytes = static_cast<uint16_t>(GetFrameBytes(psn));
    frame->repeat = repeat;
    if (m_collects)
    {
        frame->collects = true;
        FramePool::AddTelemetry(*frame, GetTelemetryHops());
    }
    frame->word[0] = !CanSend(now); // AckReq: without an ACK nothing more may be sent
    m_outcome.sent += frame->payload;
    m_outcome.retransmitted += repeat ? frame->payload : 0;
    if (m_paced && m_demand.rate)
    {
        frame->paced = m_inPort = true; // a rate limit counts from the start of transmission
    }
    else if (m_paced)
    {
        StartLimiter(*frame, now);
    }
    if (m_control)
    {
        m_control->NotifySent(*frame);
        UpdateRate(now); // the bytes sent may have changed it
    }
    WatchProgress(psn, now);
    return frame;
}

void
QueuePair::NotifyLeft(const Frame& frame, int64_t held, int64_t now)
{
    m_inPort = false;
    m_limiter.Forfeit(std::min(held, now), now);
    StartLimiter(frame, now);
}

void
QueuePair::StartLimiter(const Frame& frame, int64_t now)
{
    m_limiter.Start(frame.bytes + static_cast<int64_t>(m_src->GetPort(0).GetOverhead()), now);
}

void
QueuePair::NotifyTimeout()
{
    ++m_outcome.timeouts;
    if (m_control)
    {
        m_control->NotifyTimeout();
    }
    Reconsider();
}

void
QueuePair::ReceiveAnswer(const Frame& frame)
{
    if (frame.kind == FrameKind::CNP)
    {
        ++m_outcome.cnps;
        if (m_control)
        {
            m_control->NotifyCnp(frame);
        }
        Reconsider();
        return;
    }
    const uint64_t expected = frame.word[0];
    const uint64_t got = frame.word[1];
    const int64_t now = NowPs();
    if (Advance(expected, now) && IsAcknowledged())
    {
        m_outcome.acked = now;
        m_rateTrace(m_flow, 0);
        m_src->NoteAcknowledged();
    }
    const bool nack = frame.kind == FrameKind::NACK;
    if (nack)
    {
        NS_LOG_INFO("flow " << m_flow << " received a NACK");
        ++m_outcome.nacks;
    }
    NoteAnswer(nack, expected, got);
    if (m_control)
    {
        m_control->NotifyAck(frame);
    }
    Reconsider();
}

void
QueuePair::FillAnswer(Frame& frame) const
{
    frame.kind = FrameKind::ACK;
    frame.flow = m_flow;
    frame.src = m_dst->GetId();
    frame.dst = m_src->GetId();
    frame.hash = m_reverseHash;
    frame.pinned = m_answersPinned;
    frame.cls = static_cast<uint8_t>(m_answerClass);
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.bytes = static_cast<uint16_t>(m_ackSize + GetTelemetryBytes());
}

Frame
QueuePair::GetAnswerHeader() const
{
    Frame frame;
    FillAnswer(frame);
    return frame;
}

void
QueuePair::Answer(FrameKind kind, const Frame& data)
{
    Frame* frame = FramePool::Take();
    FillAnswer(*frame);
    frame->kind = kind;
    if (kind == FrameKind::CNP)
    {
        frame->bytes = static_cast<uint16_t>(m_cnpSize ? m_cnpSize : m_ackSize);
    }
    else if (data.telemetry)
    {
        FramePool::AddTelemetry(*frame, 0);
        frame->telemetry->Assign(*data.telemetry);
    }
    // A CNP reports the packet that caused it, and does not replace the echo in the next ACK or
    // NACK.
    frame->ecn = data.ecn;
    if (kind != FrameKind::CNP)
    {
        frame->ecn |= m_unansweredEcn;
        m_unansweredEcn = 0;
    }
    frame->word[0] = m_arrivals.GetExpected();
    frame->word[1] = data.psn;
    if (m_control && kind != FrameKind::CNP)
    {
        m_control->NotifyAnswer(data, *frame);
    }
    m_dst->Inject(frame);
}

void
QueuePair::ReceiveData(const Frame& frame)
{
    m_unansweredEcn |= frame.ecn; // "congestion experienced" has all bits set
    if (m_control && m_control->NotifyData(frame))
    {
        ++m_outcome.cnpsSent;
        Answer(FrameKind::CNP, frame);
    }
    m_outcome.telemetryMissed += frame.telemetry && frame.telemetry->missed > 0;
    const uint64_t psn = frame.psn;
    if (!frame.repeat && m_arrivals.IsOvertaken(psn, m_outcome.reorderDistance))
    {
        ++m_outcome.reordered;
    }
    if (psn > m_arrivals.GetExpected())
    {
        ReceiveAhead(frame);
        return;
    }
    if (psn < m_arrivals.GetExpected())
    {
        Answer(FrameKind::ACK, frame); // a duplicate: the sender needs the acknowledgement
        return;
    }
    m_gapKnown = false;
    uint64_t ordered = 0;
    do
    {
        ordered += GetPayload(m_arrivals.GetExpected());
    } while (m_arrivals.TakeNext());
    const uint64_t expected = m_arrivals.GetExpected();
    Deliver(IsReliable() ? ordered : frame.payload);
    if (expected == m_packets)
    {
        m_outcome.finish = NowPs();
        m_dst->NoteFinished(m_flow);
    }
    // One of the packets that were kept may have requested an ACK.
    const bool closed = (m_reorderWindow > 0 || !IsReliable()) && expected > psn + 1;
    if (++m_unanswered >= m_ackEvery || expected == m_packets || frame.word[0] || closed)
    {
        m_unanswered = 0;
        Answer(FrameKind::ACK, frame);
    }
}

/// Count payload as delivered.
/// @param bytes of it.
void
QueuePair::Deliver(uint64_t bytes)
{
    m_outcome.delivered += bytes;
    m_dst->NoteDelivery(m_demand.bytes == 0 ? 0 : bytes);
}

void
QueuePair::ReceiveAhead(const Frame& frame)
{
    const bool inWindow = frame.psn - m_arrivals.GetExpected() < m_reorderWindow;
    if (inWindow || !IsGoBackN())
    {
        m_arrivals.Keep(frame.psn);
    }
    if (!IsReliable())
    {
        Deliver(frame.payload); // each packet is sent once
    }
    if (inWindow)
    {
        if (++m_unanswered >= m_ackEvery || frame.word[0])
        {
            m_unanswered = 0;
            Answer(FrameKind::ACK, frame);
        }
    }
    else if (IsSelective() || !m_gapKnown)
    {
        m_gapKnown = true;
        Answer(FrameKind::NACK, frame);
    }
}

} // namespace rdma
} // namespace ns3
