/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-ecn-marking.h"

#include "lossless-attribute.h"
#include "lossless-fabric-node.h"
#include "lossless-rate.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(EcnMarking);

namespace
{

constexpr int64_t FIRST_STREAM = 1000; //!< of switch 0; switch n uses the n-th after it

} // namespace

TypeId
EcnMarking::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::EcnMarking")
            .SetParent<SwitchAgent>()
            .SetGroupName("lossless")
            .AddConstructor<EcnMarking>()
            .AddAttribute("At",
                          "When a frame is marked: Enqueue, by the queue length including the "
                          "frame itself; Dequeue, by the queue length that remains, as in the HPCC "
                          "simulator.",
                          EnumValue(At::DEQUEUE),
                          MakeEnumAccessor<At>(&EcnMarking::m_at),
                          MakeEnumChecker(At::ENQUEUE, "Enqueue", At::DEQUEUE, "Dequeue"))
            .AddAttribute("Kmin",
                          "Queue length up to which no frame is marked. 100 KB: kmin_map of the "
                          "HPCC simulator at 25 Gb/s. [B]",
                          IntegerValue(100'000),
                          MakeIntegerAccessor(&EcnMarking::m_kmin),
                          MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("Kmax",
                          "Queue length above which every frame is marked. 400 KB: kmax_map of the "
                          "HPCC simulator at 25 Gb/s. [B]",
                          IntegerValue(400'000),
                          MakeIntegerAccessor(&EcnMarking::m_kmax),
                          MakeIntegerChecker<int64_t>(0, 1'000'000'000'000))
            .AddAttribute("Pmax",
                          "Marking probability at Kmax. 0.2: pmax_map of the HPCC simulator.",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&EcnMarking::m_pmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("ReferenceRate",
                          "Rate of the egress port for which Kmin and Kmax are given; they scale "
                          "in proportion to the port's rate. 0: no scaling.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&EcnMarking::m_referenceRate),
                          MakeRateChecker())
            .AddTraceSource("Mark",
                            "A frame was marked: egress port, frame, queue length.",
                            MakeTraceSourceAccessor(&EcnMarking::m_markTrace),
                            "ns3::lossless::EcnMarking::MarkCallback");
    return tid;
}

EcnMarking::EcnMarking() = default;
EcnMarking::~EcnMarking() = default;

EcnMarking::Thresholds
EcnMarking::GetThresholds(const Port& egress) const
{
    const auto scaled = [&](int64_t bytes) {
        return static_cast<int64_t>(InProportion(static_cast<uint64_t>(bytes),
                                                 egress.GetRate(),
                                                 m_referenceRate.GetBitRate(),
                                                 NEVER));
    };
    return {scaled(m_kmin), scaled(m_kmax)};
}

EcnMarking::At
EcnMarking::GetAt() const
{
    return m_at;
}

int64_t
EcnMarking::AssignStreams(int64_t stream)
{
    m_stream = stream;
    return 1;
}

void
EcnMarking::Start()
{
    m_random = CreateObject<UniformRandomVariable>();
    m_random->SetStream(m_stream < 0 ? FIRST_STREAM + m_node->GetId() : m_stream);
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        m_thresholds.push_back(GetThresholds(m_node->GetPort(index)));
    }
}

std::string
EcnMarking::Check() const
{
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        const Port& egress = m_node->GetPort(index);
        const auto [kmin, kmax] = GetThresholds(egress);
        if (kmin > kmax)
        {
            return m_node->GetName() + ": ECN marking: Kmin " + std::to_string(kmin) +
                   " B is above Kmax " + std::to_string(kmax) + " B at " +
                   std::to_string(egress.GetRate()) + " bit/s; raise Kmax or lower Kmin\n";
        }
    }
    return {};
}

void
EcnMarking::NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame)
{
    if (m_at == At::ENQUEUE)
    {
        Look(egress, queue, frame);
    }
}

void
EcnMarking::NotifyDequeue(Port& egress, uint16_t queue, Frame& frame)
{
    if (m_at == At::DEQUEUE)
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
    if (depth <= at.kmin || !payload || frame.ecn != Frame::ECN_CAPABLE)
    {
        return;
    }
    if (depth <= at.kmax)
    {
        // u < Pmax (q - Kmin) / (Kmax - Kmin), without a division
        const double u = m_random->GetValue(0, 1);
        if (u * static_cast<double>(at.kmax - at.kmin) >=
            m_pmax * static_cast<double>(depth - at.kmin))
        {
            return;
        }
    }
    frame.ecn = Frame::ECN_MARKED;
    ++m_marked;
    m_markTrace(egress, frame, depth);
}

int64_t
EcnMarking::GetRestingDepth(uint16_t port) const
{
    return m_thresholds[port].kmin;
}

void
EcnMarking::Report(Summary& summary) const
{
    summary["marked_frames"] += static_cast<double>(m_marked);
}

uint64_t
EcnMarking::GetMarked() const
{
    return m_marked;
}

} // namespace lossless
} // namespace ns3
