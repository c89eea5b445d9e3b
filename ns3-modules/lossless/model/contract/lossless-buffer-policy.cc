/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-buffer-policy.h"

#include "ns3/assert.h"
#include "ns3/double.h"
#include "ns3/lossless-state-visitor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(BufferPolicy);

TypeId
BufferPolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::BufferPolicy")
            .SetParent<Object>()
            .SetGroupName("lossless")
            .AddAttribute("Size",
                          "Total packet buffer; a Tomahawk has 16 MB. [B]",
                          UintegerValue(16'000'000),
                          MakeUintegerAccessor(&BufferPolicy::m_size),
                          MakeUintegerChecker<int64_t>(1, MAX_BUFFER))
            .AddAttribute("CellSize",
                          "What a frame takes of the buffer is a multiple of this, as in switch "
                          "chips, whose buffers consist of cells: 208 B in a Trident 2, 254 B in a "
                          "Tomahawk 5. Headroom and promises as the flow controls demand them grow "
                          "to what frames of any size take. 1: frames take their bytes. [B]",
                          UintegerValue(1),
                          MakeUintegerAccessor(&BufferPolicy::m_cellSize),
                          MakeUintegerChecker<int64_t>(1, 65'536))
            .AddAttribute("LossyPool",
                          "Part of the buffer reserved for lossy classes. [B]",
                          UintegerValue(1'000'000),
                          MakeUintegerAccessor(&BufferPolicy::m_lossyPool),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("LosslessClasses",
                          "Bit mask: bit c set makes class c lossless; by default class 3, as in "
                          "RoCE deployments.",
                          UintegerValue(0x08),
                          MakeUintegerAccessor(&BufferPolicy::m_losslessClasses),
                          MakeUintegerChecker<uint32_t>(0, 0xff))
            .AddAttribute(
                "LossyAlpha",
                "Share of the free lossy pool that one lossy (egress port, class) may hold.",
                DoubleValue(1.0),
                MakeDoubleAccessor(&BufferPolicy::m_lossyAlpha),
                MakeDoubleChecker<double>(1.0 / 1024, 1024));
    return tid;
}

uint64_t
BufferPolicy::Fixed(double alpha)
{
    return static_cast<uint64_t>(std::llround(alpha * (1U << ALPHA_SHIFT)));
}

int64_t
BufferPolicy::FreeFor(uint64_t alpha, int64_t threshold)
{
    const auto need = static_cast<Uint128>(threshold) << ALPHA_SHIFT;
    return static_cast<int64_t>((need + alpha - 1) / alpha);
}

void
BufferPolicy::Configure(const std::vector<BufferDemand>& demands)
{
    m_demands = demands;
    m_usage.assign(demands.size() * N_CLASSES, Usage{});
    m_lossy.assign(demands.size() * N_CLASSES, 0);
    m_lossyAlphaFixed = Fixed(m_lossyAlpha);
    DoConfigure(demands);
}

const BufferDemand&
BufferPolicy::GetDemand(uint16_t port) const
{
    return m_demands[port];
}

int64_t
BufferPolicy::GetOwn(uint16_t /* port */, uint8_t /* cls */) const
{
    return 0;
}

int64_t
BufferPolicy::GetRoom(uint16_t port, uint8_t cls) const
{
    return std::max({GetOwn(port, cls), GetHeadroom(port, cls), m_sharedSize});
}

bool
BufferPolicy::StaysOn(int64_t /* used */, int64_t /* queue */) const
{
    return false;
}

void
BufferPolicy::Visit(StateVisitor& visitor) const
{
    visitor.Inside(*this, m_usage, m_lossy);
    // Constant: m_size, m_cellSize, m_lossyPool, m_sharedSize, m_demands, m_losslessClasses,
    // m_lossyAlpha, m_lossyAlphaFixed; m_peakHeadroom, as m_turnedOff and m_resumed stay empty.
    visitor.Derived(m_peak,
                    m_peakQueue); // from the order of what happens at a time, see RaisePeaks
    for (const Usage& usage : m_usage)
    {
        const auto& [priv, shared, headroom, off] = usage;
        visitor.Require(!off && headroom == 0, "a pause is in force");
        visitor.Same(priv, shared);
    }
    for (const int64_t& bytes : m_lossy)
    {
        visitor.Same(bytes);
    }
    visitor.Same(m_sharedUsed, m_headroomUsed, m_lossyUsed, m_used);
}

std::string
BufferPolicy::DescribeDemands(int64_t missing) const
{
    std::ostringstream text;
    const auto describe = [&](const char* what, BufferDemand::Part BufferDemand::* part) {
        const std::string* formula = nullptr;
        int64_t most = 0;
        Int128 all = 0;
        for (const BufferDemand& demand : m_demands)
        {
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                const int64_t bytes = IsLossless(cls) ? (demand.*part).bytes[cls] : 0;
                all += bytes;
                if (bytes > most)
                {
                    most = bytes;
                    formula = &(demand.*part).formula;
                }
            }
        }
        if (formula)
        {
            text << "; " << what << " of a queue: up to " << *formula;
        }
        return all;
    };
    describe("demanded headroom", &BufferDemand::beyondStop);
    const Int128 promised = describe("promised to the upstream", &BufferDemand::promised);
    if (promised > 0)
    {
        const auto bytes = [](Int128 number) {
            return static_cast<int64_t>(std::clamp<Int128>(number, 0, NEVER));
        };
        text << "; in total " << bytes(promised) << " B are promised, but at most "
             << bytes(promised - missing) << " B can be";
    }
    return text.str();
}

std::string
BufferPolicy::Check() const
{
    return "";
}

bool
BufferPolicy::AdmitLossy(uint32_t queue, int64_t bytes)
{
    int64_t& held = m_lossy[queue];
    const int64_t free = m_lossyPool - m_lossyUsed;
    if (bytes > free || held + bytes > Threshold(m_lossyAlphaFixed, free))
    {
        return false;
    }
    held += bytes;
    m_lossyUsed += bytes;
    return true;
}

BufferPolicy::Usage
BufferPolicy::Shrink(const Rest& rest) const
{
    Usage left = GetUsage(rest.port, rest.cls);
    left.priv = std::min(left.priv, rest.bytes);
    left.shared = std::min(left.shared, rest.bytes - left.priv);
    left.headroom = rest.bytes - left.priv - left.shared;
    return left;
}

void
BufferPolicy::Report(Summary& summary) const
{
    const auto most = [&summary](const char* name, int64_t bytes) {
        double& sofar = summary[name];
        sofar = std::max(sofar, static_cast<double>(bytes));
    };
    most("peak_buffer_bytes", m_peak);
    most("peak_headroom_bytes", m_peakHeadroom);
    most("peak_queue_bytes", m_peakQueue);
}

} // namespace lossless
} // namespace ns3
