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

constinit thread_local EventLoop* EventLoop::s_current = nullptr;

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
{
    m_first.fill(NONE);
    NS_ABORT_MSG_IF(s_current, "only one ns3::eventloop::EventLoop may exist at a time");
    s_current = this;
}

EventLoop::EventLoop(IsPart)
{
    m_first.fill(NONE);
}

EventLoop*
EventLoop::Use()
{
    return std::exchange(s_current, this);
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
    const std::vector<Entry> pending = TakePending();
    std::for_each(pending.begin(), pending.end(), &EventLoop::Forget);
    if (s_current == this)
    {
        s_current = nullptr;
    }
    SimulatorImpl::DoDispose();
}

void
EventLoop::Forget(const Entry& entry)
{
    if (!(entry.what & OCCURRENCE))
    {
        reinterpret_cast<EventImpl*>(entry.what)->Unref();
    }
}

void
EventLoop::Destroy()
{
    while (!m_atDestroy.empty())
    {
        const EventId id = m_atDestroy.front();
        m_atDestroy.pop_front();
        id.PeekEventImpl()->Invoke(); // does nothing if it was cancelled
    }
}

// The wheel

inline void
EventLoop::PushSlot(int64_t time, Key key, uintptr_t what)
{
    if (m_free == NONE)
    {
        GrowNodes();
    }
    const uint32_t at = SlotOf(time) % N_SLOTS;
    const uint32_t node = m_free;
    const uint32_t first = m_first[at];
    m_free = m_nodes[node].next;
    m_nodes[node] = Node{Entry{time, key, what}, first};
    m_first[at] = node;
    if (first == NONE)
    {
        m_filled[at / 64] |= 1ULL << at % 64;
        m_filledWords[at / 4096] |= 1ULL << at / 64 % 64;
    }
    ++m_waiting;
}

void
EventLoop::Insert(int64_t time, Key key, uintptr_t what)
{
    ++m_scheduled;
    const uint64_t ahead = SlotOf(time) - m_slot;
    // A single test covers the rare cases: the current slot or earlier, beyond the wheel, no free
    // node.
    if (ahead - 1 >= N_SLOTS - 1 || m_free == NONE) [[unlikely]]
    {
        InsertElsewhere(time, key, what);
        return;
    }
    m_halfCount += ahead >= N_SLOTS / 2;
    PushSlot(time, key, what);
}

/// Add an event for which the wheel has no place: of the current slot or earlier, or beyond it, or
/// all nodes are used.
/// @param time time steps. @param key order. @param what see PendingEvent.
void
EventLoop::InsertElsewhere(int64_t time, Key key, uintptr_t what)
{
    if (time < m_now)
    {
        m_far.Push(Entry{RequireFuture(time), key, what});
        return;
    }
    // Late events of an earlier slot may still be pending when the next slot has been taken.
    if (SlotOf(time) <= m_slot)
    {
        ++m_lateCount;
        m_late.Push(Entry{time, key, what});
        return;
    }
    const uint64_t ahead = SlotOf(time) - m_slot;
    m_halfCount += ahead >= N_SLOTS / 2;
    m_farCount += ahead >= N_SLOTS;
    ahead < N_SLOTS ? PushSlot(time, key, what) : m_far.Push(Entry{time, key, what});
}

int64_t
EventLoop::RequireFuture(int64_t time) const
{
    if (time >= m_now)
    {
        return time;
    }
    // Either a sum that exceeded 2^63 or a mistake; the delay distinguishes them.
    const auto delay =
        static_cast<int64_t>(static_cast<uint64_t>(time) - static_cast<uint64_t>(m_now));
    NS_ABORT_MSG_IF(delay < 0,
                    "an event was scheduled in the past: for " << time << " time steps, but it is "
                                                               << m_now << " now");
    return std::numeric_limits<int64_t>::max();
}

void
EventLoop::GrowNodes()
{
    const uint32_t before = m_nNodes;
    m_nNodes = std::max(2 * before, 256U);
    auto nodes = std::make_unique_for_overwrite<Node[]>(m_nNodes);
    std::copy_n(m_nodes.get(), before, nodes.get());
    for (uint32_t node = before; node < m_nNodes; ++node)
    {
        nodes[node].next = node + 1 < m_nNodes ? node + 1 : NONE;
    }
    m_nodes = std::move(nodes);
    m_free = before;
    auto run = std::make_unique_for_overwrite<Entry[]>(m_nNodes);
    std::copy_n(m_run.get(), m_runSize, run.get());
    m_run = std::move(run);
}

bool
EventLoop::NextSlot(uint64_t& slot) const
{
    if (m_waiting == 0)
    {
        return false;
    }
    // Once around, from the slot after the current one.
    const uint32_t from = (m_slot + 1) % N_SLOTS;
    uint32_t word = from / 64;
    uint64_t bits = m_filled[word] & ~0ULL << from % 64;
    while (bits == 0)
    {
        word = (word + 1) % N_WORDS;
        const uint64_t words = m_filledWords[word / 64] & ~0ULL << word % 64;
        if (words == 0)
        {
            word |= 63; // continue with the next group of words
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
    const uint32_t at = slot % N_SLOTS;
    m_filled[at / 64] &= ~(1ULL << at % 64);
    if (m_filled[at / 64] == 0)
    {
        m_filledWords[at / 4096] &= ~(1ULL << at / 64 % 64);
    }
    const uint32_t first = std::exchange(m_first[at], NONE);
    if (first != NONE) // unless all its events were removed
    {
        FillRun(first);
        m_waiting -= m_runSize;
    }
}

void
EventLoop::FillRun(uint32_t first)
{
    // The next event last. A slot returns the most recently scheduled event first, so that this is
    // nearly its place: insertion takes few moves.
    Entry* const run = m_run.get();
    std::size_t size = 0;
    uint32_t last = first;
    for (uint32_t node = first; node != NONE; node = m_nodes[node].next)
    {
        if (size == FEW)
        {
            FillRunFromPiles(first);
            return;
        }
        const Entry entry = m_nodes[node].entry;
        std::size_t at = size++;
        for (; at > 0 && run[at - 1].Before(entry); --at)
        {
            run[at] = run[at - 1];
        }
        run[at] = entry;
        last = node;
    }
    m_runSize = size;
    m_nodes[last].next = std::exchange(m_free, first);
}

void
EventLoop::FillRunFromPiles(uint32_t first)
{
    // A burst: many ports act at the same times, so that a slot holds a few interleaved sequences,
    // each of them in order. Patience sorting separates and merges them.
    // Ranks would break the sequences, so that they are looked at afterwards.
    const auto fits = [this](const Entry& entry, const Entry& tail) {
        return m_isRanked ? entry.time <= tail.time : entry.Before(tail);
    };
    const auto isBefore = [this](const Entry& a, const Entry& b) {
        return m_isRanked ? a.time < b.time : a.Before(b);
    };
    std::array<uint32_t, MOST_PILES> heads;
    std::array<uint32_t, MOST_PILES> tails;
    std::size_t piles = 0;
    for (uint32_t node = first; node != NONE;)
    {
        const Entry& entry = m_nodes[node].entry;
        const uint32_t next = m_nodes[node].next;
        std::size_t pile = 0;
        while (pile < piles && !fits(entry, m_nodes[tails[pile]].entry))
        {
            ++pile;
        }
        if (pile == MOST_PILES)
        {
            // No burst: append all sequences and use the library's sort.
            for (std::size_t i = 0; i < piles; ++i)
            {
                m_nodes[tails[i]].next = i + 1 < piles ? heads[i + 1] : node;
            }
            FillRunUnsorted(heads[0]);
            return;
        }
        (pile == piles ? heads[piles++] : m_nodes[tails[pile]].next) = node;
        tails[pile] = node;
        node = next;
    }
    for (std::size_t pile = 0; pile < piles; ++pile)
    {
        m_nodes[tails[pile]].next = NONE;
    }
    std::size_t size = 0;
    while (piles > 0)
    {
        std::size_t latest = 0;
        for (std::size_t pile = 1; pile < piles; ++pile)
        {
            const bool isLater = isBefore(m_nodes[heads[latest]].entry, m_nodes[heads[pile]].entry);
            latest = isLater ? pile : latest;
        }
        Node& node = m_nodes[heads[latest]];
        m_run[size++] = node.entry;
        const uint32_t next = std::exchange(node.next, m_free);
        m_free = std::exchange(heads[latest], next);
        if (next == NONE)
        {
            heads[latest] = heads[--piles];
        }
    }
    m_runSize = size;
    if (m_isRanked)
    {
        SortInstants();
    }
}

/// Sort the events of each time by their keys, the last one first.
void
EventLoop::SortInstants()
{
    Entry* const end = m_run.get() + m_runSize;
    for (Entry* first = m_run.get(); first != end;)
    {
        Entry* last = first + 1;
        // Few are at the same time, mostly: insert them.
        for (; last != end && last->time == first->time && last - first < std::ptrdiff_t{FEW};
             ++last)
        {
            const Entry entry = *last;
            Entry* at = last;
            for (; at != first && (at - 1)->key < entry.key; --at)
            {
                *at = *(at - 1);
            }
            *at = entry;
        }
        if (last != end && last->time == first->time)
        {
            last = std::find_if(last, end, [first](const Entry& entry) {
                return entry.time != first->time;
            });
            std::sort(first, last, [](const Entry& a, const Entry& b) { return a.key > b.key; });
        }
        first = last;
    }
}

void
EventLoop::FillRunUnsorted(uint32_t first)
{
    std::size_t size = 0;
    uint32_t last = first;
    for (uint32_t node = first; node != NONE; node = m_nodes[node].next)
    {
        m_run[size++] = m_nodes[node].entry;
        last = node;
    }
    m_runSize = size;
    m_nodes[last].next = std::exchange(m_free, first);
    std::sort(m_run.get(), m_run.get() + size, [](const Entry& a, const Entry& b) {
        return b.Before(a);
    });
}

void
EventLoop::FetchFar()
{
    while (!m_far.Get().empty() && SlotOf(m_far.Get().front().time) - m_slot < N_SLOTS)
    {
        const Entry entry = m_far.Pop();
        PushSlot(entry.time, entry.key, entry.what);
    }
}

bool
EventLoop::Refill()
{
    if (m_scheduled >= LOOK_EVERY)
    {
        AdaptWidth();
        Review();
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
EventLoop::TakeSlots(std::vector<Entry>& events)
{
    for (uint64_t slot = 0; NextSlot(slot);)
    {
        TakeSlot(slot);
        events.insert(events.end(), m_run.get(), m_run.get() + m_runSize);
        m_runSize = 0;
    }
}

std::vector<EventLoop::Entry>
EventLoop::GetPending() const
{
    std::vector<Entry> events(m_run.get(), m_run.get() + m_runSize);
    for (uint32_t node : m_first)
    {
        for (; node != NONE; node = m_nodes[node].next)
        {
            events.push_back(m_nodes[node].entry);
        }
    }
    for (const EventHeap* heap : {&m_late, &m_far})
    {
        events.insert(events.end(), heap->Get().begin(), heap->Get().end());
    }
    return events;
}

std::vector<EventLoop::Entry>
EventLoop::TakePending()
{
    std::vector<Entry> events(m_run.get(), m_run.get() + m_runSize);
    m_runSize = 0;
    TakeSlots(events);
    for (EventHeap* heap : {&m_late, &m_far})
    {
        events.insert(events.end(), heap->Get().begin(), heap->Get().end());
        *heap = EventHeap();
    }
    return events;
}

void
EventLoop::Review()
{
}

void
EventLoop::ResetWheel()
{
    m_slot = SlotOf(m_now);
}

void
EventLoop::AdaptWidth()
{
    // Late events call for narrower slots; far ones, and slots of few events, call for wider ones.
    // To keep the width from oscillating, slots are not narrowed if that makes many events far, and
    // not widened again to a width that made many late. The shares were tried; they affect only
    // speed.
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
    // The current slot is done: all events are in other slots or beyond the wheel.
    std::vector<Entry> waiting;
    waiting.reserve(m_waiting);
    TakeSlots(waiting);
    m_shift = wider ? m_shift + 1 : m_shift - 1;
    m_slot = SlotOf(m_now);
    for (const Entry& entry : waiting)
    {
        if (SlotOf(entry.time) == m_slot)
        {
            m_late.Push(entry);
        }
        else if (SlotOf(entry.time) - m_slot < N_SLOTS)
        {
            PushSlot(entry.time, entry.key, entry.what);
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
EventLoop::Prefetch() const
{
    // The order of the next events is known: prefetch their memory. First the events, later the
    // memory that they will access, whose address is known by then. Both distances were tried.
    constexpr std::size_t FAR = 6;
    constexpr std::size_t NEAR = 3;
    const std::size_t size = m_runSize;
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
        if (m_runSize > 0 && (late.empty() || m_run[m_runSize - 1].Before(late.front())))
        {
            const Entry next = m_run[--m_runSize];
            Prefetch();
            Execute(next);
        }
        else if (!late.empty())
        {
            Execute(m_late.Pop());
        }
        else if (!Refill())
        {
            return;
        }
    }
}

bool
EventLoop::IsFinished() const
{
    return m_stop ||
           (m_runSize == 0 && m_late.Get().empty() && m_waiting == 0 && m_far.Get().empty());
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
    NS_ABORT_MSG_IF(s_current != this,
                    "ns3::eventloop::EventLoop takes events from one thread only; choose another "
                    "SimulatorImplementationType");
    NS_ABORT_MSG_IF(context >= CONTEXT_MASK && context != NO_CONTEXT,
                    "context " << context << " is too large for ns3::eventloop::EventLoop, which "
                               << "has room for " << CONTEXT_MASK << " nodes; choose another "
                               << "SimulatorImplementationType");
    if (static_cast<uint32_t>(m_number) < EventId::VALID)
    {
        m_number += EventId::VALID; // the first values of an EventId's number are reserved
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
    Insert(time, key, reinterpret_cast<uintptr_t>(event));
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
EventLoop::IsSame(const Entry& entry, const EventId& id)
{
    return entry.what == reinterpret_cast<uintptr_t>(id.PeekEventImpl()) &&
           static_cast<uint32_t>(entry.key >> CONTEXT_BITS) == id.GetUid();
}

bool
EventLoop::Extract(const EventId& id)
{
    const auto same = [&id](const Entry& entry) { return IsSame(entry, id); };
    Entry* const end = m_run.get() + m_runSize;
    Entry* const run = std::find_if(m_run.get(), end, same);
    if (run != end)
    {
        std::copy(run + 1, end, run);
        --m_runSize;
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
            return true; // an emptied slot costs only a check
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
    // The number of an EventId has 32 bits and wraps: compare by distance, which supposes
    // that those of one instant are less than 2^31 apart.
    const auto uid = static_cast<uint32_t>(m_key >> CONTEXT_BITS);
    return id.GetTs() < now || (id.GetTs() == now && static_cast<int32_t>(id.GetUid() - uid) <= 0);
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
    const uint32_t context = static_cast<uint32_t>(m_key) & CONTEXT_MASK;
    return context == CONTEXT_MASK ? NO_CONTEXT : context;
}

uint64_t
EventLoop::GetEventCount() const
{
    return m_executed;
}

} // namespace eventloop
} // namespace ns3
