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
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace rdma
{

using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("RdmaQueuePair");

namespace
{

/// Packets of the largest window, whose bytes fit in 64 bits.
constexpr double MOST_WINDOW = 1e12;

/// The later of two times, of which -1 never comes.
int64_t
LaterEnd(int64_t one, int64_t other)
{
    return one < 0 || other < 0 ? -1 : std::max(one, other);
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(QueuePair);

TypeId
QueuePair::GetTypeId()
{
    static TypeId tid =
        RecoverySettings::AddAttributes(
            FrameFormat::AddAttributes(TypeId("ns3::rdma::QueuePair")
                                           .SetParent<Object>()
                                           .SetGroupName("rdma")
                                           .AddConstructor<QueuePair>()))
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

QueuePair::QueuePair()
    : m_send(*this, *this, m_rateTrace),
      m_receive(*this, *this)
{
}

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
    m_flow = m_number = flow;
    m_control = control;
    m_collects = control && control->WantsTelemetry();
    m_pinned = pinned;
    SetHosts(*src, *dst);
    SetDemand(demand);
    SetAnswerClasses(dst->GetAckClass(), dst->GetCnpClass());
    m_send.Prepare(m_rateChange, PeekPointer(control));
    m_receive.Start(m_ackEvery, m_reorderWindow, control ? control->MakeReceiver() : nullptr);
}

void
QueuePair::Join(QueuePair& other)
{
    m_other = &other;
    m_pinned = other.m_pinned;
    other.Expect(*this);
}

void
QueuePair::AddShare(QueuePair& share)
{
    share.m_whole = this;
    m_shares.push_back(&share);
}

uint64_t
QueuePair::GetMessageBytes() const
{
    uint64_t bytes = m_demand.bytes;
    for (const QueuePair* share : m_shares)
    {
        bytes += share->m_demand.bytes;
    }
    return bytes;
}

bool
QueuePair::NoteArrivedShare()
{
    return m_arrived++ == m_shares.size();
}

bool
QueuePair::NoteAcknowledgedShare()
{
    return m_acknowledged++ == m_shares.size();
}

void
QueuePair::SetHosts(QueuePairOwner& src, QueuePairOwner& dst)
{
    SetAddresses(src.GetId(), dst.GetId());
    m_send.SetHost(src);
    m_receive.SetHost(dst);
}

void
QueuePair::SetCarrier(ScaleUp* scaleUp, uint32_t from, uint32_t to)
{
    m_carrier = scaleUp;
    m_carryFrom = from;
    m_carryTo = to;
    m_inside = to == GetDestination()->GetId();
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
    m_send.NotifyPath();
}

void
QueuePair::SetLongestRtt(int64_t baseRtt)
{
    if (m_windowBdps == 0)
    {
        return;
    }
    const lossless::Port& port = GetSource()->GetPort(0);
    const int64_t wire = static_cast<int64_t>(m_payloadSize) + m_headerSize + GetTelemetryBytes() +
                         port.GetOverhead();
    const auto packet = static_cast<double>(lossless::TransmissionTime(wire, port.GetRate()));
    const double packets = std::ceil(m_windowBdps * static_cast<double>(baseRtt) / packet);
    const uint64_t window =
        static_cast<uint64_t>(std::clamp(packets, 1.0, MOST_WINDOW)) * m_payloadSize;
    m_send.SetWindow(m_demand.window ? std::min(m_demand.window, window) : window);
}

void
QueuePair::SetAnswersPinned(bool pinned)
{
    m_answersPinned = pinned;
}

void
QueuePair::Start()
{
    NS_LOG_INFO("flow " << m_number << " starts, " << m_demand.bytes << " B");
    m_started = true;
    m_demand.start = NowPs(); // for a flow that waits for others it is only known now
    if (m_carrier)
    {
        m_carrier->Carry(m_carryFrom,
                         m_carryTo,
                         GetMessageBytes(),
                         MakeCallback(&QueuePair::NotifyCarried, this));
        return;
    }
    Launch();
}

void
QueuePair::Launch()
{
    QueuePair& carrying = m_other ? *m_other : *this;
    m_place = carrying.AwaitsMessages() ? carrying.Append(m_number, m_demand.bytes) : 0;
    carrying.m_send.Start();
    for (QueuePair* share : m_shares)
    {
        share->m_demand.start = m_demand.start;
        share->Launch();
    }
}

void
QueuePair::NotifyCarried()
{
    if (!m_inside)
    {
        Launch();
        return;
    }
    m_place = 0;
    m_send.NotifyCarried();
    m_receive.NotifyCarried();
    GetSource()->NoteAcknowledged(m_number);
}

bool
QueuePair::MayMove() const
{
    return !m_other && !m_inside && !m_pinned && !m_answersPinned && !IsDone();
}

void
QueuePair::Move(QueuePairOwner* src, QueuePairOwner* dst)
{
    NS_LOG_INFO("flow " << m_flow << " moves to " << src->GetName() << " and " << dst->GetName());
    SetHosts(*src, *dst);
    m_send.Reconsider();
}

void
QueuePair::Visit(lossless::StateVisitor& visitor, int64_t now)
{
    // Constant: m_ackEvery, m_reorderWindow, m_windowBdps, m_rateChange, m_number, m_other,
    // m_shares, m_whole, m_rateTrace, m_carrier, m_carryFrom, m_carryTo, m_inside. Change as
    // messages start and end: m_place, m_arrived, m_acknowledged, m_started. Of m_control see
    // SendQueue.
    if (m_send.IsLive())
    {
        visitor.Inside(*this);
        m_send.Visit(visitor, now);
        m_receive.Visit(visitor);
    }
}

void
QueuePair::Report(lossless::Summary& summary) const
{
    if (m_control)
    {
        m_control->Report(summary);
    }
    m_receive.Report(summary);
}

uint64_t
QueuePair::GetInOrder() const
{
    uint64_t bytes = GetShareInOrder();
    for (const QueuePair* share : m_shares)
    {
        bytes += share->GetShareInOrder();
    }
    return bytes;
}

uint64_t
QueuePair::GetShareInOrder() const
{
    const Outcome outcome = GetShareOutcome();
    if (m_inside || m_place == NOWHERE || outcome.finish >= 0)
    {
        return outcome.delivered;
    }
    const QueuePair& carrying = GetCarrying();
    const auto [first, end] = carrying.GetRange(m_place);
    return (std::clamp(carrying.m_receive.GetExpected(), first, end) - first) * m_payloadSize;
}

int64_t
QueuePair::GetEarliestFinish() const
{
    int64_t time = GetEarliestFinishOfShare();
    for (const QueuePair* share : m_shares)
    {
        time = std::max(time, share->GetEarliestFinishOfShare());
    }
    return time;
}

int64_t
QueuePair::GetEarliestFinishOfShare() const
{
    if (m_demand.bytes == 0)
    {
        return lossless::NEVER;
    }
    const int64_t begin = std::max(NowPs(), m_demand.start);
    const QueuePairOwner& host = *GetDestination();
    const uint64_t inNic = host.CountHeld(); // arrived, not yet counted
    const bool launched = m_place != NOWHERE;
    const uint64_t first = launched ? GetCarrying().GetRange(m_place).first : 0;
    const uint64_t frontier = std::max(first, launched ? GetCarrying().m_receive.GetFrontier() : 0);
    const uint64_t packets = CountPackets(m_demand.bytes);
    const uint64_t left = packets - std::min(packets, frontier - first + inNic);
    if (left < 2)
    {
        return begin;
    }
    // The last bit of one packet may arrive at once, and the last packet may be short.
    const uint64_t bytes = (left - 2) * m_payloadSize;
    // The clock of the port that sends counts, and it may be faster than the host's own.
    const int64_t more = lossless::TransmissionTime(static_cast<int64_t>(bytes),
                                                    host.GetPort(0).GetPeer().GetRate());
    return more > lossless::NEVER - begin ? lossless::NEVER : begin + more;
}

QueuePair::Outcome
QueuePair::GetOutcome() const
{
    Outcome outcome = GetShareOutcome();
    for (const QueuePair* share : m_shares)
    {
        const Outcome other = share->GetShareOutcome();
        outcome.acked = LaterEnd(outcome.acked, other.acked);
        outcome.finish = LaterEnd(outcome.finish, other.finish);
        outcome.sent += other.sent;
        outcome.retransmitted += other.retransmitted;
        outcome.timeouts += other.timeouts;
        outcome.nacks += other.nacks;
        outcome.cnps += other.cnps;
        outcome.delivered += other.delivered;
        outcome.reordered += other.reordered;
        outcome.reorderDistance = std::max(outcome.reorderDistance, other.reorderDistance);
        outcome.cnpsSent += other.cnpsSent;
        outcome.telemetryMissed += other.telemetryMissed;
    }
    return outcome;
}

QueuePair::Outcome
QueuePair::GetShareOutcome() const
{
    const QueuePair& carrying = GetCarrying();
    return {carrying.m_send.GetCounters(m_place), carrying.m_receive.GetCounters(m_place)};
}

} // namespace rdma
} // namespace ns3
