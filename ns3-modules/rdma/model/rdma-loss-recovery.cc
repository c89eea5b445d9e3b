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
RecoverySettings::AddAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Retransmit",
                      "Loss recovery: None, GoBackN (as RoCE NICs) or Selective (as IRN). With "
                      "None every byte that arrives counts as delivered, in order or not, and a "
                      "lost packet leaves its message unfinished.",
                      EnumValue(Retransmit::GO_BACK_N),
                      MakeEnumAccessor<Retransmit>(&RecoverySettings::m_retransmit),
                      MakeEnumChecker(Retransmit::NONE,
                                      "None",
                                      Retransmit::GO_BACK_N,
                                      "GoBackN",
                                      Retransmit::SELECTIVE,
                                      "Selective"))
        .AddAttribute("Timeout",
                      "Time without progress, with data outstanding, after which the sender "
                      "retransmits.",
                      TimeValue(MilliSeconds(10)),
                      MakeTimeAccessor(&RecoverySettings::m_timeout),
                      lossless::MakePicosecondsChecker(1'000))
        .AddAttribute("LocalAckTimeout",
                      "The timeout as NICs are told it: 4.096 us x 2^n (InfiniBand, volume 1, "
                      "9.7.6.1.3), instead of Timeout. 0: Timeout. 14, perftest's: 67.1 ms.",
                      UintegerValue(0),
                      MakeUintegerAccessor(&RecoverySettings::m_localAck),
                      MakeUintegerChecker<uint32_t>(0, 31))
        .AddAttribute("RetryCount",
                      "Timeouts in a row without progress after which a queue pair gives up: it "
                      "has failed and sends nothing more (retry_cnt of verbs, at most 7 there). "
                      "0: it never does.",
                      UintegerValue(0),
                      MakeUintegerAccessor(&RecoverySettings::m_retryCount),
                      MakeUintegerChecker<uint32_t>(0, 1000))
        .AddAttribute(
            "ShortTimeout",
            "Timeout if at most ShortTimeoutPackets are in flight, whose loss may cause no NACK: "
            "RTO_low of IRN, whose RTO_high is Timeout. 0: always Timeout.",
            TimeValue(Time(0)),
            MakeTimeAccessor(&RecoverySettings::m_shortTimeout),
            lossless::MakePicosecondsChecker())
        .AddAttribute("ShortTimeoutPackets",
                      "N of IRN: number of packets in flight, counted from the first "
                      "unacknowledged one, up to which ShortTimeout applies.",
                      UintegerValue(3),
                      MakeUintegerAccessor(&RecoverySettings::m_shortPackets),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("TimeoutRepeats",
                      "Which packets a Selective sender retransmits after a timeout: All that were "
                      "not received, or the First packet and those reported by NACKs (as IRN): "
                      "then the end of a transmission takes a round trip per packet.",
                      EnumValue(TimeoutRepeats::ALL),
                      MakeEnumAccessor<TimeoutRepeats>(&RecoverySettings::m_timeoutRepeats),
                      MakeEnumChecker(TimeoutRepeats::ALL, "All", TimeoutRepeats::FIRST, "First"));
}

int64_t
RecoverySettings::GetTimeout(uint64_t packets) const
{
    return packets <= m_shortPackets ? GetShortTimeout() : GetLongTimeout();
}

int64_t
RecoverySettings::GetLongTimeout() const
{
    constexpr int64_t UNIT = 4'096'000; // of InfiniBand (ps)
    return m_localAck ? UNIT << m_localAck : m_timeout.GetTimeStep();
}

int64_t
RecoverySettings::GetShortTimeout() const
{
    const int64_t timeout = GetLongTimeout();
    return m_shortTimeout.IsZero() ? timeout : std::min(m_shortTimeout.GetTimeStep(), timeout);
}

LossRecovery::LossRecovery(const RecoverySettings& settings, Owner& owner)
    : m_settings(settings),
      m_owner(owner),
      m_look(this, &LossRecovery::Look)
{
}

LossRecovery::~LossRecovery() = default;

void
LossRecovery::Start()
{
    if (m_settings.IsSelective())
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
    if (!m_settings.IsReliable())
    {
        return;
    }
    if (psn == m_first)
    {
        m_progress = now; // the timeout runs from the oldest packet outstanding
    }
    if (m_lookAt == NEVER)
    {
        LookAt(m_progress + m_settings.GetShortTimeout(), now);
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
    m_retries = 0;
    if (m_scoreboard)
    {
        m_scoreboard->Advance(first);
    }
    m_first = first;
    m_next = std::max(m_next, m_first);
    if (m_lookAt != NEVER && m_lookAt - now > m_settings.GetShortTimeout())
    {
        LookAt(now + m_settings.GetShortTimeout(), now);
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
    else if (nack && m_settings.IsGoBackN())
    {
        m_next = std::min(m_next, std::max(expected, m_first));
    }
}

void
LossRecovery::Skip(uint64_t packets)
{
    m_first = m_next = m_highest = packets;
}

void
LossRecovery::Visit(lossless::StateVisitor& visitor, uint32_t flow, bool hasWindow, int64_t now)
{
    visitor.Inside(*this);
    // Constant: m_settings, m_owner. m_look is an event of its own, and none of the path: it is
    // pending at m_lookAt, which an answer brings forward only if it is far away.
    visitor.Require(!m_failed && m_retries == 0, "a timeout has expired");
    visitor.Require(m_lookAt == NEVER || m_lookAt - now <= m_settings.GetShortTimeout(),
                    "an answer may bring forward a timeout");
    // Without a window it matters only when all is acknowledged which packet is the first.
    visitor.Follow(flow, m_first, !hasWindow && m_first < m_next, NEVER);
    visitor.Packet(flow, m_next);
    visitor.Packet(flow, m_highest);
    visitor.Require(m_next == m_highest, "packets are sent again");
    visitor.Note(m_progress);
    visitor.Alarm(m_lookAt);
    if (m_scoreboard)
    {
        m_scoreboard->Visit(visitor, flow);
    }
}

void
LossRecovery::LookAt(int64_t time, int64_t now)
{
    m_lookAt = time;
    m_look.Schedule(time - now);
}

void
LossRecovery::Look()
{
    const int64_t now = NowPs();
    if (now != m_lookAt)
    {
        return; // an earlier check has been scheduled since
    }
    m_lookAt = NEVER;
    if (m_first >= m_highest)
    {
        return; // nothing outstanding; the next packet restarts the timer
    }
    if (m_scoreboard && m_scoreboard->HasTruncated())
    {
        m_progress = now; // the sender itself is slow, and the network not silent
    }
    const int64_t limit = m_settings.GetTimeout(m_highest - m_first);
    const int64_t silence = now - m_progress;
    if (silence < limit)
    {
        // The short timeout is checked first even with many in flight: there may be few by then.
        const int64_t soon = m_progress + m_settings.GetShortTimeout();
        LookAt(soon > now ? soon : m_progress + limit, now);
        return;
    }
    if (m_settings.GetRetryCount() > 0 && m_retries++ == m_settings.GetRetryCount())
    {
        m_failed = true;
        m_owner.NotifyFailure();
        return;
    }
    NS_LOG_INFO("packet " << m_first << " again after " << silence << " ps of silence");
    m_progress = now;
    LookAt(now + m_settings.GetShortTimeout(), now);
    if (m_scoreboard)
    {
        m_scoreboard->NoteTimeout(m_settings.RepeatsAll());
    }
    else
    {
        m_next = std::min(m_next, m_first);
    }
    m_owner.NotifyTimeout();
}

} // namespace rdma
} // namespace ns3
