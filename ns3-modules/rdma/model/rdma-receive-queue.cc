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
    m_counters.delivered = m_connection.GetDemand().bytes;
    m_counters.finish = NowPs();
    m_connection.GetDestination()->NoteDelivery(0); // only the network's share counts as delivered
    m_connection.GetDestination()->NoteFinished(m_connection.GetFlow());
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
        m_control->NotifyAnswer(data, *frame);
    }
    m_connection.GetDestination()->Inject(frame);
}

void
ReceiveQueue::Receive(const Frame& frame)
{
    m_unansweredEcn |= frame.ecn; // "congestion experienced" has all bits set
    if (m_control && m_control->NotifyData(frame))
    {
        ++m_counters.cnpsSent;
        Answer(FrameKind::CNP, frame);
    }
    m_counters.telemetryMissed += frame.telemetry && frame.telemetry->missed > 0;
    const uint64_t psn = frame.psn;
    if (frame.truncated) [[unlikely]]
    {
        Answer(psn < m_arrivals.GetExpected() ? FrameKind::ACK : FrameKind::NACK, frame);
        return;
    }
    if (!frame.repeat && m_arrivals.IsOvertaken(psn, m_counters.reorderDistance))
    {
        ++m_counters.reordered;
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
        ordered += m_connection.GetPayload(m_arrivals.GetExpected());
    } while (m_arrivals.TakeNext());
    const uint64_t expected = m_arrivals.GetExpected();
    const bool complete = expected == m_connection.GetPackets();
    Deliver(m_recovery.IsReliable() ? ordered : frame.payload);
    if (complete)
    {
        m_counters.finish = NowPs();
        m_connection.GetDestination()->NoteFinished(m_connection.GetFlow());
    }
    // One of the packets that were kept may have requested an ACK.
    const bool closed = (m_reorderWindow > 0 || !m_recovery.IsReliable()) && expected > psn + 1;
    if (++m_unanswered >= m_ackEvery || complete || frame.word[0] || closed)
    {
        m_unanswered = 0;
        Answer(FrameKind::ACK, frame);
    }
}

void
ReceiveQueue::Deliver(uint64_t bytes)
{
    m_counters.delivered += bytes;
    m_connection.GetDestination()->NoteDelivery(m_connection.GetDemand().bytes == 0 ? 0 : bytes);
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
    else if (m_recovery.IsSelective() || !m_gapKnown)
    {
        m_gapKnown = true;
        Answer(FrameKind::NACK, frame);
    }
}

} // namespace rdma
} // namespace ns3
