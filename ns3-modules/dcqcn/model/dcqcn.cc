/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcqcn.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-ecn-marking.h"
#include "ns3/lossless-rate.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace dcqcn
{

using lossless::Frame;
using lossless::NEVER;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("Dcqcn");

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

namespace
{

/// An alpha below this no longer changes a rate of 53 bits and counts as 0.
constexpr double NO_ALPHA = 0x1p-53;
} // namespace

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::dcqcn::Dcqcn")
            .SetParent<RateControl>()
            .SetGroupName("dcqcn")
            .AddConstructor<Dcqcn>()
            .AddAttribute("Notification",
                          "How the receiver reports marked packets: Paced, a CNP at most every "
                          "CnpInterval; PerPacket, a CNP for each; AckBit, a bit of the packet's "
                          "ACK or NACK, as in the HPCC simulator.",
                          EnumValue(Notification::ACK_BIT),
                          MakeEnumAccessor<Notification>(&Dcqcn::m_notification),
                          MakeEnumChecker(Notification::PACED,
                                          "Paced",
                                          Notification::PER_PACKET,
                                          "PerPacket",
                                          Notification::ACK_BIT,
                                          "AckBit"))
            .AddAttribute("CnpInterval",
                          "Minimum time between two CNPs of a flow, with Paced. 50 us in the SFC "
                          "slides and, as recalled, in the paper; 4 us in NVIDIA firmware.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Dcqcn::m_cnpInterval),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("Latency",
                          "Time from the arrival of a notification at the sender until it takes "
                          "effect. 0: immediately, as in the HPCC simulator.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Dcqcn::m_latency),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("CutOn",
                          "What triggers a rate cut: Cnp, each notification, at least "
                          "DecreaseInterval after the last cut; Timer, a check every "
                          "DecreaseInterval for a notification since the last one, as in the HPCC "
                          "simulator. With Timer the first notification, which sets alpha to 1, "
                          "does not count for the AlphaInterval after it: alpha decays at its end "
                          "unless another follows.",
                          EnumValue(CutOn::TIMER),
                          MakeEnumAccessor<CutOn>(&Dcqcn::m_cutOn),
                          MakeEnumChecker(CutOn::CNP, "Cnp", CutOn::TIMER, "Timer"))
            .AddAttribute("DecreaseInterval",
                          "Time between two checks, or minimum time between two cuts. 4 us: t_dec "
                          "of the HPCC simulator.",
                          TimeValue(MicroSeconds(4)),
                          MakeTimeAccessor(&Dcqcn::m_decreaseTime),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("AlphaInterval",
                          "Time without a notification after which alpha decays. 1 us: t_alpha of "
                          "the HPCC simulator.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&Dcqcn::m_alphaTime),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("Gain",
                          "The paper's g, the weight of a new notification in alpha.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_gain),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("IncreaseInterval",
                          "Period of the increase timer. 300 us: t_inc of the HPCC simulator.",
                          TimeValue(MicroSeconds(300)),
                          MakeTimeAccessor(&Dcqcn::m_increaseTime),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("ByteCounter",
                          "Bytes of data frames, payload and headers without preamble and gap, "
                          "that are sent per increase of the byte counter, retransmissions "
                          "included. 0: the timer alone. [B]",
                          IntegerValue(0),
                          MakeIntegerAccessor(&Dcqcn::m_byteCounter),
                          MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("FastRecovery",
                          "The paper's F: number of increases that only halve the distance to the "
                          "target, before the target grows. 1: FAST_RECOVERY_TIMES of the HPCC "
                          "simulator.",
                          IntegerValue(1),
                          MakeIntegerAccessor(&Dcqcn::m_fastRecovery),
                          MakeIntegerChecker<int64_t>(0, 1'000'000))
            .AddAttribute("AdditiveIncrease",
                          "The paper's R_AI, the increase of the target rate. 5 Mb/s: ai of the "
                          "HPCC simulator at 25 Gb/s.",
                          DataRateValue(DataRate(5'000'000)),
                          MakeDataRateAccessor(&Dcqcn::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddAttribute("HyperIncrease",
                          "The paper's R_HAI, the increase in the hyper increase stage. 50 Mb/s: "
                          "hai of the HPCC simulator at 25 Gb/s.",
                          DataRateValue(DataRate(50'000'000)),
                          MakeDataRateAccessor(&Dcqcn::m_hyperRate),
                          lossless::MakeRateChecker())
            .AddAttribute("ClampTarget",
                          "Every cut moves the target down to the rate before it; else only one "
                          "after an increase does, as with CLAMP_TARGET_RATE 0 of the HPCC "
                          "simulator.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Dcqcn::m_clampTarget),
                          MakeBooleanChecker())
            .AddAttribute("ClampAfterTimer",
                          "A cut after an increase by the timer moves the target down, too; else "
                          "only one after an increase by the byte counter does, or ClampTarget. "
                          "CLAMP_TGT_RATE_AFTER_TIME_INC of NVIDIA firmware, where it is 1.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Dcqcn::m_clampAfterTimer),
                          MakeBooleanChecker())
            .AddAttribute("FirstRate",
                          "Rate, and target, that the first notification sets before it counts. 0: "
                          "the line rate. RATE_TO_SET_ON_FIRST_CNP of NVIDIA firmware, where it is "
                          "0.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&Dcqcn::m_firstRate),
                          lossless::MakeRateChecker())
            .AddAttribute("InitialAlpha",
                          "Alpha that the first notification sets. 1023/1024 in NVIDIA firmware.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Dcqcn::m_initialAlpha),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("CutOnLoss",
                          "A NACK and a timeout count as a notification (slow restart of NVIDIA "
                          "NICs).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Dcqcn::m_cutOnLoss),
                          MakeBooleanChecker())
            .AddAttribute("ReferenceRate",
                          "Line rate of the sender for which AdditiveIncrease and HyperIncrease "
                          "are given; they scale in proportion to the line rate. 0: no scaling.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&Dcqcn::m_referenceRate),
                          lossless::MakeRateChecker())
            .AddTraceSource("State",
                            "A cut or an increase of the rate: flow, current rate, target rate, "
                            "alpha.",
                            MakeTraceSourceAccessor(&Dcqcn::m_stateTrace),
                            "ns3::dcqcn::Dcqcn::StateCallback");
    return tid;
}

Dcqcn::Dcqcn()
    : m_look(this, &Dcqcn::Look),
      m_increase(this, &Dcqcn::IncreaseTimer),
      m_heard(this, &Dcqcn::HeardLate)
{
}

Dcqcn::~Dcqcn() = default;

void
Dcqcn::Start(rdma::Sender& sender, uint64_t lineRate)
{
    RateControl::Start(sender, lineRate);
    m_current = lineRate;
    m_target = lineRate;
    m_increaseAt = NEVER;
    m_decreaseInterval = m_decreaseTime.GetTimeStep();
    m_alphaInterval = m_alphaTime.GetTimeStep();
    m_increaseInterval = m_increaseTime.GetTimeStep();
    m_additiveIncrease = Scale(m_additiveRate, m_referenceRate);
    m_hyperIncrease = Scale(m_hyperRate, m_referenceRate);
}

std::string
Dcqcn::Check() const
{
    if (m_cutOn == CutOn::TIMER && m_decreaseTime.IsZero())
    {
        return "DCQCN: CutOn Timer needs a DecreaseInterval, the time between two checks, above 0; "
               "set it, such as 50us, or let CNPs cut (CutOn Cnp)\n";
    }
    return {};
}

std::string
Dcqcn::GetSignaller() const
{
    return lossless::EcnMarking::GetTypeId().GetName();
}

std::unique_ptr<rdma::CongestionReceiver>
Dcqcn::MakeReceiver() const
{
    return std::make_unique<NotificationPoint>(m_notification, m_cnpInterval.GetTimeStep());
}

NotificationPoint::NotificationPoint(Notification notification, int64_t cnpInterval)
    : m_notification(notification),
      m_cnpInterval(cnpInterval)
{
}

bool
NotificationPoint::NotifyData(const Frame& frame)
{
    if (frame.ecn != Frame::ECN_MARKED)
    {
        return false;
    }
    ++m_marksSeen;
    switch (m_notification)
    {
    case Notification::PACED: {
        const int64_t now = NowPs();
        if (now < m_nextCnp)
        {
            return false;
        }
        m_nextCnp = now + m_cnpInterval;
        return true;
    }
    case Notification::PER_PACKET:
        return true;
    case Notification::ACK_BIT:
        break;
    }
    return false;
}

void
NotificationPoint::Report(lossless::Summary& summary) const
{
    summary["marked_packets_received"] += static_cast<double>(m_marksSeen);
}

void
Dcqcn::NotifyCnp(const Frame& /* frame */)
{
    Heard();
}

void
Dcqcn::NotifyAck(const rdma::Acknowledgement& ack)
{
    if ((ack.IsMarked() && m_notification == Notification::ACK_BIT) ||
        (ack.IsNack() && m_cutOnLoss))
    {
        Heard();
    }
}

void
Dcqcn::NotifyTimeout()
{
    if (m_cutOnLoss)
    {
        Heard();
    }
}

bool
Dcqcn::IsAtRest() const
{
    return m_notifications == 0; // it sends at line rate, and NotificationPoint awaits a mark
}

void
Dcqcn::Heard()
{
    if (m_latency.IsZero())
    {
        Notified();
        return;
    }
    m_heard.Schedule(m_latency.GetTimeStep());
}

void
Dcqcn::HeardLate()
{
    Notified();
    if (!m_sender->IsDone())
    {
        m_sender->Reconsider(); // after a timer nothing else does
    }
}

void
Dcqcn::Notified()
{
    ++m_notifications;
    if (m_sender->IsDone())
    {
        return;
    }
    const int64_t now = NowPs();
    const bool first = m_firstAt < 0;
    if (first)
    {
        m_firstAt = now;
        m_cutAt = -m_decreaseInterval;
        m_alpha = m_initialAlpha;
        if (m_firstRate.GetBitRate() > 0)
        {
            m_current = std::clamp(m_firstRate.GetBitRate(), m_least, m_line);
            m_target = m_current;
        }
        m_alphaAt = now;
    }
    AdvanceAlpha(now);
    if (m_cutOn == CutOn::CNP)
    {
        if (now - m_cutAt >= m_decreaseInterval)
        {
            Cut(now);
        }
        m_alpha = (1 - m_gain) * m_alpha + m_gain;
        m_alphaAt = now;
        return;
    }
    // The notification that sets alpha is not counted in its first period, as in the HPCC
    // simulator.
    m_alphaSeen = !first;
    if (!m_lookPending)
    {
        m_lookPending = true;
        const int64_t since = (now - m_firstAt) % m_decreaseInterval;
        m_look.Schedule(m_decreaseInterval - since);
    }
}

void
Dcqcn::AdvanceAlpha(int64_t now)
{
    if (m_firstAt < 0)
    {
        return;
    }
    int64_t periods = (now - m_alphaAt) / m_alphaInterval;
    m_alphaAt += periods * m_alphaInterval;
    constexpr int64_t MANY = 1'000'000; // only for a vanishing gain and interval
    if (periods > MANY && !m_alphaSeen)
    {
        m_alpha *= std::pow(1 - m_gain, static_cast<double>(periods - MANY));
        periods = MANY;
    }
    for (; periods > 0 && (m_alphaSeen || m_alpha > 0); --periods)
    {
        m_alpha = (1 - m_gain) * m_alpha + (m_alphaSeen ? m_gain : 0);
        m_alphaSeen = false;
        if (m_alpha < NO_ALPHA)
        {
            m_alpha = 0;
        }
        else if (m_gain == 0)
        {
            return;
        }
    }
}

void
Dcqcn::Look()
{
    m_lookPending = false;
    const int64_t now = NowPs();
    AdvanceAlpha(now);
    if (!m_sender->IsDone())
    {
        Cut(now);
        m_sender->Reconsider();
    }
}

void
Dcqcn::Cut(int64_t now)
{
    if (m_clampTarget || (m_clampAfterTimer && m_timeStage > 0) || m_byteStage > 0)
    {
        m_target = m_current;
    }
    m_current = std::max(m_least,
                         static_cast<uint64_t>(static_cast<double>(m_current) * (1 - m_alpha / 2)));
    m_cutAt = now;
    m_timeStage = 0;
    m_byteStage = 0;
    m_bytes = 0;
    ++m_cuts;
    NS_LOG_INFO("flow " << m_connection->GetFlow() << " cut to " << m_current << " bit/s");
    ArmIncrease(now);
    Apply();
}

void
Dcqcn::ArmIncrease(int64_t now)
{
    m_increaseAt = now + m_increaseInterval;
    if (!m_increasePending)
    {
        m_increasePending = true;
        m_increase.Schedule(m_increaseInterval);
    }
}

void
Dcqcn::IncreaseTimer()
{
    const int64_t now = NowPs();
    m_increasePending = false;
    if (m_increaseAt == NEVER || m_sender->IsDone())
    {
        return;
    }
    if (now < m_increaseAt)
    {
        m_increasePending = true; // a cut has restarted it
        m_increase.Schedule(m_increaseAt - now);
        return;
    }
    Increase(m_timeStage);
    if (m_current < m_line)
    {
        ArmIncrease(now);
    }
    m_sender->Reconsider();
}

void
Dcqcn::NotifySent(const Frame& frame)
{
    if (m_current == m_line || m_byteCounter == 0)
    {
        return;
    }
    m_bytes += frame.bytes;
    while (m_bytes >= m_byteCounter && m_current < m_line)
    {
        m_bytes -= m_byteCounter;
        Increase(m_byteStage);
    }
}

void
Dcqcn::Increase(int64_t& stage)
{
    // Without a byte counter only the timer counts.
    const int64_t last = m_byteCounter ? std::min(m_timeStage, m_byteStage) : m_timeStage;
    const int64_t first = std::max(m_timeStage, m_byteStage);
    if (last > m_fastRecovery)
    {
        m_target += m_hyperIncrease;
    }
    else if (first >= m_fastRecovery)
    {
        m_target += m_additiveIncrease;
    }
    m_target = std::min(m_target, m_line);
    m_current = (m_current + m_target + 1) / 2;
    ++stage;
    if (m_current == m_line)
    {
        m_increaseAt = NEVER;
    }
    Apply();
}

void
Dcqcn::Apply()
{
    m_rate = m_current < m_line ? m_current : 0;
    m_stateTrace(m_connection->GetFlow(), m_current, m_target, m_alpha);
}

void
Dcqcn::Report(lossless::Summary& summary) const
{
    summary["congestion_notifications"] += static_cast<double>(m_notifications);
    summary["rate_cuts"] += static_cast<double>(m_cuts);
}

double
Dcqcn::GetAlpha()
{
    AdvanceAlpha(NowPs());
    return m_alpha;
}

} // namespace dcqcn
} // namespace ns3
