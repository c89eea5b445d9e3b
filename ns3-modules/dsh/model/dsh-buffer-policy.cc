/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dsh-buffer-policy.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace dsh
{

NS_LOG_COMPONENT_DEFINE("Dsh");

using lossless::Int128;
using lossless::N_CLASSES;
using lossless::ResumeHeap;

NS_OBJECT_ENSURE_REGISTERED(Dsh);

namespace
{

/// A PFC frame with preamble and gap: a port that turns OFF sends one per class, eta' includes only
/// one (B).
constexpr int64_t PAUSE_WIRE_BYTES = lossless::MIN_FRAME_BYTES + 20;

} // namespace

TypeId
Dsh::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::dsh::Dsh")
            .SetParent<BufferPolicy>()
            .SetGroupName("dsh")
            .AddConstructor<Dsh>()
            .AddAttribute("Private",
                          "Private part phi of each lossless (port, class); more where the "
                          "upstream was promised more. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Dsh::m_private),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute(
                "Headroom",
                "Headroom eta: insurance of a port (recalled: B_i = Np eta), and distance of its "
                "queues' Xoff below T (recalled); 0: what the flow controls demand, which is "
                "lossless: eta' for PFC, none for those that need no headroom. [B]",
                UintegerValue(0),
                MakeUintegerAccessor(&Dsh::m_headroom),
                MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("Alpha",
                          "Share of the free shared buffer that one queue may hold; 1/16 in the "
                          "paper's evaluation (recalled).",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&Dsh::m_alpha),
                          MakeDoubleChecker<double>(1.0 / 1024, 1024))
            .AddAttribute(
                "XonOffset",
                "A queue resumes when its shared bytes are below T - eta - XonOffset; 0 in the "
                "paper's evaluation (recalled). [B]",
                UintegerValue(3000),
                MakeUintegerAccessor(&Dsh::m_xonOffset),
                MakeUintegerChecker<int64_t>(0, MAX_BUFFER))
            .AddAttribute("PortXonOffset",
                          "A port resumes when the shared bytes of its queues are below Nq T - "
                          "PortXonOffset (recalled; the value is ours). [B]",
                          UintegerValue(3000),
                          MakeUintegerAccessor(&Dsh::m_portXonOffset),
                          MakeUintegerChecker<int64_t>(0, MAX_BUFFER));
    return tid;
}

Dsh::Dsh() = default;

void
Dsh::DoConfigure(const std::vector<lossless::BufferDemand>& demands)
{
    m_classes = 0;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        m_classes += IsLossless(cls);
    }
    const int64_t pauses = std::max<int64_t>(m_classes - 1, 0) * PAUSE_WIRE_BYTES;
    m_alphaFixed = Fixed(m_alpha);
    m_port.assign(demands.size(), PortState{});
    m_own.assign(m_usage.size(), 0);
    m_queueOff.assign(m_usage.size(), false);
    m_off.Reset(m_usage.size() + demands.size());
    Int128 shared = m_size - m_lossyPool; // the sum of long links' headrooms may exceed 2^63
    for (uint16_t port = 0; port < demands.size(); ++port)
    {
        int64_t eta = 0;
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if (IsLossless(cls))
            {
                eta = std::max(eta, demands[port].beyondStop.bytes[cls]);
                m_own[Index(port, cls)] = std::max(m_private, demands[port].promised.bytes[cls]);
                shared -= m_own[Index(port, cls)];
            }
        }
        m_port[port].eta = m_headroom > 0 ? m_headroom : eta;
        m_port[port].insurance = m_port[port].eta > 0 ? m_port[port].eta + pauses : 0;
        shared -= m_classes > 0 ? m_port[port].insurance : 0;
    }
    m_sharedSize = static_cast<int64_t>(std::max<Int128>(shared, -lossless::NEVER));
}

std::string
Dsh::Check() const
{
    std::ostringstream problems;
    if (m_sharedSize < 0)
    {
        problems
            << "buffer over-committed: Size " << m_size << " B is " << -m_sharedSize
            << " B less than LossyPool + sum over ports of (insurance + lossless classes x "
               "(Private, or the promise if larger)); the insurance of a port is Headroom + 84 B "
               "for each further class; Headroom 0 takes the demands of the flow controls"
            << DescribeDemands(-m_sharedSize) << "; raise Size or reduce the promises\n";
    }
    return problems.str();
}

int64_t
Dsh::GetHeadroom(uint16_t port, uint8_t /* cls */) const
{
    return m_port[port].eta;
}

int64_t
Dsh::GetOwn(uint16_t port, uint8_t cls) const
{
    return m_own[Index(port, cls)];
}

bool
Dsh::IsPortOff(uint16_t port) const
{
    return m_port[port].off;
}

int64_t
Dsh::LevelAbove(int64_t threshold) const
{
    return std::max(m_sharedSize - FreeFor(m_alphaFixed, threshold + 1), ResumeHeap::NOT_NOW);
}

int64_t
Dsh::QueueLevel(int64_t shared, int64_t eta) const
{
    return shared == 0 ? ResumeHeap::ALWAYS : LevelAbove(shared + eta + m_xonOffset);
}

int64_t
Dsh::PortLevel(int64_t shared, int64_t insured) const
{
    if (insured > 0)
    {
        return ResumeHeap::NOT_NOW;
    }
    return shared == 0 ? ResumeHeap::ALWAYS : LevelAbove((shared + m_portXonOffset) / m_classes);
}

bool
Dsh::DoAdmit(uint32_t queue, int64_t bytes)
{
    const Usage& usage = m_usage[queue];
    if (usage.priv + bytes <= m_own[queue])
    {
        ToPrivate(queue, bytes);
        return true;
    }
    PortState& port = m_port[queue / N_CLASSES];
    const int64_t free = m_sharedSize - m_sharedUsed;
    const int64_t threshold = Threshold(m_alphaFixed, free);
    if (port.off || bytes > free || port.shared + bytes > m_classes * threshold)
    {
        return Insure(queue, bytes);
    }
    const bool isOver = usage.shared + bytes > threshold - port.eta;
    ToShared(queue, bytes);
    port.shared += bytes;
    if (m_queueOff[queue])
    {
        m_off.Update(queue, QueueLevel(usage.shared, port.eta));
    }
    else if (isOver)
    {
        ++m_queueOffs;
        m_queueOff[queue] = true;
        m_off.Push(queue, QueueLevel(usage.shared, port.eta));
        TurnOff(queue);
    }
    return true;
}

bool
Dsh::Insure(uint32_t queue, int64_t bytes)
{
    const auto number = static_cast<uint16_t>(queue / N_CLASSES);
    PortState& port = m_port[number];
    const bool fits = port.insured + bytes <= port.insurance;
    if (fits)
    {
        ToHeadroom(queue, bytes);
        port.insured += bytes;
        m_peakHeadroom = std::max(m_peakHeadroom, port.insured);
    }
    if (port.off)
    {
        m_off.Update(PortMember(number), PortLevel(port.shared, port.insured));
        return fits;
    }
    ++m_portOffs;
    NS_LOG_LOGIC("port " << number << " turns OFF, " << port.insured << " B insured");
    port.off = true;
    m_off.Push(PortMember(number), PortLevel(port.shared, port.insured));
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (IsLossless(cls) && !m_queueOff[Index(number, cls)])
        {
            TurnOff(Index(number, cls));
        }
    }
    return fits;
}

void
Dsh::DoRelease(uint32_t queue, int64_t shared, int64_t headroom)
{
    const auto number = static_cast<uint16_t>(queue / N_CLASSES);
    PortState& port = m_port[number];
    port.shared -= shared;
    port.insured -= headroom;
    if (m_queueOff[queue])
    {
        m_off.Update(queue, QueueLevel(m_usage[queue].shared, port.eta));
    }
    if (port.off)
    {
        m_off.Update(PortMember(number), PortLevel(port.shared, port.insured));
    }
    for (uint32_t member = 0; m_off.Pop(m_sharedUsed, member);)
    {
        Resume(member);
    }
}

void
Dsh::Resume(uint32_t member)
{
    if (member < m_usage.size())
    {
        m_queueOff[member] = false;
        if (!m_port[member / N_CLASSES].off)
        {
            TurnOn(member);
        }
        return;
    }
    const auto port = static_cast<uint16_t>(member - m_usage.size());
    m_port[port].off = false;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if (IsLossless(cls) && !m_queueOff[Index(port, cls)])
        {
            TurnOn(Index(port, cls));
        }
    }
}

bool
Dsh::StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const
{
    int64_t pool = 0;
    int64_t own = 0;
    int64_t shared = 0;
    int64_t insured = 0;
    for (const Rest& rest : rests)
    {
        const Usage left = Shrink(rest);
        pool += left.shared;
        if (rest.port == port)
        {
            shared += left.shared;
            insured += left.headroom;
            own += rest.cls == cls ? left.shared : 0;
        }
    }
    return (m_queueOff[Index(port, cls)] && QueueLevel(own, m_port[port].eta) < pool) ||
           (m_port[port].off && PortLevel(shared, insured) < pool);
}

bool
Dsh::StaysOn(int64_t used, int64_t queue) const
{
    // With private parts it depends on the order what is charged to them. No queue above the
    // threshold of a queue, no port above that of a port.
    const int64_t free = m_sharedSize - used;
    int64_t eta = 0;
    for (const PortState& port : m_port)
    {
        eta = std::max(eta, port.eta);
    }
    const bool owns = std::ranges::any_of(m_own, [](int64_t bytes) { return bytes > 0; });
    return free >= 0 && queue <= Threshold(m_alphaFixed, free) - eta && !owns;
}

void
Dsh::Report(lossless::Summary& summary) const
{
    BufferPolicy::Report(summary);
    summary["dsh_queue_offs"] += static_cast<double>(m_queueOffs);
    summary["dsh_port_offs"] += static_cast<double>(m_portOffs);
}

} // namespace dsh
} // namespace ns3
