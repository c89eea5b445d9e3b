/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-buffer-policy.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace @namespace@
{

using lossless::N_CLASSES;

NS_OBJECT_ENSURE_REGISTERED(@Class@);

TypeId
@Class@::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::@namespace@::@Class@")
            .SetParent<BufferPolicy>()
            .SetGroupName("@module@")
            .AddConstructor<@Class@>()
            .AddAttribute("Share",
                          "Share of the shared buffer that every queue may hold.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&@Class@::m_share),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("XonOffset",
                          "A queue resumes when its shared bytes are this far below its share. [B]",
                          UintegerValue(3000),
                          MakeUintegerAccessor(&@Class@::m_xonOffset),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER));
    return tid;
}

void
@Class@::DoConfigure(const std::vector<lossless::BufferDemand>& demands)
{
    m_headroom.assign(m_usage.size(), 0);
    m_sharedSize = m_size - m_lossyPool;
    for (uint16_t port = 0; port < demands.size(); ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            const int64_t headroom = IsLossless(cls) ? demands[port].beyondStop.bytes[cls] : 0;
            m_headroom[Index(port, cls)] = headroom;
            m_sharedSize -= headroom;
        }
    }
    m_xoff = static_cast<int64_t>(m_share * static_cast<double>(m_sharedSize));
}

std::string
@Class@::Check() const
{
    std::ostringstream problems;
    if (m_sharedSize < 0)
    {
        problems << "@Class@: Size " << m_size << " B is " << -m_sharedSize
                 << " B less than LossyPool and the headroom of all lossless queues"
                 << DescribeDemands(-m_sharedSize) << "; raise Size\n";
    }
    return problems.str();
}

int64_t
@Class@::GetHeadroom(uint16_t port, uint8_t cls) const
{
    return m_headroom[Index(port, cls)];
}

bool
@Class@::MayResume(int64_t shared, int64_t headroom) const
{
    return headroom == 0 && (shared == 0 || shared < m_xoff - m_xonOffset);
}

bool
@Class@::DoAdmit(uint32_t queue, int64_t bytes)
{
    const Usage& usage = m_usage[queue];
    // The sum of the shares may exceed the buffer.
    if (usage.shared + bytes <= m_xoff && m_sharedUsed + bytes <= m_sharedSize)
    {
        ToShared(queue, bytes);
        return true;
    }
    if (!usage.off)
    {
        ++m_offs;
        TurnOff(queue);
    }
    if (usage.headroom + bytes > m_headroom[queue])
    {
        return false;
    }
    ToHeadroom(queue, bytes);
    m_peakHeadroom = std::max(m_peakHeadroom, usage.headroom);
    return true;
}

void
@Class@::DoRelease(uint32_t queue, int64_t /* shared */, int64_t /* headroom */)
{
    const Usage& usage = m_usage[queue];
    if (usage.off && MayResume(usage.shared, usage.headroom))
    {
        TurnOn(queue);
    }
}

bool
@Class@::StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const
{
    Usage left;
    for (const Rest& rest : rests)
    {
        left = rest.port == port && rest.cls == cls ? Shrink(rest) : left;
    }
    return GetUsage(port, cls).off && !MayResume(left.shared, left.headroom);
}

void
@Class@::Report(lossless::Summary& summary) const
{
    BufferPolicy::Report(summary);
    summary["@name@_queue_offs"] += static_cast<double>(m_offs);
}

} // namespace @namespace@
} // namespace ns3
