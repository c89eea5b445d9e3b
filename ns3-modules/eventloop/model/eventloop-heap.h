/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_HEAP_H
#define EVENTLOOP_HEAP_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief A pending event.
 */
struct PendingEvent
{
    /// Orders events of the same time.
    using Key = uint64_t;

    int64_t time;   //!< time steps
    Key key;        //!< order among events of the same time
    uintptr_t what; //!< EventImpl*, or Occurrence* with the lowest bit set

    /// Is this event before another?
    /// @param other the other one. @return true if so.
    bool Before(const PendingEvent& other) const
    {
        return time != other.time ? time < other.time : key < other.key;
    }
};

/**
 * @ingroup eventloop
 * @brief A 4-ary min-heap of events.
 */
class EventHeap
{
  public:
    /// Add an event.
    /// @param entry event.
    void Push(const PendingEvent& entry);
    /// Remove the first event. Precondition: not empty. @return event.
    PendingEvent Pop();

    /// Put an event in the place of the first one. Precondition: not empty.
    /// @param entry event.
    void ReplaceFirst(const PendingEvent& entry)
    {
        SiftDown(0, entry);
    }

    /// Remove the event at an index of Get().
    /// @param at index.
    void RemoveAt(std::size_t at);

    /// @return the events, the earliest one first.
    const std::vector<PendingEvent>& Get() const
    {
        return m_entries;
    }

  private:
    void SiftUp(std::size_t at, const PendingEvent& entry);
    void SiftDown(std::size_t at, const PendingEvent& entry);

    std::vector<PendingEvent> m_entries; //!< children of i: 4 i + 1 .. 4 i + 4
};

inline void
EventHeap::Push(const PendingEvent& entry)
{
    m_entries.push_back(entry);
    SiftUp(m_entries.size() - 1, entry);
}

inline PendingEvent
EventHeap::Pop()
{
    const PendingEvent top = m_entries.front();
    RemoveAt(0);
    return top;
}

inline void
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

inline void
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

inline void
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

#endif /* EVENTLOOP_HEAP_H */
