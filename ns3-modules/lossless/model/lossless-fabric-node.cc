/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-fabric-node.h"

#include "ns3/lossless-port-observer.h"
#include "ns3/lossless-routes.h"
#include "ns3/object-vector.h"

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(FabricNode);

TypeId
FabricNode::GetTypeId()
{
    static TypeId tid = TypeId("ns3::lossless::FabricNode")
                            .SetParent<PortOwner>()
                            .SetGroupName("lossless")
                            .AddAttribute("PortList",
                                          "All ports, for paths of ns3::Config.",
                                          TypeId::ATTR_GET,
                                          ObjectVectorValue(),
                                          MakeObjectVectorAccessor(&FabricNode::m_ports),
                                          MakeObjectVectorChecker<Port>())
                            .AddAttribute("AgentList",
                                          "All agents, for paths of ns3::Config.",
                                          TypeId::ATTR_GET,
                                          ObjectVectorValue(),
                                          MakeObjectVectorAccessor(&FabricNode::m_agents),
                                          MakeObjectVectorChecker<SwitchAgent>())
                            .AddTraceSource("Drop",
                                            "A frame was dropped: node name, frame, cause.",
                                            MakeTraceSourceAccessor(&FabricNode::m_dropTrace),
                                            "ns3::lossless::FabricNode::DropCallback");
    return tid;
}

FabricNode::FabricNode() = default;
FabricNode::~FabricNode() = default;

void
FabricNode::DoDispose()
{
    for (const auto& agent : m_agents)
    {
        agent->Dispose();
    }
    for (const auto& port : m_ports)
    {
        port->Dispose();
    }
    m_ports.clear();
    PortOwner::DoDispose();
}

uint16_t
FabricNode::AddPort(Ptr<Port> port)
{
    m_ports.push_back(port);
    return static_cast<uint16_t>(m_ports.size() - 1);
}

void
FabricNode::AddAgent(Ptr<SwitchAgent> agent)
{
    NS_ABORT_MSG_IF(m_started,
                    agent->GetInstanceTypeId().GetName()
                        << " was added to " << m_name
                        << ", which has already started: it would never be started");
    agent->SetNode(this);
    m_agents.push_back(agent);
    m_roles.Add(PeekPointer(agent));
}

void
FabricNode::SetRoutes(const Routes* routes)
{
    m_routes = routes;
}

void
FabricNode::SetCell(uint16_t cell)
{
    m_cell = cell;
    for (const auto& port : m_ports)
    {
        port->SetCell(cell);
    }
}

void
FabricNode::Start()
{
    const eventloop::CellLoop::Adoption adoption(m_cell); // of timers that start now
    m_started = true;
    for (const auto& agent : m_agents)
    {
        agent->SetUp();
    }
    std::vector<BufferDemand> demands(m_ports.size());
    for (std::size_t port = 0; port < m_ports.size(); ++port)
    {
        for (const auto& flowControl : m_ports[port]->GetChain().GetMembers())
        {
            demands[port].Join(flowControl->GetBufferDemand());
        }
        if (m_buffer->GetCellSize() > 1)
        {
            demands[port].FillCells(m_buffer->GetCellSize(), m_ports[port]->GetOverhead());
        }
    }
    m_buffer->Configure(demands);
    if (m_roles.HasFeedReaders())
    {
        m_feeds = std::make_unique<FeedMap>(GetNPorts());
    }
    for (const auto& port : m_ports)
    {
        port->Start();
    }
    for (const auto& agent : m_agents)
    {
        agent->Start();
    }
    if (m_packetReceiver)
    {
        m_packetReceiver->Start();
    }
}

void
FabricNode::SetPauseStorm(uint16_t port, uint8_t cls, bool on, bool endless)
{
    if (endless)
    {
        m_silencing.resize(m_ports.size());
        const uint32_t others = m_silencing[port] & ~(1U << cls);
        m_silencing[port] = static_cast<uint8_t>(others | (on ? 1U << cls : 0U));
    }
    if (on)
    {
        NotePressure(*m_ports[port], NO_PORT, cls, cls);
    }
    m_ports[port]->GetChain().NotifyXoff(cls, on);
}

uint64_t
FabricNode::CountHeld() const
{
    return 0;
}

void
FabricNode::NotifyLink(Port& /* port */, bool up)
{
    if (m_packetReceiver)
    {
        m_packetReceiver->NotifyLink(up);
    }
}

void
FabricNode::HandOver(Frame* frame)
{
    if (frame->dst != ALL_NODES && (frame->dst != m_id || !m_packetReceiver))
    {
        Drop(frame, DropCause::NO_ROUTE);
        return;
    }
    if (!m_packetReceiver)
    {
        Take(frame);
        return;
    }
    ++m_counters.taken;
    m_packetReceiver->ReceivePacket(frame);
}

void
FabricNode::NotePressure(const Port& ingress,
                         uint16_t egress,
                         uint8_t cls,
                         uint8_t egressClass) const
{
    if (m_observer)
    {
        m_observer->NotifyPressure(ingress, egress, cls, egressClass);
    }
}

void
FabricNode::TellTurnedOff(uint16_t egress, uint8_t egressClass)
{
    uint16_t port = 0;
    uint8_t cls = 0;
    while (m_buffer->TakeTurnedOff(port, cls))
    {
        if (m_feeds)
        {
            m_feeds->NoteCause(port, cls, egress);
        }
        NotePressure(*m_ports[port], egress, cls, egressClass);
        m_ports[port]->GetChain().NotifyXoff(cls, true);
    }
}

bool
FabricNode::Charge(Frame* frame, Port& ingress, uint16_t egress)
{
    const uint8_t cls = frame->cls;
    frame->ingressClass = cls;
    using enum BufferPolicy::Verdict;
    BufferPolicy& buffer = *PeekPointer(m_buffer);
    const auto verdict = buffer.Admit(ingress.GetIndex(), egress, cls, frame->bytes);
    if (verdict == REFUSED || verdict == REFUSED_OFF)
    {
        if (!buffer.IsLossless(cls) && AdmitAgain(frame, ingress, egress))
        {
            return true;
        }
        const uint8_t egressClass = m_roles.GetEgressClass(*frame, ingress);
        Drop(frame, buffer.IsLossless(cls) ? DropCause::HEADROOM : DropCause::LOSSY);
        if (verdict == REFUSED_OFF)
        {
            TellTurnedOff(egress, egressClass);
        }
        return false;
    }
    frame->charged = true;
    if (buffer.IsLossless(cls))
    {
        if (m_feeds)
        {
            m_feeds->Add(ingress.GetIndex(), egress, cls, CountCells(*frame));
        }
        ingress.NotifyReceived(*frame, buffer.GetUsage(ingress.GetIndex(), cls).Total());
        if (verdict == TURNED_OFF)
        {
            TellTurnedOff(egress, m_roles.GetEgressClass(*frame, ingress));
        }
    }
    return true;
}

uint32_t
FabricNode::CountCells(const Frame& frame) const
{
    return static_cast<uint32_t>(m_buffer->InCells(frame.bytes));
}

bool
FabricNode::AdmitAgain(Frame* frame, Port& ingress, uint16_t egress)
{
    while (m_roles.OfferRefused(*frame, ingress))
    {
        frame->ingressClass = frame->cls;
        if (m_buffer->Admit(ingress.GetIndex(), egress, frame->cls, frame->bytes) ==
            BufferPolicy::Verdict::ADMITTED)
        {
            frame->charged = true;
            return true;
        }
    }
    return false;
}

void
FabricNode::Release(const Departure& departure)
{
    BufferPolicy& buffer = *PeekPointer(m_buffer);
    const uint16_t ingress = departure.ingress;
    uint8_t cls = departure.cls;
    buffer.Release(ingress, departure.egress, cls, departure.bytes);
    if (!buffer.IsLossless(cls))
    {
        return;
    }
    if (m_feeds)
    {
        const auto bytes = static_cast<uint32_t>(buffer.InCells(departure.bytes));
        m_feeds->Remove(ingress, departure.egress, cls, bytes);
    }
    PeekPointer(m_ports[ingress])->NotifyReleased(departure, buffer.GetUsage(ingress, cls).Total());
    uint16_t port = 0;
    while (buffer.TakeResumed(port, cls))
    {
        m_ports[port]->GetChain().NotifyXoff(cls, false);
    }
}

bool
FabricNode::PassThrough(Frame* frame, Port& ingress)
{
    if (!Charge(frame, ingress, 0))
    {
        return false;
    }
    ReleaseHere(frame);
    return true;
}

void
FabricNode::ReleaseHere(Frame* frame)
{
    frame->charged = false;
    Departure departure = Departure::Of(*frame);
    departure.egress = 0;
    Release(departure);
}

void
FabricNode::Discard(Frame* frame, DropCause cause)
{
    if (frame->charged)
    {
        frame->charged = false;
        Release(Departure::Of(*frame));
    }
    Drop(frame, cause);
}

void
FabricNode::Redirect(Frame* frame, uint16_t egress)
{
    if (frame->charged && m_feeds)
    {
        const uint32_t bytes = CountCells(*frame);
        m_feeds->Remove(frame->ingress, frame->egress, frame->ingressClass, bytes);
        m_feeds->Add(frame->ingress, egress, frame->ingressClass, bytes);
    }
    frame->egress = egress;
    frame->pinned = false;
    m_ports[egress]->Enqueue(frame);
}

void
FabricNode::Reclass(Frame* frame, uint8_t cls)
{
    if (frame->charged)
    {
        frame->charged = false;
        Release(Departure::Of(*frame));
        using enum BufferPolicy::Verdict;
        const auto verdict = m_buffer->Admit(frame->ingress, frame->egress, cls, frame->bytes);
        if (verdict == REFUSED || verdict == REFUSED_OFF)
        {
            Drop(frame, DropCause::SCHEME);
            return;
        }
        frame->charged = true;
        frame->ingressClass = cls;
    }
    frame->cls = cls;
    m_ports[frame->egress]->Enqueue(frame);
}

void
FabricNode::KeepFeeds(bool kept)
{
    if (!m_roles.HasFeedReaders())
    {
        m_feeds = kept ? std::make_unique<FeedMap>(GetNPorts()) : nullptr;
    }
}

void
FabricNode::Visit(StateVisitor& visitor)
{
    visitor.Inside(*this, m_silencing);
    // Constant: m_routes, but for events of their own; m_started, m_cell; and of PortOwner m_id,
    // m_name, m_roles. m_dropTrace is told of nothing: no frame is dropped.
    visitor.Require(m_agents.empty() || (IsSwitch() && GetRestingDepth(0) >= 0),
                    "there are agents that do not say when they rest");
    visitor.Require(!m_observer, "deadlocks are judged");
    visitor.Require(!m_feeds, "bytes are mapped by egress");
    visitor.Require(!m_packetReceiver, "packets of other stacks are sent");
    auto& [made, taken, dropped, droppedLossless, onPurposeBytes, byCause] = m_counters;
    visitor.Count(made);
    visitor.Count(taken);
    visitor.Same(dropped, droppedLossless, onPurposeBytes);
    visitor.Derived(byCause); // as none is dropped
    for (const uint8_t& classes : m_silencing)
    {
        visitor.Same(classes);
    }
    m_buffer->Visit(visitor);
    for (const auto& port : m_ports)
    {
        port->Visit(visitor);
    }
}

int64_t
FabricNode::GetRestingDepth(uint16_t port) const
{
    int64_t depth = NEVER;
    for (const auto& agent : m_agents)
    {
        const auto* resting = dynamic_cast<const RestingAgent*>(PeekPointer(agent));
        depth = std::min(depth, resting ? resting->GetRestingDepth(port) : -1);
    }
    return depth;
}

const FeedMap*
FabricNode::GetFeeds() const
{
    return m_feeds.get();
}

const Routes&
FabricNode::GetRoutes() const
{
    return *m_routes;
}

void
FabricNode::Drop(Frame* frame, DropCause cause)
{
    if (m_observer && (cause == DropCause::SCHEME || cause == DropCause::LINK_DOWN))
    {
        m_observer->NotifyChange(); // frames leave a held queue in no other way
    }
    if (frame->paced)
    {
        frame->paced = false;
        NotifyLeft(*frame);
    }
    if (frame->kind != FrameKind::MAC)
    {
        ++m_counters.dropped;
        ++m_counters.byCause[static_cast<std::size_t>(cause)];
        m_counters.droppedLossless += cause != DropCause::SCHEME && cause != DropCause::CORRUPTED &&
                                      frame->cls < N_CLASSES && m_buffer->IsLossless(frame->cls);
        m_counters.onPurposeBytes += cause == DropCause::SCHEME ? frame->bytes : 0;
        m_dropTrace(m_name, *frame, cause);
    }
    FramePool::Give(frame);
}

void
FabricNode::Take(Frame* frame)
{
    ++m_counters.taken;
    FramePool::Give(frame);
}

const FabricNode::Counters&
FabricNode::GetCounters() const
{
    return m_counters;
}

} // namespace lossless
} // namespace ns3
