/*
 * SPDX-License-Identifier: GPL-2.0-only
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
                          "Private part phi of each lossless (port, class). [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharedBuffer::m_private),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("Headroom",
                          "Headroom eta of each lossless (port, class); 0 sets eta' from the link, "
                          "which is lossless. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharedBuffer::m_headroomAttr),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute(
                "HeadroomRatio",
                "Over-subscription of headroom, as over_subscribe_ratio of SONiC's shared "
                "headroom pool (recalled): all queues together hold at most the sum of "
                "their headrooms by this, each at most its own. Above 1 frames can be "
                "lost, which the run must allow.",
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
                          "With dynamic thresholds a queue resumes when its shared bytes are under "
                          "T - XonOffset. [B]",
                          UintegerValue(3000),
                          MakeUintegerAccessor(&SharedBuffer::m_xonOffset),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("Xoff",
                          "Static threshold: a frame that would take the shared bytes of its queue "
                          "above it pauses. [B]",
                          UintegerValue(80'000),
                          MakeUintegerAccessor(&SharedBuffer::m_xoff),
                          MakeUintegerChecker<int64_t>(1, MAX_BUFFER))
            .AddAttribute(
                "Xon",
                "Static threshold: a queue resumes when its shared bytes are under it. [B]",
                UintegerValue(77'000),
                MakeUintegerAccessor(&SharedBuffer::m_xon),
                MakeUintegerChecker<int64_t>(0, MAX_BUFFER));
    return tid;
}

SharedBuffer::SharedBuffer() = default;

void
SharedBuffer::DoConfigure(const std::vector<int64_t>& headroom)
{
    const std::size_t nPorts = headroom.size();
    m_headroom = headroom;
    if (m_headroomAttr > 0)
    {
        std::fill(m_headroom.begin(), m_headroom.end(), m_headroomAttr);
    }
    m_off.Reset(nPorts * N_CLASSES);
    m_alphaFixed = Fixed(m_alpha);
    Int128 pool = 0; // headrooms of long links may add up to more than 2^63
    Int128 shared = m_size - m_lossyPool;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (std::size_t port = 0; IsLossless(cls) && port < nPorts; ++port)
        {
            pool += m_headroom[port];
            shared -= m_private;
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
                 << " B less than LossyPool + sum over ports and lossless classes of (Private + "
                    "Headroom / HeadroomRatio); Headroom 0 is eta', which grows with a link's rate "
                    "and delay, "
                    "ControlDelay and the largest frame; "
                    "raise Size, or make fewer classes lossless (LosslessClasses)\n";
    }
    if (m_threshold == Threshold::STATIC && m_xon > m_xoff)
    {
        problems << "Xon " << m_xon << " B is above Xoff " << m_xoff
                 << " B; it must be at most Xoff\n";
    }
    return problems.str();
}

int64_t
SharedBuffer::XoffOf(const Usage& usage) const
{
    const int64_t free = m_sharedSize - m_sharedUsed;
    if (m_threshold == Threshold::STATIC)
    {
        return std::min(m_xoff, usage.shared + std::max<int64_t>(free, 0));
    }
    return BufferPolicy::Threshold(m_alphaFixed, free);
}

int64_t
SharedBuffer::ResumeLevel(const Usage& usage) const
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
        // w < Xon, and the pool has room for at least a byte
        return usage.shared < m_xon ? m_sharedSize - 1 : ResumeHeap::NOT_NOW;
    }
    // T > w + offset, solved for the pool's use
    return std::max(m_sharedSize - FreeFor(m_alphaFixed, usage.shared + m_xonOffset + 1),
                    ResumeHeap::NOT_NOW);
}

bool
SharedBuffer::DoAdmit(uint32_t queue, int64_t bytes)
{
    const Usage& usage = m_usage[queue];
    if (usage.priv + bytes <= m_private)
    {
        ToPrivate(queue, bytes);
        return true;
    }
    const bool wasOff = usage.off;
    const bool shared = usage.shared + bytes <= XoffOf(usage);
    const bool fits = shared || (usage.headroom + bytes <= m_headroom[queue / N_CLASSES] &&
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
        m_off.Update(queue, ResumeLevel(usage));
    }
    else if (!shared)
    {
        TurnOff(queue);
        m_off.Push(queue, ResumeLevel(usage));
    }
    return fits;
}

void
SharedBuffer::DoRelease(uint32_t queue, int64_t /* shared */, int64_t /* headroom */)
{
    if (m_usage[queue].off)
    {
        m_off.Update(queue, ResumeLevel(m_usage[queue]));
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
    return ResumeLevel(own) < pool;
}

int64_t
SharedBuffer::GetXoff(uint16_t port, uint8_t cls) const
{
    return XoffOf(GetUsage(port, cls));
}

int64_t
SharedBuffer::GetHeadroom(uint16_t port) const
{
    // With a pool: when all of it is in use.
    return m_headroomRatio > 1
               ? static_cast<int64_t>(static_cast<double>(m_headroom[port]) / m_headroomRatio)
               : m_headroom[port];
}

} // namespace lossless
} // namespace ns3
