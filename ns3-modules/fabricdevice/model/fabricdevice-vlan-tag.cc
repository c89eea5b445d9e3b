/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-vlan-tag.h"

namespace ns3
{
namespace fabricdevice
{

NS_OBJECT_ENSURE_REGISTERED(VlanTag);

TypeId
VlanTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabricdevice::VlanTag")
                            .SetParent<Header>()
                            .SetGroupName("fabricdevice")
                            .AddConstructor<VlanTag>();
    return tid;
}

VlanTag::VlanTag() = default;

VlanTag::VlanTag(uint8_t priority, uint16_t vlan, uint16_t etherType)
    : m_priority(priority),
      m_vlan(vlan),
      m_etherType(etherType)
{
}

uint8_t
VlanTag::GetPriority() const
{
    return m_priority;
}

uint16_t
VlanTag::GetVlan() const
{
    return m_vlan;
}

uint16_t
VlanTag::GetEtherType() const
{
    return m_etherType;
}

TypeId
VlanTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

void
VlanTag::Print(std::ostream& os) const
{
    os << "priority=" << +m_priority << " vlan=" << m_vlan << " type=0x" << std::hex << m_etherType
       << std::dec;
}

uint32_t
VlanTag::GetSerializedSize() const
{
    return 4;
}

void
VlanTag::Serialize(Buffer::Iterator start) const
{
    start.WriteHtonU16(static_cast<uint16_t>(m_priority << 13 | m_vlan));
    start.WriteHtonU16(m_etherType);
}

uint32_t
VlanTag::Deserialize(Buffer::Iterator start)
{
    const uint16_t control = start.ReadNtohU16();
    m_priority = static_cast<uint8_t>(control >> 13);
    m_vlan = control & 0xfff;
    m_etherType = start.ReadNtohU16();
    return 4;
}

} // namespace fabricdevice
} // namespace ns3
