/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "bfc-name-filter.h"

#include "ns3/lossless-hash.h"

#include <algorithm>

namespace ns3
{
namespace bfc
{

void
NameFilter::Configure(uint32_t bits, uint32_t stages, bool counts)
{
    m_bits = bits;
    m_stages = stages;
    m_segments.assign(bits / SEGMENT_BITS, Segment{});
    m_counts.assign(counts ? bits : 0, 0);
}

uint32_t
NameFilter::BitOf(uint32_t name, uint32_t stage) const
{
    if (m_stages == 0)
    {
        return name % m_bits;
    }
    const uint32_t part = m_bits / m_stages;
    const uint64_t hash = lossless::Mix(static_cast<uint64_t>(stage) << 32 | name);
    return stage * part + static_cast<uint32_t>(hash % part);
}

uint32_t
NameFilter::Insert(uint32_t name)
{
    uint32_t changed = 0;
    for (uint32_t stage = 0; stage < CountHashes(); ++stage)
    {
        const uint32_t bit = BitOf(name, stage);
        if (m_counts[bit]++ == 0)
        {
            Flip(bit);
            changed |= 1U << bit / SEGMENT_BITS;
        }
    }
    return changed;
}

uint32_t
NameFilter::Remove(uint32_t name)
{
    uint32_t changed = 0;
    for (uint32_t stage = 0; stage < CountHashes(); ++stage)
    {
        const uint32_t bit = BitOf(name, stage);
        if (--m_counts[bit] == 0)
        {
            Flip(bit);
            changed |= 1U << bit / SEGMENT_BITS;
        }
    }
    return changed;
}

bool
NameFilter::WouldClear(uint32_t name) const
{
    for (uint32_t stage = 0; stage < CountHashes(); ++stage)
    {
        if (m_counts[BitOf(name, stage)] == 1)
        {
            return true;
        }
    }
    return false;
}

bool
NameFilter::Contains(uint32_t name) const
{
    for (uint32_t stage = 0; stage < CountHashes(); ++stage)
    {
        if (!Test(BitOf(name, stage)))
        {
            return false;
        }
    }
    return true;
}

bool
NameFilter::IsCoveredBy(uint32_t name, const std::vector<uint32_t>& others) const
{
    for (uint32_t stage = 0; stage < CountHashes(); ++stage)
    {
        const uint32_t bit = BitOf(name, stage);
        if (std::none_of(others.begin(), others.end(), [&](uint32_t other) {
                return BitOf(other, stage) == bit;
            }))
        {
            return false;
        }
    }
    return true;
}

uint32_t
NameFilter::GetNonempty() const
{
    uint32_t nonempty = 0;
    for (uint32_t segment = 0; segment < m_segments.size(); ++segment)
    {
        nonempty |= m_segments[segment] == Segment{} ? 0 : 1U << segment;
    }
    return nonempty;
}

} // namespace bfc
} // namespace ns3
