/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_MAC_CONTROL_H
#define OBSERVE_MAC_CONTROL_H

#include "ns3/lossless-frame.h"

#include <array>
#include <cstdint>

namespace ns3
{
namespace observe
{

/// A serialized MAC control frame, from the destination address to the FCS.
using MacControlBytes = std::array<uint8_t, lossless::MIN_FRAME_BYTES>;

/**
 * @ingroup observe
 * @brief Serialize a MAC control frame as in IEEE 802.1Qbb (802.3 annex 31, clause 31.4).
 *
 * Destination 01-80-C2-00-00-01, source, EtherType 0x8808, opcode, class-enable vector, eight words
 * of 16 bits, zero padding, FCS. Bytes appended by an agent are at the start of the padding.
 *
 * @param control the frame; words above 65535 are serialized as 65535.
 * @param source sending node; its number fills the low half of a locally administered address.
 * @return 64 bytes.
 */
MacControlBytes SerializeMacControl(const lossless::ControlFrame& control, uint32_t source);

/**
 * @ingroup observe
 * @brief Parse the output of SerializeMacControl.
 *
 * @param bytes the frame.
 * @param control output; its extra bytes are the whole padding.
 * @return false if the address, the EtherType or the FCS is wrong.
 */
bool ReadMacControl(const MacControlBytes& bytes, lossless::ControlFrame& control);

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_MAC_CONTROL_H */
