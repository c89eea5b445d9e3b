/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_H
#define EVENTLOOP_H

#include "eventloop-heap.h"
#include "eventloop-occurrence.h"

#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3/simulator-impl.h"

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief An event loop whose pending events are kept in a wheel of time slots.
 *
 * Selected like any SimulatorImpl, by the GlobalValue SimulatorImplementationType. It executes
 * events in the order (time, order of scheduling), as ns3::DefaultSimulatorImpl does with any
 * scheduler; the GlobalValue SchedulerType has no effect. It is not for threads: real-time and
 * emulated devices need ns-3's own implementations.
 *
 * The events of the current slot are sorted once and executed in order; events scheduled for it
 * later are kept in a heap. Events of later slots are kept in their slots, unordered, and events
 * beyond the wheel in another heap. The width of a slot adapts to the events (calendar queue, Brown
 * 1988), so that the cost of an event does not depend on the number of pending ones.
 *
 * Code that schedules often may bypass ns3::Simulator with Push(), which needs no EventImpl.
 */
class EventLoop : public SimulatorImpl
{
  public:
    /// Bits of a Key for the context; the others count events. 1,048,575 nodes, 1.7e13 events.
    static constexpr uint32_t CONTEXT_BITS = 20;

    /// Orders events of the same time: (number of the event) << CONTEXT_BITS | context.
    using Key = PendingEvent::Key;

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    EventLoop();
    ~EventLoop() override;

    /// The event loop of this thread: the one that ns3::Simulator uses, or its part for the thread.
    /// @return the event loop, or null if another implementation or none is in use.
    static EventLoop* Peek()
    {
        return s_current;
    }

    /// Simulated time. @return in time steps.
    int64_t GetTimeStep() const
    {
        return m_now;
    }

    /**
     * @brief Reserve the next position in the order of events of the same time.
     *
     * An event pushed later with a reserved position is executed as if it had been pushed at the
     * time of the reservation.
     *
     * @return key, to be used once.
     */
    Key TakeKey()
    {
        return (m_number++ << CONTEXT_BITS) | (m_key & CONTEXT_MASK);
    }

    /**
     * @brief The time after a delay.
     *
     * A sum beyond the end of time (2^63 - 1) wraps; Push() handles it.
     *
     * @param delay time steps.
     * @return argument for Push().
     */
    int64_t GetTimeIn(int64_t delay) const
    {
        return static_cast<int64_t>(static_cast<uint64_t>(m_now) + static_cast<uint64_t>(delay));
    }

    /// Schedule. Aborts, in every build profile, if the time is in the past.
    /// @param time when, in time steps; not in the past. A sum from GetTimeIn() beyond the end of
    /// time counts as the end of time.
    /// @param key order among the events of that time, from TakeKey(). @param occurrence the event.
    void Push(int64_t time, Key key, Occurrence* occurrence)
    {
        Insert(time, key, reinterpret_cast<uintptr_t>(occurrence) | OCCURRENCE);
    }

    // Documented in ns3::SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    EventId Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    /// Has no effect: this implementation has its own set of events.
    /// @param schedulerFactory ignored.
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  protected:
    /// Says that a loop is the part of another one that runs in another thread.
    struct IsPart
    {
    };

    /// Constructor of such a part.
    explicit EventLoop(IsPart);
    void DoDispose() override;
    /// Let this be the loop that Peek() gives in the calling thread.
    /// @return the one before, or null.
    EventLoop* Use();

    using Entry = PendingEvent; //!< one event

    static constexpr uintptr_t OCCURRENCE = 1;  //!< bit of Entry::what: an Occurrence
    static constexpr uint32_t NO_CONTEXT = ~0U; //!< ns3::Simulator::NO_CONTEXT
    static constexpr uint32_t CONTEXT_MASK = (1U << CONTEXT_BITS) - 1; //!< low bits of a Key

    /// Add an event. A class with an order of its own may change the key, or keep it elsewhere.
    /// @param time time steps. @param key order. @param what see PendingEvent.
    virtual void Insert(int64_t time, Key key, uintptr_t what);
    /// Copy all pending events.
    /// @return the events, in no order.
    std::vector<Entry> GetPending() const;
    /// Take all pending events.
    /// @return the events, in no order.
    std::vector<Entry> TakePending();
    /// Remove a pending event.
    /// @param id the event. @return false if it was not found.
    virtual bool Extract(const EventId& id);
    /// Is a pending event the one of an EventId?
    /// @param entry pending event. @param id the other one. @return true if so.
    static bool IsSame(const Entry& entry, const EventId& id);
    /// Give up an event that will not be executed.
    /// @param entry pending event.
    static void Forget(const Entry& entry);
    /// Abort if a time lies in the past.
    /// @param time time steps; beyond the end of time if the sum of now and a delay wrapped.
    /// @return the time, at most the end of time.
    int64_t RequireFuture(int64_t time) const;
    /// Called between two events, once in many thousands.
    virtual void Review();
    /// Let the wheel begin at the current time. Precondition: no event is pending.
    void ResetWheel();
    /// Set the clock to an event and execute it.
    /// @param entry the event, no longer pending.
    void Execute(const Entry& entry);

    bool m_stop{false};                //!< Stop() was called
    bool m_isRanked{false};            //!< keys of the same time are in no order of scheduling
    int64_t m_now{0};                  //!< time steps
    uint64_t m_number{EventId::VALID}; //!< of the next event
    Key m_key{CONTEXT_MASK};           //!< of the current event; CONTEXT_MASK: none
    uint64_t m_executed{0};            //!< number of events executed
    uintptr_t m_what{0};               //!< the current event, see PendingEvent; 0: none

  private:
    static constexpr uint32_t NONE = ~0U;             //!< end of a list of nodes
    static constexpr uint32_t N_SLOTS = 8192;         //!< of the wheel
    static constexpr uint32_t N_WORDS = N_SLOTS / 64; //!< of the set of slots that hold something
    static constexpr uint32_t LOOK_EVERY = 8192;   //!< events between two adaptations of the width
    static constexpr uint32_t WIDEST = 40;         //!< largest m_shift
    static constexpr uint32_t EVENTS_PER_SLOT = 4; //!< below this slots are widened
    static constexpr std::size_t FEW = 16; //!< events of a slot up to which insertion sort is used
    static constexpr std::size_t MOST_PILES =
        8; //!< largest number of sequences for patience sorting

    /// An event in a slot.
    struct Node
    {
        Entry entry;   //!< the event
        uint32_t next; //!< next node of the same slot
    };

    /// Number of the slot of a time, counted from time 0.
    /// @param time time steps. @return slot number.
    uint64_t SlotOf(int64_t time) const
    {
        return static_cast<uint64_t>(time) >> m_shift;
    }

    void InsertElsewhere(int64_t time, Key key, uintptr_t what);
    /// Put an event into its slot. Precondition: that comes 1 to N_SLOTS - 1 after m_slot.
    void PushSlot(int64_t time, Key key, uintptr_t what);
    /// Double the nodes, and m_run with them. Precondition: none is free.
    void GrowNodes();
    /// Go on to the next slot with events. Precondition: the current one is done.
    /// @return false: no event is pending.
    bool Refill();
    /// Find the next slot that holds something, or did before Remove. @return false: none.
    bool NextSlot(uint64_t& slot) const;
    /// Make a slot the current one. Precondition: the one before is done.
    void TakeSlot(uint64_t slot);
    /// Sort a list of nodes into m_run and free them: up to FEW by insertion.
    void FillRun(uint32_t first);
    /// The same for more: up to MOST_PILES sequences are merged.
    void FillRunFromPiles(uint32_t first);
    void SortInstants();
    /// The same for any, by std::sort.
    void FillRunUnsorted(uint32_t first);
    /// Move events that have come within the wheel out of m_far. Whatever moves m_slot calls it.
    void FetchFar();
    /// Append the events of all slots, in no order. Precondition: the current slot is done.
    void TakeSlots(std::vector<Entry>& events);
    /// Choose the width of slots anew. Precondition: the current slot is done.
    void AdaptWidth();
    /// Fetch memory of the events after the next one. It affects only speed.
    void Prefetch() const;
    /// TakeKey() for a context, with a number that an EventId may have.
    Key MakeKey(uint32_t context);
    /// Schedule an event of ns-3; the reference of who made it is the loop's from now on.
    EventId Add(int64_t delay, uint32_t context, EventImpl* event);

    /// The instance in use by the thread. Of the model that costs no more than an ordinary one; a
    /// library that is loaded late has room for a few such variables.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local EventLoop* s_current;

    // Between two events: those of slots up to m_slot are in m_run or m_late; those of the next
    // N_SLOTS - 1 in m_first, so that a place there has one slot only; all later ones in m_far.
    std::unique_ptr<Entry[]> m_run;           //!< events of the current slot, the next one last
    std::size_t m_runSize{0};                 //!< number of these
    EventHeap m_late;                         //!< events added to the current slot since
    uint32_t m_shift{10};                     //!< a slot is 2^m_shift time steps wide
    uint64_t m_slot{0};                       //!< number of the current slot
    uint32_t m_free{NONE};                    //!< list of unused nodes
    std::size_t m_waiting{0};                 //!< number of events in slots
    std::array<uint64_t, N_WORDS> m_filled{}; //!< bit: the slot is not empty
    std::array<uint64_t, N_WORDS / 64> m_filledWords{}; //!< bit: the word is not 0
    std::unique_ptr<Node[]> m_nodes;                    //!< all nodes
    uint32_t m_nNodes{0};                  //!< number of nodes; also the capacity of m_run
    EventHeap m_far;                       //!< events beyond the wheel
    uint32_t m_scheduled{0};               //!< events since the last adaptation of the width
    uint32_t m_lateCount{0};               //!< of these, into m_late
    uint32_t m_farCount{0};                //!< of these, into m_far
    uint32_t m_halfCount{0};               //!< of these, far if slots were half as wide
    uint32_t m_takenCount{0};              //!< slots taken since the last adaptation
    uint32_t m_widestSparse{WIDEST};       //!< upper bound of m_shift when slots hold few events
    std::list<EventId> m_atDestroy;        //!< events of ScheduleDestroy
    std::array<uint32_t, N_SLOTS> m_first; //!< by slot: its first node
};

inline void
EventLoop::Execute(const Entry& entry)
{
    m_now = entry.time;
    m_key = entry.key;
    m_what = entry.what;
    ++m_executed;
    if (entry.what & OCCURRENCE)
    {
        reinterpret_cast<Occurrence*>(entry.what - OCCURRENCE)->Happen();
    }
    else
    {
        const Ptr<EventImpl> event(reinterpret_cast<EventImpl*>(entry.what), false);
        const uint32_t context = static_cast<uint32_t>(m_key) & CONTEXT_MASK;
        const auto uid = static_cast<uint32_t>(m_key >> CONTEXT_BITS);
        PreEventHook(EventId(event, static_cast<uint64_t>(m_now), context, uid));
        event->Invoke();
    }
}

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_H */
