/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-breaker.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-routes.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

namespace ns3
{
namespace dcfit
{

NS_LOG_COMPONENT_DEFINE("DeadlockBreaker");

using lossless::DropCause;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::Port;

NS_OBJECT_ENSURE_REGISTERED(Breaker);

TypeId
Breaker::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::dcfit::Breaker")
            .SetParent<lossless::SwitchAgent>()
            .SetGroupName("dcfit")
            .AddAttribute("Cure",
                          "How a deadlock is broken: None, Drop (frames of the loop are dropped, "
                          "an intended loss), Reroute (frames are sent by a loop-free alternate "
                          "that is not paused; dropped if there is none) or Lossy (frames are "
                          "moved to LossyClass).",
                          EnumValue(Cure::NONE),
                          MakeEnumAccessor<Cure>(&Breaker::m_cure),
                          MakeEnumChecker(Cure::NONE,
                                          "None",
                                          Cure::DROP,
                                          "Drop",
                                          Cure::REROUTE,
                                          "Reroute",
                                          Cure::LOSSY,
                                          "Lossy"))
            .AddAttribute("CureShare",
                          "Minimum share of an ingress's bytes in the queue that the cure is "
                          "applied to; it continues until the upstream is resumed.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Breaker::m_share),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("CureBytes",
                          "Minimum number of bytes that the cure is applied to. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Breaker::m_bytes),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("CureOrder",
                          "Which frames are taken first: Oldest (at the head of the queue) or "
                          "Newest.",
                          EnumValue(Order::NEWEST),
                          MakeEnumAccessor<Order>(&Breaker::m_order),
                          MakeEnumChecker(Order::OLDEST, "Oldest", Order::NEWEST, "Newest"))
            .AddAttribute("LossyClass",
                          "Class that frames are moved to; it must be lossy.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Breaker::m_lossy),
                          MakeUintegerChecker<uint8_t>(0, N_CLASSES - 1))
            .AddTraceSource(
                "Detection",
                "An egress queue is considered deadlocked; no action has been taken yet.",
                MakeTraceSourceAccessor(&Breaker::m_detectionTrace),
                "ns3::dcfit::DetectionCallback");
    return tid;
}

std::string
Breaker::Check() const
{
    if (m_cure != Cure::LOSSY || !m_node->GetBuffer().IsLossless(m_lossy))
    {
        return {};
    }
    std::ostringstream problem;
    problem << m_node->GetName() << ": LossyClass " << +m_lossy
            << " is lossless; choose a class that is not in LosslessClasses of the buffer\n";
    return problem.str();
}

void
Breaker::Report(lossless::Summary& summary) const
{
    summary["cure_loops_broken"] += static_cast<double>(m_broken);
    summary["cure_frames_dropped"] += static_cast<double>(m_dropped);
    summary["cure_frames_rerouted"] += static_cast<double>(m_rerouted);
    summary["cure_frames_moved"] += static_cast<double>(m_moved);
}

bool
Breaker::Cures() const
{
    return m_cure != Cure::NONE;
}

uint8_t
Breaker::GetLossyClass() const
{
    return m_lossy;
}

bool
Breaker::IsOff(uint16_t ingress, uint8_t cls, int64_t leaving) const
{
    const lossless::BufferPolicy& buffer = m_node->GetBuffer();
    const auto& usage = buffer.GetUsage(ingress, cls);
    if (!usage.off || leaving == 0)
    {
        return usage.off;
    }
    // Rerouted frames count as gone.
    std::vector<lossless::BufferPolicy::Rest> rests;
    for (uint8_t other = 0; other < N_CLASSES; ++other)
    {
        for (uint16_t port = 0; buffer.IsLossless(other) && port < m_node->GetNPorts(); ++port)
        {
            const bool own = port == ingress && other == cls;
            const int64_t held = buffer.GetUsage(port, other).Total();
            rests.push_back({port, other, own ? std::max<int64_t>(0, held - leaving) : held});
        }
    }
    return buffer.StaysOff(ingress, cls, rests);
}

bool
Breaker::Treat(Frame* frame)
{
    if (m_cure == Cure::LOSSY)
    {
        ++m_moved;
        m_node->Reclass(frame, m_lossy);
        return false;
    }
    if (m_cure == Cure::REROUTE)
    {
        for (const uint16_t port : m_node->GetRoutes().FindDetours(m_node->GetId(), *frame))
        {
            if (port != frame->egress && port != frame->ingress &&
                !m_node->GetPort(port).IsPaused(frame->cls))
            {
                ++m_rerouted;
                m_node->Redirect(frame, port);
                return true;
            }
        }
    }
    ++m_dropped;
    m_node->Discard(frame, DropCause::SCHEME);
    return false;
}

void
Breaker::Break(Port& egress, Port& ingress, uint8_t cls)
{
    if (m_cure == Cure::NONE)
    {
        return;
    }
    ++m_broken;
    NS_LOG_INFO(m_node->GetName() << " breaks a loop at the port to node " << egress.GetPeerId()
                                  << ", class " << +cls);
    // The loop's frames in the order of the cure, queue by queue.
    for (uint16_t queue = cls; queue < egress.GetQueues().size(); queue += N_CLASSES)
    {
        std::vector<const Frame*> loop;
        int64_t bytes = 0;
        egress.GetQueues()[queue].ForEach([&](const Frame& frame) {
            if (frame.ingress == ingress.GetIndex())
            {
                loop.push_back(&frame);
                bytes += m_node->GetBuffer().InCells(frame.bytes);
            }
        });
        std::sort(loop.begin(), loop.end(), [this](const Frame* a, const Frame* b) {
            return m_order == Order::OLDEST ? a->order < b->order : a->order > b->order;
        });
        // First the required minimum, then a sixteenth of the queue at a time until it is enough.
        int64_t leaving = 0; // charged until it has been sent
        const auto isOff = [&] { return IsOff(ingress.GetIndex(), cls, leaving); };
        const int64_t step = bytes / 16;
        int64_t wanted =
            std::max<int64_t>(m_bytes, static_cast<int64_t>(m_share * static_cast<double>(bytes)));
        for (std::size_t next = 0; next < loop.size() && (wanted > 0 || isOff()); wanted = 0)
        {
            std::unordered_set<const Frame*> chosen;
            wanted = wanted > 0 ? wanted : step;
            do
            {
                wanted -= m_node->GetBuffer().InCells(loop[next]->bytes);
                chosen.insert(loop[next++]);
            } while (next < loop.size() && wanted > 0);
            for (Frame* frame : egress.GetEgress().TakeFrames(queue, [&chosen](const Frame& frame) {
                     return chosen.contains(&frame);
                 }))
            {
                const int64_t size = m_node->GetBuffer().InCells(frame->bytes);
                leaving += Treat(frame) ? size : 0;
            }
        }
    }
}

} // namespace dcfit
} // namespace ns3
