/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "gfc-conceptual.h"

#include "ns3/boolean.h"
#include "ns3/lossless-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace gfc
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(ConceptualGfc);

namespace
{

/// MAC control opcode of the conceptual feedback. The paper defines none (it is a concept); from
/// the range IEEE leaves unused.
constexpr uint16_t OPCODE = 0x0fc0;

} // namespace

TypeId
ConceptualGfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gfc::ConceptualGfc")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("gfc")
            .AddConstructor<ConceptualGfc>()
            .AddAttribute("Bm",
                          "Queue length at which the mapping reaches rate 0 (section 4.1; Figure 5 "
                          "has 100 KB). [B]",
                          UintegerValue(100'000),
                          MakeUintegerAccessor(&ConceptualGfc::m_bm),
                          MakeUintegerChecker<int64_t>(1, 1ULL << 42))
            .AddAttribute("B0",
                          "Queue length up to which the peer sends at line rate (section 4.1; "
                          "Figure 5 has 50 KB). [B]",
                          UintegerValue(50'000),
                          MakeUintegerAccessor(&ConceptualGfc::m_b0),
                          MakeUintegerChecker<int64_t>(0, 1ULL << 42))
            .AddAttribute(
                "Ideal",
                "Feedback takes no bandwidth and waits for no frame, as section 4.1 assumes.",
                BooleanValue(true),
                MakeBooleanAccessor(&ConceptualGfc::m_ideal),
                MakeBooleanChecker())
            .AddAttribute("MinGap",
                          "Least time between two messages of a class; the latest queue length is "
                          "sent when it is over.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&ConceptualGfc::m_minGap),
                          MakeTimeChecker(Seconds(0)));
    return tid;
}

ConceptualGfc::ConceptualGfc()
    : m_gap(this, &ConceptualGfc::SendPending)
{
}

uint32_t
ConceptualGfc::GetHooks() const
{
    return BYTES | GATE | SENT;
}

void
ConceptualGfc::Start()
{
    m_lastSent.fill(-m_minGap.GetTimeStep());
    m_lowestRate = static_cast<int64_t>(m_port->GetRate());
    for (auto& limiter : m_limiter)
    {
        limiter.SetRate(m_port->GetRate(), 0);
    }
}

std::string
ConceptualGfc::Check() const
{
    if (m_b0 < m_bm)
    {
        return {};
    }
    std::ostringstream problem;
    problem << "ConceptualGfc: B0 " << m_b0 << " B must be less than Bm " << m_bm << " B\n";
    return problem.str();
}

int64_t
ConceptualGfc::GetFeedbackLatency() const
{
    const int64_t wire = m_port->GetLargestFrame() + static_cast<int64_t>(m_port->GetOverhead());
    const int64_t control = m_ideal
                                ? 0
                                : lossless::TransmissionTime(wire + m_port->GetControlFrameSize() +
                                                                 m_port->GetOverhead(),
                                                             m_port->GetRate());
    return control + 2 * m_port->GetDelay() + m_port->GetPeer().GetControlDelay() +
           m_minGap.GetTimeStep() + lossless::TransmissionTime(wire, m_port->GetRate());
}

std::string
ConceptualGfc::Warn() const
{
    const int64_t tau = GetFeedbackLatency();
    const int64_t margin = 4 * lossless::BytesInTime(m_port->GetRate(), tau);
    if (m_b0 <= m_bm - margin)
    {
        return {};
    }
    std::ostringstream warning;
    warning << "ConceptualGfc: B0 " << m_b0 << " B is above Bm - 4 C tau = " << m_bm << " - "
            << margin << " = " << m_bm - margin << " B (C " << m_port->GetRate() << " bit/s, tau "
            << tau
            << " ps): outside the sufficient bound of Theorem 4.1, so the queue may reach Bm\n";
    return warning.str();
}

uint64_t
ConceptualGfc::MapRate(int64_t queueBytes) const
{
    const uint64_t line = m_port->GetRate();
    if (queueBytes <= m_b0)
    {
        return line;
    }
    if (queueBytes >= m_bm)
    {
        return 0;
    }
    return static_cast<uint64_t>(static_cast<lossless::Uint128>(line) *
                                 static_cast<uint64_t>(m_bm - queueBytes) /
                                 static_cast<uint64_t>(m_bm - m_b0));
}

void
ConceptualGfc::NotifyReceived(const Frame& frame, int64_t queueBytes)
{
    Feedback(frame.cls, queueBytes);
}

void
ConceptualGfc::NotifyReleased(uint8_t cls,
                              uint32_t /* flow */,
                              uint32_t /* bytes */,
                              int64_t queueBytes)
{
    Feedback(cls, queueBytes);
}

void
ConceptualGfc::Feedback(uint8_t cls, int64_t queueBytes)
{
    // Below B0 the rate is the line's whatever the queue: only the step into that range is news.
    const bool news = std::max(queueBytes, m_b0) != std::max(m_queue[cls], m_b0);
    m_queue[cls] = queueBytes;
    m_peak = std::max(m_peak, queueBytes);
    const uint32_t bit = 1U << cls;
    if (!news || m_pending & bit)
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
ConceptualGfc::SendPending()
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((m_pending >> cls) & 1U && m_lastSent[cls] + m_minGap.GetTimeStep() <= NowPs())
        {
            m_pending &= ~(1U << cls);
            Send(cls);
        }
    }
}

void
ConceptualGfc::Send(uint8_t cls)
{
    Frame* frame = FramePool::TakeControl();
    frame->control->opcode = OPCODE;
    frame->control->classes = static_cast<uint16_t>(1U << cls);
    frame->control->value.fill(0);
    frame->control->value[cls] = static_cast<uint32_t>(m_queue[cls]);
    m_lastSent[cls] = NowPs();
    ++m_messages;
    m_port->SendControl(frame, m_ideal);
}

bool
ConceptualGfc::ReceiveControl(const ControlFrame& control)
{
    if (control.opcode != OPCODE)
    {
        return false;
    }
    const int64_t now = NowPs();
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((control.classes >> cls) & 1U)
        {
            const uint64_t rate = MapRate(control.value[cls]);
            m_limiter[cls].SetRate(rate, now);
            m_lowestRate = std::min(m_lowestRate, static_cast<int64_t>(rate));
        }
    }
    m_port->Kick();
    return true;
}

int64_t
ConceptualGfc::GetEarliest(uint16_t queue, const Frame& /* head */, int64_t now) const
{
    return m_limiter[queue % N_CLASSES].GetEarliest(now);
}

void
ConceptualGfc::NotifySent(uint16_t queue, const Frame& frame, int64_t now)
{
    m_limiter[queue % N_CLASSES].Start(frame.bytes + static_cast<int64_t>(m_port->GetOverhead()),
                                       now);
}

void
ConceptualGfc::NotifyLink(bool /* up */)
{
    for (auto& limiter : m_limiter)
    {
        limiter.SetRate(m_port->GetRate(), NowPs());
    }
    m_queue.fill(0);
}

void
ConceptualGfc::Report(lossless::Summary& summary) const
{
    summary["gfc_messages_sent"] += static_cast<double>(m_messages);
    double& peak = summary["gfc_peak_queue_bytes"];
    peak = std::max(peak, static_cast<double>(m_peak));
    const auto [lowest, isNew] =
        summary.try_emplace("gfc_lowest_rate_bps", static_cast<double>(m_lowestRate));
    lowest->second = std::min(lowest->second, static_cast<double>(m_lowestRate));
}

} // namespace gfc
} // namespace ns3
