/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-mac-control.h"

#include "ns3/crc32.h"

#include <algorithm>

namespace ns3
{
namespace observe
{

using lossless::ControlFrame;
using lossless::N_CLASSES;

namespace
{

constexpr std::array<uint8_t, 6> DESTINATION{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
constexpr uint16_t ETHERTYPE = 0x8808;
constexpr std::size_t OPCODE_AT = 14;
constexpr std::size_t CLASSES_AT = 16;
constexpr std::size_t VALUES_AT = 18;
constexpr std::size_t PADDING_AT = VALUES_AT + 2 * N_CLASSES;
constexpr std::size_t FCS_AT = lossless::MIN_FRAME_BYTES - 4;

void
Put16(MacControlBytes& bytes, std::size_t at, uint32_t value)
{
    bytes[at] = static_cast<uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<uint8_t>(value);
}

uint16_t
Get16(const MacControlBytes& bytes, std::size_t at)
{
    return static_cast<uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

} // namespace

MacControlBytes
SerializeMacControl(const ControlFrame& control, uint32_t source)
{
    MacControlBytes bytes{};
    std::copy(DESTINATION.begin(), DESTINATION.end(), bytes.begin());
    bytes[6] = 0x02; // locally administered, unicast
    Put16(bytes, 8, source >> 16);
    Put16(bytes, 10, source);
    Put16(bytes, 12, ETHERTYPE);
    Put16(bytes, OPCODE_AT, control.opcode);
    Put16(bytes, CLASSES_AT, control.classes);
    for (std::size_t cls = 0; cls < N_CLASSES; ++cls)
    {
        const bool addressed = (control.classes >> cls) & 1U;
        Put16(bytes,
              VALUES_AT + 2 * cls,
              addressed ? std::min<uint32_t>(control.value[cls], 0xffff) : 0);
    }
    const std::size_t extra = std::min<std::size_t>(control.extraLength, FCS_AT - PADDING_AT);
    std::copy_n(control.extra.begin(), extra, bytes.begin() + PADDING_AT);
    const uint32_t fcs = CRC32Calculate(bytes.data(), FCS_AT);
    for (std::size_t i = 0; i < 4; ++i)
    {
        bytes[FCS_AT + i] = static_cast<uint8_t>(fcs >> (8 * i)); // least significant byte first
    }
    return bytes;
}

bool
ReadMacControl(const MacControlBytes& bytes, ControlFrame& control)
{
    const uint32_t fcs = CRC32Calculate(bytes.data(), FCS_AT);
    for (std::size_t i = 0; i < 4; ++i)
    {
        if (bytes[FCS_AT + i] != static_cast<uint8_t>(fcs >> (8 * i)))
        {
            return false;
        }
    }
    if (!std::equal(DESTINATION.begin(), DESTINATION.end(), bytes.begin()) ||
        Get16(bytes, 12) != ETHERTYPE)
    {
        return false;
    }
    control = ControlFrame{};
    control.opcode = Get16(bytes, OPCODE_AT);
    control.classes = Get16(bytes, CLASSES_AT);
    for (std::size_t cls = 0; cls < N_CLASSES; ++cls)
    {
        control.value[cls] = Get16(bytes, VALUES_AT + 2 * cls);
    }
    control.extraLength =
        static_cast<uint8_t>(std::min<std::size_t>(control.extra.size(), FCS_AT - PADDING_AT));
    std::copy_n(bytes.begin() + PADDING_AT, control.extraLength, control.extra.begin());
    return true;
}

} // namespace observe
} // namespace ns3
