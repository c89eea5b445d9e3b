/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_PACKET_SERIALIZER_H
#define FABRICDEVICE_PACKET_SERIALIZER_H

#include "ns3/observe-frame-serializer.h"

#include <vector>

namespace ns3
{
namespace fabricdevice
{

/**
 * @ingroup fabricdevice
 * @brief Serializes packets of ns-3's Internet stack as they are on the wire: with the ECN mark and
 * the hop count of the frame, which the packet itself receives only at its destination.
 */
class PacketSerializer : public observe::FrameSerializer
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void SetNodes(const std::vector<const lossless::FabricNode*>& nodes) override;
    bool Serialize(const lossless::Frame& frame,
                   uint32_t sender,
                   bool tagged,
                   observe::FrameBytes& bytes) const override;

  private:
    bool m_routedHops{false}; //!< a device has RoutedHops, and therefore all do
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_PACKET_SERIALIZER_H */
