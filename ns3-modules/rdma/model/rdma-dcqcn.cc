/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-dcqcn.h"

#include "rdma-ecn-marking.h"
#include "rdma-queue-pair.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/lossless-attribute.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::NEVER;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

namespace
{

constexpr uint64_t MBPS = 1'000'000; //!< bit/s
constexpr int64_t US = 1'000'000;    //!< ps
constexpr int64_t KB = 1000;         //!< B
constexpr uint8_t MARKED = 3;        //!< Frame::ecn: congestion experienced
/// Alpha below this changes no rate of 53 bits any more and counts as 0.
constexpr double NO_ALPHA = 0x1p-53;

// simulation/run.py of the public HPCC simulator, cc = "dcqcn": t_alpha=1, t_dec=4, t_inc=300,
// CLAMP_TARGET_RATE 0, FAST_RECOVERY_TIMES 1, ai = 5 * bw / 25, hai = 50 * bw / 25, MIN_RATE 1000
// Mb/s, kmin 100 * bw / 25 and kmax 400 * bw / 25 KB, pmax 0.2; a mark comes back as a bit of each
// ACK, marks are made as frames leave, there is no byte counter.
constexpr DcqcnValues HPCC_VALUES{
    .cutOn = DcqcnValues::CutOn::TIMER,
    .notification = DcqcnValues::Notification::ACK_BIT,
    .clamp = DcqcnValues::Clamp::AFTER_INCREASE,
    .decreaseInterval = 4 * US,
    .alphaInterval = 1 * US,
    .increaseInterval = 300 * US,
    .byteCounter = 0,
    .fastRecovery = 1,
    .additiveIncrease = 5 * MBPS,
    .hyperIncrease = 50 * MBPS,
    .minRate = 1000 * MBPS,
    .kmin = 100 * KB,
    .kmax = 400 * KB,
    .pmax = 0.2,
    .markAtEnqueue = false,
    .scales = true,
};

/**
 * @brief The same with cc = "dcqcn_paper": t_alpha=50, t_dec=50, t_inc=55.
 *
 * @return the values.
 */
constexpr DcqcnValues
HpccPaperValues()
{
    DcqcnValues values = HPCC_VALUES;
    values.alphaInterval = 50 * US;
    values.decreaseInterval = 50 * US;
    values.increaseInterval = 55 * US;
    return values;
}

constexpr DcqcnValues HPCC_PAPER_VALUES = HpccPaperValues();

// Zhu et al., SIGCOMM 2015, for 40 Gb/s, as recalled; not verified.
constexpr DcqcnValues PAPER_VALUES{
    .cutOn = DcqcnValues::CutOn::CNP,
    .notification = DcqcnValues::Notification::PACED,
    .clamp = DcqcnValues::Clamp::ALWAYS,
    .decreaseInterval = 0,
    .alphaInterval = 55 * US,
    .increaseInterval = 55 * US,
    .byteCounter = 10'000 * KB,
    .fastRecovery = 5,
    .additiveIncrease = 40 * MBPS,
    .hyperIncrease = 400 * MBPS,
    .minRate = 10 * MBPS,
    .kmin = 5 * KB,
    .kmax = 200 * KB,
    .pmax = 0.01,
    .markAtEnqueue = true,
    .scales = false,
};

} // namespace

const DcqcnValues&
DcqcnValues::Of(DcqcnSet set)
{
    switch (set)
    {
    case DcqcnSet::HPCC:
        return HPCC_VALUES;
    case DcqcnSet::HPCC_PAPER:
        return HPCC_PAPER_VALUES;
    case DcqcnSet::PAPER:
        break;
    }
    return PAPER_VALUES;
}

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::Dcqcn")
            .SetParent<CongestionControl>()
            .SetGroupName("rdma")
            .AddConstructor<Dcqcn>()
            .AddAttribute(
                "Parameters",
                "Set of values for what is not given: Hpcc and HpccPaper are \"dcqcn\" and "
                "\"dcqcn_paper\" of run.py of the public HPCC simulator; Paper is "
                "SIGCOMM 2015 at 40 Gb/s as recalled, not verified. Set that of the ECN "
                "marking too.",
                EnumValue(DcqcnSet::HPCC),
                MakeEnumAccessor<DcqcnSet>(&Dcqcn::m_set),
                MakeEnumChecker(DcqcnSet::HPCC,
                                "Hpcc",
                                DcqcnSet::HPCC_PAPER,
                                "HpccPaper",
                                DcqcnSet::PAPER,
                                "Paper"))
            .AddAttribute("Notification",
                          "How the receiver tells of marked packets: Paced, a CNP at most every "
                          "CnpInterval; PerPacket, a CNP for each; AckBit, a bit of its ACK or "
                          "NACK. FromSet: Hpcc and HpccPaper AckBit, Paper Paced.",
                          EnumValue(Notification::SET),
                          MakeEnumAccessor<Notification>(&Dcqcn::m_notification),
                          MakeEnumChecker(Notification::SET,
                                          "FromSet",
                                          Notification::PACED,
                                          "Paced",
                                          Notification::PER_PACKET,
                                          "PerPacket",
                                          Notification::ACK_BIT,
                                          "AckBit"))
            .AddAttribute("CnpInterval",
                          "Least time between two CNPs of a flow, with Paced. 50 us in the SFC "
                          "slides and, as recalled, in the paper; 4 us in NVIDIA firmware.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Dcqcn::m_cnpInterval),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute(
                "CutOn",
                "What makes the sender cut its rate: Cnp, each notification at once; "
                "Timer, a look every DecreaseInterval from the first notification on, "
                "if there was one since the last look. FromSet: Hpcc and HpccPaper "
                "Timer, Paper Cnp.",
                EnumValue(CutOn::SET),
                MakeEnumAccessor<CutOn>(&Dcqcn::m_cutOn),
                MakeEnumChecker(CutOn::SET, "FromSet", CutOn::CNP, "Cnp", CutOn::TIMER, "Timer"))
            .AddAttribute("DecreaseInterval",
                          "With CutOn Timer the time between two looks, with Cnp the least time "
                          "between two cuts. 0: of the set: Hpcc 4 us (t_dec), HpccPaper 50 us, "
                          "Paper none, where the CNPs set the pace.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Dcqcn::m_decreaseInterval),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("AlphaInterval",
                          "Time without a notification after which alpha falls by Gain. 0: of the "
                          "set: Hpcc 1 us (t_alpha), HpccPaper 50 us, Paper 55 us (unverified).",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Dcqcn::m_alphaInterval),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Gain",
                          "g, the share by which alpha moves. 1/256 in all sets (run.py; paper as "
                          "recalled).",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_gain),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("InitialAlpha",
                          "Alpha at the first notification. 1 in all sets (HPCC simulator; paper "
                          "as recalled).",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Dcqcn::m_initialAlpha),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("FirstCnpFactor",
                          "Factor of the rate, and of the target, at the first notification, "
                          "before any cut. 1 in all sets (HPCC simulator).",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Dcqcn::m_firstFactor),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("IncreaseInterval",
                          "Time of the increase timer. 0: of the set: Hpcc 300 us (t_inc), "
                          "HpccPaper 55 us, Paper 55 us (unverified).",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Dcqcn::m_increaseInterval),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("ByteCounter",
                          "Bytes of frames sent for an increase; 0: none. -1: of the set: Hpcc and "
                          "HpccPaper none, Paper 10 MB (unverified). [B]",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&Dcqcn::m_byteCounter),
                          MakeIntegerChecker<int64_t>(-1, 1'000'000'000'000))
            .AddAttribute("FastRecovery",
                          "Increases that only halve the way to the target, before the target "
                          "grows. -1: of the set: Hpcc and HpccPaper 1 (FAST_RECOVERY_TIMES), "
                          "Paper 5 (unverified).",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&Dcqcn::m_fastRecovery),
                          MakeIntegerChecker<int64_t>(-1, 1'000'000))
            .AddAttribute("AdditiveIncrease",
                          "Growth of the target rate. 0: of the set: Hpcc and HpccPaper 5 Mb/s at "
                          "25 Gb/s (ai), Paper 40 Mb/s (unverified).",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&Dcqcn::m_additive),
                          lossless::MakeRateChecker())
            .AddAttribute("HyperIncrease",
                          "The same in hyper increase. 0: of the set: Hpcc and HpccPaper 50 Mb/s "
                          "at 25 Gb/s (hai), Paper 400 Mb/s (unverified).",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&Dcqcn::m_hyper),
                          lossless::MakeRateChecker())
            .AddAttribute("MinRate",
                          "Least rate. 0: of the set: Hpcc and HpccPaper 1 Gb/s (MIN_RATE), Paper "
                          "10 Mb/s (unverified).",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&Dcqcn::m_minRate),
                          lossless::MakeRateChecker())
            .AddAttribute("TargetClamp",
                          "When a cut moves the target down to the rate before it: Always; "
                          "AfterIncrease, when the rate was increased since the last cut; "
                          "AfterTimer, when the timer did so. FromSet: Hpcc and HpccPaper "
                          "AfterIncrease (CLAMP_TARGET_RATE 0), Paper Always.",
                          EnumValue(Clamp::SET),
                          MakeEnumAccessor<Clamp>(&Dcqcn::m_clamp),
                          MakeEnumChecker(Clamp::SET,
                                          "FromSet",
                                          Clamp::ALWAYS,
                                          "Always",
                                          Clamp::AFTER_INCREASE,
                                          "AfterIncrease",
                                          Clamp::AFTER_TIMER,
                                          "AfterTimer"))
            .AddAttribute("Scale",
                          "Do AdditiveIncrease and HyperIncrease grow with the rate of the "
                          "sender's line? FromSet: those of Hpcc and HpccPaper do, those of Paper "
                          "and those given here do not; None; Line: all do, and hold at "
                          "ReferenceRate.",
                          EnumValue(DcqcnScale::SET),
                          MakeEnumAccessor<DcqcnScale>(&Dcqcn::m_scale),
                          MakeEnumChecker(DcqcnScale::SET,
                                          "FromSet",
                                          DcqcnScale::NONE,
                                          "None",
                                          DcqcnScale::LINE,
                                          "Line"))
            .AddAttribute("ReferenceRate",
                          "Rate of the line at which values hold that scale. 25 Gb/s (run.py).",
                          DataRateValue(DataRate(25'000 * MBPS)),
                          MakeDataRateAccessor(&Dcqcn::m_referenceRate),
                          lossless::MakeRateChecker())
            .AddAttribute("CutOnNack",
                          "A NACK, the sign of a lost packet, counts as a notification. False in "
                          "all sets; the SFC slides let sources react to discards.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Dcqcn::m_cutOnNack),
                          MakeBooleanChecker())
            .AddTraceSource("State",
                            "A cut or an increase: flow, current rate, target rate, alpha.",
                            MakeTraceSourceAccessor(&Dcqcn::m_stateTrace),
                            "ns3::rdma::Dcqcn::StateCallback");
    return tid;
}

Dcqcn::Dcqcn()
    : m_look(this, &Dcqcn::Look),
      m_increase(this, &Dcqcn::IncreaseTimer)
{
}

Dcqcn::~Dcqcn() = default;

void
Dcqcn::Resolve(uint64_t lineRate)
{
    const DcqcnValues& set = DcqcnValues::Of(m_set);
    const auto time = [](const Time& given, int64_t ofSet) {
        return given.IsZero() ? ofSet : given.GetTimeStep();
    };
    const auto rate = [&](const DataRate& given, uint64_t ofSet) -> uint64_t {
        const uint64_t value = given.GetBitRate() ? given.GetBitRate() : ofSet;
        const bool scales = m_scale == DcqcnScale::LINE ||
                            (m_scale == DcqcnScale::SET && set.scales && !given.GetBitRate());
        // what passes any line is as good as the highest rate
        return scales ? static_cast<uint64_t>(
                            std::min<lossless::Uint128>(static_cast<lossless::Uint128>(value) *
                                                            lineRate / m_referenceRate.GetBitRate(),
                                                        lossless::HIGHEST_RATE))
                      : value;
    };
    m_values = set;
    m_values.cutOn = m_cutOn == CutOn::SET ? set.cutOn : m_cutOn;
    m_values.notification = m_notification == Notification::SET ? set.notification : m_notification;
    m_values.clamp = m_clamp == Clamp::SET ? set.clamp : m_clamp;
    m_values.decreaseInterval = time(m_decreaseInterval, set.decreaseInterval);
    if (m_values.cutOn == CutOn::CNP && m_decreaseInterval.IsZero())
    {
        m_values.decreaseInterval = 0; // a period of looks is no least time between cuts
    }
    m_values.alphaInterval = time(m_alphaInterval, set.alphaInterval);
    m_values.increaseInterval = time(m_increaseInterval, set.increaseInterval);
    m_values.byteCounter = m_byteCounter < 0 ? set.byteCounter : m_byteCounter;
    m_values.fastRecovery = m_fastRecovery < 0 ? set.fastRecovery : m_fastRecovery;
    m_values.additiveIncrease = rate(m_additive, set.additiveIncrease);
    m_values.hyperIncrease = rate(m_hyper, set.hyperIncrease);
    m_values.minRate =
        std::min(lineRate, m_minRate.GetBitRate() ? m_minRate.GetBitRate() : set.minRate);
}

void
Dcqcn::Start(QueuePair* queuePair, uint64_t lineRate)
{
    CongestionControl::Start(queuePair, lineRate);
    Resolve(lineRate);
    m_line = lineRate;
    m_current = lineRate;
    m_target = lineRate;
    m_increaseAt = NEVER;
}

std::string
Dcqcn::Check() const
{
    std::string problems;
    if (m_referenceRate.GetBitRate() == 0)
    {
        problems += "DCQCN: ReferenceRate is 0 bit/s; give the rate of the line at which the "
                    "increases hold, such as 25Gbps\n";
    }
    if (m_cutOn == CutOn::TIMER && m_decreaseInterval.IsZero() &&
        DcqcnValues::Of(m_set).decreaseInterval == 0)
    {
        problems += "DCQCN: CutOn Timer needs DecreaseInterval, the time between two looks, which "
                    "Parameters Paper does not have; give it, such as 50us\n";
    }
    return problems;
}

std::string
Dcqcn::GetSignaller() const
{
    return EcnMarking::GetTypeId().GetName();
}

bool
Dcqcn::NotifyData(const Frame& frame)
{
    if (frame.ecn != MARKED)
    {
        return false;
    }
    ++m_marksSeen;
    switch (m_values.notification)
    {
    case Notification::PACED: {
        const int64_t now = NowPs();
        if (now < m_nextCnp)
        {
            return false;
        }
        m_nextCnp = now + m_cnpInterval.GetTimeStep();
        return true;
    }
    case Notification::PER_PACKET:
        return true;
    case Notification::ACK_BIT:
    case Notification::SET:
        break;
    }
    return false;
}

void
Dcqcn::NotifyCnp(const Frame& /* frame */)
{
    Notified();
}

void
Dcqcn::NotifyAck(const Frame& frame)
{
    const bool told = frame.ecn == MARKED && m_values.notification == Notification::ACK_BIT;
    if (told || (m_cutOnNack && frame.kind == FrameKind::NACK))
    {
        Notified();
    }
}

void
Dcqcn::Notified()
{
    ++m_notifications;
    if (m_queuePair->IsAcknowledged())
    {
        return;
    }
    const int64_t now = NowPs();
    const bool first = m_firstAt < 0;
    if (first)
    {
        m_firstAt = now;
        m_cutAt = -m_values.decreaseInterval;
        m_alpha = m_initialAlpha;
        m_alphaAt = now;
        m_current = std::max(m_values.minRate,
                             static_cast<uint64_t>(static_cast<double>(m_current) * m_firstFactor));
        m_target = m_current;
        if (m_current < m_line)
        {
            ArmIncrease(now);
            Apply();
        }
    }
    AdvanceAlpha(now);
    if (m_values.cutOn == CutOn::CNP)
    {
        if (now - m_cutAt >= m_values.decreaseInterval)
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
        const int64_t since = (now - m_firstAt) % m_values.decreaseInterval;
        m_look.Schedule(m_values.decreaseInterval - since);
    }
}

void
Dcqcn::AdvanceAlpha(int64_t now)
{
    if (m_firstAt < 0)
    {
        return;
    }
    int64_t periods = (now - m_alphaAt) / m_values.alphaInterval;
    m_alphaAt += periods * m_values.alphaInterval;
    constexpr int64_t MANY = 1'000'000; // only with a gain and an interval that are next to nothing
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
    if (!m_queuePair->IsAcknowledged())
    {
        Cut(now);
        m_queuePair->Reconsider();
    }
}

void
Dcqcn::Cut(int64_t now)
{
    const bool clamp = m_values.clamp == Clamp::ALWAYS || m_timeStage > 0 ||
                       (m_values.clamp == Clamp::AFTER_INCREASE && m_byteStage > 0);
    if (clamp)
    {
        m_target = m_current;
    }
    m_current = std::max(m_values.minRate,
                         static_cast<uint64_t>(static_cast<double>(m_current) * (1 - m_alpha / 2)));
    m_cutAt = now;
    m_timeStage = 0;
    m_byteStage = 0;
    m_bytes = 0;
    ++m_cuts;
    ArmIncrease(now);
    Apply();
}

void
Dcqcn::ArmIncrease(int64_t now)
{
    m_increaseAt = now + m_values.increaseInterval;
    if (!m_increasePending)
    {
        m_increasePending = true;
        m_increase.Schedule(m_values.increaseInterval);
    }
}

void
Dcqcn::IncreaseTimer()
{
    const int64_t now = NowPs();
    m_increasePending = false;
    if (m_increaseAt == NEVER || m_queuePair->IsAcknowledged())
    {
        return;
    }
    if (now < m_increaseAt)
    {
        m_increasePending = true; // a cut has started it anew
        m_increase.Schedule(m_increaseAt - now);
        return;
    }
    Increase(m_timeStage);
    if (m_current < m_line)
    {
        ArmIncrease(now);
    }
    m_queuePair->Reconsider();
}

void
Dcqcn::NotifySent(const Frame& frame)
{
    if (m_current == m_line || m_values.byteCounter == 0)
    {
        return;
    }
    m_bytes += frame.bytes;
    while (m_bytes >= m_values.byteCounter && m_current < m_line)
    {
        m_bytes -= m_values.byteCounter;
        Increase(m_byteStage);
    }
}

void
Dcqcn::Increase(int64_t& stage)
{
    // Without a byte counter the timer alone decides.
    const int64_t last = m_values.byteCounter ? std::min(m_timeStage, m_byteStage) : m_timeStage;
    const int64_t first = std::max(m_timeStage, m_byteStage);
    if (last > m_values.fastRecovery)
    {
        m_target += m_values.hyperIncrease;
    }
    else if (first >= m_values.fastRecovery)
    {
        m_target += m_values.additiveIncrease;
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
    m_stateTrace(m_queuePair->GetFlow(), m_current, m_target, m_alpha);
}

void
Dcqcn::Report(lossless::Summary& summary) const
{
    summary["marked_packets_received"] += static_cast<double>(m_marksSeen);
    summary["congestion_notifications"] += static_cast<double>(m_notifications);
    summary["rate_cuts"] += static_cast<double>(m_cuts);
}

uint64_t
Dcqcn::GetCurrentRate() const
{
    return m_current;
}

uint64_t
Dcqcn::GetTargetRate() const
{
    return m_target;
}

double
Dcqcn::GetAlpha()
{
    AdvanceAlpha(NowPs());
    return m_alpha;
}

const DcqcnValues&
Dcqcn::GetValues() const
{
    return m_values;
}

} // namespace rdma
} // namespace ns3
