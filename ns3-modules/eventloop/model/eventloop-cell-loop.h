/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_CELL_LOOP_H
#define EVENTLOOP_CELL_LOOP_H

#include "eventloop.h"

#include <functional>

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief An event loop that simulates one part of a network after the other, each for a short
 * time, so that its state stays in the cache.
 *
 * Events of a *cell*, such as a switch and its hosts, are kept in a heap of their own. If no event
 * of one cell can change another one in less than a *window*, every cell can run for a window on
 * its own; then the next window begins. Events without a place are *global*: they happen alone,
 * before all others of their time, when every cell has come to that time, so that they may see and
 * change everything.
 *
 * Events of the same time are ordered by place (Place::GetRank), and not by when they were
 * scheduled. So the results depend neither on the window nor on which nodes share a cell: they are
 * those of one cell, in which all events happen in one order of (time, place); those are kept in
 * the wheel of EventLoop. Simulator::Now() is the time of the cell that runs, and never leads or
 * lags behind others by a window or more.
 *
 * An event scheduled by ns3::Simulator belongs to the cell of the event that schedules it, and
 * comes before the others of its time; outside of cells it is global.
 */
class CellLoop : public EventLoop
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    CellLoop();
    ~CellLoop() override;

    /// The event loop that ns3::Simulator uses.
    /// @return the event loop, or null if it is no CellLoop.
    static CellLoop* Peek()
    {
        return s_cells;
    }

    /// Let cells run on their own from now on. Precondition: it is not running.
    /// @param window no event of a cell schedules one in another cell for less than this after it,
    /// or the run aborts; in time steps, reduced to MostWindow. 0: all events happen in one order,
    /// as before this call.
    void SetWindow(int64_t window);

    /// The window. @return time steps; 0: all events happen in one order.
    int64_t GetWindow() const
    {
        return m_window;
    }

    /// Tell when Simulator::Stop() may be called by an event of a cell. Close to that time the
    /// cells run instant by instant, so that the run ends after the instant in which it was called.
    /// @param earliest called between windows: the earliest such time that is possible, in time
    /// steps. Where no function is set, such a call aborts the run.
    void SetEarliestStop(std::function<int64_t()> earliest);

    /**
     * @brief While it exists, events without a place that are scheduled take one in a cell, as if
     * an event of that cell scheduled them.
     */
    class Adoption
    {
      public:
        /// Constructor. Does nothing under another event loop.
        /// @param cell the cell; 0: none.
        explicit Adoption(uint16_t cell);
        ~Adoption();
        Adoption(const Adoption&) = delete;
        Adoption& operator=(const Adoption&) = delete;

      private:
        CellLoop* m_loop;  //!< or null
        uint16_t m_before; //!< the cell before
    };

    // Documented in ns3::SimulatorImpl
    bool IsFinished() const override;
    bool IsExpired(const EventId& id) const override;
    uint32_t GetContext() const override;
    void PreEventHook(const EventId& id) override;
    void Stop() override;
    using EventLoop::Stop;
    void Run() override;

  protected:
    void DoDispose() override;
    void Insert(int64_t time, Key key, uintptr_t what) override;
    bool Extract(const EventId& id) override;

  private:
    static constexpr uint64_t NONE = ~0ULL; //!< of m_next: no event is pending
    static constexpr uint64_t VISITED = 0;  //!< of m_next: the cell runs
    /// Bit of the key of an event of a cell that ns3::Simulator scheduled: after the global ones
    /// and before those with a place, whose ranks start at 2^63.
    static constexpr Key IN_CELL = 1ULL << 62;
    static constexpr Key LAST = ~0ULL; //!< key of m_end: after all others

    /// Ends the run at the end of an instant.
    class End : public Occurrence
    {
      public:
        /// Constructor.
        /// @param loop the loop.
        explicit End(CellLoop* loop);

        CellLoop* loop;      //!< the loop
        bool pending{false}; //!< it will happen
    };

    /// Does an event of a cell happen, or one with a place? @return true if so.
    bool IsInCell() const
    {
        return m_window > 0 ? m_cell != 0 : m_key >= IN_CELL;
    }

    /// What m_next holds for a time.
    /// @param time time steps. @return from 1.
    static uint64_t NextOf(int64_t time)
    {
        return static_cast<uint64_t>(time) + 1;
    }

    void InsertIntoCell(uint16_t cell, int64_t time, Key key, uintptr_t what);
    void InsertUnplaced(int64_t time, Key key, uintptr_t what);
    uint16_t Adopt(Occurrence& occurrence);
    void PushInto(std::size_t cell, const Entry& entry);
    void NoteNext(std::size_t cell);
    void RunWindow(int64_t from);
    void Visit(std::size_t cell);
    void Happen(const Entry& entry);
    void EndAtInstant();

    static CellLoop* s_cells; //!< the instance in use

    Time m_mostWindow;                       //!< attribute
    int64_t m_window{0};                     //!< time steps; 0: one order
    std::function<int64_t()> m_earliestStop; //!< or null
    std::vector<EventHeap> m_heaps;          //!< by cell
    std::vector<uint64_t> m_next;            //!< by cell: of its first event, see NextOf
    EventHeap m_work;                        //!< cells by that time; outdated entries are skipped
    EventHeap m_global;                      //!< events without a cell, unless in one order
    uint16_t m_cell{0};                      //!< cell of the current event; 0: global
    uint16_t m_adopter{0};                   //!< cell that events without a place join; 0: none
    uint64_t m_adopted{0};                   //!< number of these events
    int64_t m_last{0};                       //!< last time of the window
    std::size_t m_visited{0};                //!< index of the heap whose events happen
    bool m_happened{false};  //!< its first event has happened: the next one may take its place
    Ptr<EventImpl> m_latest; //!< the latest event of ns-3 that happened, see IsExpired
    End m_end{this};         //!< of a run in one order
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_CELL_LOOP_H */
