/*
 * SPDX-License-Identifier: GPL-2.0-only
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

void
FlowControl::Start()
{
}

std::string
FlowControl::Check() const
{
    return {};
}

bool
FlowControl::WouldHold(uint16_t /* queue */, const Frame& /* head */, const Rest& /* rest */) const
{
    return false;
}

bool
FlowControl::WouldRelease(uint16_t /* queue */,
                          const Frame& /* head */,
                          const ControlFrame& /* control */) const
{
    return true;
}

bool
FlowControl::WaitsFor(uint16_t /* queue */, const Frame& /* head */, uint16_t /* other */) const
{
    return false;
}

std::string
FlowControl::Warn() const
{
    return {};
}

void
FlowControl::NotifyReceived(const Frame& /* frame */, int64_t /* queueBytes */)
{
}

void
FlowControl::NotifyReleased(uint8_t /* cls */,
                            uint32_t /* flow */,
                            uint32_t /* bytes */,
                            int64_t /* queueBytes */)
{
}

void
FlowControl::NotifyPressure(uint8_t /* cls */, bool /* off */)
{
}

uint16_t
FlowControl::GetExtraQueues() const
{
    return 0;
}

uint16_t
FlowControl::SelectQueue(const Frame& /* frame */, uint16_t queue) const
{
    return queue;
}

void
FlowControl::NotifyJoined(uint16_t /* queue */, const Frame& /* frame */)
{
}

int64_t
FlowControl::GetEarliest(uint16_t /* queue */, const Frame& /* head */, int64_t now) const
{
    return now;
}

void
FlowControl::NotifySent(uint16_t /* queue */, const Frame& /* frame */, int64_t /* now */)
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
