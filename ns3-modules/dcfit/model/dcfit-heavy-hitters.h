/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_HEAVY_HITTERS_H
#define DCFIT_HEAVY_HITTERS_H

#include <cstdint>
#include <vector>

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief The largest flows of an egress, in bounded memory: Space-Saving (Metwally, Agrawal, El
 * Abbadi, ICDT 2005).
 *
 * With k entries, after n bytes every flow of more than n / k bytes has an entry, and an entry's
 * count exceeds the flow's bytes by at most its error, which is at most n / k. A frame costs a
 * search of the k entries, as in a row of registers.
 */
class HeavyHitters
{
  public:
    /// A flow that may be large.
    struct Entry
    {
        uint32_t flow;  //!< its number
        uint64_t count; //!< upper bound of its bytes
        uint64_t error; //!< count minus error is a lower bound
    };

    /// Start empty.
    /// @param entries k.
    explicit HeavyHitters(std::size_t entries)
        : m_size(entries)
    {
        m_entries.reserve(entries);
    }

    /// Count bytes of a flow.
    /// @param flow number. @param bytes bytes.
    void Add(uint32_t flow, uint32_t bytes)
    {
        Entry* least = nullptr;
        for (Entry& entry : m_entries)
        {
            if (entry.flow == flow)
            {
                entry.count += bytes;
                return;
            }
            if (!least || entry.count < least->count)
            {
                least = &entry;
            }
        }
        if (m_entries.size() < m_size)
        {
            m_entries.push_back({flow, bytes, 0});
        }
        else if (least)
        {
            *least = {flow, least->count + bytes, least->count};
        }
    }

    /// The flow with the highest lower bound of bytes.
    /// @return its entry, the first among equals; nullptr if there is none.
    const Entry* FindHeaviest() const
    {
        const Entry* heaviest = nullptr;
        for (const Entry& entry : m_entries)
        {
            if (!heaviest || entry.count - entry.error > heaviest->count - heaviest->error)
            {
                heaviest = &entry;
            }
        }
        return heaviest;
    }

    /// All entries. @return in no particular order.
    const std::vector<Entry>& GetEntries() const
    {
        return m_entries;
    }

    /// Clear all entries.
    void Clear()
    {
        m_entries.clear();
    }

  private:
    std::size_t m_size;           //!< k
    std::vector<Entry> m_entries; //!< at most k
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_HEAVY_HITTERS_H */
