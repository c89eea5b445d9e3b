/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "sfc-message-serializer.h"

#include "sfc-message.h"

namespace ns3
{
namespace sfc
{

NS_OBJECT_ENSURE_REGISTERED(MessageSerializer);

TypeId
MessageSerializer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::sfc::MessageSerializer")
                            .SetParent<observe::FrameSerializer>()
                            .SetGroupName("sfc")
                            .AddConstructor<MessageSerializer>();
    return tid;
}

bool
MessageSerializer::Serialize(const lossless::Frame& frame,
                             uint32_t /* sender */,
                             bool tagged,
                             observe::FrameBytes& bytes) const
{
    constexpr uint8_t VERSION = 1;
    constexpr uint8_t STAMPED = 0x80;
    Message message;
    if (!Read(frame, message))
    {
        return false;
    }
    bytes.PutUdp(frame, 0, SFC_PORT, SFC_PORT, SFC_BYTES, tagged);
    bytes.Put(VERSION, 1);
    bytes.Put((message.stamped ? STAMPED : 0U) | message.cls, 1);
    bytes.Put(static_cast<uint64_t>(message.interval), 6);
    bytes.Put(message.stamped ? static_cast<uint64_t>(message.stamp) : 0, 6);
    return true;
}

} // namespace sfc
} // namespace ns3
