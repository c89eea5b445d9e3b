/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-ecn-marking.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-fabric-node.h"

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::Port;

NS_OBJECT_ENSURE_REGISTERED(EcnMarking);

namespace
{

constexpr int64_t FIRST_STREAM = 1000; //!< of switch 0; that of switch n is n more
constexpr uint8_t CAPABLE = 1;         //!< Frame::ecn
constexpr uint8_t MARKED = 3;          //!< Frame::ecn: congestion experienced

} // namespace

TypeId
EcnMarking::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::EcnMarking")
            .SetParent<lossless::SwitchAgent>()
            .SetGroupName("rdma")
            .AddConstructor<EcnMarking>()
            .AddAttribute(
                "Parameters",
                "Set of values for what is not given: Hpcc and HpccPaper are \"dcqcn\" and "
                "\"dcqcn_paper\" of run.py of the public HPCC simulator; Paper is "
                "DCQCN's, SIGCOMM 2015, at 40 Gb/s as recalled, not verified.",
                EnumValue(DcqcnSet::HPCC),
                MakeEnumAccessor<DcqcnSet>(&EcnMarking::m_set),
                MakeEnumChecker(DcqcnSet::HPCC,
                                "Hpcc",
                                DcqcnSet::HPCC_PAPER,
                                "HpccPaper",
                                DcqcnSet::PAPER,
                                "Paper"))
            .AddAttribute(
                "At",
                "When a frame is marked: Enqueue, by the depth it finds, itself "
                "included; Dequeue, by the depth it leaves. FromSet: Hpcc and HpccPaper "
                "Dequeue, Paper Enqueue.",
                EnumValue(At::SET),
                MakeEnumAccessor<At>(&EcnMarking::m_at),
                MakeEnumChecker(At::SET, "FromSet", At::ENQUEUE, "Enqueue", At::DEQUEUE, "Dequeue"))
            .AddAttribute("Kmin",
                          "Depth up to which nothing is marked. -1: of the set: Hpcc and HpccPaper "
                          "100 KB at 25 Gb/s (kmin_map), Paper 5 KB (unverified). [B]",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&EcnMarking::m_kmin),
                          MakeIntegerChecker<int64_t>(-1, 1'000'000'000'000))
            .AddAttribute("Kmax",
                          "Depth above which everything is marked. -1: of the set: Hpcc and "
                          "HpccPaper 400 KB at 25 Gb/s (kmax_map), Paper 200 KB (unverified). [B]",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&EcnMarking::m_kmax),
                          MakeIntegerChecker<int64_t>(-1, 1'000'000'000'000))
            .AddAttribute("Pmax",
                          "Probability at Kmax. -1: of the set: Hpcc and HpccPaper 0.2 (pmax_map), "
                          "Paper 0.01 (unverified).",
                          DoubleValue(-1),
                          MakeDoubleAccessor(&EcnMarking::m_pmax),
                          MakeDoubleChecker<double>(-1, 1))
            .AddAttribute("Scale",
                          "Do Kmin and Kmax grow with the rate of the egress port? FromSet: those "
                          "of Hpcc and HpccPaper do, those of Paper and those given here do not; "
                          "None; Line: all do, and hold at ReferenceRate.",
                          EnumValue(DcqcnScale::SET),
                          MakeEnumAccessor<DcqcnScale>(&EcnMarking::m_scale),
                          MakeEnumChecker(DcqcnScale::SET,
                                          "FromSet",
                                          DcqcnScale::NONE,
                                          "None",
                                          DcqcnScale::LINE,
                                          "Line"))
            .AddAttribute("ReferenceRate",
                          "Rate of a port at which thresholds hold that scale. 25 Gb/s (run.py).",
                          DataRateValue(DataRate(25'000'000'000)),
                          MakeDataRateAccessor(&EcnMarking::m_referenceRate),
                          lossless::MakeRateChecker())
            .AddTraceSource("Mark",
                            "A frame was marked: egress port, frame, depth of the queue.",
                            MakeTraceSourceAccessor(&EcnMarking::m_markTrace),
                            "ns3::rdma::EcnMarking::MarkCallback");
    return tid;
}

EcnMarking::EcnMarking() = default;
EcnMarking::~EcnMarking() = default;

uint32_t
EcnMarking::GetHooks() const
{
    return QUEUE;
}

int64_t
EcnMarking::Threshold(int64_t given, int64_t DcqcnValues::* ofSet, uint64_t rate) const
{
    const DcqcnValues& set = DcqcnValues::Of(m_set);
    const int64_t value = given < 0 ? set.*ofSet : given;
    const bool scales =
        m_scale == DcqcnScale::LINE || (m_scale == DcqcnScale::SET && set.scales && given < 0);
    return scales ? static_cast<int64_t>(std::min<lossless::Int128>(
                        static_cast<lossless::Int128>(value) * rate / m_referenceRate.GetBitRate(),
                        lossless::NEVER))
                  : value;
}

int64_t
EcnMarking::GetKmin(uint64_t rate) const
{
    return Threshold(m_kmin, &DcqcnValues::kmin, rate);
}

int64_t
EcnMarking::GetKmax(uint64_t rate) const
{
    return Threshold(m_kmax, &DcqcnValues::kmax, rate);
}

double
EcnMarking::GetPmax() const
{
    return m_pmax < 0 ? DcqcnValues::Of(m_set).pmax : m_pmax;
}

EcnMarking::At
EcnMarking::GetAt() const
{
    const At ofSet = DcqcnValues::Of(m_set).markAtEnqueue ? At::ENQUEUE : At::DEQUEUE;
    return m_at == At::SET ? ofSet : m_at;
}

void
EcnMarking::Start()
{
    m_random = CreateObject<UniformRandomVariable>();
    m_random->SetStream(FIRST_STREAM + m_node->GetId());
    m_mostLikely = GetPmax();
    if (m_referenceRate.GetBitRate() == 0)
    {
        return; // Check says so
    }
    m_atEnqueue = GetAt() == At::ENQUEUE;
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        const uint64_t rate = m_node->GetPort(index).GetRate();
        m_thresholds.push_back(Thresholds{GetKmin(rate), GetKmax(rate)});
    }
}

std::string
EcnMarking::Check() const
{
    if (m_referenceRate.GetBitRate() == 0)
    {
        return m_node->GetName() +
               ": ECN marking: ReferenceRate is 0 bit/s; give the rate of the port at which the "
               "thresholds hold, such as 25Gbps\n";
    }
    if (m_pmax < 0 && m_pmax != -1)
    {
        return m_node->GetName() + ": ECN marking: Pmax " + std::to_string(m_pmax) +
               " is no probability; give one from 0 to 1, or -1 for that of the set\n";
    }
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        const uint64_t rate = m_node->GetPort(index).GetRate();
        if (GetKmin(rate) > GetKmax(rate))
        {
            return m_node->GetName() + ": ECN marking: Kmin " + std::to_string(GetKmin(rate)) +
                   " B is above Kmax " + std::to_string(GetKmax(rate)) + " B at " +
                   std::to_string(rate) +
                   " bit/s; raise Kmax or lower Kmin (values not given come from the set)\n";
        }
    }
    return {};
}

void
EcnMarking::NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame)
{
    if (m_atEnqueue)
    {
        Look(egress, queue, frame);
    }
}

void
EcnMarking::NotifyDequeue(Port& egress, uint16_t queue, Frame& frame)
{
    if (!m_atEnqueue)
    {
        Look(egress, queue, frame);
    }
}

void
EcnMarking::Look(Port& egress, uint16_t queue, Frame& frame)
{
    const int64_t depth = egress.GetQueues()[queue].GetBytes();
    const Thresholds& at = m_thresholds[egress.GetIndex()];
    const bool payload = frame.kind == FrameKind::DATA || frame.kind == FrameKind::PACKET;
    if (depth <= at.kmin || !payload || frame.ecn != CAPABLE)
    {
        return;
    }
    if (depth <= at.kmax)
    {
        // u < Pmax (q - Kmin) / (Kmax - Kmin), without the division
        const double u = m_random->GetValue(0, 1);
        if (u * static_cast<double>(at.kmax - at.kmin) >=
            m_mostLikely * static_cast<double>(depth - at.kmin))
        {
            return;
        }
    }
    frame.ecn = MARKED;
    ++m_marked;
    m_markTrace(egress, frame, depth);
}

void
EcnMarking::Report(lossless::Summary& summary) const
{
    summary["marked_frames"] += static_cast<double>(m_marked);
}

uint64_t
EcnMarking::GetMarked() const
{
    return m_marked;
}

} // namespace rdma
} // namespace ns3
