/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-switch-agent.h"

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(SwitchAgent);

TypeId
SwitchAgent::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::SwitchAgent").SetParent<Object>().SetGroupName("lossless");
    return tid;
}

void
SwitchAgent::SetNode(FabricNode* node)
{
    m_node = node;
}

void
SwitchAgent::Start()
{
}

std::string
SwitchAgent::Check() const
{
    return {};
}

std::string
SwitchAgent::Warn() const
{
    return {};
}

bool
SwitchAgent::NotifyArrival(Frame& /* frame */, Port& /* ingress */)
{
    return true;
}

void
SwitchAgent::NotifyEnqueue(Port& /* egress */, uint16_t /* queue */, Frame& /* frame */)
{
}

void
SwitchAgent::NotifyDequeue(Port& /* egress */, uint16_t /* queue */, Frame& /* frame */)
{
}

void
SwitchAgent::NotifyPauseSent(Port& /* port */, uint8_t /* cls */, bool /* on */)
{
}

void
SwitchAgent::NotifyPaused(Port& /* port */, uint8_t /* cls */, bool /* on */)
{
}

bool
SwitchAgent::NotifyTransit(Frame* /* frame */, Port& /* ingress */)
{
    return false;
}

void
SwitchAgent::Decorate(Port& /* port */, ControlFrame& /* control */)
{
}

void
SwitchAgent::NotifyControl(Port& /* port */, const ControlFrame& /* control */)
{
}

void
SwitchAgent::NotifyReceive(const Frame& /* frame */, int64_t /* bytes */, uint64_t /* rate */)
{
}

void
SwitchAgent::Report(Summary& /* summary */) const
{
}

} // namespace lossless
} // namespace ns3
