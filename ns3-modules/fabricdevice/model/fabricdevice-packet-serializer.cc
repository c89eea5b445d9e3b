/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-packet-serializer.h"

#include "fabricdevice-net-device.h"
#include "fabricdevice-packet.h"

#include "ns3/boolean.h"

#include <algorithm>

namespace ns3
{
namespace fabricdevice
{

NS_OBJECT_ENSURE_REGISTERED(PacketSerializer);

TypeId
PacketSerializer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabricdevice::PacketSerializer")
                            .SetParent<observe::FrameSerializer>()
                            .SetGroupName("fabricdevice")
                            .AddConstructor<PacketSerializer>();
    return tid;
}

void
PacketSerializer::SetNodes(const std::vector<const lossless::FabricNode*>& nodes)
{
    m_routedHops = std::any_of(nodes.begin(), nodes.end(), [](const lossless::FabricNode* node) {
        const auto device =
            node ? dynamic_cast<const FabricNetDevice*>(node->GetPacketReceiver()) : nullptr;
        BooleanValue routed(false);
        if (device)
        {
            device->GetAttribute("RoutedHops", routed);
        }
        return routed.Get();
    });
}

bool
PacketSerializer::Serialize(const lossless::Frame& frame,
                            uint32_t /* sender */,
                            bool /* tagged */,
                            observe::FrameBytes& bytes) const
{
    if (frame.kind != lossless::FrameKind::PACKET)
    {
        return false;
    }
    const Ptr<Packet> sent(frame.packet);
    const uint32_t size = sent->GetSize();
    uint8_t* data = bytes.Extend(size);
    sent->CopyData(data, size);
    auto packet = sent->Copy();
    LinkHeader link;
    if (RemoveLinkHeader(packet, &link) && WriteMarks(packet, link.etherType, frame, m_routedHops))
    {
        packet->CopyData(data + size - packet->GetSize(), packet->GetSize());
    }
    return true;
}

} // namespace fabricdevice
} // namespace ns3
