/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "gfc-multi-stage.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace gfc
{

NS_OBJECT_ENSURE_REGISTERED(MultiStageGfc);

namespace
{

/// MAC control opcode of stage messages, from the range that IEEE has not assigned.
constexpr uint16_t OPCODE = 0x0fc1;

} // namespace

std::vector<Stage>
MakeStages(int64_t b1, int64_t bm, double ratio, uint64_t line, uint64_t floor)
{
    std::vector<Stage> stages{Stage{0, line}};
    const auto span = static_cast<double>(bm - b1);
    double share = 1; // ratio^(k-1)
    for (;;)
    {
        const auto start = static_cast<int64_t>(std::ceil(static_cast<double>(bm) - span * share));
        const double rate = static_cast<double>(line) * share * ratio;
        if (stages.size() > 1 && start <= stages.back().start)
        {
            return stages;
        }
        stages.push_back(Stage{start, std::max(floor, static_cast<uint64_t>(rate))});
        // B_n - B_(n-1) = (1 - ratio) ratio^(n-2) (Bm - B1)
        if (stages.size() > 2 && span * share * (1 - ratio) <= ratio)
        {
            return stages;
        }
        share *= ratio;
    }
}

TypeId
MultiStageGfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gfc::MultiStageGfc")
            .SetParent<Gentle>()
            .SetGroupName("gfc")
            .AddConstructor<MultiStageGfc>()
            .AddAttribute("Bm",
                          "Queue length at which the mapping would reach rate 0 (section 4.2); "
                          "reserved from the node's buffer. [B]",
                          UintegerValue(300'000),
                          MakeUintegerAccessor(&MultiStageGfc::m_bm),
                          MakeUintegerChecker<int64_t>(1, 0xffffffff))
            .AddAttribute("B1",
                          "Start of stage 1, below which the peer sends at line rate (section 4.2: "
                          "Bm - B1 >= 2 C tau). [B]",
                          UintegerValue(281'000),
                          MakeUintegerAccessor(&MultiStageGfc::m_b1),
                          MakeUintegerChecker<int64_t>(0, 0xffffffff))
            .AddAttribute("Ratio",
                          "R_k / R_(k-1): 0.5 in the paper (equation 4), at most 0.75 by equation "
                          "3 and Theorem 4.1.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&MultiStageGfc::m_ratio),
                          MakeDoubleChecker<double>(0.01, 0.99))
            .AddAttribute("MinRate",
                          "No stage is slower; commodity limiters count in units of about 8 kb/s "
                          "(unverified).",
                          DataRateValue(DataRate("8kbps")),
                          MakeDataRateAccessor(&MultiStageGfc::m_minRate),
                          lossless::MakeRateChecker())
            .AddAttribute(
                "Hysteresis",
                "How far below its start a stage is left downwards; 0 as in the paper. [B]",
                UintegerValue(0),
                MakeUintegerAccessor(&MultiStageGfc::m_hysteresis),
                MakeUintegerChecker<int64_t>(0, 0xffffffff))
            .AddAttribute("Ideal",
                          "Messages use no bandwidth and wait for no frame.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&MultiStageGfc::m_ideal),
                          MakeBooleanChecker());
    return tid;
}

lossless::BufferDemand
MultiStageGfc::GetBufferDemand() const
{
    return DemandUpTo(m_bm);
}

void
MultiStageGfc::Start()
{
    m_stages = MakeStages(std::min(m_b1, m_bm - 1),
                          m_bm,
                          m_ratio,
                          m_port->GetRate(),
                          m_minRate.GetBitRate());
    Gentle::Start();
}

std::string
MultiStageGfc::Check() const
{
    std::ostringstream problems;
    if (m_b1 >= m_bm)
    {
        problems << "MultiStageGfc: B1 " << m_b1 << " B must be less than Bm " << m_bm << " B\n";
    }
    if (m_minRate.GetBitRate() == 0 || m_minRate.GetBitRate() > m_port->GetRate())
    {
        problems << "MultiStageGfc: MinRate " << m_minRate
                 << " must be above 0 and at most the link's rate\n";
    }
    return problems.str();
}

std::string
MultiStageGfc::Warn() const
{
    // Equation 1, B_(k+1) - B_k >= R_(k-1) tau, for any ratio: 2 C tau for the paper's 1/2.
    const bool isPapers = m_ratio == 0.5;
    return WarnMargin("Bm - B1",
                      m_bm - m_b1,
                      1 / (1 - m_ratio),
                      isPapers ? "2 C tau" : "C tau / (1 - Ratio)",
                      isPapers ? "section 4.2" : "equation 1");
}

const std::vector<Stage>&
MultiStageGfc::GetStages() const
{
    return m_stages;
}

uint64_t
MultiStageGfc::GetRate(uint32_t word) const
{
    return m_stages[std::min<std::size_t>(word, m_stages.size() - 1)].rate;
}

uint32_t
MultiStageGfc::GetWord(int64_t queueBytes, uint32_t last) const
{
    // The queue length rarely moves by more than a stage or two: search from the previous stage.
    uint32_t stage = last;
    while (stage + 1 < m_stages.size() && queueBytes >= m_stages[stage + 1].start)
    {
        ++stage;
    }
    while (stage > 0 && queueBytes < m_stages[stage].start - m_hysteresis)
    {
        --stage;
    }
    return stage;
}

uint16_t
MultiStageGfc::GetOpcode() const
{
    return OPCODE;
}

} // namespace gfc
} // namespace ns3
