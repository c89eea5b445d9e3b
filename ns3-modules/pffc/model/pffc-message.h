/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFFC_MESSAGE_H
#define PFFC_MESSAGE_H

#include "ns3/lossless-frame.h"

#include <array>
#include <cstdint>

namespace ns3
{
namespace pffc
{

/// Maximum number of flows in one frame.
inline constexpr uint32_t FLOWS_PER_FRAME = 3;
/// MAC control opcode of PAUSE and RESUME: the states of all PEQs of a class.
inline constexpr uint16_t STATE_OPCODE = 0x0ff0;
/// MAC control opcode of MIGRATE.
inline constexpr uint16_t MIGRATE_OPCODE = 0x0ff1;
/// MAC control opcode of MIGRATE-BACK.
inline constexpr uint16_t BACK_OPCODE = 0x0ff2;

/**
 * @ingroup pffc
 * @brief Contents of a control frame of PFFC.
 *
 * All have the format of a PFC frame: opcode, a vector of 16 bits, eight words of 16 bits. The high
 * byte of the vector is the traffic class, the low byte the mask of the words in use. Word 0 is the
 * sequence number.
 *
 * - STATE_OPCODE (PAUSE, RESUME): word p is the pause of PEQ p in quanta, 65535 if paused and 0 if
 *   not, as in PFC with every PEQ as a priority.
 * - MIGRATE_OPCODE, BACK_OPCODE: word 1 is the PEQ, words 2 and 3 the high and low half of a flow
 *   number, words 4 to 7 up to two more flows. Hardware would use a hash of the 5-tuple instead.
 */
struct Message
{
    uint16_t opcode{0};                            //!< opcode
    uint8_t cls{0};                                //!< traffic class
    uint16_t sequence{0};                          //!< incremented per frame and class, modulo 2^16
    uint8_t queues{0};                             //!< STATE: bit p, PEQ p exists
    uint8_t paused{0};                             //!< STATE: bit p, PEQ p is paused
    uint8_t peq{0};                                //!< MIGRATE, BACK: PEQ
    uint8_t nFlows{0};                             //!< MIGRATE, BACK: number of flows
    std::array<uint32_t, FLOWS_PER_FRAME> flows{}; //!< MIGRATE, BACK: flow numbers
};

/**
 * @ingroup pffc
 * @brief Write a message into a control frame.
 *
 * @param message the message.
 * @param control the frame.
 */
void Write(const Message& message, lossless::ControlFrame& control);

/**
 * @ingroup pffc
 * @brief Read a message.
 *
 * @param control the frame.
 * @param message set to its contents.
 * @return false if it is not a frame of PFFC.
 */
bool Read(const lossless::ControlFrame& control, Message& message);

} // namespace pffc
} // namespace ns3

#endif /* PFFC_MESSAGE_H */
