/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_HEAP_H
#define EVENTLOOP_HEAP_H

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

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_HEAP_H */
