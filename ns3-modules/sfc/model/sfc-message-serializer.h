/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_MESSAGE_SERIALIZER_H
#define SFC_MESSAGE_SERIALIZER_H

#include "ns3/observe-frame-serializer.h"

namespace ns3
{
namespace sfc
{

/// UDP destination port of a message, as in Intel's switch.p4 (sfc_trigger.p4).
inline constexpr uint16_t SFC_PORT = 1674;
/// Bytes of a message after the UDP header.
inline constexpr uint32_t SFC_BYTES = 14;

/**
 * @ingroup sfc
 * @brief Serializes source flow control messages: IPv4, UDP and 14 bytes in a format of ours.
 *
 * Byte 0: version 1. Byte 1: bit 7 is set if the time stamp is valid, bits 0 to 3 are the class.
 * Bytes 2 to 7: the pause interval in ps. Bytes 8 to 13: the time stamp in ps, modulo 2^48. A
 * message with an 802.1Q tag thus has 64 bytes. (Intel's has version, DSCP and 16 bits of
 * microseconds, which is too coarse for the intervals here; the draft of IEEE P802.1Qdw is not
 * public.)
 */
class MessageSerializer : public observe::FrameSerializer
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    bool Serialize(const lossless::Frame& frame,
                   uint32_t sender,
                   bool tagged,
                   observe::FrameBytes& bytes) const override;
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_MESSAGE_SERIALIZER_H */
