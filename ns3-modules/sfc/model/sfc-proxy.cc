/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "sfc-proxy.h"

#include "ns3/enum.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-rate.h"
#include "ns3/pfc.h"
#include "ns3/string.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace sfc
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::PFC_OPCODE;
using lossless::Port;

NS_OBJECT_ENSURE_REGISTERED(SfcProxy);

TypeId
SfcProxy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::sfc::SfcProxy")
            .SetParent<SwitchAgent>()
            .SetGroupName("sfc")
            .AddConstructor<SfcProxy>()
            .AddAttribute("Scope",
                          "What a message pauses: Class (that of the packet) or Interface (all "
                          "classes).",
                          EnumValue(Scope::CLASS),
                          MakeEnumAccessor<Scope>(&SfcProxy::m_scope),
                          MakeEnumChecker(Scope::CLASS, "Class", Scope::INTERFACE, "Interface"));
    return tid;
}

SfcProxy::SfcProxy()
    : m_leave(this, &SfcProxy::LeavePipeline)
{
}

SfcProxy::~SfcProxy() = default;

void
SfcProxy::Start()
{
    m_byPort.assign(m_node->GetNPorts(), -1);
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        const Port& port = m_node->GetPort(index);
        if (!port.GetPeer().GetNode().IsSwitch())
        {
            const auto edge = static_cast<uint32_t>(m_edges.size());
            m_byHost.emplace(port.GetPeerId(), edge);
            m_byPort[index] = static_cast<int32_t>(edge);
            m_edges.emplace_back();
            m_edges.back().port = index;
        }
    }
}

std::string
SfcProxy::Check() const
{
    if (!m_node->IsSwitch())
    {
        return m_node->GetName() +
               ": SfcProxy is for switches; add it to 'agents', not to 'host_agents'\n";
    }
    std::ostringstream problems;
    for (const Edge& edge : m_edges)
    {
        const Port& nic = m_node->GetPort(edge.port).GetPeer();
        const auto& chain = nic.GetChain().GetMembers();
        const auto pfc = std::find_if(chain.begin(), chain.end(), [](const auto& flowControl) {
            return dynamic_cast<const pfc::Pfc*>(PeekPointer(flowControl)) != nullptr;
        });
        if (pfc == chain.end())
        {
            problems << m_node->GetName() << ": SfcProxy: the NIC of " << nic.GetNode().GetName()
                     << " does not obey PFC; add \"pfc\" to 'flow_control'\n";
            continue;
        }
        StringValue mode;
        (*pfc)->GetAttribute("Mode", mode);
        if (mode.Get() != "Timer")
        {
            problems << m_node->GetName() << ": SfcProxy: with Pfc.Mode " << mode.Get()
                     << " the NIC of " << nic.GetNode().GetName()
                     << " would pause for ever; it must be Timer\n";
        }
    }
    return problems.str();
}

void
SfcProxy::NotifyPauseSent(Port& port, uint8_t cls, bool on)
{
    const int32_t index = m_byPort[port.GetIndex()];
    if (index >= 0)
    {
        uint32_t& held = m_edges[index].held;
        held = on ? held | 1U << cls : held & ~(1U << cls);
    }
}

bool
SfcProxy::NotifyTransit(Frame* frame, Port& /* ingress */)
{
    Message message;
    const auto found = m_byHost.find(frame->dst);
    if (found == m_byHost.end() || !Read(*frame, message))
    {
        return false;
    }
    FramePool::Give(frame);
    ++m_taken;
    const int64_t latency = m_node->GetPipelineLatency();
    if (latency == 0)
    {
        Act(m_edges[found->second], message);
        return true;
    }
    m_pipeline.push_back(Waiting{message, found->second});
    m_leave.Schedule(latency);
    return true;
}

bool
SfcProxy::Take(const Message& message, uint32_t host)
{
    const auto found = m_byHost.find(host);
    if (found == m_byHost.end())
    {
        return false;
    }
    ++m_taken;
    Act(m_edges[found->second], message); // it did not arrive through this switch
    return true;
}

void
SfcProxy::LeavePipeline()
{
    const Waiting waiting = m_pipeline.front();
    m_pipeline.pop_front();
    Act(m_edges[waiting.edge], waiting.message);
}

uint32_t
SfcProxy::RemainingQuanta(const Edge& edge, uint8_t cls, uint64_t rate) const
{
    return Quanta(std::max<int64_t>(0, edge.until[cls] - NowPs()), rate);
}

void
SfcProxy::Act(Edge& edge, const Message& message)
{
    const int64_t now = NowPs();
    m_transit += now - message.stamp;
    m_late += now - message.stamp > message.interval;
    Port& port = m_node->GetPort(edge.port);
    // A PFC frame cannot pause for more than 65535 quanta.
    const int64_t most =
        lossless::TransmissionTime(lossless::MAX_QUANTA * lossless::QUANTUM_BYTES, port.GetRate());
    const int64_t end = now + std::min(Remaining(message, now), most);
    const uint32_t classes = m_scope == Scope::CLASS ? 1U << message.cls : 0xff;
    uint32_t longer = 0;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((classes >> cls) & 1U && end > std::max(now, edge.until[cls]))
        {
            edge.until[cls] = end;
            longer |= 1U << cls;
        }
    }
    m_covered += longer == 0;
    longer &= ~edge.held; // PFC's own pause continues, and Decorate extends it at its end
    if (longer == 0)
    {
        return;
    }
    Frame* frame = FramePool::TakeControl();
    frame->control->opcode = PFC_OPCODE;
    frame->control->classes = static_cast<uint16_t>(longer);
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((longer >> cls) & 1U)
        {
            frame->control->value[cls] = RemainingQuanta(edge, cls, port.GetRate());
        }
    }
    m_frames += port.SendState(frame, true) ? 1 : 0;
}

void
SfcProxy::Decorate(Port& port, ControlFrame& control)
{
    const int32_t index = m_byPort[port.GetIndex()];
    if (index < 0 || control.opcode != PFC_OPCODE)
    {
        return;
    }
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        if ((control.classes >> cls) & 1U)
        {
            const uint32_t quanta = RemainingQuanta(m_edges[index], cls, port.GetRate());
            m_raised += quanta > control.value[cls];
            control.value[cls] = std::max(control.value[cls], quanta);
        }
    }
}

void
SfcProxy::Report(lossless::Summary& summary) const
{
    summary["sfc_messages_received"] += static_cast<double>(m_taken);
    summary["sfc_messages_covered"] += static_cast<double>(m_covered);
    summary["sfc_messages_late"] += static_cast<double>(m_late);
    summary["sfc_proxy_pfc_frames"] += static_cast<double>(m_frames);
    summary["sfc_proxy_words_raised"] += static_cast<double>(m_raised);
    summary["sfc_transit_ps"] += static_cast<double>(m_transit);
}

} // namespace sfc
} // namespace ns3
