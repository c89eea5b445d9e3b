/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-switch.h"

#include "lossless-attribute.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/lossless-routes.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(Switch);

TypeId
Switch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::Switch")
            .SetParent<FabricNode>()
            .SetGroupName("lossless")
            .AddConstructor<Switch>()
            .AddAttribute(
                "Latency",
                "Time from the arrival of a frame's last bit until it joins an egress queue.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&Switch::m_latency),
                MakePicosecondsChecker())
            .AddAttribute(
                "RouteDelay",
                "Time from the failure or recovery of a link to the new routes of this switch; "
                "until then it forwards as before. If it differs between switches, transient "
                "forwarding loops are possible.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&Switch::m_routeDelay),
                MakePicosecondsChecker())
            .AddAttribute("FastReroute",
                          "When a link of this switch has failed, send its frames to another "
                          "equal-cost next hop, if there is one, until the new routes are in "
                          "place; otherwise they are dropped until RouteDelay has passed.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Switch::m_fastReroute),
                          MakeBooleanChecker())
            .AddAttribute("DetectionDelay",
                          "With FastReroute: time from the failure of a link until this switch "
                          "detects it; until then frames for the link are lost.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Switch::m_detectionDelay),
                          MakePicosecondsChecker())
            .AddAttribute("DecrementTtl",
                          "Decrement the time to live and drop a frame when it expires.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Switch::m_decrementTtl),
                          MakeBooleanChecker());
    return tid;
}

Switch::Switch()
    : m_pipeline(this)
{
}

bool
Switch::IsSwitch() const
{
    return true;
}

void
Switch::SetCell(uint16_t cell)
{
    FabricNode::SetCell(cell);
    m_pipeline.SetPlace(PlaceOf(0));
}

int64_t
Switch::GetPipelineLatency() const
{
    return m_latency.GetTimeStep();
}

int64_t
Switch::GetRouteDelay() const
{
    return m_routeDelay.GetTimeStep();
}

void
Switch::SetNumber(uint32_t number)
{
    m_number = number;
}

uint32_t
Switch::GetNumber() const
{
    return m_number;
}

void
Switch::SetForwarding(Ptr<ForwardingPolicy> policy)
{
    policy->SetSwitch(this);
    m_policy = policy;
    m_isPlain = policy->GetInstanceTypeId() == Ecmp::GetTypeId();
}

ForwardingPolicy&
Switch::GetForwarding() const
{
    return *m_policy;
}

void
Switch::DoDispose()
{
    m_policy = nullptr;
    FabricNode::DoDispose();
}

void
Switch::Forward(Frame* frame, Port& ingress)
{
    if (frame->cls < N_CLASSES)
    {
        if (!(m_roles.AsksAtArrival() ? Admit(frame, ingress)
                                      : Charge(frame, ingress, frame->egress)))
        {
            return;
        }
    }
    ++frame->hop;
    if (m_latency.IsZero())
    {
        PeekPointer(m_ports[frame->egress])->Enqueue(frame);
        return;
    }
    EnterPipeline(frame);
}

bool
Switch::Admit(Frame* frame, Port& ingress)
{
    frame->ingressClass = frame->cls; // for agents that need its departure
    if (!m_roles.OfferArrival(*frame, ingress))
    {
        Drop(frame, DropCause::SCHEME);
        return false;
    }
    const uint8_t cls = m_roles.GetEgressClass(*frame, ingress);
    if (!Charge(frame, ingress, frame->egress))
    {
        return false;
    }
    frame->cls = cls; // charged to its ingress class, which a pause has to name
    return true;
}

void
Switch::EnterPipeline(Frame* frame)
{
    m_pipeline.Send(m_latency.GetTimeStep(), frame);
}

void
Switch::Receive(Frame* frame, Port& ingress)
{
    if (frame->kind == FrameKind::SIGNAL && m_roles.OfferTransit(frame, ingress))
    {
        ++m_counters.taken;
        return;
    }
    if (m_decrementTtl && frame->ttl-- <= 1)
    {
        Drop(frame, DropCause::TTL);
        return;
    }
    if (frame->dst == ALL_NODES) [[unlikely]]
    {
        Flood(frame, ingress);
        return;
    }
    if (Route(frame))
    {
        Forward(frame, ingress);
    }
}

void
Switch::Flood(Frame* frame, Port& ingress)
{
    const std::vector<uint16_t>& tree = m_routes->GetTree(m_id);
    if (std::find(tree.begin(), tree.end(), ingress.GetIndex()) == tree.end())
    {
        Drop(frame, DropCause::NO_ROUTE); // it was sent along a tree that no longer exists
        return;
    }
    std::vector<Frame*> copies;
    for (const uint16_t egress : tree)
    {
        if (egress == ingress.GetIndex() || !m_ports[egress]->IsUp())
        {
            continue;
        }
        Frame* copy = frame;
        if (!copies.empty())
        {
            copy = FramePool::Copy(*frame);
            CountMade(copy);
        }
        copy->egress = egress;
        copies.push_back(copy);
    }
    if (copies.empty())
    {
        Take(frame); // the tree ends here
        return;
    }
    for (Frame* copy : copies)
    {
        Forward(copy, ingress);
    }
}

bool
Switch::Route(Frame* frame)
{
    frame->egress = m_isPlain ? m_routes->Next(m_id, *frame) : Choose(*frame);
    if (frame->egress == NO_PORT)
    {
        Drop(frame, DropCause::NO_ROUTE);
        return false;
    }
    if (!PeekPointer(m_ports[frame->egress])->IsUp())
    {
        Drop(frame, DropCause::LINK_DOWN);
        return false;
    }
    return true;
}

uint16_t
Switch::Choose(const Frame& frame)
{
    NextHops hops = m_routes->GetNextHops(m_id, frame);
    if (hops.size() > 1 && !m_left.empty())
    {
        m_alive.clear();
        std::copy_if(hops.begin(), hops.end(), std::back_inserter(m_alive), [this](uint16_t port) {
            return !m_left[port];
        });
        hops =
            m_alive.empty() ? hops : NextHops(m_alive); // no alternative: lost on the failed link
    }
    if (hops.size() <= 1)
    {
        return hops.empty() ? NO_PORT : hops.front();
    }
    const bool payload = frame.kind == FrameKind::DATA || frame.kind == FrameKind::PACKET;
    const std::size_t chosen = payload || m_policy->ChoosesAnswers()
                                   ? m_policy->Choose(frame, hops)
                                   : m_routes->HashTo(m_id, frame, hops.size());
    NS_ABORT_MSG_IF(chosen >= hops.size(),
                    m_policy->GetInstanceTypeId().GetName()
                        << " chose next hop " << chosen << " of " << hops.size()
                        << "; indices start at 0");
    return hops[chosen];
}

void
Switch::NotifyLink(Port& port, bool up)
{
    FabricNode::NotifyLink(port, up);
    if (!m_fastReroute)
    {
        return;
    }
    const uint16_t index = port.GetIndex();
    m_failures.resize(m_ports.size());
    if (!up)
    {
        const uint32_t failure = ++m_failures[index];
        m_detectionDelay.IsZero()
            ? LeaveLink(index, failure)
            : void(Simulator::Schedule(m_detectionDelay, &Switch::LeaveLink, this, index, failure));
    }
    else if (!m_left.empty())
    {
        m_left[index] = false; // new routes determine whether it is a next hop again
    }
}

void
Switch::LeaveLink(uint16_t port, uint32_t failure)
{
    if (!m_ports.empty() && failure == m_failures[port] && !m_ports[port]->IsUp())
    {
        m_left.resize(m_ports.size());
        m_left[port] = true;
        m_isPlain = false;
    }
}

void
Switch::LeavePipeline(Frame* frame)
{
    if (m_ports[frame->egress]->IsUp())
    {
        m_ports[frame->egress]->Enqueue(frame);
        return;
    }
    if (frame->charged)
    {
        frame->charged = false;
        Release(Departure::Of(*frame));
    }
    Drop(frame, DropCause::LINK_DOWN);
}

void
Switch::Inject(Frame* frame)
{
    CountMade(frame);
    frame->ingress = NO_PORT;
    if (Route(frame))
    {
        m_ports[frame->egress]->Enqueue(frame);
    }
}

void
Switch::Visit(StateVisitor& visitor)
{
    visitor.Inside(*this);
    // Constant: m_routeDelay, m_number, m_fastReroute, m_detectionDelay, m_decrementTtl, m_policy.
    // m_failures and m_left are of links that failed.
    visitor.Derived(m_alive); // scratch memory
    visitor.Require(m_isPlain, "a switch does not forward by the hash alone");
    visitor.Require(m_latency.IsZero() && m_pipeline.GetCount() == 0, "switches have a latency");
    FabricNode::Visit(visitor);
}

uint64_t
Switch::CountHeld() const
{
    return m_pipeline.GetCount();
}

} // namespace lossless
} // namespace ns3
