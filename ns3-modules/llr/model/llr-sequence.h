/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LLR_SEQUENCE_H
#define LLR_SEQUENCE_H

#include <cstdint>

namespace ns3
{
namespace llr
{

/// Numbers of frames on a link: 20 bits, in the preamble (SAI, Link Layer Retry, of UE 1.0).
inline constexpr uint32_t SEQUENCES = 1U << 20;
/// The most frames that may be unacknowledged: half the numbers, so that old and new ones can be
/// told apart (limit of a traffic tester's interface).
inline constexpr uint32_t MOST_FRAMES = SEQUENCES / 2;
/// Bytes of a message: a control ordered set is one block of 64 bits of the PCS (said by others).
inline constexpr uint32_t MESSAGE_BYTES = 8;

/// The number that follows after some.
/// @param sequence a number. @param n how many. @return the n-th after it.
inline uint32_t
Advance(uint32_t sequence, uint32_t n)
{
    return (sequence + n) % SEQUENCES;
}

/// How many numbers lie between two.
/// @param from a number. @param to another. @return the n for which Advance(from, n) is `to`.
inline uint32_t
DistanceOf(uint32_t from, uint32_t to)
{
    return (to - from) % SEQUENCES;
}

} // namespace llr
} // namespace ns3

#endif /* LLR_SEQUENCE_H */
