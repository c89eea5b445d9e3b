/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-shared-buffer.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(SharedBuffer);

TypeId
SharedBuffer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::SharedBuffer")
            .SetParent<BufferPolicy>()
            .SetGroupName("lossless")
            .AddConstructor<SharedBuffer>()
            .AddAttribute("Private",
                          "Private part phi of each lossless (port, class); more where the "
                          "upstream was promised more. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharedBuffer::m_private),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("Headroom",
                          "Headroom eta of each lossless (port, class); 0: what its flow controls "
                          "demand, which is lossless: eta' for PFC, none for those that need no "
                          "headroom. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharedBuffer::m_headroomAttr),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute(
                "HeadroomRatio",
                "Over-subscription of headroom, like over_subscribe_ratio of SONiC's shared "
                "headroom pool (recalled): all queues together hold at most the sum of their "
                "headrooms divided by this, and each at most its own. Above 1 frames can be lost, "
                "which the run must allow.",
                DoubleValue(1.0),
                MakeDoubleAccessor(&SharedBuffer::m_headroomRatio),
                MakeDoubleChecker<double>(1.0, 1024))
            .AddAttribute(
                "Threshold",
                "How Xoff is set: Dynamic is T = Alpha (Bs - sum w), Static is Xoff.",
                EnumValue(Threshold::DYNAMIC),
                MakeEnumAccessor<Threshold>(&SharedBuffer::m_threshold),
                MakeEnumChecker(Threshold::DYNAMIC, "Dynamic", Threshold::STATIC, "Static"))
            .AddAttribute(
                "Alpha",
                "Share of the free shared buffer that one queue may hold (dynamic threshold).",
                DoubleValue(0.125),
                MakeDoubleAccessor(&SharedBuffer::m_alpha),
                MakeDoubleChecker<double>(1.0 / 1024, 1024))
            .AddAttribute("XonOffset",
                          "With dynamic thresholds, a queue resumes when its shared bytes are "
                          "below T - XonOffset. [B]",
                          UintegerValue(3000),
                          MakeUintegerAccessor(&SharedBuffer::m_xonOffset),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("Xoff",
                          "Static threshold: a frame that would take the shared bytes of its queue "
                          "above it triggers a pause. [B]",
                          UintegerValue(80'000),
                          MakeUintegerAccessor(&SharedBuffer::m_xoff),
                          MakeUintegerChecker<int64_t>(1, MAX_BUFFER))
            .AddAttribute(
                "Xon",
                "Static threshold: a queue resumes when its shared bytes are below it. [B]",
                UintegerValue(77'000),
                MakeUintegerAccessor(&SharedBuffer::m_xon),
                MakeUintegerChecker<int64_t>(0, MAX_BUFFER));
    return tid;
}

SharedBuffer::SharedBuffer() = default;

void
SharedBuffer::DoConfigure(const std::vector<BufferDemand>& demands)
{
    m_parts.assign(m_usage.size(), Parts{});
    m_off.Reset(m_usage.size());
    m_alphaFixed = Fixed(m_alpha);
    Int128 pool = 0; // the sum of long links' headrooms may exceed 2^63
    Int128 shared = m_size - m_lossyPool;
    for (uint16_t port = 0; port < demands.size(); ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if (!IsLossless(cls))
            {
                continue;
            }
            Parts& parts = m_parts[Index(port, cls)];
            parts.own = std::max(m_private, demands[port].promised.bytes[cls]);
            parts.promised = parts.own - m_private;
            parts.headroom =
                m_headroomAttr > 0 ? m_headroomAttr : demands[port].beyondStop.bytes[cls];
            pool += parts.headroom;
            shared -= parts.own;
        }
    }
    if (m_headroomRatio > 1)
    {
        pool = static_cast<Int128>(static_cast<long double>(pool) / m_headroomRatio);
    }
    m_headroomPool = static_cast<int64_t>(std::min<Int128>(pool, NEVER));
    m_sharedSize = static_cast<int64_t>(std::max<Int128>(shared - pool, -NEVER));
}

std::string
SharedBuffer::Check() const
{
    std::ostringstream problems;
    if (m_sharedSize < 0)
    {
        problems << "buffer over-committed: Size " << m_size << " B is " << -m_sharedSize
                 << " B less than LossyPool + sum over ports and lossless classes of (Private, or "
                    "what is promised, + Headroom / HeadroomRatio), Headroom 0 being what is "
                    "demanded"
                 << DescribeDemands(-m_sharedSize)
                 << "; raise Size, promise less, or make fewer classes lossless "
                    "(LosslessClasses)\n";
    }
    if (m_threshold == Threshold::STATIC && m_xon > m_xoff)
    {
        problems << "Xon " << m_xon << " B is above Xoff " << m_xoff
                 << " B; it must be at most Xoff\n";
    }
    return problems.str();
}

int64_t
SharedBuffer::XoffOf(uint32_t queue) const
{
    const int64_t free = m_sharedSize - m_sharedUsed;
    if (m_threshold == Threshold::STATIC)
    {
        const int64_t shared = std::max<int64_t>(m_xoff - m_parts[queue].promised, 0);
        return std::min(shared, m_usage[queue].shared + std::max<int64_t>(free, 0));
    }
    return BufferPolicy::Threshold(m_alphaFixed, free);
}

int64_t
SharedBuffer::ResumeLevel(uint32_t queue, const Usage& usage) const
{
    if (usage.headroom > 0)
    {
        return ResumeHeap::NOT_NOW;
    }
    if (usage.shared == 0)
    {
        return ResumeHeap::ALWAYS;
    }
    if (m_threshold == Threshold::STATIC)
    {
        // w plus the promise < Xon, and the pool has room for at least a byte
        const bool isBelow = usage.shared + m_parts[queue].promised < m_xon;
        return isBelow ? m_sharedSize - 1 : ResumeHeap::NOT_NOW;
    }
    // T > w + offset, solved for the pool's use
    return std::max(m_sharedSize - FreeFor(m_alphaFixed, usage.shared + m_xonOffset + 1),
                    ResumeHeap::NOT_NOW);
}

bool
SharedBuffer::DoAdmit(uint32_t queue, int64_t bytes)
{
    const Usage& usage = m_usage[queue];
    const Parts& parts = m_parts[queue];
    if (usage.priv + bytes <= parts.own)
    {
        ToPrivate(queue, bytes);
        return true;
    }
    const bool wasOff = usage.off;
    const bool shared = usage.shared + bytes <= XoffOf(queue);
    const bool fits = shared || (usage.headroom + bytes <= parts.headroom &&
                                 m_headroomUsed + bytes <= m_headroomPool);
    if (shared)
    {
        ToShared(queue, bytes);
    }
    else if (fits)
    {
        ToHeadroom(queue, bytes);
        m_peakHeadroom = std::max(m_peakHeadroom, usage.headroom);
    }
    if (wasOff)
    {
        m_off.Update(queue, ResumeLevel(queue, usage));
    }
    else if (!shared)
    {
        TurnOff(queue);
        m_off.Push(queue, ResumeLevel(queue, usage));
    }
    return fits;
}

void
SharedBuffer::DoRelease(uint32_t queue, int64_t /* shared */, int64_t /* headroom */)
{
    if (m_usage[queue].off)
    {
        m_off.Update(queue, ResumeLevel(queue, m_usage[queue]));
    }
    for (uint32_t next = 0; m_off.Pop(m_sharedUsed, next);)
    {
        TurnOn(next);
    }
}

bool
SharedBuffer::StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const
{
    if (!GetUsage(port, cls).off)
    {
        return false;
    }
    Usage own;
    int64_t pool = 0;
    for (const Rest& rest : rests)
    {
        const Usage left = Shrink(rest);
        pool += left.shared;
        if (rest.port == port && rest.cls == cls)
        {
            own = left;
        }
    }
    return ResumeLevel(Index(port, cls), own) < pool;
}

bool
SharedBuffer::StaysOn(int64_t used, int64_t queue) const
{
    // With private parts it depends on the order what is charged to them.
    const auto owns = [](const Parts& parts) { return parts.own > 0; };
    const int64_t free = m_sharedSize - used;
    const int64_t xoff =
        m_threshold == Threshold::STATIC ? m_xoff : BufferPolicy::Threshold(m_alphaFixed, free);
    return free >= 0 && queue <= xoff && std::none_of(m_parts.begin(), m_parts.end(), owns);
}

int64_t
SharedBuffer::GetXoff(uint16_t port, uint8_t cls) const
{
    return XoffOf(Index(port, cls));
}

int64_t
SharedBuffer::GetHeadroom(uint16_t port, uint8_t cls) const
{
    const int64_t headroom = m_parts[Index(port, cls)].headroom;
    // With a headroom pool: when all of it is in use.
    return m_headroomRatio > 1
               ? static_cast<int64_t>(static_cast<double>(headroom) / m_headroomRatio)
               : headroom;
}

int64_t
SharedBuffer::GetOwn(uint16_t port, uint8_t cls) const
{
    return m_parts[Index(port, cls)].own;
}

int64_t
SharedBuffer::GetRoom(uint16_t port, uint8_t cls) const
{
    return std::max({GetOwn(port, cls), GetHeadroom(port, cls), GetXoff(port, cls)});
}

} // namespace lossless
} // namespace ns3
