/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-switch.h"

#include "lossless-attribute.h"
#include "lossless-routes.h"

#include "ns3/boolean.h"

#include <algorithm>
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
                "Time from the arrival of a frame's last bit to its joining an egress queue.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&Switch::m_latency),
                MakePicosecondsChecker())
            .AddAttribute(
                "RouteDelay",
                "Time from the failure or recovery of a link to this switch's new routes; "
                "until then it forwards as before. Of switches that differ, some forward "
                "in loops meanwhile.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&Switch::m_routeDelay),
                MakePicosecondsChecker())
            .AddAttribute("DecrementTtl",
                          "Count down the time to live and drop a frame when it runs out.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Switch::m_decrementTtl),
                          MakeBooleanChecker());
    return tid;
}

Switch::Switch()
    : m_pipeline(this)
{
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
Switch::Forward(Frame* frame, Port& ingress)
{
    if (frame->cls < N_CLASSES && ((!m_arrivalAgents.empty() && !OfferArrival(frame, ingress)) ||
                                   !Charge(frame, ingress, frame->egress)))
    {
        return;
    }
    ++frame->hop;
    const int64_t latency = m_latency.GetTimeStep();
    if (latency == 0)
    {
        PeekPointer(m_ports[frame->egress])->Enqueue(frame);
        return;
    }
    m_pipeline.Send(latency, frame);
}

void
Switch::Receive(Frame* frame, Port& ingress)
{
    if (frame->kind == FrameKind::SIGNAL && OfferTransit(frame, ingress))
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
        Drop(frame, DropCause::NO_ROUTE); // it was sent along a tree that is no more
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
    frame->egress = m_routes->Next(m_id, *frame);
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

uint64_t
Switch::CountHeld() const
{
    return m_pipeline.GetCount();
}

} // namespace lossless
} // namespace ns3
