/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "eventloop-cell-loop.h"

#include "ns3/abort.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{
namespace eventloop
{

NS_OBJECT_ENSURE_REGISTERED(CellLoop);

namespace
{

/// An event of a cell reaches another cell within the window. Apart from the path of events, which
/// need not pay for its registers.
/// @param delay between the two, in time steps. @param window time steps.
[[noreturn]] [[gnu::noinline]] [[gnu::cold]] void
AbortEarly(int64_t delay, int64_t window)
{
    NS_ABORT_MSG("an event of one cell scheduled one in another cell only "
                 << delay << " time steps later, where the window is " << window
                 << ": something looks beyond its node, and such a run needs one cell");
}

} // namespace

CellLoop* CellLoop::s_cells = nullptr;

TypeId
CellLoop::GetTypeId()
{
    static TypeId tid = TypeId("ns3::eventloop::CellLoop")
                            .SetParent<EventLoop>()
                            .SetGroupName("eventloop")
                            .AddConstructor<CellLoop>()
                            .AddAttribute("MostWindow",
                                          "Longest time for which a cell runs on its own, whatever "
                                          "the network allows. It affects only speed. 0: all "
                                          "events happen in one order of time.",
                                          TimeValue(Hours(1)),
                                          MakeTimeAccessor(&CellLoop::m_mostWindow),
                                          MakeTimeChecker(Time(0)));
    return tid;
}

CellLoop::End::End(CellLoop* loop)
    : Occurrence([](Occurrence* occurrence) {
          auto* end = static_cast<End*>(occurrence);
          end->pending = false;
          --end->loop->m_executed; // it is no event of the run
          end->loop->EventLoop::Stop();
      }),
      loop(loop)
{
}

CellLoop::CellLoop()
{
    s_cells = this;
}

CellLoop::~CellLoop()
{
    if (s_cells == this)
    {
        s_cells = nullptr;
    }
}

void
CellLoop::DoDispose()
{
    m_heaps.push_back(std::exchange(m_global, EventHeap()));
    for (const EventHeap& heap : m_heaps)
    {
        std::for_each(heap.Get().begin(), heap.Get().end(), &EventLoop::Forget);
    }
    m_heaps.clear();
    m_latest = nullptr;
    m_earliestStop = nullptr;
    if (s_cells == this)
    {
        s_cells = nullptr;
    }
    EventLoop::DoDispose();
}

CellLoop::Adoption::Adoption(uint16_t cell)
    : m_loop(s_cells),
      m_before(m_loop ? std::exchange(m_loop->m_adopter, cell) : 0)
{
}

CellLoop::Adoption::~Adoption()
{
    if (m_loop)
    {
        m_loop->m_adopter = m_before;
    }
}

inline void
CellLoop::NoteNext(std::size_t cell)
{
    const auto& entries = m_heaps[cell].Get();
    if (entries.empty())
    {
        m_next[cell] = NONE;
        return;
    }
    m_next[cell] = NextOf(entries.front().time);
    m_work.Push(Entry{entries.front().time, cell, 0});
}

[[gnu::always_inline]] inline void
CellLoop::PushInto(std::size_t cell, const Entry& entry)
{
    if (cell >= m_heaps.size()) [[unlikely]]
    {
        m_heaps.resize(cell + 1);
        m_next.resize(cell + 1, NONE);
    }
    if (m_happened && cell == m_visited)
    {
        m_happened = false;
        m_heaps[cell].ReplaceFirst(entry);
        return;
    }
    m_heaps[cell].Push(entry);
    if (NextOf(entry.time) < m_next[cell])
    {
        NoteNext(cell);
    }
}

void
CellLoop::SetWindow(int64_t window)
{
    NS_ABORT_MSG_IF(m_cell != 0, "SetWindow() was called while a cell runs");
    NS_ABORT_MSG_IF(window < 0, "a window of " << window << " time steps");
    window = std::min(window, m_mostWindow.GetTimeStep());
    if (window == m_window)
    {
        return;
    }
    std::vector<Entry> pending = TakePending();
    m_heaps.push_back(std::exchange(m_global, EventHeap()));
    for (const EventHeap& heap : m_heaps)
    {
        pending.insert(pending.end(), heap.Get().begin(), heap.Get().end());
    }
    m_heaps.clear();
    m_next.clear();
    m_work = EventHeap();
    m_window = window;
    for (const Entry& entry : pending)
    {
        if (window == 0)
        {
            EventLoop::Insert(entry.time, entry.key, entry.what);
        }
        else if (entry.key < IN_CELL)
        {
            m_global.Push(entry);
        }
        else
        {
            NS_ABORT_MSG_IF(!(entry.what & OCCURRENCE),
                            "SetWindow() was called when an event of a cell, scheduled by "
                            "ns3::Simulator, was pending");
            PushInto(
                reinterpret_cast<const Occurrence*>(entry.what - OCCURRENCE)->GetPlace().GetCell(),
                entry);
        }
    }
}

void
CellLoop::SetEarliestStop(std::function<int64_t()> earliest)
{
    m_earliestStop = std::move(earliest);
}

// Pending events

void
CellLoop::Insert(int64_t time, Key key, uintptr_t what)
{
    if (what & OCCURRENCE && time >= m_now) [[likely]]
    {
        const Place place = reinterpret_cast<const Occurrence*>(what - OCCURRENCE)->GetPlace();
        if (place.GetCell() != 0) [[likely]]
        {
            key = place.GetRank(Place::SaltOf(time));
            m_window > 0 ? InsertIntoCell(place.GetCell(), time, key, what)
                         : EventLoop::Insert(time, key, what);
            return;
        }
    }
    InsertUnplaced(time, key, what);
}

inline void
CellLoop::InsertIntoCell(uint16_t cell, int64_t time, Key key, uintptr_t what)
{
    if (cell != m_cell && m_cell != 0 && time <= m_last) [[unlikely]]
    {
        AbortEarly(time - m_now, m_window);
    }
    if (what & OCCURRENCE)
    {
        const auto* occurrence = reinterpret_cast<const Occurrence*>(what - OCCURRENCE);
        __builtin_prefetch(occurrence->GetSubject(), 1);
    }
    PushInto(cell, Entry{time, key, what});
}

/// Add an event that ns3::Simulator schedules, that has no place yet, or whose time is not a usual
/// one. Apart from the others, which need not pay for it.
/// @param time time steps. @param key order among global events. @param what see PendingEvent.
[[gnu::noinline]] void
CellLoop::InsertUnplaced(int64_t time, Key key, uintptr_t what)
{
    time = RequireFuture(time);
    uint16_t cell = 0;
    if (what & OCCURRENCE)
    {
        auto* occurrence = reinterpret_cast<Occurrence*>(what - OCCURRENCE);
        cell = Adopt(*occurrence);
        key = cell != 0 ? occurrence->GetPlace().GetRank(Place::SaltOf(time)) : key;
    }
    else if (IsInCell())
    {
        cell = m_cell;
        key |= IN_CELL;
    }
    if (m_window == 0)
    {
        EventLoop::Insert(time, key, what);
    }
    else if (cell == 0)
    {
        m_global.Push(Entry{time, key, what});
    }
    else
    {
        InsertIntoCell(cell, time, key, what);
    }
}

uint16_t
CellLoop::Adopt(Occurrence& occurrence)
{
    if (const uint16_t cell = occurrence.GetPlace().GetCell(); cell != 0)
    {
        return cell;
    }
    // In one order any cell will do: it only tells such events from global ones.
    const uint16_t cell = m_adopter != 0 ? m_adopter
                          : IsInCell()   ? std::max<uint16_t>(m_cell, 1)
                                         : 0;
    if (cell != 0)
    {
        occurrence.SetPlace(Place(cell, m_adopted++));
    }
    return cell;
}

bool
CellLoop::Extract(const EventId& id)
{
    const auto same = [&id](const Entry& entry) { return IsSame(entry, id); };
    const auto take = [&same](EventHeap& heap) {
        const auto& entries = heap.Get();
        const auto found = std::find_if(entries.begin(), entries.end(), same);
        if (found == entries.end())
        {
            return false;
        }
        heap.RemoveAt(static_cast<std::size_t>(found - entries.begin()));
        return true;
    };
    if (m_window == 0)
    {
        return EventLoop::Extract(id);
    }
    for (std::size_t cell = 0; cell < m_heaps.size(); ++cell)
    {
        if (take(m_heaps[cell]))
        {
            if (m_next[cell] != VISITED)
            {
                NoteNext(cell);
            }
            return true;
        }
    }
    return take(m_global);
}

bool
CellLoop::IsFinished() const
{
    if (m_window == 0)
    {
        return EventLoop::IsFinished();
    }
    std::size_t pending = m_global.Get().size();
    for (const EventHeap& heap : m_heaps)
    {
        pending += heap.Get().size();
    }
    return m_stop || pending == std::size_t{m_happened};
}

bool
CellLoop::IsExpired(const EventId& id) const
{
    // Neither the time nor the number of an event tells, as cells are at different times. An event
    // of ns-3 that has happened is the latest one or marked as cancelled.
    if (id.PeekEventImpl() && id.GetUid() == EventId::DESTROY)
    {
        return EventLoop::IsExpired(id);
    }
    return !id.PeekEventImpl() || id.PeekEventImpl()->IsCancelled() ||
           id.PeekEventImpl() == PeekPointer(m_latest);
}

void
CellLoop::PreEventHook(const EventId& id)
{
    if (m_latest)
    {
        m_latest->Cancel();
    }
    m_latest = id.PeekEventImpl();
}

uint32_t
CellLoop::GetContext() const
{
    // What holds a rank is no event of ns-3, and has no context.
    return m_key >> 63 ? NO_CONTEXT : EventLoop::GetContext();
}

// The loop

void
CellLoop::Stop()
{
    if (m_window > 0 || !IsInCell())
    {
        EventLoop::Stop();
    }
    else if (!std::exchange(m_end.pending, true))
    {
        // The same end as that of cells, which end after an instant.
        EventLoop::Insert(m_now, LAST, reinterpret_cast<uintptr_t>(&m_end) | OCCURRENCE);
    }
}

void
CellLoop::Run()
{
    if (m_window == 0)
    {
        EventLoop::Run();
        m_key = CONTEXT_MASK;
        return;
    }
    m_stop = false;
    while (!m_stop)
    {
        while (!m_work.Get().empty() &&
               NextOf(m_work.Get().front().time) != m_next[m_work.Get().front().key])
        {
            m_work.Pop();
        }
        const auto& work = m_work.Get();
        const auto& global = m_global.Get();
        if (!global.empty() && (work.empty() || global.front().time <= work.front().time))
        {
            Happen(m_global.Pop());
        }
        else if (!work.empty())
        {
            RunWindow(work.front().time);
        }
        else
        {
            return;
        }
    }
}

void
CellLoop::RunWindow(int64_t from)
{
    constexpr int64_t END = std::numeric_limits<int64_t>::max();
    m_last = from < END - m_window ? from + m_window - 1 : END;
    if (!m_global.Get().empty())
    {
        m_last = std::min(m_last, m_global.Get().front().time - 1);
    }
    if (m_earliestStop)
    {
        m_last = std::min(m_last, std::max(from, m_earliestStop() - 1));
    }
    int64_t latest = from;
    while (!m_work.Get().empty() && m_work.Get().front().time <= m_last)
    {
        const Entry first = m_work.Pop();
        if (NextOf(first.time) == m_next[first.key])
        {
            Visit(first.key);
            latest = std::max(latest, m_now);
        }
    }
    m_now = latest;
    m_cell = 0;
}

void
CellLoop::Visit(std::size_t cell)
{
    m_next[cell] = VISITED;
    m_cell = static_cast<uint16_t>(cell);
    m_visited = cell;
    do
    {
        // It stays in the heap until it has scheduled another one, which takes its place, or none.
        const Entry first = m_heaps[cell].Get().front();
        m_happened = true;
        Happen(first);
        if (std::exchange(m_happened, false))
        {
            m_heaps[cell].Pop();
        }
        if (m_stop) [[unlikely]]
        {
            EndAtInstant();
        }
    } while (!m_heaps[cell].Get().empty() && m_heaps[cell].Get().front().time <= m_last);
    NoteNext(cell);
}

inline void
CellLoop::Happen(const Entry& entry)
{
    if (entry.what & OCCURRENCE)
    {
        m_now = entry.time;
        m_key = CONTEXT_MASK; // it has no context
        ++m_executed;
        reinterpret_cast<Occurrence*>(entry.what - OCCURRENCE)->Happen();
        return;
    }
    Execute(entry);
}

void
CellLoop::EndAtInstant()
{
    NS_ABORT_MSG_IF(m_last > m_now,
                    "Simulator::Stop() was called by an event of a cell, at "
                        << m_now << " time steps, when other cells may have gone further; call "
                        << "Simulator::Stop(delay) before the run, or choose another "
                        << "SimulatorImplementationType");
    m_last = m_now;
}

} // namespace eventloop
} // namespace ns3
