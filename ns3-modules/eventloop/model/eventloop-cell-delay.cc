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
    std::ranges::for_each(m_inCells ? m_global.Get() : GetPending(), lookAt);
    for (const CellLoop* part : m_parts)
    {
        for (const EventHeap& heap : part->m_heaps) // none in one order
        {
            std::ranges::for_each(heap.Get(), lookAt);
        }
    }
}

void
CellLoop::Delay(const std::unordered_set<const Occurrence*>& events, int64_t by)
{
    const auto delayed = [&events, by](Entry entry) {
        const auto* event = reinterpret_cast<const Occurrence*>(entry.what - OCCURRENCE);
        if (entry.what & OCCURRENCE && events.contains(event))
        {
            entry.time += by;
            entry.key = event->GetPlace().GetRank(Place::SaltOf(entry.time));
        }
        return entry;
    };
    if (!m_inCells)
    {
        const std::vector<Entry> pending = TakePending();
        ResetWheel();
        for (const Entry& before : pending)
        {
            const Entry entry = delayed(before);
            EventLoop::Insert(entry.time, entry.key, entry.what);
        }
        return;
    }
    for (CellLoop* part : m_parts)
    {
        for (std::size_t cell = 0; cell < part->m_heaps.size(); ++cell)
        {
            const EventHeap pending = std::exchange(part->m_heaps[cell], EventHeap());
            part->m_next[cell] = NONE; // what m_work says of it is outdated
            for (const Entry& before : pending.Get())
            {
                part->Receive(cell, delayed(before));
            }
        }
    }
}

} // namespace eventloop
} // namespace ns3
