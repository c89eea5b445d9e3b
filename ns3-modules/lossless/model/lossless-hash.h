/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_HASH_H
#define LOSSLESS_HASH_H

#include <cstdint>

namespace ns3
{
namespace lossless
{

/// Mix 64 bits so that each input bit affects every output bit (finaliser of SplitMix64, Steele et
/// al. 2014).
/// @param x number. @return number.
constexpr uint64_t
Mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_HASH_H */
