/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-flow-control.h"

namespace ns3
{
namespace lossless
{

NS_OBJECT_ENSURE_REGISTERED(FlowControl);

TypeId
FlowControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::lossless::FlowControl").SetParent<Object>().SetGroupName("lossless");
    return tid;
}

void
FlowControl::SetPort(Port* port)
{
    m_port = port;
}

BufferDemand
FlowControl::GetBufferDemand() const
{
    return {};
}

void
FlowControl::Start()
{
}

std::string
FlowControl::Check() const
{
    return {};
}

std::string
FlowControl::Warn() const
{
    return {};
}

std::unique_ptr<QueueScheduler>
QueueSelector::MakeScheduler()
{
    return std::make_unique<StrictScheduler>();
}

void
QueueSelector::NotifyJoined(uint16_t /* queue */, Frame& /* frame */)
{
}

void
QueueSelector::NotifyTaken(uint16_t /* queue */, Frame& /* frame */)
{
}

bool
FlowControl::ReceiveControl(const ControlFrame& /* control */)
{
    return false;
}

void
FlowControl::NotifyLink(bool /* up */)
{
}

void
FlowControl::Report(Summary& /* summary */) const
{
}

} // namespace lossless
} // namespace ns3
