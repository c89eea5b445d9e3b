/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-receive-queue.h"

#include "rdma-queue-pair-owner.h"

#include <utility>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::NowPs;

ReceiveQueue::ReceiveQueue(const Connection& connection, const RecoverySettings& recovery)
    : m_connection(connection),
      m_recovery(recovery)
{
}

void
ReceiveQueue::Start(uint32_t ackEvery,
                    uint32_t reorderWindow,
                    std::unique_ptr<CongestionReceiver> control)
{
    m_ackEvery = ackEvery;
    m_reorderWindow = reorderWindow;
    m_control = std::move(control);
    if (!m_recovery.IsGoBackN() || reorderWindow > 0)
    {
        m_arrivals.KeepAhead();
    }
}

void
ReceiveQueue::Report(lossless::Summary& summary) const
{
    if (m_control)
    {
        m_control->Report(summary);
    }
}

void
ReceiveQueue::NotifyCarried()
{
    m_counters[0].delivered = m_connection.GetDemand().bytes;
    m_counters[0].finish = NowPs();
    m_host->NoteDelivery(0); // only the network's share counts as delivered
    m_host->NoteFinished(m_connection.GetFlow());
}

void
ReceiveQueue::Answer(FrameKind kind, const Frame& data)
{
    Frame* frame = FramePool::Take();
    m_connection.FillAnswer(*frame);
    frame->kind = kind;
    if (kind == FrameKind::CNP)
    {
        frame->bytes = static_cast<uint16_t>(m_connection.GetCnpBytes());
        frame->cls = m_connection.GetCnpClass();
        frame->dscp = Frame::NO_DSCP;
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
    frame->truncated = data.truncated && kind == FrameKind::NACK;
    if (m_control && kind != FrameKind::CNP)
    {
        m_control->NotifyAnswer(*m_host, data, *frame);
    }
    m_host->Inject(frame);
}

void
ReceiveQueue::Receive(const Frame& frame)
{
    m_unansweredEcn |= frame.ecn; // "congestion experienced" has all bits set
    const uint64_t psn = frame.psn;
    Counters& counters = CountersOf(m_connection.GetMessageOf(psn));
    if (m_control && m_control->NotifyData(frame))
    {
        ++counters.cnpsSent;
        Answer(FrameKind::CNP, frame);
    }
    counters.telemetryMissed += frame.telemetry && frame.telemetry->missed > 0;
    if (frame.truncated) [[unlikely]]
    {
        Answer(psn < m_arrivals.GetExpected() ? FrameKind::ACK : FrameKind::NACK, frame);
        return;
    }
    if (!frame.repeat && m_arrivals.IsOvertaken(psn, counters.reorderDistance))
    {
        ++counters.reordered;
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
    do
    {
        const uint64_t next = m_arrivals.GetExpected();
        if (next == psn || m_recovery.IsReliable())
        {
            Deliver(next, m_connection.GetPayload(next));
        }
    } while (m_arrivals.TakeNext());
    const uint64_t expected = m_arrivals.GetExpected();
    const bool complete = FinishMessages();
    // One of the packets that were kept may have requested an ACK.
    const bool closed = (m_reorderWindow > 0 || !m_recovery.IsReliable()) && expected > psn + 1;
    if (++m_unanswered >= m_ackEvery || complete || frame.word[0] || closed)
    {
        m_unanswered = 0;
        Answer(FrameKind::ACK, frame);
    }
}

void
ReceiveQueue::Visit(lossless::StateVisitor& visitor)
{
    visitor.Inside(*this, m_counters);
    // Constant: m_recovery, m_host, but for events of their own; m_ackEvery, m_reorderWindow;
    // m_control, see CongestionControl::IsAtRest.
    m_arrivals.Visit(visitor, m_connection.GetFlow());
    visitor.Follow(m_connection.GetFlow(), m_unanswered, true, m_ackEvery - 1);
    visitor.Same(m_unansweredEcn, m_gapKnown, m_finished, m_counters.size());
    for (std::size_t message = m_finished; message < m_counters.size(); ++message)
    {
        auto& [finish, delivered, reordered, distance, cnpsSent, missed] = m_counters[message];
        visitor.Count(delivered);
        visitor.Same(finish, reordered, distance, cnpsSent, missed);
    }
}

bool
ReceiveQueue::FinishMessages()
{
    const std::size_t before = m_finished;
    for (; m_connection.EndsBefore(m_finished, m_arrivals.GetExpected()); ++m_finished)
    {
        if (m_recovery.IsReliable())
        {
            Finish(m_finished);
        }
    }
    return m_finished > before;
}

void
ReceiveQueue::Finish(std::size_t message)
{
    CountersOf(message).finish = NowPs();
    m_host->NoteFinished(m_connection.GetFlowOf(message));
}

ReceiveQueue::Counters&
ReceiveQueue::CountersOf(std::size_t message)
{
    if (message >= m_counters.size()) [[unlikely]]
    {
        m_counters.resize(message + 1);
    }
    return m_counters[message];
}

void
ReceiveQueue::Deliver(uint64_t psn, uint64_t bytes)
{
    const std::size_t message = m_connection.GetMessageOf(psn);
    const uint64_t delivered = CountersOf(message).delivered += bytes;
    m_host->NoteDelivery(m_connection.GetDemand().bytes == 0 ? 0 : bytes);
    if (!m_recovery.IsReliable() && delivered == m_connection.GetBytesOf(message))
    {
        Finish(message); // whatever is missing of messages before it
    }
}

void
ReceiveQueue::ReceiveAhead(const Frame& frame)
{
    const bool inWindow = frame.psn - m_arrivals.GetExpected() < m_reorderWindow;
    if (inWindow || !m_recovery.IsGoBackN())
    {
        m_arrivals.Keep(frame.psn);
    }
    if (!m_recovery.IsReliable())
    {
        Deliver(frame.psn, frame.payload); // each packet is sent once
    }
    if (inWindow)
    {
        if (++m_unanswered >= m_ackEvery || frame.word[0])
        {
            m_unanswered = 0;
            Answer(FrameKind::ACK, frame);
        }
    }
    else if (m_recovery.IsSelective() || !m_gapKnown)
    {
        m_gapKnown = true;
        Answer(FrameKind::NACK, frame);
    }
}

} // namespace rdma
} // namespace ns3
