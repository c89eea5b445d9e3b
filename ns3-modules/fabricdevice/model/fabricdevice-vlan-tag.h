/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_VLAN_TAG_H
#define FABRICDEVICE_VLAN_TAG_H

#include "ns3/header.h"

namespace ns3
{
namespace fabricdevice
{

/**
 * @ingroup fabricdevice
 * @brief The fields after the EtherType 0x8100 of an IEEE 802.1Q tag: priority, VLAN, and the
 * EtherType of the payload.
 */
class VlanTag : public Header
{
  public:
    static constexpr uint16_t ETHERTYPE = 0x8100; //!< the tag protocol identifier

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    VlanTag();
    /// Set the fields.
    /// @param priority code point, 0..7.
    /// @param vlan VLAN identifier, 0..4095; 0 is a priority tag without a VLAN.
    /// @param etherType of the payload.
    VlanTag(uint8_t priority, uint16_t vlan, uint16_t etherType);

    /// Priority code point. @return 0..7.
    uint8_t GetPriority() const;
    /// VLAN identifier. @return 0..4095.
    uint16_t GetVlan() const;
    /// EtherType of the payload. @return EtherType.
    uint16_t GetEtherType() const;

    TypeId GetInstanceTypeId() const override;
    void Print(std::ostream& os) const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(Buffer::Iterator start) const override;
    uint32_t Deserialize(Buffer::Iterator start) override;

  private:
    uint8_t m_priority{0};   //!< code point
    uint16_t m_vlan{0};      //!< identifier
    uint16_t m_etherType{0}; //!< of the payload
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_VLAN_TAG_H */
