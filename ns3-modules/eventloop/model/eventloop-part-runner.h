/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_PART_RUNNER_H
#define EVENTLOOP_PART_RUNNER_H

#include "eventloop-heap.h"
#include "eventloop-occurrence.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace eventloop
{

class CellLoop;

/**
 * @ingroup eventloop
 * @brief What a CellLoop needs of those who run its cells in several threads, each a part of them.
 */
class PartRunner
{
  public:
    virtual ~PartRunner() = default;
    /// Start the threads. They wait for windows.
    virtual void Start() = 0;
    /// End the threads.
    virtual void Stop() = 0;
    /// Divide the cells among the parts, as their loads are. Not while a part runs.
    virtual void Assign() = 0;
    /// The part that runs a cell.
    /// @param cell its number. @return part.
    virtual CellLoop& PartOf(std::size_t cell) const = 0;
    /// The parts, the whole loop first. @return parts.
    virtual const std::vector<CellLoop*>& GetParts() const = 0;
    /// Add an event to a cell, at the end of the window if another thread may run it.
    /// @param sender part whose event schedules it. @param cell where. @param entry the event.
    virtual void Post(CellLoop& sender, uint16_t cell, const PendingEvent& entry) = 0;
    /// Keep a mailbox until the end of the window, or empty it at once.
    /// @param sender part whose event has put something into it. @param cell for which it is.
    /// @param mailbox the mailbox.
    virtual void Post(CellLoop& sender, uint16_t cell, Occurrence& mailbox) = 0;
    /// Let cells of one colour run in all threads. See CellLoop::RunUpTo.
    /// @param colour 0 or 1. @param limit the last possible event.
    virtual void Run(uint32_t colour, const PendingEvent& limit) = 0;
    /// Let cells of one colour run in the calling thread alone, one part after the other.
    /// @param colour 0 or 1. @param limit the last possible event.
    virtual void RunAlone(uint32_t colour, const PendingEvent& limit) = 0;
    /// Add to the load of a cell.
    /// @param cell its number. @param events that happened.
    virtual void Count(std::size_t cell, uint64_t events) = 0;
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_PART_RUNNER_H */
