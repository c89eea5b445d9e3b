/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_FCS_H
#define OBSERVE_FCS_H

#include <cstddef>
#include <cstdint>

namespace ns3
{
namespace observe
{
namespace tests
{

/// CRC-32 of IEEE 802.3, clause 3.2.9, one bit at a time.
/// @param data bytes. @param length how many. @return the FCS.
inline uint32_t
Fcs(const uint8_t* data, std::size_t length)
{
    uint32_t crc = 0xffffffff;
    for (std::size_t i = 0; i < length; ++i)
    {
        crc ^= data[i];
        for (int bit = 0; bit < 8; ++bit)
        {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    return ~crc;
}

} // namespace tests
} // namespace observe
} // namespace ns3

#endif /* OBSERVE_FCS_H */
