/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-frame-serializer.h"

#include "observe-mac-control.h"

#include "ns3/crc32.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace observe
{

using lossless::FabricNode;
using lossless::FrameKind;

NS_OBJECT_ENSURE_REGISTERED(FrameSerializer);

namespace
{

/// EtherType for local experiments (IEEE 802, clause 9.2.4).
constexpr uint16_t LOCAL_EXPERIMENT = 0x88b5;

/// Serialize a frame for which no module has a serializer.
/// @param frame the frame. @param sender sending node. @param tagged whether to add an 802.1Q tag.
/// @param bytes output.
void
SerializeOther(const lossless::Frame& frame, uint32_t sender, bool tagged, FrameBytes& bytes)
{
    if (frame.kind == FrameKind::MAC)
    {
        const MacControlBytes serialized = SerializeMacControl(*frame.control, sender);
        bytes.Append(serialized.data(), serialized.size() - FCS_BYTES);
        return;
    }
    if (frame.kind == FrameKind::SIGNAL)
    {
        bytes.PutUdp(frame, 0, SIGNAL_PORT, SIGNAL_PORT, sizeof(frame.word), tagged);
        bytes.Put(frame.word[0], 8);
        bytes.Put(frame.word[1], 8);
        return;
    }
    if (frame.kind == FrameKind::PACKET)
    {
        const uint32_t size = frame.packet->GetSize();
        frame.packet->CopyData(bytes.Extend(size), size);
        return;
    }
    bytes.PutEthernet(MacAddressOf(frame.dst),
                      MacAddressOf(frame.src),
                      frame.cls,
                      tagged,
                      LOCAL_EXPERIMENT);
}

} // namespace

TypeId
FrameSerializer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::observe::FrameSerializer").SetParent<Object>().SetGroupName("observe");
    return tid;
}

void
FrameSerializer::SetNodes(const std::vector<const FabricNode*>& /* nodes */)
{
}

FrameSerializers::FrameSerializers(const std::vector<const FabricNode*>& nodes)
{
    // Sorted by name, so that nothing depends on the order in which libraries were loaded.
    std::map<std::string, TypeId> types;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        if (tid.IsChildOf(FrameSerializer::GetTypeId()) && tid.HasConstructor())
        {
            types.emplace(tid.GetName(), tid);
        }
    }
    for (const auto& [name, tid] : types)
    {
        m_serializers.push_back(ObjectFactory(name).Create<FrameSerializer>());
        m_serializers.back()->SetNodes(nodes);
    }
}

std::shared_ptr<const FrameSerializers>
FrameSerializers::Of(const lossless::Port& port)
{
    std::vector<const FabricNode*> nodes;
    std::vector<const FabricNode*> waiting{&FabricNode::Of(port)};
    while (!waiting.empty())
    {
        const FabricNode* node = waiting.back();
        waiting.pop_back();
        const uint32_t id = node->GetId();
        if (id < nodes.size() && nodes[id])
        {
            continue;
        }
        nodes.resize(std::max<std::size_t>(nodes.size(), id + 1), nullptr);
        nodes[id] = node;
        for (uint16_t i = 0; i < node->GetNPorts(); ++i)
        {
            waiting.push_back(&FabricNode::Of(node->GetPort(i).GetPeer()));
        }
    }
    return std::make_shared<const FrameSerializers>(nodes);
}

uint32_t
FrameSerializers::Serialize(const lossless::Frame& frame,
                            uint32_t sender,
                            bool tagged,
                            bool fcs,
                            FrameBytes& bytes) const
{
    bytes.Clear();
    const bool known =
        std::any_of(m_serializers.begin(), m_serializers.end(), [&](const auto& serializer) {
            return serializer->Serialize(frame, sender, tagged, bytes);
        });
    if (!known)
    {
        SerializeOther(frame, sender, tagged, bytes);
    }
    const uint32_t end = std::max<uint32_t>(frame.bytes, FCS_BYTES) - FCS_BYTES;
    bytes.PadTo(end);
    if (fcs)
    {
        bytes.PutCrc(CRC32Calculate(bytes.GetData(), static_cast<int>(bytes.GetSize())));
    }
    const auto whole = static_cast<uint32_t>(bytes.GetSize());
    bytes.CutTo(fcs ? frame.bytes : end);
    return whole;
}

} // namespace observe
} // namespace ns3
