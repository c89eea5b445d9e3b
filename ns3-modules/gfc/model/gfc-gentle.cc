/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "gfc-gentle.h"

#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace gfc
{

NS_LOG_COMPONENT_DEFINE("Gfc");

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Gentle);

int64_t
FeedbackLatency(uint64_t rate, int64_t delay, int64_t frame, int64_t message, int64_t processing)
{
    const int64_t sending = message == 0 ? 0 : lossless::TransmissionTime(frame + message, rate);
    return sending + 2 * delay + processing + lossless::TransmissionTime(frame, rate);
}

std::string
Spell(int64_t value, const Units& units)
{
    std::size_t unit = 0;
    int64_t factor = 1;
    while (unit + 1 < units.size() && value / factor >= 1000)
    {
        ++unit;
        factor *= 1000;
    }
    std::string digits = std::to_string(factor + value % factor); // a one before the decimals
    digits.erase(digits.find_last_not_of('0') + 1);
    std::string text = std::to_string(value / factor);
    if (digits.size() > 1)
    {
        text.append(".").append(digits, 1);
    }
    return text.append(" ").append(units[unit]);
}

std::string
WarnOutside(const std::pair<std::string, int64_t>& margin,
            const std::pair<std::string, int64_t>& bound,
            const std::string& source,
            const std::string& consequence)
{
    if (margin.second >= bound.second)
    {
        return {};
    }
    std::ostringstream warning;
    warning << margin.first << " = " << Spell(margin.second, SIZES) << " is less than "
            << bound.first << " = " << Spell(bound.second, SIZES)
            << ": outside the sufficient bound of " << source << ", so " << consequence << "\n";
    return warning.str();
}

TypeId
Gentle::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gfc::Gentle")
                            .SetParent<lossless::FlowControl>()
                            .SetGroupName("gfc")
                            .AddAttribute("MinGap",
                                          "Minimum time between two messages of a class; the "
                                          "latest word is sent when it has passed.",
                                          TimeValue(Seconds(0)),
                                          MakeTimeAccessor(&Gentle::m_minGap),
                                          lossless::MakePicosecondsChecker())
                            .AddAttribute("Refresh",
                                          "Period at which the last word of a class is sent again, "
                                          "so that a lost message does not freeze a rate; 0: "
                                          "never.",
                                          TimeValue(MilliSeconds(1)),
                                          MakeTimeAccessor(&Gentle::m_refresh),
                                          lossless::MakePicosecondsChecker());
    return tid;
}

Gentle::Gentle()
    : m_gap(this, &Gentle::SendPending),
      m_repeat(this, &Gentle::Refresh)
{
}

lossless::BufferDemand
Gentle::DemandUpTo(int64_t bm) const
{
    lossless::BufferDemand demand;
    demand.promised = lossless::BufferDemand::ForEachClass(
        bm,
        GetInstanceTypeId().GetName() + ": Bm = " + std::to_string(bm) + " B");
    return demand;
}

void
Gentle::Start()
{
    m_idleWord = GetWord(0, 0);
    NS_LOG_INFO("port to node " << m_port->GetPeerId() << ": " << GetInstanceTypeId().GetName()
                                << ", feedback latency " << GetFeedbackLatency() << " ps");
    m_word.fill(m_idleWord);
    m_sent.fill(m_idleWord);
    m_lastSent.fill(-m_minGap.GetTimeStep());
    m_lowestRate = m_port->GetRate();
    for (auto& limiter : m_limiter)
    {
        limiter.SetRate(m_port->GetRate(), 0);
    }
}

int64_t
Gentle::GetFeedbackLatency() const
{
    const auto overhead = static_cast<int64_t>(m_port->GetOverhead());
    const int64_t message = m_ideal ? 0 : m_port->GetControlFrameSize() + overhead;
    return FeedbackLatency(m_port->GetRate(),
                           m_port->GetDelay(),
                           m_port->GetLargestFrame() + overhead,
                           message,
                           m_port->GetPeer().GetControlDelay()) +
           m_minGap.GetTimeStep();
}

std::string
Gentle::WarnMargin(const std::string& what,
                   int64_t margin,
                   double factor,
                   const std::string& bound,
                   const std::string& source) const
{
    const int64_t tau = GetFeedbackLatency();
    const auto reach = static_cast<double>(lossless::BytesInTime(m_port->GetRate(), tau));
    const auto least = static_cast<int64_t>(std::ceil(factor * reach));
    const std::string warning =
        WarnOutside({what, margin},
                    {bound, least},
                    source,
                    "the queue may reach Bm (C " + Spell(m_port->GetRate(), RATES) + ", tau " +
                        Spell(tau, TIMES) + ")");
    return warning.empty() ? warning : GetInstanceTypeId().GetName() + ": " + warning;
}

void
Gentle::NotifyReceived(Frame& frame, int64_t queueBytes)
{
    m_peak = std::max(m_peak, queueBytes);
    Change(frame.cls, queueBytes);
}

void
Gentle::NotifyReleased(const lossless::Departure& departure, int64_t queueBytes)
{
    Change(departure.cls, queueBytes);
}

void
Gentle::Change(uint8_t cls, int64_t queueBytes)
{
    m_word[cls] = GetWord(queueBytes, m_word[cls]);
    const uint32_t bit = 1U << cls;
    if (m_word[cls] == m_sent[cls] || m_pending & bit)
    {
        return;
    }
    const int64_t wait = m_lastSent[cls] + m_minGap.GetTimeStep() - NowPs();
    if (wait <= 0)
    {
        Send(cls);
        return;
    }
    m_pending |= bit;
    m_gap.Schedule(wait);
}

void
Gentle::SendPending()
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((m_pending >> cls) & 1U && m_lastSent[cls] + m_minGap.GetTimeStep() <= NowPs())
        {
            m_pending &= ~(1U << cls);
            if (m_word[cls] != m_sent[cls])
            {
                Send(cls);
            }
        }
    }
}

void
Gentle::Send(uint8_t cls)
{
    Frame* frame = FramePool::TakeControl();
    frame->control->opcode = GetOpcode();
    frame->control->classes = static_cast<uint16_t>(1U << cls);
    frame->control->value[cls] = m_word[cls];
    m_sent[cls] = m_word[cls];
    m_lastSent[cls] = NowPs();
    if (m_ideal)
    {
        m_port->SendControl(frame, true);
        ++m_messages;
    }
    else
    {
        m_messages += m_port->SendState(frame) ? 1 : 0;
    }
    if (!m_refreshing && !m_ideal && !m_refresh.IsZero())
    {
        m_refreshing = true;
        m_repeat.Schedule(m_refresh.GetTimeStep());
    }
}

void
Gentle::Refresh()
{
    // The word of an empty queue is repeated, too: the message that lifted a limit may have been
    // lost.
    const int64_t now = NowPs();
    const int64_t refresh = m_refresh.GetTimeStep();
    int64_t next = lossless::NEVER;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (m_lastSent[cls] > 0)
        {
            if (m_lastSent[cls] + refresh <= now)
            {
                ++m_repeats;
                Send(cls);
            }
            next = std::min(next, m_lastSent[cls] + refresh - now);
        }
    }
    m_repeat.Schedule(next);
}

void
Gentle::SetRate(uint8_t cls, uint64_t rate, int64_t now)
{
    m_limiter[cls].SetRate(rate, now);
    m_lowestRate = std::min(m_lowestRate, rate);
}

bool
Gentle::WouldHold(uint16_t /* queue */, const Frame& /* head */, const Rest& /* rest */) const
{
    return false; // even the lowest rate sends
}

bool
Gentle::WouldRelease(uint16_t /* queue */,
                     const Frame& /* head */,
                     const ControlFrame& /* control */) const
{
    return false; // a rate never holds a queue back for good, so there is no release
}

bool
Gentle::ReceiveControl(const ControlFrame& control)
{
    if (control.opcode != GetOpcode())
    {
        return false;
    }
    const int64_t now = NowPs();
    for (uint32_t left = m_port->KeepLossless(control.classes); left; left &= left - 1)
    {
        const auto cls = static_cast<uint8_t>(std::countr_zero(left));
        SetRate(cls, GetRate(control.value[cls]), now);
    }
    m_port->Kick();
    return true;
}

int64_t
Gentle::GetEarliest(uint16_t queue, const Frame& /* head */, int64_t now) const
{
    return m_limiter[queue % N_CLASSES].GetEarliest(now);
}

void
Gentle::NotifySent(uint16_t queue, Frame& frame, int64_t now)
{
    m_limiter[queue % N_CLASSES].Start(frame.bytes + static_cast<int64_t>(m_port->GetOverhead()),
                                       now);
}

void
Gentle::NotifyLink(bool /* up */)
{
    for (auto& limiter : m_limiter)
    {
        limiter.SetRate(m_port->GetRate(), NowPs());
    }
    m_sent.fill(m_idleWord);
}

void
Gentle::Report(lossless::Summary& summary) const
{
    summary["gfc_messages_sent"] += static_cast<double>(m_messages);
    summary["gfc_repeats_sent"] += static_cast<double>(m_repeats);
    double& peak = summary["gfc_peak_queue_bytes"];
    peak = std::max(peak, static_cast<double>(m_peak));
    const auto [lowest, isNew] =
        summary.try_emplace("gfc_lowest_rate_bps", static_cast<double>(m_lowestRate));
    lowest->second = std::min(lowest->second, static_cast<double>(m_lowestRate));
}

} // namespace gfc
} // namespace ns3
