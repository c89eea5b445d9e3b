/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_CONSTANTS_H
#define LOSSLESS_CONSTANTS_H

#include <cstdint>
#include <limits>

/**
 * @defgroup lossless Lossless Ethernet fabric
 *
 * Switches, ports, shared buffers and flow control of lossless Ethernet. Times inside the module
 * are 64-bit integers in picoseconds, rates are bit/s and sizes bytes; ns-3's clock counts
 * picoseconds, too (see lossless::UsePicoseconds).
 */

namespace ns3
{
namespace lossless
{

/// Holds rate (bit/s) times time (ps); not part of ISO C++, but of GCC and Clang.
__extension__ typedef __int128 Int128;
/// Unsigned counterpart of Int128.
__extension__ typedef unsigned __int128 Uint128;

/// Classes of service that can be paused (IEEE 802.1Q: eight priorities).
inline constexpr uint8_t N_CLASSES = 8;
/// Number of code points of differentiated services (DSCP, RFC 2474).
inline constexpr uint32_t N_DSCPS = 64;
/// The queue of a port that is never paused and served first; only MAC control frames precede it.
inline constexpr uint8_t CONTROL_CLASS = N_CLASSES;
/// No port.
inline constexpr uint16_t NO_PORT = std::numeric_limits<uint16_t>::max();
/// No egress queue, or every one.
inline constexpr uint16_t ANY_QUEUE = std::numeric_limits<uint16_t>::max();
/// Destination of a frame to all hosts: broadcast and multicast.
inline constexpr uint32_t ALL_NODES = std::numeric_limits<uint32_t>::max();
/// A time that never comes, in ps.
inline constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();
/// A pause quantum (IEEE 802.1Qbb, clause 36; 802.3 annex 31B): 512 bit times, in bytes.
inline constexpr int64_t QUANTUM_BYTES = 64;
/// Longest pause of a frame, in quanta: the timer has 16 bits.
inline constexpr uint32_t MAX_QUANTA = 65535;
/// Data that a port may still send between receiving a pause and obeying it in the published rules
/// of headroom (60 quanta, as IEEE 802.3 allows at 10 Gb/s; more at higher rates, see
/// PauseResponse), in bytes.
inline constexpr int64_t RESPONSE_BYTES = 60 * QUANTUM_BYTES;
/// Bytes of a minimum Ethernet frame, FCS included (IEEE 802.3, clause 4.4.2).
inline constexpr uint32_t MIN_FRAME_BYTES = 64;
/// MAC control opcode of PFC (IEEE 802.1Qbb).
inline constexpr uint16_t PFC_OPCODE = 0x0101;

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_CONSTANTS_H */
