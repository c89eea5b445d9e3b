/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "sfc-reaction-point.h"

#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port.h"
#include "ns3/rdma-host.h"

#include <algorithm>

namespace ns3
{
namespace sfc
{

NS_LOG_COMPONENT_DEFINE("SfcReactionPoint");

using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(SfcGate);
NS_OBJECT_ENSURE_REGISTERED(SfcReactionPoint);

TypeId
SfcGate::GetTypeId()
{
    static TypeId tid = TypeId("ns3::sfc::SfcGate").SetParent<FlowControl>().SetGroupName("sfc");
    return tid;
}

int64_t
SfcGate::GetEarliest(uint16_t queue, const Frame& /* head */, int64_t now) const
{
    return std::max(now, m_until[queue % N_CLASSES]);
}

int64_t
SfcGate::Hold(uint8_t cls, int64_t now, int64_t until)
{
    const int64_t before = std::max(now, m_until[cls]);
    m_until[cls] = std::max(m_until[cls], until);
    m_port->GetEgress().NoteHeldUntil(cls, m_until[cls]);
    return std::max<int64_t>(0, until - before);
}

bool
SfcGate::WouldHold(uint16_t /* queue */, const Frame& /* head */, const Rest& /* rest */) const
{
    return false; // every pause expires
}

bool
SfcGate::WouldRelease(uint16_t /* queue */,
                      const Frame& /* head */,
                      const lossless::ControlFrame& /* control */) const
{
    return false;
}

TypeId
SfcReactionPoint::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::sfc::SfcReactionPoint")
            .SetParent<SwitchAgent>()
            .SetGroupName("sfc")
            .AddConstructor<SfcReactionPoint>()
            .AddAttribute("Scope",
                          "What a message pauses: Class (that of the packet), Interface (all "
                          "classes) or Flow.",
                          EnumValue(Scope::CLASS),
                          MakeEnumAccessor<Scope>(&SfcReactionPoint::m_scope),
                          MakeEnumChecker(Scope::CLASS,
                                          "Class",
                                          Scope::INTERFACE,
                                          "Interface",
                                          Scope::FLOW,
                                          "Flow"))
            .AddAttribute("SendLatency",
                          "Time from the source FIFO through the NIC to the wire: a pause starts "
                          "and ends on the wire that much later than in the FIFO.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&SfcReactionPoint::m_latency),
                          lossless::MakePicosecondsChecker())
            .AddTraceSource("Pause",
                            "A message is applied: the message, its flow, and the requested pause "
                            "on the wire.",
                            MakeTraceSourceAccessor(&SfcReactionPoint::m_pauseTrace),
                            "ns3::sfc::SfcReactionPoint::PauseCallback");
    return tid;
}

SfcReactionPoint::SfcReactionPoint()
    : m_reach(this, &SfcReactionPoint::ReachSource)
{
}

SfcReactionPoint::~SfcReactionPoint() = default;

void
SfcReactionPoint::DoDispose()
{
    m_gate = nullptr;
    SwitchAgent::DoDispose();
}

void
SfcReactionPoint::SetUp()
{
    m_host = dynamic_cast<rdma::Host*>(m_node);
    if (m_host && m_scope != Scope::FLOW)
    {
        m_gate = CreateObject<SfcGate>();
        m_host->GetPort(0).AddFlowControl(m_gate);
    }
}

std::string
SfcReactionPoint::Check() const
{
    if (m_host)
    {
        return {};
    }
    return m_node->GetName() +
           ": SfcReactionPoint is for hosts; add it to 'host_agents', not to 'agents'\n";
}

bool
SfcReactionPoint::NotifyTransit(Frame* frame, lossless::Port& /* ingress */)
{
    Message message;
    if (!m_host || !Read(*frame, message))
    {
        return false;
    }
    const uint32_t flow = frame->flow;
    const bool here = frame->dst == m_host->GetId();
    FramePool::Give(frame);
    rdma::QueuePair* queuePair = here ? m_host->FindSender(flow) : nullptr;
    if (!queuePair)
    {
        ++(here ? m_unknownFlow : m_unknownSource);
        return true;
    }
    const int64_t now = NowPs();
    const int64_t age = now - message.stamp;
    ++m_received;
    m_transit += age;
    m_intervals += message.interval;
    m_late += age > message.interval;
    const Waiting waiting{message, queuePair, Remaining(message, now)};
    if (waiting.pause == 0)
    {
        ++m_spent;
        return true;
    }
    if (m_latency.IsZero())
    {
        Obey(waiting);
        return true;
    }
    m_pipeline.push_back(waiting);
    m_reach.Schedule(m_latency.GetTimeStep());
    return true;
}

void
SfcReactionPoint::ReachSource()
{
    const Waiting waiting = m_pipeline.front();
    m_pipeline.pop_front();
    Obey(waiting);
}

void
SfcReactionPoint::Obey(const Waiting& waiting)
{
    const int64_t now = NowPs();
    const int64_t until = now + waiting.pause;
    const int64_t reaction = now - waiting.message.stamp;
    m_reaction = std::max(m_reaction, reaction);
    int64_t longer = 0;
    switch (m_scope)
    {
    case Scope::FLOW:
        longer = waiting.queuePair->HoldUntil(until);
        break;
    case Scope::CLASS:
        longer = m_gate->Hold(waiting.message.cls, now, until);
        break;
    case Scope::INTERFACE:
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            longer = m_gate->Hold(cls, now, until);
        }
        break;
    }
    m_covered += longer == 0;
    m_held += longer;
    NS_LOG_LOGIC("flow " << waiting.queuePair->GetFlow() << " is held until " << until << " ps");
    m_pauseTrace(waiting.message, waiting.queuePair->GetFlow(), now, until);
}

void
SfcReactionPoint::Report(lossless::Summary& summary) const
{
    summary["sfc_messages_received"] += static_cast<double>(m_received);
    summary["sfc_messages_late"] += static_cast<double>(m_late);
    summary["sfc_messages_spent"] += static_cast<double>(m_spent);
    summary["sfc_messages_covered"] += static_cast<double>(m_covered);
    summary["sfc_unknown_source_messages"] += static_cast<double>(m_unknownSource);
    summary["sfc_unknown_flow_messages"] += static_cast<double>(m_unknownFlow);
    summary["sfc_transit_ps"] += static_cast<double>(m_transit);
    summary["sfc_round_trips_ps"] += 2 * static_cast<double>(m_transit);
    summary["sfc_intervals_ps"] += static_cast<double>(m_intervals);
    summary["sfc_hold_time_ps"] += static_cast<double>(m_held);
    double& reaction = summary["sfc_longest_reaction_ps"];
    reaction = std::max(reaction, static_cast<double>(m_reaction));
}

} // namespace sfc
} // namespace ns3
