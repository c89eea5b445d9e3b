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
 * @brief An event that waits for its time.
 */
struct PendingEvent
{
    /// What orders events of one time.
    using Key = uint64_t;

    int64_t time;   //!< time steps
    Key key;        //!< place among those of one time
    uintptr_t what; //!< EventImpl*, or Occurrence* with the lowest bit set

    /// Does this come first?
    /// @param other another. @return true if so.
    bool Before(const PendingEvent& other) const
    {
        return time != other.time ? time < other.time : key < other.key;
    }
};

/**
 * @ingroup eventloop
 * @brief A 4-ary heap of events, the first on top.
 */
class EventHeap
{
  public:
    /// Add an event.
    /// @param entry event.
    void Push(const PendingEvent& entry);
    /// Take the first event out. Precondition: there is one. @return event.
    PendingEvent Pop();
    /// Take out the event at a place of Get().
    /// @param at place.
    void RemoveAt(std::size_t at);

    /// @return the events, the first of all in front.
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
