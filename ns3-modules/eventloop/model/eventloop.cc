/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "eventloop.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace ns3
{
namespace eventloop
{

NS_OBJECT_ENSURE_REGISTERED(EventLoop);

EventLoop* EventLoop::s_current = nullptr;

TypeId
EventLoop::GetTypeId()
{
    static TypeId tid = TypeId("ns3::eventloop::EventLoop")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("eventloop")
                            .AddConstructor<EventLoop>();
    return tid;
}

EventLoop::EventLoop()
    : m_first(N_SLOTS, NONE),
      m_thread(std::this_thread::get_id())
{
    NS_ABORT_MSG_IF(s_current, "there can be one ns3::eventloop::EventLoop at a time");
    s_current = this;
}

EventLoop::~EventLoop()
{
    if (s_current == this)
    {
        s_current = nullptr;
    }
}

void
EventLoop::DoDispose()
{
    const auto forget = [](const Entry& entry) {
        if (!(entry.what & OCCURRENCE))
        {
            reinterpret_cast<EventImpl*>(entry.what)->Unref();
        }
    };
    for (const std::vector<Entry>* entries :
         std::initializer_list<const std::vector<Entry>*>{&m_run, &m_late.Get(), &m_far.Get()})
    {
        std::for_each(entries->begin(), entries->end(), forget);
    }
    for (uint32_t node : m_first)
    {
        for (; node != NONE; node = m_nodes[node].next)
        {
            forget(m_nodes[node].entry);
        }
    }
    m_run.clear();
    m_late = m_far = EventHeap();
    m_first.assign(N_SLOTS, NONE);
    m_waiting = 0;
    if (s_current == this)
    {
        s_current = nullptr;
    }
    SimulatorImpl::DoDispose();
}

void
EventLoop::Destroy()
{
    while (!m_atDestroy.empty())
    {
        const EventId id = m_atDestroy.front();
        m_atDestroy.pop_front();
        id.PeekEventImpl()->Invoke(); // does nothing when it was cancelled
    }
}

// The wheel

void
EventLoop::Insert(const Entry& entry)
{
    ++m_scheduled;
    if (entry.time <= m_runLast)
    {
        // The past lies before the end of the present slot: other events do not pay for this test.
        if (entry.time < m_now) [[unlikely]]
        {
            InsertWrapped(entry);
            return;
        }
        ++m_lateCount;
        m_late.Push(entry);
        return;
    }
    const uint64_t ahead = SlotOf(entry.time) - m_slot;
    m_halfCount += ahead >= N_SLOTS / 2;
    if (ahead >= N_SLOTS)
    {
        ++m_farCount;
        m_far.Push(entry);
        return;
    }
    PushSlot(entry);
}

void
EventLoop::InsertWrapped(const Entry& entry)
{
    // A time below the present is either a sum that passed 2^63 or a mistake; the delay tells.
    const auto delay =
        static_cast<int64_t>(static_cast<uint64_t>(entry.time) - static_cast<uint64_t>(m_now));
    NS_ABORT_MSG_IF(delay < 0,
                    "an event was scheduled in the past: for "
                        << entry.time << " time steps, but it is " << m_now << " now");
    m_far.Push(Entry{std::numeric_limits<int64_t>::max(), entry.key, entry.what});
}

void
EventLoop::PushSlot(const Entry& entry)
{
    const uint32_t at = SlotOf(entry.time) % N_SLOTS;
    uint32_t node = m_free;
    if (node == NONE)
    {
        node = static_cast<uint32_t>(m_nodes.size());
        m_nodes.emplace_back();
    }
    else
    {
        m_free = m_nodes[node].next;
    }
    m_nodes[node] = Node{entry, m_first[at]};
    m_first[at] = node;
    m_filled[at / 64] |= 1ULL << at % 64;
    m_filledWords[at / 4096] |= 1ULL << at / 64 % 64;
    ++m_waiting;
}

bool
EventLoop::NextSlot(uint64_t& slot) const
{
    if (m_waiting == 0)
    {
        return false;
    }
    // From the slot behind the present one, once round.
    const uint32_t from = (m_slot + 1) % N_SLOTS;
    uint32_t word = from / 64;
    uint64_t bits = m_filled[word] & ~0ULL << from % 64;
    while (bits == 0)
    {
        word = (word + 1) % N_WORDS;
        const uint64_t words = m_filledWords[word / 64] & ~0ULL << word % 64;
        if (words == 0)
        {
            word |= 63; // the next round begins with the next group of words
            continue;
        }
        word = word / 64 * 64 + static_cast<uint32_t>(std::countr_zero(words));
        bits = m_filled[word];
    }
    const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
    slot = m_slot + 1 + (at - from) % N_SLOTS;
    return true;
}

void
EventLoop::TakeSlot(uint64_t slot)
{
    m_slot = slot;
    m_runLast = LastOf(slot);
    const uint32_t at = slot % N_SLOTS;
    uint32_t node = std::exchange(m_first[at], NONE);
    while (node != NONE)
    {
        Node& taken = m_nodes[node];
        m_run.push_back(taken.entry);
        const uint32_t next = std::exchange(taken.next, m_free);
        m_free = node;
        node = next;
    }
    m_waiting -= m_run.size();
    m_filled[at / 64] &= ~(1ULL << at % 64);
    if (m_filled[at / 64] == 0)
    {
        m_filledWords[at / 4096] &= ~(1ULL << at / 64 % 64);
    }
    SortRun();
}

void
EventLoop::SortRun()
{
    // The next event last. What was scheduled last comes first out of a slot, so that this is
    // nearly done: insertion takes few moves. If it takes many, it is left to the library.
    std::size_t moves = 0;
    const std::size_t allowed = 8 * m_run.size();
    for (std::size_t i = 1; i < m_run.size(); ++i)
    {
        const Entry entry = m_run[i];
        std::size_t at = i;
        for (; at > 0 && m_run[at - 1].Before(entry); --at)
        {
            m_run[at] = m_run[at - 1];
        }
        m_run[at] = entry;
        moves += i - at;
        if (moves > allowed)
        {
            std::sort(m_run.begin(), m_run.end(), [](const Entry& a, const Entry& b) {
                return b.Before(a);
            });
            return;
        }
    }
}

void
EventLoop::FetchFar()
{
    while (!m_far.Get().empty() && SlotOf(m_far.Get().front().time) - m_slot < N_SLOTS)
    {
        PushSlot(m_far.Pop());
    }
}

bool
EventLoop::Refill()
{
    if (m_scheduled >= LOOK_EVERY)
    {
        AdaptWidth();
    }
    uint64_t slot = 0;
    if (!NextSlot(slot))
    {
        if (m_far.Get().empty())
        {
            return false;
        }
        m_slot = SlotOf(m_far.Get().front().time) - 1;
        FetchFar();
        NextSlot(slot);
    }
    TakeSlot(slot);
    ++m_takenCount;
    FetchFar();
    return true;
}

void
EventLoop::AdaptWidth()
{
    // Late events want narrower slots; far ones, and slots of few events, want wider ones. So that
    // the width never swings, narrower slots must not make many events far, and few events do not
    // bring back a width that made many late.
    const bool sparse = m_takenCount > m_scheduled / EVENTS_PER_SLOT &&
                        m_lateCount < m_scheduled / 32 && m_shift < m_widestSparse;
    const bool wider = (m_farCount > m_scheduled / 8 || sparse) && m_shift < WIDEST;
    const bool narrower =
        m_lateCount > m_scheduled / 8 && m_halfCount < m_scheduled / 16 && m_shift > 0;
    m_scheduled = m_lateCount = m_farCount = m_halfCount = m_takenCount = 0;
    if (!wider && !narrower)
    {
        return;
    }
    if (!wider)
    {
        m_widestSparse = m_shift - 1;
    }
    // The present slot is done: all events wait in slots or beyond.
    std::vector<Entry> waiting;
    waiting.reserve(m_waiting);
    for (uint64_t slot = 0; NextSlot(slot);)
    {
        TakeSlot(slot);
        waiting.insert(waiting.end(), m_run.begin(), m_run.end());
        m_run.clear();
    }
    m_shift = wider ? m_shift + 1 : m_shift - 1;
    m_slot = SlotOf(m_now);
    m_runLast = LastOf(m_slot);
    for (const Entry& entry : waiting)
    {
        if (entry.time <= m_runLast)
        {
            m_late.Push(entry);
        }
        else if (SlotOf(entry.time) - m_slot < N_SLOTS)
        {
            PushSlot(entry);
        }
        else
        {
            m_far.Push(entry);
        }
    }
    FetchFar();
}

// The loop

inline void
EventLoop::Execute(const Entry& entry)
{
    m_now = entry.time;
    m_context = static_cast<uint32_t>(entry.key) & CONTEXT_MASK;
    m_uid = static_cast<uint32_t>(entry.key >> CONTEXT_BITS);
    ++m_executed;
    if (entry.what & OCCURRENCE)
    {
        reinterpret_cast<Occurrence*>(entry.what - OCCURRENCE)->Happen();
    }
    else
    {
        const Ptr<EventImpl> event(reinterpret_cast<EventImpl*>(entry.what), false);
        PreEventHook(EventId(event, static_cast<uint64_t>(m_now), m_context, m_uid));
        event->Invoke();
    }
}

inline void
EventLoop::Prefetch() const
{
    // The order of what comes is known: fetch its memory while something else happens. First what
    // happens, later what that will touch, whose address is then there.
    constexpr std::size_t FAR = 6;
    constexpr std::size_t NEAR = 3;
    const std::size_t size = m_run.size();
    if (size >= FAR && m_run[size - FAR].what & OCCURRENCE)
    {
        __builtin_prefetch(reinterpret_cast<const void*>(m_run[size - FAR].what - OCCURRENCE), 1);
    }
    if (size >= NEAR && m_run[size - NEAR].what & OCCURRENCE)
    {
        const uintptr_t what = m_run[size - NEAR].what - OCCURRENCE;
        __builtin_prefetch(reinterpret_cast<const Occurrence*>(what)->GetSubject(), 1);
    }
}

void
EventLoop::Run()
{
    m_stop = false;
    while (!m_stop)
    {
        const auto& late = m_late.Get();
        if (m_run.empty() && late.empty())
        {
            if (!Refill())
            {
                return;
            }
        }
        else if (late.empty() || (!m_run.empty() && m_run.back().Before(late.front())))
        {
            const Entry next = m_run.back();
            m_run.pop_back();
            Prefetch();
            Execute(next);
        }
        else
        {
            Execute(m_late.Pop());
        }
    }
}

bool
EventLoop::IsFinished() const
{
    return m_stop ||
           (m_run.empty() && m_late.Get().empty() && m_waiting == 0 && m_far.Get().empty());
}

void
EventLoop::Stop()
{
    m_stop = true;
}

EventId
EventLoop::Stop(const Time& delay)
{
    return Simulator::Schedule(delay, static_cast<void (*)()>(&Simulator::Stop));
}

EventLoop::Key
EventLoop::MakeKey(uint32_t context)
{
    NS_ABORT_MSG_IF(std::this_thread::get_id() != m_thread,
                    "ns3::eventloop::EventLoop takes events from one thread only; choose another "
                    "SimulatorImplementationType");
    NS_ABORT_MSG_IF(context >= CONTEXT_MASK && context != NO_CONTEXT,
                    "context " << context << " is too large for ns3::eventloop::EventLoop, which "
                               << "has room for " << CONTEXT_MASK << " nodes; choose another "
                               << "SimulatorImplementationType");
    if (static_cast<uint32_t>(m_number) < EventId::VALID)
    {
        m_number += EventId::VALID; // the first values of an EventId's number are not for events
    }
    return (m_number++ << CONTEXT_BITS) | (context & CONTEXT_MASK);
}

EventId
EventLoop::Add(int64_t delay, uint32_t context, EventImpl* event)
{
    const int64_t time = delay > std::numeric_limits<int64_t>::max() - m_now
                             ? std::numeric_limits<int64_t>::max()
                             : m_now + delay;
    const Key key = MakeKey(context);
    Insert(Entry{time, key, reinterpret_cast<uintptr_t>(event)});
    return EventId(Ptr<EventImpl>(event),
                   static_cast<uint64_t>(time),
                   context,
                   static_cast<uint32_t>(key >> CONTEXT_BITS));
}

EventId
EventLoop::Schedule(const Time& delay, EventImpl* event)
{
    return Add(delay.GetTimeStep(), GetContext(), event);
}

void
EventLoop::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    Add(delay.GetTimeStep(), context, event);
}

EventId
EventLoop::ScheduleNow(EventImpl* event)
{
    return Add(0, GetContext(), event);
}

EventId
EventLoop::ScheduleDestroy(EventImpl* event)
{
    const EventId id(Ptr<EventImpl>(event, false),
                     static_cast<uint64_t>(m_now),
                     NO_CONTEXT,
                     EventId::DESTROY);
    m_atDestroy.push_back(id);
    return id;
}

void
EventLoop::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::DESTROY)
    {
        const auto found = std::find(m_atDestroy.begin(), m_atDestroy.end(), id);
        if (found != m_atDestroy.end())
        {
            m_atDestroy.erase(found);
        }
        return;
    }
    if (IsExpired(id))
    {
        return;
    }
    if (Extract(id))
    {
        id.PeekEventImpl()->Cancel();
        id.PeekEventImpl()->Unref();
    }
}

bool
EventLoop::Extract(const EventId& id)
{
    const auto same = [&id](const Entry& entry) {
        return entry.what == reinterpret_cast<uintptr_t>(id.PeekEventImpl()) &&
               static_cast<uint32_t>(entry.key >> CONTEXT_BITS) == id.GetUid();
    };
    const auto run = std::find_if(m_run.begin(), m_run.end(), same);
    if (run != m_run.end())
    {
        m_run.erase(run);
        return true;
    }
    for (EventHeap* heap : {&m_late, &m_far})
    {
        const auto& entries = heap->Get();
        const auto found = std::find_if(entries.begin(), entries.end(), same);
        if (found != entries.end())
        {
            heap->RemoveAt(static_cast<std::size_t>(found - entries.begin()));
            return true;
        }
    }
    uint32_t* link = &m_first[SlotOf(static_cast<int64_t>(id.GetTs())) % N_SLOTS];
    for (; *link != NONE; link = &m_nodes[*link].next)
    {
        if (same(m_nodes[*link].entry))
        {
            const uint32_t node = *link;
            *link = m_nodes[node].next;
            m_nodes[node].next = std::exchange(m_free, node);
            --m_waiting;
            return true; // a slot that is empty now costs nothing but a look
        }
    }
    return false;
}

void
EventLoop::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
EventLoop::IsExpired(const EventId& id) const
{
    if (!id.PeekEventImpl() || id.PeekEventImpl()->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::DESTROY)
    {
        return std::find(m_atDestroy.begin(), m_atDestroy.end(), id) == m_atDestroy.end();
    }
    const auto now = static_cast<uint64_t>(m_now);
    // The number of an EventId has 32 bits and starts again: compare by distance.
    return id.GetTs() < now ||
           (id.GetTs() == now && static_cast<int32_t>(id.GetUid() - m_uid) <= 0);
}

Time
EventLoop::Now() const
{
    return TimeStep(static_cast<uint64_t>(m_now));
}

Time
EventLoop::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs() - static_cast<uint64_t>(m_now));
}

Time
EventLoop::GetMaximumSimulationTime() const
{
    return TimeStep(static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

void
EventLoop::SetScheduler(ObjectFactory /* schedulerFactory */)
{
}

uint32_t
EventLoop::GetSystemId() const
{
    return 0;
}

uint32_t
EventLoop::GetContext() const
{
    return m_context == CONTEXT_MASK ? NO_CONTEXT : m_context;
}

uint64_t
EventLoop::GetEventCount() const
{
    return m_executed;
}

} // namespace eventloop
} // namespace ns3
