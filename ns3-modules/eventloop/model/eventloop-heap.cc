/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "eventloop-heap.h"

#include <algorithm>

namespace ns3
{
namespace eventloop
{

void
EventHeap::Push(const PendingEvent& entry)
{
    m_entries.push_back(entry);
    SiftUp(m_entries.size() - 1, entry);
}

PendingEvent
EventHeap::Pop()
{
    const PendingEvent top = m_entries.front();
    RemoveAt(0);
    return top;
}

void
EventHeap::RemoveAt(std::size_t at)
{
    const PendingEvent last = m_entries.back();
    m_entries.pop_back();
    if (at == m_entries.size())
    {
        return;
    }
    if (at > 0 && last.Before(m_entries[(at - 1) / 4]))
    {
        SiftUp(at, last);
    }
    else
    {
        SiftDown(at, last);
    }
}

void
EventHeap::SiftUp(std::size_t at, const PendingEvent& entry)
{
    while (at > 0)
    {
        const std::size_t parent = (at - 1) / 4;
        if (!entry.Before(m_entries[parent]))
        {
            break;
        }
        m_entries[at] = m_entries[parent];
        at = parent;
    }
    m_entries[at] = entry;
}

void
EventHeap::SiftDown(std::size_t at, const PendingEvent& entry)
{
    const std::size_t size = m_entries.size();
    for (std::size_t child = 4 * at + 1; child < size; child = 4 * at + 1)
    {
        std::size_t first = child;
        const std::size_t end = std::min(child + 4, size);
        for (std::size_t i = child + 1; i < end; ++i)
        {
            first = m_entries[i].Before(m_entries[first]) ? i : first;
        }
        if (!m_entries[first].Before(entry))
        {
            break;
        }
        m_entries[at] = m_entries[first];
        at = first;
    }
    m_entries[at] = entry;
}

} // namespace eventloop
} // namespace ns3
