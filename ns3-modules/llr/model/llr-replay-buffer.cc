/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "llr-replay-buffer.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace llr
{

void
ReplayBuffer::Reset(uint32_t sequence)
{
    m_count = 0;
    m_cursor = 0;
    m_accepted = 0;
    m_bytes = 0;
    m_oldest = sequence % SEQUENCES;
}

bool
ReplayBuffer::Push(const Entry& entry, bool good)
{
    if (m_count == m_ring.size())
    {
        Grow();
    }
    m_ring[(m_first + m_count) & (m_ring.size() - 1)] = entry;
    ++m_count;
    m_bytes += entry.bytes;
    m_peak = std::max(m_peak, m_bytes);
    return NoteSent(good);
}

bool
ReplayBuffer::Repeat(int64_t end, bool good)
{
    m_ring[(m_first + m_cursor) & (m_ring.size() - 1)].end = end;
    ++m_repeated;
    return NoteSent(good);
}

bool
ReplayBuffer::NoteSent(bool good)
{
    const bool accepted = good && m_cursor == m_accepted;
    m_accepted += accepted ? 1 : 0;
    ++m_cursor;
    return accepted;
}

std::optional<uint32_t>
ReplayBuffer::Release(uint32_t sequence)
{
    const uint32_t released = DistanceOf(m_oldest, Advance(sequence, 1));
    if (released > m_count)
    {
        return std::nullopt;
    }
    NS_ABORT_MSG_IF(released > m_accepted,
                    "LLR: " << released << " frames were acknowledged, but only " << m_accepted
                            << " could be accepted");
    for (uint32_t index = 0; index < released; ++index)
    {
        m_bytes -= At(index).bytes;
    }
    m_first += released;
    m_count -= released;
    m_accepted -= released;
    m_cursor -= std::min(m_cursor, released);
    m_oldest = Advance(m_oldest, released);
    return released;
}

void
ReplayBuffer::Replay()
{
    m_cursor = 0;
}

void
ReplayBuffer::Grow()
{
    std::vector<Entry> larger(m_ring.empty() ? 16 : 2 * m_ring.size());
    for (uint32_t index = 0; index < m_count; ++index)
    {
        larger[index] = At(index);
    }
    m_ring = std::move(larger);
    m_first = 0;
}

} // namespace llr
} // namespace ns3
