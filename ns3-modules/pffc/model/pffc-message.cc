/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pffc-message.h"

#include <algorithm>

namespace ns3
{
namespace pffc
{

using lossless::ControlFrame;
using lossless::MAX_QUANTA;
using lossless::N_CLASSES;

void
Write(const Message& message, ControlFrame& control)
{
    control.opcode = message.opcode;
    control.value[0] = message.sequence;
    uint32_t words = 1;
    if (message.opcode == STATE_OPCODE)
    {
        words |= message.queues;
        for (uint32_t peq = 1; peq < N_CLASSES; ++peq)
        {
            control.value[peq] = (message.paused >> peq) & 1U ? MAX_QUANTA : 0;
        }
    }
    else
    {
        words |= 2;
        control.value[1] = message.peq;
        for (uint32_t i = 0; i < message.nFlows; ++i)
        {
            words |= 3U << (2 + 2 * i);
            control.value[2 + 2 * i] = message.flows[i] >> 16;
            control.value[3 + 2 * i] = message.flows[i] & 0xffff;
        }
    }
    control.classes = static_cast<uint16_t>(message.cls << 8 | words);
}

bool
Read(const ControlFrame& control, Message& message)
{
    if (control.opcode < STATE_OPCODE || control.opcode > BACK_OPCODE)
    {
        return false;
    }
    message = Message{};
    message.opcode = control.opcode;
    message.cls = static_cast<uint8_t>((control.classes >> 8) & (N_CLASSES - 1U));
    message.sequence = static_cast<uint16_t>(control.value[0]);
    if (message.opcode == STATE_OPCODE)
    {
        message.queues = control.classes & 0xfe;
        for (uint32_t peq = 1; peq < N_CLASSES; ++peq)
        {
            const bool paused = (message.queues >> peq) & 1U && control.value[peq] > 0;
            message.paused = static_cast<uint8_t>(message.paused | (paused ? 1U << peq : 0));
        }
        return true;
    }
    message.peq = static_cast<uint8_t>(control.value[1]);
    while (message.nFlows < FLOWS_PER_FRAME && (control.classes >> (2 + 2 * message.nFlows)) & 1U)
    {
        const uint32_t at = 2 + 2 * message.nFlows;
        message.flows[message.nFlows++] = control.value[at] << 16 | control.value[at + 1];
    }
    return true;
}

} // namespace pffc
} // namespace ns3
