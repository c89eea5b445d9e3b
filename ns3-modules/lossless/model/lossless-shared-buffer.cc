/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-shared-buffer.h"

#include "ns3/assert.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(SharedBuffer);

namespace
{

/// Largest buffer that the fixed-point threshold arithmetic holds exactly: 2^42 bytes.
constexpr uint64_t MAX_BYTES = 1ULL << 42;

/**
 * @brief floor(alpha * free), with a pool that is over its size counted as full.
 *
 * @param alpha fixed point.
 * @param free bytes.
 */
int64_t
Scaled(uint64_t alpha, int64_t free, uint32_t shift)
{
    if (free <= 0)
    {
        return 0;
    }
    return static_cast<int64_t>((static_cast<Uint128>(alpha) * static_cast<uint64_t>(free)) >>
                                shift);
}

} // namespace

TypeId
SharedBuffer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::SharedBuffer")
            .SetParent<Object>()
            .SetGroupName("lossless")
            .AddConstructor<SharedBuffer>()
            .AddAttribute("Size",
                          "Whole packet buffer; a Tomahawk has 16 MB. [B]",
                          UintegerValue(16'000'000),
                          MakeUintegerAccessor(&SharedBuffer::m_size),
                          MakeUintegerChecker<int64_t>(1, MAX_BYTES))
            .AddAttribute("LossyPool",
                          "Part of the buffer set aside for lossy classes. [B]",
                          UintegerValue(1'000'000),
                          MakeUintegerAccessor(&SharedBuffer::m_lossyPool),
                          MakeUintegerChecker<int64_t>(0, MAX_BYTES))
            .AddAttribute("LosslessClasses",
                          "Bit mask: bit c set makes class c lossless; by default class 3, as RoCE "
                          "deployments do.",
                          UintegerValue(0x08),
                          MakeUintegerAccessor(&SharedBuffer::m_losslessClasses),
                          MakeUintegerChecker<uint32_t>(0, 0xff))
            .AddAttribute("Private",
                          "Private part phi of each lossless (port, class). [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharedBuffer::m_private),
                          MakeUintegerChecker<int64_t>(0, MAX_BYTES))
            .AddAttribute("Headroom",
                          "Headroom eta of each lossless (port, class); 0 sets eta' from the link, "
                          "which is lossless. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SharedBuffer::m_headroomAttr),
                          MakeUintegerChecker<int64_t>(0, MAX_BYTES))
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
                          MakeUintegerChecker<int64_t>(0, MAX_BYTES))
            .AddAttribute("Xoff",
                          "Static threshold: a frame that would take the shared bytes of its queue "
                          "above it pauses. [B]",
                          UintegerValue(80'000),
                          MakeUintegerAccessor(&SharedBuffer::m_xoff),
                          MakeUintegerChecker<int64_t>(1, MAX_BYTES))
            .AddAttribute(
                "Xon",
                "Static threshold: a queue resumes when its shared bytes are under it. [B]",
                UintegerValue(77'000),
                MakeUintegerAccessor(&SharedBuffer::m_xon),
                MakeUintegerChecker<int64_t>(0, MAX_BYTES))
            .AddAttribute(
                "LossyAlpha",
                "Share of the free lossy pool that one lossy (egress port, class) may hold.",
                DoubleValue(1.0),
                MakeDoubleAccessor(&SharedBuffer::m_lossyAlpha),
                MakeDoubleChecker<double>(1.0 / 1024, 1024));
    return tid;
}

SharedBuffer::SharedBuffer() = default;

void
SharedBuffer::Configure(const std::vector<int64_t>& headroom)
{
    const std::size_t nPorts = headroom.size();
    m_headroom = headroom;
    if (m_headroomAttr > 0)
    {
        std::fill(m_headroom.begin(), m_headroom.end(), m_headroomAttr);
    }
    m_usage.assign(nPorts * N_CLASSES, Usage{});
    m_lossy.assign(nPorts * N_CLASSES, 0);
    m_level.assign(nPorts * N_CLASSES, NOT_NOW);
    m_heapAt.assign(nPorts * N_CLASSES, 0);
    m_heap.clear();
    m_heap.reserve(nPorts * N_CLASSES);
    m_alphaFixed = static_cast<uint64_t>(std::llround(m_alpha * (1U << ALPHA_SHIFT)));
    m_lossyAlphaFixed = static_cast<uint64_t>(std::llround(m_lossyAlpha * (1U << ALPHA_SHIFT)));
    Int128 shared = m_size - m_lossyPool; // headrooms of long links may add up to more than 2^63
    for (std::size_t port = 0; port < nPorts; ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if (IsLossless(cls))
            {
                shared -= m_private + m_headroom[port];
            }
        }
    }
    m_sharedSize = static_cast<int64_t>(std::max<Int128>(shared, -NEVER));
}

std::string
SharedBuffer::Check() const
{
    std::ostringstream problems;
    if (m_sharedSize < 0)
    {
        problems << "buffer over-committed: Size " << m_size << " B is " << -m_sharedSize
                 << " B less than LossyPool + sum over ports and lossless classes of (Private + "
                    "Headroom); Headroom 0 is eta', which grows with a link's rate and delay, "
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
    return Scaled(m_alphaFixed, free, ALPHA_SHIFT);
}

int64_t
SharedBuffer::ResumeLevel(const Usage& usage) const
{
    if (usage.headroom > 0)
    {
        return NOT_NOW;
    }
    if (usage.shared == 0)
    {
        return ALWAYS;
    }
    if (m_threshold == Threshold::STATIC)
    {
        // w < Xon, and the pool has room for at least a byte
        return usage.shared < m_xon ? m_sharedSize - 1 : NOT_NOW;
    }
    // floor(alpha free) > w + offset  <=>  alpha free >= w + offset + 1, solved for the pool's use
    const auto need = static_cast<Uint128>(usage.shared + m_xonOffset + 1) << ALPHA_SHIFT;
    const auto free = static_cast<int64_t>((need + m_alphaFixed - 1) / m_alphaFixed);
    return std::max(m_sharedSize - free, NOT_NOW);
}

SharedBuffer::Verdict
SharedBuffer::Admit(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes)
{
    if (!IsLossless(cls))
    {
        int64_t& held = m_lossy[Index(egress, cls)];
        const int64_t free = m_lossyPool - m_lossyUsed;
        if (bytes > free || held + bytes > Scaled(m_lossyAlphaFixed, free, ALPHA_SHIFT))
        {
            return Verdict::REFUSED;
        }
        held += bytes;
        m_lossyUsed += bytes;
        m_used += bytes;
        m_peak = std::max(m_peak, m_used);
        return Verdict::ADMITTED;
    }
    const std::size_t index = Index(ingress, cls);
    Usage& usage = m_usage[index];
    Verdict verdict = Verdict::ADMITTED;
    if (usage.priv + bytes <= m_private)
    {
        usage.priv += bytes;
    }
    else if (usage.shared + bytes <= XoffOf(usage))
    {
        usage.shared += bytes;
        m_sharedUsed += bytes;
        if (usage.off)
        {
            HeapUpdate(static_cast<uint32_t>(index), ResumeLevel(usage));
        }
    }
    else
    {
        if (usage.headroom + bytes > m_headroom[ingress])
        {
            if (usage.off)
            {
                return Verdict::REFUSED;
            }
            usage.off = true;
            HeapPush(static_cast<uint32_t>(index), ResumeLevel(usage));
            return Verdict::REFUSED_OFF;
        }
        usage.headroom += bytes;
        m_peakHeadroom = std::max(m_peakHeadroom, usage.headroom);
        if (!usage.off)
        {
            usage.off = true;
            HeapPush(static_cast<uint32_t>(index), NOT_NOW);
            verdict = Verdict::TURNED_OFF;
        }
        else
        {
            HeapUpdate(static_cast<uint32_t>(index), NOT_NOW);
        }
    }
    m_used += bytes;
    m_peak = std::max(m_peak, m_used);
    m_peakQueue = std::max(m_peakQueue, usage.Total());
    return verdict;
}

void
SharedBuffer::Release(uint16_t ingress, uint16_t egress, uint8_t cls, int64_t bytes)
{
    m_used -= bytes;
    if (!IsLossless(cls))
    {
        m_lossy[Index(egress, cls)] -= bytes;
        m_lossyUsed -= bytes;
        NS_ASSERT_MSG(m_lossyUsed >= 0, "more lossy bytes released than admitted");
        return;
    }
    const std::size_t index = Index(ingress, cls);
    Usage& usage = m_usage[index];
    int64_t rest = bytes;
    const int64_t fromHeadroom = std::min(rest, usage.headroom);
    usage.headroom -= fromHeadroom;
    rest -= fromHeadroom;
    const int64_t fromShared = std::min(rest, usage.shared);
    usage.shared -= fromShared;
    m_sharedUsed -= fromShared;
    rest -= fromShared;
    usage.priv -= rest;
    NS_ASSERT_MSG(usage.priv >= 0, "more bytes released than admitted on port " << ingress);
    if (usage.off)
    {
        HeapUpdate(static_cast<uint32_t>(index), ResumeLevel(usage));
    }
    ResumeAllBelow();
}

SharedBuffer::Usage
SharedBuffer::Shrink(const Usage& usage, int64_t rest) const
{
    Usage left = usage;
    left.priv = std::min(usage.priv, rest);
    left.shared = std::min(usage.shared, rest - left.priv);
    left.headroom = rest - left.priv - left.shared;
    return left;
}

bool
SharedBuffer::StaysOff(const Usage& usage, int64_t pool) const
{
    return usage.off && ResumeLevel(usage) < pool;
}

void
SharedBuffer::ResumeAllBelow()
{
    while (!m_heap.empty() && m_level[m_heap.front()] >= m_sharedUsed)
    {
        const uint32_t queue = HeapPop();
        m_usage[queue].off = false;
        m_resumed.push_back(queue);
    }
}

bool
SharedBuffer::TakeResumed(uint16_t& port, uint8_t& cls)
{
    if (m_resumed.empty())
    {
        return false;
    }
    const uint32_t queue = m_resumed.back();
    m_resumed.pop_back();
    port = static_cast<uint16_t>(queue / N_CLASSES);
    cls = static_cast<uint8_t>(queue % N_CLASSES);
    return true;
}

int64_t
SharedBuffer::GetXoff(uint16_t port, uint8_t cls) const
{
    return XoffOf(GetUsage(port, cls));
}

int64_t
SharedBuffer::GetSharedSize() const
{
    return m_sharedSize;
}

int64_t
SharedBuffer::GetSharedUsed() const
{
    return m_sharedUsed;
}

int64_t
SharedBuffer::GetHeadroom(uint16_t port) const
{
    return m_headroom[port];
}

int64_t
SharedBuffer::GetUsed() const
{
    return m_used;
}

int64_t
SharedBuffer::GetPeak() const
{
    return m_peak;
}

int64_t
SharedBuffer::GetPeakQueue() const
{
    return m_peakQueue;
}

int64_t
SharedBuffer::GetPeakHeadroom() const
{
    return m_peakHeadroom;
}

void
SharedBuffer::HeapPlace(std::size_t at, uint32_t queue)
{
    m_heap[at] = queue;
    m_heapAt[queue] = static_cast<uint32_t>(at);
}

void
SharedBuffer::HeapUp(std::size_t at)
{
    const uint32_t queue = m_heap[at];
    while (at > 0)
    {
        const std::size_t parent = (at - 1) / 2;
        if (m_level[m_heap[parent]] >= m_level[queue])
        {
            break;
        }
        HeapPlace(at, m_heap[parent]);
        at = parent;
    }
    HeapPlace(at, queue);
}

void
SharedBuffer::HeapDown(std::size_t at)
{
    const uint32_t queue = m_heap[at];
    for (;;)
    {
        std::size_t child = 2 * at + 1;
        if (child >= m_heap.size())
        {
            break;
        }
        if (child + 1 < m_heap.size() && m_level[m_heap[child + 1]] > m_level[m_heap[child]])
        {
            ++child;
        }
        if (m_level[m_heap[child]] <= m_level[queue])
        {
            break;
        }
        HeapPlace(at, m_heap[child]);
        at = child;
    }
    HeapPlace(at, queue);
}

void
SharedBuffer::HeapPush(uint32_t queue, int64_t level)
{
    m_level[queue] = level;
    m_heap.push_back(queue);
    HeapUp(m_heap.size() - 1);
}

void
SharedBuffer::HeapUpdate(uint32_t queue, int64_t level)
{
    const int64_t before = m_level[queue];
    if (level == before)
    {
        return;
    }
    m_level[queue] = level;
    if (level > before)
    {
        HeapUp(m_heapAt[queue]);
    }
    else
    {
        HeapDown(m_heapAt[queue]);
    }
}

uint32_t
SharedBuffer::HeapPop()
{
    const uint32_t top = m_heap.front();
    const uint32_t last = m_heap.back();
    m_heap.pop_back();
    if (!m_heap.empty())
    {
        HeapPlace(0, last);
        HeapDown(0);
    }
    return top;
}

} // namespace lossless
} // namespace ns3
