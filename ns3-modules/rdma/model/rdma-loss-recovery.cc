/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-loss-recovery.h"

#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

using lossless::NEVER;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("RdmaLossRecovery");

TypeId
LossRecovery::AddAttributes(TypeId tid)
{
    return FrameFormat::AddAttributes(tid)
        .AddAttribute("Retransmit",
                      "What to do about lost packets: None, GoBackN (as RoCE NICs) or Selective "
                      "(as IRN).",
                      EnumValue(Retransmit::GO_BACK_N),
                      MakeEnumAccessor<Retransmit>(&LossRecovery::m_retransmit),
                      MakeEnumChecker(Retransmit::NONE,
                                      "None",
                                      Retransmit::GO_BACK_N,
                                      "GoBackN",
                                      Retransmit::SELECTIVE,
                                      "Selective"))
        .AddAttribute("Timeout",
                      "Silence with data outstanding after which the sender repeats.",
                      TimeValue(MilliSeconds(10)),
                      MakeTimeAccessor(&LossRecovery::m_timeout),
                      lossless::MakePicosecondsChecker(1'000))
        .AddAttribute(
            "ShortTimeout",
            "The same where at most ShortTimeoutPackets are in flight, whose loss no NACK "
            "may tell: RTO_low of IRN, whose RTO_high is Timeout. 0: Timeout for all.",
            TimeValue(Time(0)),
            MakeTimeAccessor(&LossRecovery::m_shortTimeout),
            lossless::MakePicosecondsChecker())
        .AddAttribute("ShortTimeoutPackets",
                      "N of IRN: packets in flight, counted from the first that is not "
                      "acknowledged, up to which ShortTimeout holds.",
                      UintegerValue(3),
                      MakeUintegerAccessor(&LossRecovery::m_shortPackets),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("TimeoutRepeats",
                      "What a time-out makes a Selective sender repeat: All that was not received, "
                      "or the First packet and what NACKs told of (as IRN): then the end of what "
                      "was sent takes a round trip a packet.",
                      EnumValue(TimeoutRepeats::ALL),
                      MakeEnumAccessor<TimeoutRepeats>(&LossRecovery::m_timeoutRepeats),
                      MakeEnumChecker(TimeoutRepeats::ALL, "All", TimeoutRepeats::FIRST, "First"));
}

LossRecovery::LossRecovery()
    : m_look(this, &LossRecovery::Look)
{
}

LossRecovery::~LossRecovery() = default;

void
LossRecovery::StartRecovery()
{
    if (IsSelective())
    {
        m_scoreboard = std::make_unique<Scoreboard>();
    }
}

uint64_t
LossRecovery::TakeNext(bool& repeat)
{
    const uint64_t psn = HasMissing() ? m_scoreboard->TakeMissing() : m_next++;
    repeat = psn < m_highest;
    if (!repeat)
    {
        m_highest = psn + 1;
        if (m_scoreboard)
        {
            m_scoreboard->AddSent();
        }
    }
    return psn;
}

void
LossRecovery::WatchProgress(uint64_t psn, int64_t now)
{
    if (m_retransmit == Retransmit::NONE)
    {
        return;
    }
    if (psn == m_first)
    {
        m_progress = now; // silence counts from the oldest packet outstanding
    }
    if (m_lookAt == NEVER)
    {
        LookAt(m_progress + GetShortTimeout(), now);
    }
}

bool
LossRecovery::Advance(uint64_t first, int64_t now)
{
    if (first <= m_first)
    {
        return false;
    }
    m_progress = now;
    if (m_scoreboard)
    {
        m_scoreboard->Advance(first);
    }
    m_first = first;
    m_next = std::max(m_next, m_first);
    if (m_lookAt != NEVER && m_lookAt - now > GetShortTimeout())
    {
        LookAt(now + GetShortTimeout(), now);
    }
    return true;
}

void
LossRecovery::NoteAnswer(bool nack, uint64_t expected, uint64_t got)
{
    if (m_scoreboard)
    {
        m_scoreboard->NoteReceived(got);
        if (nack)
        {
            m_scoreboard->MarkMissing(got);
        }
    }
    else if (nack && m_retransmit == Retransmit::GO_BACK_N)
    {
        m_next = std::min(m_next, std::max(expected, m_first));
    }
}

int64_t
LossRecovery::GetShortTimeout() const
{
    return (m_shortTimeout.IsZero() ? m_timeout : std::min(m_shortTimeout, m_timeout))
        .GetTimeStep();
}

void
LossRecovery::LookAt(int64_t time, int64_t now)
{
    m_lookAt = time;
    m_look.Schedule(time - now);
}

/// Repeat what is outstanding if nothing was heard for too long.
void
LossRecovery::Look()
{
    const int64_t now = NowPs();
    if (now != m_lookAt)
    {
        return; // an earlier look was wanted since this one was
    }
    m_lookAt = NEVER;
    if (m_first >= m_highest)
    {
        return; // nothing outstanding; the next packet starts the watch again
    }
    const bool few = m_highest - m_first <= m_shortPackets;
    const int64_t limit = few ? GetShortTimeout() : m_timeout.GetTimeStep();
    const int64_t silence = now - m_progress;
    if (silence < limit)
    {
        // Also with many in flight it looks for the short silence first: they may be few by then.
        const int64_t soon = m_progress + GetShortTimeout();
        LookAt(soon > now ? soon : m_progress + limit, now);
        return;
    }
    NS_LOG_INFO("packet " << m_first << " again after " << silence << " ps of silence");
    m_progress = now;
    LookAt(now + GetShortTimeout(), now);
    if (m_scoreboard)
    {
        m_scoreboard->NoteTimeout(m_timeoutRepeats == TimeoutRepeats::ALL);
    }
    else
    {
        m_next = std::min(m_next, m_first);
    }
    NotifyTimeout();
}

} // namespace rdma
} // namespace ns3
