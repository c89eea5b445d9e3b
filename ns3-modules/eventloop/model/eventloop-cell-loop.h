/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_CELL_LOOP_H
#define EVENTLOOP_CELL_LOOP_H

#include "eventloop-part-runner.h"
#include "eventloop.h"

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

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
 * those of one cell, in which all events happen in one order of (time, place). That order is also
 * the cheapest one where cells have little to do in a window: the loop counts, and keeps the events
 * in the wheel of EventLoop meanwhile. Simulator::Now() is the time of the cell that runs, and
 * never leads or lags behind others by two windows or more.
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

    /// Let cells run on their own from now on. Not to be called by an event of a cell.
    /// @param window no event of a cell schedules one in another cell for less than this after it,
    /// or the run aborts; in time steps, reduced to MostWindow. 0: all events happen in one order,
    /// as before this call.
    /// @param alternates true: no event of a cell with an odd number leads to one in another such
    /// cell in less than two windows, and likewise for even numbers. So they run in turn, for up to
    /// two windows.
    void SetWindow(int64_t window, bool alternates = false);

    /// The window. @return time steps; 0: all events happen in one order.
    int64_t GetWindow() const
    {
        return m_window;
    }

    /// Let several threads run the cells, each a part of them. Not to be called by an event of a
    /// cell. Precondition: an event of a cell changes nothing of other cells, but schedules events
    /// there; what it hands over with them lies in a mailbox, see Place::OfMailbox.
    /// @param threads what runs them, such as CellThreads.
    void SetThreads(std::unique_ptr<PartRunner> threads);

    /// Keep out other threads that run cells.
    /// @param mutex of what they share. @return a lock of it, if there are such threads.
    static std::unique_lock<std::mutex> Lock(std::mutex& mutex);

    /// Do cells run on their own now? @return false: all events happen in one order, for good or
    /// for a while.
    bool IsApart() const
    {
        return m_inCells;
    }

    /// Tell when an event of a cell may have an effect beyond its cell at its own time: call
    /// Simulator::Stop(), which ends the run after that instant, or schedule an event with a late
    /// place (Place::LATE) in another cell. Close to that time the cells run instant by instant.
    /// @param earliest called between windows: the earliest such time that is possible, in time
    /// steps. Where no function is set, such an effect aborts the run.
    void SetHorizon(std::function<int64_t()> earliest);

    /// Let all events happen in one order while something looks at several cells at one time.
    /// @param isQuiet called between windows, and now and then in one order: may cells run on their
    /// own in the next window? Null: always.
    void SetWatch(std::function<bool()> isQuiet);

    /// Visit all pending events. Precondition: a global event calls.
    /// @param look called with the time and the Occurrence of each, or null for one of ns-3.
    void ForEachPending(const std::function<void(int64_t, const Occurrence*)>& look) const;
    /// Let pending events of cells happen later. Precondition: as of ForEachPending().
    /// @param events which ones. @param by how much, in time steps.
    void Delay(const std::unordered_set<const Occurrence*>& events, int64_t by);

    /// Count events as ones that happened, or not. @param more how many.
    void Count(int64_t more)
    {
        m_executed += static_cast<uint64_t>(more);
    }

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
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    void Remove(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;
    void PreEventHook(const EventId& id) override;
    void Stop() override;
    using EventLoop::Stop;
    void Run() override;

  protected:
    void DoDispose() override;
    void Insert(int64_t time, Key key, uintptr_t what) override;
    bool Extract(const EventId& id) override;
    void Review() override;

  private:
    friend class CellThreads;

    static constexpr uint64_t NONE = ~0ULL; //!< of m_next: no event is pending
    static constexpr uint64_t VISITED = 0;  //!< of m_next: the cell runs; no time comes before it
    /// Bit of the key of an event of a cell that ns3::Simulator scheduled: after the global ones
    /// and before those with a place, whose ranks start at 2^63. Of the number in a key 42 bits are
    /// left: 4.4e12 events without a place.
    static constexpr Key IN_CELL = 1ULL << 62;
    static constexpr Key LAST = ~0ULL;                        //!< after all others of its time
    static constexpr Key NOT_LATE = Place::GetLateRank() - 1; //!< before late ones of its time
    static constexpr uint32_t COUNTED_VISITS = 4096;          //!< for a decision
    static constexpr uint32_t FEW_EVENTS = 8;                 //!< in a visit: not worth it
    static constexpr uint32_t FIRST_REVIEWS = 8;              //!< of m_reviews
    static constexpr uint32_t MOST_REVIEWS = 128;             //!< of m_reviews

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

    /// Does an event of a cell happen, or one with a place? In one order m_cell is that of events
    /// of ns-3 alone, and the key tells. @return true if so.
    bool IsInCell() const
    {
        return m_inCells ? m_cell != 0 : m_key >= IN_CELL;
    }

    /// What m_next holds for a time.
    /// @param time time steps. @return from 1.
    static uint64_t NextOf(int64_t time)
    {
        return static_cast<uint64_t>(time) + 1;
    }

    /// The colour of a cell: those of one colour run in the same turns.
    /// @param cell its number. @return 0 or 1.
    uint32_t ColourOf(std::size_t cell) const
    {
        return cell & m_colours;
    }

    /// Constructor of the part of another thread.
    /// @param threads of the loop. @param part index of the part.
    CellLoop(PartRunner& threads, uint16_t part);

    /// The part of the calling thread. ns3::Simulator asks the whole loop in all of them.
    /// @return part.
    CellLoop& Mine() const
    {
        return static_cast<CellLoop&>(*EventLoop::Peek());
    }

    /// Is it for the part of the calling thread to answer?
    /// @return true if that is another one.
    bool IsOfAnother() const
    {
        return m_threads && EventLoop::Peek() && EventLoop::Peek() != this;
    }

    /// The part of a cell.
    /// @param cell its number. @return part.
    CellLoop& PartOf(std::size_t cell)
    {
        return m_threads ? m_threads->PartOf(cell) : *this;
    }

    /// May the current event look at a part? Those of other threads only while these are idle.
    /// @param part one of m_parts. @return true if so.
    bool IsWithinReach(const CellLoop* part) const
    {
        return m_cell == 0 || part == this;
    }

    void MoveCell(std::size_t cell, CellLoop& to);
    void ForgetLast();
    void Receive(std::size_t cell, const Entry& entry);
    void InsertBeyond(uint16_t cell, const Entry& entry);
    uint16_t FindCell() const;
    /// Add an event with a key to a cell, of whichever part. Precondition: m_inCells.
    void InsertIntoCell(uint16_t cell, int64_t time, Key key, uintptr_t what);
    void InsertUnplaced(int64_t time, Key key, uintptr_t what);
    /// Give an event without a place one in the cell that schedules it. @return its cell; 0: none.
    uint16_t Adopt(Occurrence& occurrence);
    /// Add an event to the heap of a cell of this part; it may replace one that has happened.
    void PushInto(std::size_t cell, const Entry& entry);
    /// The first event of a cell is another one: update m_next and m_work.
    void NoteNext(std::size_t cell);
    /// Move all events from the wheel to the heaps. Not while a cell runs.
    void EnterCells();
    /// Move all events from the heaps to the wheel. Not while a cell runs.
    void LeaveCells();
    /// The cell of an event in the wheel; 0: it is global.
    uint16_t CellOf(const Entry& entry) const;
    bool RunCells();
    bool MayStayInCells();
    uint64_t FirstOf(uint32_t colour);
    uint64_t FirstOfOwn(uint32_t colour);
    void RunWindow(uint64_t first, uint64_t second);
    void RunInstants(uint64_t from, Entry limit);
    void RunAllUpTo(const Entry& limit);
    void RunUpTo(uint32_t colour, const Entry& limit);
    void RunOwn(uint32_t colour, const Entry& limit);
    /// Let a cell run up to m_limit. Precondition: its first event is not after it.
    void Visit(std::size_t cell);
    /// Execute an event of a heap: EventLoop::Execute, in short for an Occurrence.
    void Happen(const Entry& entry);

    static CellLoop* s_cells; //!< the instance in use

    Time m_mostWindow;                  //!< attribute
    uint32_t m_threadsFrom{0};          //!< attribute
    int64_t m_window{0};                //!< time steps; 0: one order
    uint32_t m_colours{0};              //!< 1: cells of two colours alternate
    bool m_inCells{false};              //!< events are in the heaps of cells, not in the wheel
    std::function<int64_t()> m_horizon; //!< or null
    std::function<bool()> m_isQuiet;    //!< or null
    std::vector<EventHeap> m_heaps;     //!< by cell, from 1
    std::vector<uint64_t> m_next;       //!< by cell: of its first event, see NextOf
    /// By colour: cells (as keys) by that time. A cell is pushed anew when its first event changes;
    /// what is not at the time of m_next is outdated.
    std::array<EventHeap, 2> m_work;
    std::vector<Entry> m_beyond;   //!< scratch memory of RunUpTo
    EventHeap m_global;            //!< events without a cell, unless in one order
    uint16_t m_cell{0};            //!< cell of the current event; 0: global
    uint16_t m_adopter{0};         //!< cell that events without a place join; 0: none
    uint64_t m_adopted{0};         //!< number of these events
    Entry m_limit{};               //!< of the cells that run: the last possible event
    std::array<Entry, 2> m_done{}; //!< by colour: up to where it has run
    uint64_t m_instant{0};         //!< all but late events of this time happened; see NextOf
    int64_t m_latest{0};           //!< latest time of an event so far
    std::size_t m_visited{0};      //!< index of the heap whose events happen
    bool m_happened{false}; //!< its first event has happened: the next one may take its place
    Ptr<EventImpl> m_last;  //!< the latest event of ns-3 that happened, see IsExpired
    /// In one order: cells of pending events of ns-3 that have one.
    std::unordered_map<const EventImpl*, uint16_t> m_cellOf;
    End m_end{this};            //!< of a run in one order
    uint32_t m_visits{0};       //!< since the last decision
    uint64_t m_eventsBefore{0}; //!< m_executed at the last decision
    /// How many reviews to keep one order: twice as many each time that cells end, until a decision
    /// keeps them.
    uint32_t m_reviews{FIRST_REVIEWS};
    uint32_t m_reviewsLeft{0};                //!< of these, to come
    bool m_leave{false};                      //!< the wheel stopped to be left
    std::unique_ptr<PartRunner> m_ownThreads; //!< or null: the calling one runs all cells
    PartRunner* m_threads{nullptr};           //!< these, in every part
    std::vector<CellLoop*> m_parts{this};     //!< of the whole loop, all; else this one
    uint16_t m_part{0};                       //!< index of this part
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_CELL_LOOP_H */
