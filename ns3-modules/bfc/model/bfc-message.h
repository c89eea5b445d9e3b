/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef BFC_MESSAGE_H
#define BFC_MESSAGE_H

#include "bfc-name-filter.h"

#include "ns3/lossless-frame.h"

namespace ns3
{
namespace bfc
{

/// MAC control opcode of BFC's frames; our choice.
inline constexpr uint16_t PAUSE_OPCODE = 0x0bfc;

/**
 * @ingroup bfc
 * @brief Contents of a control frame: a segment of the filter of a class.
 */
struct Message
{
    uint8_t cls{0};             //!< class
    uint32_t segment{0};        //!< segment number
    NameFilter::Segment bits{}; //!< its bits
};

/// Write a message into a control frame.
/// @param message its contents. @param control the frame.
void Write(const Message& message, lossless::ControlFrame& control);
/// Read a control frame.
/// @param control the frame. @param message set to its contents.
/// @return false if it is not a frame of BFC.
bool Read(const lossless::ControlFrame& control, Message& message);

} // namespace bfc
} // namespace ns3

#endif /* BFC_MESSAGE_H */
