/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
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
SwitchAgent::SetUp()
{
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

void
QueueAgent::NotifyEnqueue(Port& /* egress */, uint16_t /* queue */, Frame& /* frame */)
{
}

void
QueueAgent::NotifyDequeue(Port& /* egress */, uint16_t /* queue */, Frame& /* frame */)
{
}

void
PauseAgent::NotifyPauseSent(Port& /* port */, uint8_t /* cls */, bool /* on */)
{
}

void
PauseAgent::NotifyPaused(Port& /* port */, uint8_t /* cls */, bool /* on */)
{
}

void
ControlAgent::Decorate(Port& /* port */, ControlFrame& /* control */)
{
}

void
ControlAgent::NotifyControl(Port& /* port */, const ControlFrame& /* control */)
{
}

void
SwitchAgent::Report(Summary& /* summary */) const
{
}

} // namespace lossless
} // namespace ns3
