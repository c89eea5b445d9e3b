/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-message.h"

#include <algorithm>
#include <bit>

namespace ns3
{
namespace dcfit
{

namespace
{

constexpr std::size_t HEADER = 4; //!< type, length, kind, classes

static_assert(SWITCH_BITS + PORT_BITS + SEQUENCE_BITS + RANK_BITS + ROUND_BITS ==
              8 * MESSAGE_BYTES);
static_assert(HEADER + MAX_MESSAGES * MESSAGE_BYTES <=
              std::tuple_size_v<decltype(lossless::ControlFrame::extra)>);

} // namespace

MessageBytes
Serialize(const Message& message)
{
    uint64_t bits = message.node;
    bits = bits << PORT_BITS | message.port;
    bits = bits << SEQUENCE_BITS | message.sequence;
    bits = bits << RANK_BITS | message.rank;
    bits = bits << ROUND_BITS | message.round;
    MessageBytes bytes;
    for (std::size_t i = MESSAGE_BYTES; i > 0; --i)
    {
        bytes[i - 1] = static_cast<uint8_t>(bits);
        bits >>= 8;
    }
    return bytes;
}

Message
Read(const MessageBytes& bytes)
{
    uint64_t bits = 0;
    for (const uint8_t byte : bytes)
    {
        bits = bits << 8 | byte;
    }
    const auto take = [&bits](uint32_t n) {
        const auto value = static_cast<uint32_t>(bits & ((1U << n) - 1));
        bits >>= n;
        return value;
    };
    Message message;
    message.round = static_cast<uint8_t>(take(ROUND_BITS));
    message.rank = static_cast<uint8_t>(take(RANK_BITS));
    message.sequence = static_cast<uint16_t>(take(SEQUENCE_BITS));
    message.port = static_cast<uint8_t>(take(PORT_BITS));
    message.node = static_cast<uint16_t>(take(SWITCH_BITS));
    return message;
}

Block::Block(Kind kind)
    : m_kind(kind)
{
}

bool
Block::Add(uint8_t cls, const Message& message)
{
    if (m_count == MAX_MESSAGES)
    {
        return false;
    }
    m_bytes[m_count++] = Serialize(message);
    m_classes |= static_cast<uint8_t>(1U << cls);
    return true;
}

bool
Block::Get(uint8_t cls, Message& message) const
{
    if (!((m_classes >> cls) & 1U))
    {
        return false;
    }
    const auto before = static_cast<uint8_t>(m_classes & ((1U << cls) - 1));
    message = Read(m_bytes[static_cast<std::size_t>(std::popcount(before))]);
    return true;
}

Kind
Block::GetKind() const
{
    return m_kind;
}

bool
Block::AppendTo(lossless::ControlFrame& control) const
{
    const std::size_t length = HEADER + m_count * MESSAGE_BYTES;
    if (m_count == 0 || control.extraLength + length > control.extra.size())
    {
        return m_count == 0;
    }
    uint8_t* to = control.extra.data() + control.extraLength;
    *to++ = BLOCK_TYPE;
    *to++ = static_cast<uint8_t>(length);
    *to++ = static_cast<uint8_t>(m_kind);
    *to++ = m_classes;
    for (std::size_t i = 0; i < m_count; ++i)
    {
        to = std::copy(m_bytes[i].begin(), m_bytes[i].end(), to);
    }
    control.extraLength = static_cast<uint8_t>(control.extraLength + length);
    return true;
}

bool
Block::ReadFrom(const lossless::ControlFrame& control)
{
    std::size_t at = 0;
    while (at + HEADER <= control.extraLength && control.extra[at] != BLOCK_TYPE)
    {
        const std::size_t length = control.extra[at + 1];
        if (control.extra[at] == 0 || length < 2)
        {
            return false; // padding
        }
        at += length;
    }
    if (at + HEADER > control.extraLength)
    {
        return false;
    }
    const std::size_t length = control.extra[at + 1];
    const uint8_t kind = control.extra[at + 2];
    m_classes = control.extra[at + 3];
    m_count = static_cast<uint8_t>(std::popcount(m_classes));
    if (kind < static_cast<uint8_t>(Kind::CHECK) || kind > static_cast<uint8_t>(Kind::FOUND) ||
        m_count > MAX_MESSAGES || length != HEADER + m_count * MESSAGE_BYTES ||
        at + length > control.extraLength)
    {
        m_classes = 0;
        m_count = 0;
        return false;
    }
    m_kind = static_cast<Kind>(kind);
    const uint8_t* from = control.extra.data() + at + HEADER;
    for (std::size_t i = 0; i < m_count; ++i, from += MESSAGE_BYTES)
    {
        std::copy_n(from, MESSAGE_BYTES, m_bytes[i].begin());
    }
    return true;
}

} // namespace dcfit
} // namespace ns3
