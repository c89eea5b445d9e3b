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
#include <thread>
#include <vector>

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief An event loop whose events wait in a wheel of time slots.
 *
 * Chosen as any SimulatorImpl, by the GlobalValue SimulatorImplementationType. It executes what it
 * is given in the order (time, order of scheduling), as ns3::DefaultSimulatorImpl does with any
 * scheduler; the GlobalValue SchedulerType has no effect. Not for threads: real-time and emulated
 * devices need ns-3's own implementations.
 *
 * The events of the present slot are sorted once and executed one after another; those that come
 * late wait in a heap beside. Events of later slots wait in their slots, in no order, and events
 * beyond the wheel in another heap. The width of a slot follows the events (calendar queue, Brown
 * 1988), so that an event costs the same however many are pending.
 *
 * Code that schedules often may bypass ns3::Simulator by Push(), which needs no EventImpl.
 */
class EventLoop : public SimulatorImpl
{
  public:
    /// Bits of a Key that hold the context; the others count events. 1,048,575 nodes, 1.7e13
    /// events.
    static constexpr uint32_t CONTEXT_BITS = 20;

    /// What orders events of one time: (number of the event) << CONTEXT_BITS | context.
    using Key = PendingEvent::Key;

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    EventLoop();
    ~EventLoop() override;

    /// The event loop that ns3::Simulator uses.
    /// @return it, or null when another implementation is in use or none yet.
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
     * @brief Take the next place in the order of events of one time.
     *
     * What takes its place now and is pushed later happens in the order in which it would have,
     * had it been pushed now.
     *
     * @return place, to be used once.
     */
    Key TakeKey()
    {
        return (m_number++ << CONTEXT_BITS) | (m_key & CONTEXT_MASK);
    }

    /**
     * @brief A time so many time steps from now.
     *
     * A sum beyond the end of time (2^63 - 1) wraps; Push() knows how to take it.
     *
     * @param delay time steps.
     * @return what to give Push().
     */
    int64_t GetTimeIn(int64_t delay) const
    {
        return static_cast<int64_t>(static_cast<uint64_t>(m_now) + static_cast<uint64_t>(delay));
    }

    /// Schedule. Aborts, in every build, when the time is in the past.
    /// @param time when, in time steps; not in the past. A sum from GetTimeIn() that lies beyond
    /// the end of time means the end of time.
    /// @param key place among the events of that time, from TakeKey(). @param occurrence what.
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
    void DoDispose() override;

  private:
    using Entry = PendingEvent; //!< one event

    static constexpr uintptr_t OCCURRENCE = 1;  //!< bit of Entry::what: an Occurrence
    static constexpr uint32_t NO_CONTEXT = ~0U; //!< ns3::Simulator::NO_CONTEXT
    static constexpr uint32_t CONTEXT_MASK = (1U << CONTEXT_BITS) - 1; //!< low bits of a Key
    static constexpr uint32_t NONE = ~0U;                              //!< end of a list of nodes
    static constexpr uint32_t N_SLOTS = 8192;                          //!< of the wheel
    static constexpr uint32_t N_WORDS = N_SLOTS / 64; //!< of the set of slots that hold something
    static constexpr uint32_t LOOK_EVERY = 8192;      //!< events between two looks at the width
    static constexpr uint32_t WIDEST = 40;            //!< largest m_shift
    static constexpr uint32_t EVENTS_PER_SLOT = 4;    //!< fewer of them want wider slots
    static constexpr std::size_t FEW = 16;            //!< events of a slot that insertion sorts
    static constexpr std::size_t MOST_PILES = 8;      //!< sequences that more of them make

    /// An event in a slot.
    struct Node
    {
        Entry entry;   //!< it
        uint32_t next; //!< of the same slot
    };

    /// Number of the slot of a time, counted from time 0.
    /// @param time time steps. @return number.
    uint64_t SlotOf(int64_t time) const
    {
        return static_cast<uint64_t>(time) >> m_shift;
    }

    void Insert(int64_t time, Key key, uintptr_t what);
    void InsertElsewhere(int64_t time, Key key, uintptr_t what);
    void PushSlot(int64_t time, Key key, uintptr_t what);
    void GrowNodes();
    bool Refill();
    bool NextSlot(uint64_t& slot) const;
    void TakeSlot(uint64_t slot);
    void FillRun(uint32_t first);
    void FillRunFromPiles(uint32_t first);
    void FillRunUnsorted(uint32_t first);
    void FetchFar();
    void AdaptWidth();
    void Prefetch() const;
    void Execute(const Entry& entry);
    bool Extract(const EventId& id);
    Key MakeKey(uint32_t context);
    EventId Add(int64_t delay, uint32_t context, EventImpl* event);

    static EventLoop* s_current; //!< the one in use

    std::unique_ptr<Entry[]> m_run;           //!< events of the present slot, the next one last
    std::size_t m_runSize{0};                 //!< how many
    EventHeap m_late;                         //!< those that were scheduled since
    uint32_t m_shift{10};                     //!< a slot is 2^this time steps wide
    uint64_t m_slot{0};                       //!< number of the present slot
    uint32_t m_free{NONE};                    //!< nodes not in use
    std::size_t m_waiting{0};                 //!< events in slots
    std::array<uint64_t, N_WORDS> m_filled{}; //!< bit: the slot holds something
    std::array<uint64_t, N_WORDS / 64> m_filledWords{}; //!< bit: the word is not 0
    std::unique_ptr<Node[]> m_nodes;                    //!< all nodes
    uint32_t m_nNodes{0};                               //!< how many; m_run has room for as many
    EventHeap m_far;                                    //!< events beyond the wheel
    uint32_t m_scheduled{0};                            //!< events since the last look at the width
    uint32_t m_lateCount{0};                            //!< of them, into m_late
    uint32_t m_farCount{0};                             //!< of them, into m_far
    uint32_t m_halfCount{0};           //!< of them, that would go there were a slot half as wide
    uint32_t m_takenCount{0};          //!< slots taken since that look
    uint32_t m_widestSparse{WIDEST};   //!< few events a slot make m_shift no larger than this
    bool m_stop{false};                //!< Stop was called
    int64_t m_now{0};                  //!< time steps
    uint64_t m_number{EventId::VALID}; //!< of the next event
    Key m_key{CONTEXT_MASK};           //!< of the event being executed; CONTEXT_MASK: none
    uint64_t m_executed{0};            //!< events so far
    std::list<EventId> m_atDestroy;    //!< for Destroy
    std::thread::id m_thread;          //!< the only one that may schedule
    std::array<uint32_t, N_SLOTS> m_first; //!< by slot: its first node
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_H */
