/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "bfc-message.h"

#include <algorithm>

namespace ns3
{
namespace bfc
{

using lossless::ControlFrame;

namespace
{

/// All eight words of a control frame are in use: the low byte of its vector.
constexpr uint32_t ALL_WORDS = 0xff;

} // namespace

void
Write(const Message& message, ControlFrame& control)
{
    control.opcode = PAUSE_OPCODE;
    control.classes =
        static_cast<uint16_t>(message.segment << 11 | uint32_t{message.cls} << 8 | ALL_WORDS);
    std::copy(message.bits.begin(), message.bits.end(), control.value.begin());
}

bool
Read(const ControlFrame& control, Message& message)
{
    if (control.opcode != PAUSE_OPCODE)
    {
        return false;
    }
    message.cls = static_cast<uint8_t>(control.classes >> 8 & (lossless::N_CLASSES - 1U));
    message.segment = control.classes >> 11;
    std::transform(control.value.begin(),
                   control.value.end(),
                   message.bits.begin(),
                   [](uint32_t word) { return static_cast<uint16_t>(word); });
    return true;
}

} // namespace bfc
} // namespace ns3
