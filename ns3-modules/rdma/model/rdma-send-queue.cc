/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-send-queue.h"

#include "rdma-queue-pair-owner.h"

#include "ns3/log.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::NEVER;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("RdmaSendQueue");

SendQueue::SendQueue(const Connection& connection,
                     const RecoverySettings& recovery,
                     const TracedCallback<uint32_t, uint64_t>& rateTrace)
    : Sender(connection),
      m_recovery(recovery, *this),
      m_rateTrace(rateTrace)
{
}

SendQueue::~SendQueue() = default;

void
SendQueue::Prepare(lossless::RateChange rateChange, CongestionControl* control)
{
    m_rateChange = rateChange;
    m_control = control;
    m_window = m_connection.GetDemand().window;
    m_measures = control && control->WantsRtt();
    m_recovery.Start();
}

void
SendQueue::SetWindow(uint64_t bytes)
{
    m_window = bytes;
    if (IsSending())
    {
        Reconsider();
    }
}

void
SendQueue::Start()
{
    if (!std::exchange(m_started, true) && m_control)
    {
        m_control->Start(*this, m_host->GetPort(0).GetRate());
    }
    Reconsider();
}

void
SendQueue::NotifyCarried()
{
    m_counters[0].sent = m_connection.GetDemand().bytes;
    m_counters[0].acked = NowPs();
    m_recovery.Skip(m_connection.GetPackets());
}

SendQueue::Counters&
SendQueue::CountersOf(std::size_t message)
{
    if (message >= m_counters.size()) [[unlikely]]
    {
        m_counters.resize(message + 1);
    }
    return m_counters[message];
}

void
SendQueue::NotifyPath()
{
    if (m_control && IsSending())
    {
        m_control->NotifyPath();
        Reconsider();
    }
}

bool
SendQueue::IsDone() const
{
    return IsAcknowledged() && !m_connection.AwaitsMessages();
}

bool
SendQueue::IsSending() const
{
    return m_started && !IsDone();
}

void
SendQueue::UpdateRate(int64_t now)
{
    const lossless::Port& port = m_host->GetPort(0);
    const uint64_t line = port.GetRate();
    const uint64_t given = m_connection.GetDemand().rate;
    uint64_t rate = given ? port.ByClock(given) : line;
    if (m_control && m_control->GetRate())
    {
        rate = std::min(rate, port.ByClock(m_control->GetRate()));
    }
    m_paced = rate < line || m_rateChange != lossless::RateChange::INTEGRATED;
    if (m_limiter.GetRate() != rate)
    {
        m_limiter.SetRate(rate, now, m_rateChange);
    }
    TraceRate();
}

void
SendQueue::TraceRate()
{
    const uint64_t rate = IsAcknowledged() || HasFailed() ? 0 : m_limiter.GetRate();
    if (rate != std::exchange(m_traced, rate))
    {
        m_rateTrace(m_connection.GetFlow(), rate);
    }
}

void
SendQueue::Reconsider()
{
    if (m_started)
    {
        UpdateRate(NowPs());
        m_host->Activate(*this);
    }
}

int64_t
SendQueue::HoldUntil(int64_t until)
{
    const int64_t before = std::max(NowPs(), m_holdUntil);
    m_holdUntil = std::max(m_holdUntil, until);
    return std::max<int64_t>(0, until - before);
}

bool
SendQueue::CanSend(int64_t now) const
{
    if (m_recovery.HasFailed())
    {
        return false;
    }
    if (m_inPort)
    {
        return false; // a pause may hold it there: the next one's time is not known yet
    }
    if (m_recovery.HasMissing())
    {
        return true;
    }
    const uint64_t next = m_recovery.GetNext();
    if (next >= m_connection.GetPackets() ||
        (next >= m_recovery.GetHighest() && now >= m_connection.GetDemand().stop))
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
    const uint64_t first = m_recovery.GetFirst();
    return window == 0 || next == first ||
           (next - first) * m_connection.GetPayloadSize() + m_connection.GetPayload(next) <= window;
}

int64_t
SendQueue::GetEarliest(int64_t now) const
{
    int64_t earliest = std::max(now, m_holdUntil);
    if (m_paced)
    {
        earliest = std::max(earliest, m_limiter.GetEarliest(now));
    }
    const Connection::Demand& demand = m_connection.GetDemand();
    if (demand.on > 0)
    {
        const int64_t cycle = demand.on + demand.off;
        const int64_t phase = (earliest - demand.start) % cycle;
        if (phase >= demand.on)
        {
            const int64_t silence = cycle - phase;
            earliest = silence > NEVER - earliest ? NEVER : earliest + silence;
        }
    }
    return earliest;
}

void
SendQueue::WaitForTurn(int64_t now)
{
    if (m_paced && m_rateChange == lossless::RateChange::INTEGRATED)
    {
        m_limiter.Wait(now);
    }
}

Frame*
SendQueue::MakeNext(int64_t now)
{
    bool repeat;
    const uint64_t psn = m_recovery.TakeNext(repeat);
    Frame* frame = FramePool::Take();
    *frame = m_connection.GetHeader();
    frame->psn = static_cast<uint32_t>(psn);
    frame->payload = static_cast<uint16_t>(m_connection.GetPayload(psn));
    frame->bytes = static_cast<uint16_t>(m_connection.GetFrameBytes(frame->payload));
    frame->repeat = repeat;
    if (m_connection.HasTelemetry())
    {
        frame->collects = true;
        FramePool::AddTelemetry(*frame, m_connection.GetTelemetryHops());
    }
    frame->word[0] = !CanSend(now); // AckReq: without an ACK nothing more may be sent
    Counters& counters = CountersOf(m_connection.GetMessageOf(psn));
    counters.sent += frame->payload;
    counters.retransmitted += repeat ? frame->payload : 0;
    if (m_paced && m_connection.GetDemand().rate)
    {
        frame->paced = m_inPort = true; // a rate limit counts from the start of transmission
    }
    else if (m_paced)
    {
        StartLimiter(*frame, now);
    }
    if (m_control)
    {
        TellSent(*frame, now);
        UpdateRate(now); // the bytes sent may have changed it
    }
    m_recovery.WatchProgress(psn, now);
    return frame;
}

void
SendQueue::TellSent(const Frame& frame, int64_t now)
{
    if (m_measures)
    {
        m_meter.NoteSent(frame.psn, frame.repeat, now);
    }
    m_control->NotifySent(frame);
}

void
SendQueue::NotifyLeft(const Frame& frame, int64_t held, int64_t now)
{
    m_inPort = false;
    m_limiter.Forfeit(std::min(held, now), now);
    StartLimiter(frame, now);
}

void
SendQueue::StartLimiter(const Frame& frame, int64_t now)
{
    const uint32_t overhead = m_host->GetPort(0).GetOverhead();
    m_limiter.Start(m_host->DrawSpacing(frame.bytes + static_cast<int64_t>(overhead)), now);
}

void
SendQueue::NotifyTimeout()
{
    ++CountersOf(m_connection.GetMessageOf(m_recovery.GetFirst())).timeouts;
    if (m_control)
    {
        m_control->NotifyTimeout();
    }
    Reconsider();
}

void
SendQueue::NotifyFailure()
{
    NS_LOG_INFO("flow " << m_connection.GetFlow() << " has failed");
    ++CountersOf(m_connection.GetMessageOf(m_recovery.GetFirst())).timeouts;
    TraceRate();
    Reconsider();
}

int64_t
SendQueue::CountAhead() const
{
    constexpr int64_t MANY = 1LL << 40;
    const uint64_t next = m_recovery.GetNext();
    const std::size_t message = m_connection.GetMessageOf(m_recovery.GetFirst());
    if (m_recovery.GetFirst() >= m_connection.GetPackets())
    {
        return MANY; // it waits for a message, and sends nothing until then
    }
    if (next >= m_connection.GetPackets() || m_connection.GetMessageOf(next) != message)
    {
        return -1;
    }
    const uint64_t last = m_connection.GetRange(message).second - 1;
    return static_cast<int64_t>(std::min<uint64_t>(last - next, MANY));
}

void
SendQueue::Visit(lossless::StateVisitor& visitor, int64_t now)
{
    visitor.Inside(*this, m_counters);
    // Constant: m_host, but for events of their own; m_rateTrace, m_rateChange, m_window.
    visitor.Require((!m_control || m_control->IsAtRest()) && !m_measures, // no m_meter
                    "a congestion control acts, or does not say when it rests");
    visitor.Require(!m_paced && !m_inPort && m_holdUntil <= now, "flows are paced"); // no m_limiter
    visitor.Require(m_connection.GetDemand().on == 0, "flows come and go");
    const auto& [next, timedAt, reopened, listed] = m_listing;
    visitor.Derived(next); // the host visits it
    visitor.Require(timedAt == NEVER && reopened == lossless::ANY_QUEUE, "flows are paced");
    const uint32_t flow = m_connection.GetFlow();
    visitor.Begin(flow, m_recovery.GetNext());
    visitor.Same(m_connection.GetPackets(), listed, m_holdUntil, m_started, m_traced);
    visitor.Same(m_acknowledged, m_counters.size());
    m_recovery.Visit(visitor, flow, m_window > 0, now);
    for (std::size_t message = m_acknowledged; message < m_counters.size(); ++message)
    {
        auto& [acked, sent, retransmitted, timeouts, nacks, cnps] = m_counters[message];
        visitor.Count(sent);
        visitor.Same(acked, retransmitted, timeouts, nacks, cnps);
    }
}

void
SendQueue::FinishMessages(int64_t now)
{
    const uint64_t first = m_recovery.GetFirst();
    for (; m_connection.EndsBefore(m_acknowledged, first); ++m_acknowledged)
    {
        CountersOf(m_acknowledged).acked = now;
        TraceRate();
        m_host->NoteAcknowledged(m_connection.GetFlowOf(m_acknowledged));
    }
}

void
SendQueue::Receive(const Frame& frame)
{
    if (m_recovery.HasFailed())
    {
        return; // a queue pair in its error state ignores what arrives
    }
    if (frame.kind == FrameKind::CNP)
    {
        ++CountersOf(m_connection.GetMessageOf(frame.word[1])).cnps;
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
    const uint64_t before = m_recovery.GetFirst();
    if (m_recovery.Advance(expected, now))
    {
        FinishMessages(now);
    }
    const bool nack = frame.kind == FrameKind::NACK;
    if (nack)
    {
        NS_LOG_INFO("flow " << m_connection.GetFlow() << " received a NACK");
        ++CountersOf(m_connection.GetMessageOf(got)).nacks;
    }
    if (frame.truncated) [[unlikely]]
    {
        m_recovery.NoteTruncated(got);
    }
    else
    {
        m_recovery.NoteAnswer(nack, expected, got);
    }
    if (m_control)
    {
        Acknowledgement ack(frame);
        ack.first = m_recovery.GetFirst();
        ack.news = ack.first - before;
        ack.next = m_recovery.GetHighest();
        if (m_measures && !frame.truncated) // such a one has waited less than the packet would have
        {
            ack.rtt = m_meter.Read(ack.first, got, now);
        }
        m_control->NotifyAck(ack);
    }
    Reconsider();
}

} // namespace rdma
} // namespace ns3
