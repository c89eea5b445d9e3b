/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "eventloop-cell-loop.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace eventloop
{

void
CellLoop::ForEachPending(const std::function<void(int64_t, const Occurrence*)>& look) const
{
    const auto lookAt = [&look](const Entry& entry) {
        const bool placed = entry.what & OCCURRENCE;
        look(entry.time,
             placed ? reinterpret_cast<const Occurrence*>(entry.what - OCCURRENCE) : nullptr);
    };
    std::ranges::for_each(m_global.Get(), lookAt);
    for (const CellLoop* part : m_parts)
    {
        for (const EventHeap& heap : part->m_heaps)
        {
            std::ranges::for_each(heap.Get(), lookAt);
        }
    }
}

void
CellLoop::Delay(const std::unordered_set<const Occurrence*>& events, int64_t by)
{
    for (CellLoop* part : m_parts)
    {
        for (std::size_t cell = 0; cell < part->m_heaps.size(); ++cell)
        {
            const EventHeap before = std::exchange(part->m_heaps[cell], EventHeap());
            part->m_next[cell] = NONE; // what m_work says of it is outdated
            for (Entry entry : before.Get())
            {
                const auto* event = reinterpret_cast<const Occurrence*>(entry.what - OCCURRENCE);
                if (entry.what & OCCURRENCE && events.contains(event))
                {
                    entry.time += by;
                    entry.key = event->GetPlace().GetRank(Place::SaltOf(entry.time));
                }
                part->Receive(cell, entry);
            }
        }
    }
}

} // namespace eventloop
} // namespace ns3
