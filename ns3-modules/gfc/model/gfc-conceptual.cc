/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
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

NS_OBJECT_ENSURE_REGISTERED(ConceptualGfc);

uint64_t
LinearRate(int64_t queueBytes, int64_t b0, int64_t bm, uint64_t line)
{
    if (queueBytes <= b0)
    {
        return line;
    }
    if (queueBytes >= bm)
    {
        return 0;
    }
    return static_cast<uint64_t>(static_cast<lossless::Uint128>(line) *
                                 static_cast<uint64_t>(bm - queueBytes) /
                                 static_cast<uint64_t>(bm - b0));
}

TypeId
ConceptualGfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gfc::ConceptualGfc")
            .SetParent<Gentle>()
            .SetGroupName("gfc")
            .AddConstructor<ConceptualGfc>()
            .AddAttribute("Bm",
                          "Queue length at which the mapping reaches rate 0 (section 4.1; 100 KB "
                          "in Figure 5); reserved from the node's buffer. [B]",
                          UintegerValue(100'000),
                          MakeUintegerAccessor(&ConceptualGfc::m_bm),
                          MakeUintegerChecker<int64_t>(1, 0xffffffff))
            .AddAttribute("B0",
                          "Queue length up to which the peer sends at line rate (section 4.1; 50 "
                          "KB in Figure 5). [B]",
                          UintegerValue(50'000),
                          MakeUintegerAccessor(&ConceptualGfc::m_b0),
                          MakeUintegerChecker<int64_t>(0, 0xffffffff))
            .AddAttribute(
                "Ideal",
                "Messages use no bandwidth and wait for no frame, as section 4.1 assumes.",
                BooleanValue(true),
                MakeBooleanAccessor(&ConceptualGfc::m_ideal),
                MakeBooleanChecker());
    return tid;
}

lossless::BufferDemand
ConceptualGfc::GetBufferDemand() const
{
    return DemandUpTo(m_bm);
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

std::string
ConceptualGfc::Warn() const
{
    return WarnMargin("Bm - B0", m_bm - m_b0, 4, "4 C tau", "Theorem 4.1");
}

uint64_t
ConceptualGfc::GetRate(uint32_t word) const
{
    return LinearRate(word, m_b0, m_bm, m_port->GetRate());
}

uint32_t
ConceptualGfc::GetWord(int64_t queueBytes, uint32_t /* last */) const
{
    // Below B0 the rate is line rate whatever the queue length, from Bm on it is 0: only changes in
    // between are reported.
    return static_cast<uint32_t>(std::clamp(queueBytes, m_b0, m_bm));
}

uint16_t
ConceptualGfc::GetOpcode() const
{
    return QUEUE_LENGTH_OPCODE;
}

} // namespace gfc
} // namespace ns3
