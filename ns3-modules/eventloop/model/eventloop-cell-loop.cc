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

CellLoop::CellLoop()
    : m_heaps(1),
      m_next(1, NONE)
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
    m_heaps.assign(1, EventHeap());
    m_next.assign(1, NONE);
    m_work = EventHeap();
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
    std::vector<Entry> pending;
    for (const EventHeap& heap : m_heaps)
    {
        pending.insert(pending.end(), heap.Get().begin(), heap.Get().end());
    }
    m_heaps.assign(1, EventHeap());
    m_next.assign(1, NONE);
    m_work = EventHeap();
    m_window = window;
    for (const Entry& entry : pending)
    {
        std::size_t cell = 0;
        if (window > 0)
        {
            NS_ABORT_MSG_IF(!(entry.what & OCCURRENCE),
                            "SetWindow() was called when an event of a cell, scheduled by "
                            "ns3::Simulator, was pending");
            cell =
                reinterpret_cast<const Occurrence*>(entry.what - OCCURRENCE)->GetPlace().GetCell();
        }
        PushInto(cell, entry);
    }
}

void
CellLoop::SetEarliestStop(std::function<int64_t()> earliest)
{
    m_earliestStop = std::move(earliest);
}

// Pending events

void
CellLoop::InsertElsewhere(int64_t time, Key key, uintptr_t what)
{
    if (time < m_now) [[unlikely]]
    {
        time = RequireFuture(time);
    }
    uint16_t cell = m_cell;
    if (what & OCCURRENCE)
    {
        auto* occurrence = reinterpret_cast<Occurrence*>(what - OCCURRENCE);
        __builtin_prefetch(occurrence->GetSubject(), 1);
        cell = occurrence->GetPlace().GetCell();
        if (cell == 0 && m_adopter != 0) [[unlikely]]
        {
            cell = m_adopter;
            occurrence->SetPlace(Place(cell, m_adopted++));
        }
        if (cell != 0)
        {
            key = occurrence->GetPlace().GetRank(Place::SaltOf(time));
        }
    }
    if (cell == 0) [[unlikely]]
    {
        m_global.Push(Entry{time, key, what});
        return;
    }
    if (cell != m_cell && m_cell != 0 && m_window > 0 && time <= m_last) [[unlikely]]
    {
        AbortEarly(time - m_now, m_window);
    }
    PushInto(m_window > 0 ? cell : 0, Entry{time, key, what});
}

inline void
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
    // Cells are at different times, so that the time of an event does not tell. An event of ns-3
    // that has happened is marked as cancelled.
    if (id.PeekEventImpl() && id.GetUid() == EventId::DESTROY)
    {
        return EventLoop::IsExpired(id);
    }
    return !id.PeekEventImpl() || id.PeekEventImpl()->IsCancelled() ||
           id.PeekEventImpl() == m_running;
}

// The loop

void
CellLoop::Run()
{
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
    m_last = m_window > 0 && from < END - m_window ? from + m_window - 1 : END;
    if (!m_global.Get().empty())
    {
        m_last = std::min(m_last, m_global.Get().front().time - 1);
    }
    if (m_window > 0 && m_earliestStop)
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
    m_cell = m_adopter = 0;
}

void
CellLoop::Visit(std::size_t cell)
{
    m_next[cell] = VISITED;
    // In one order any cell will do: it only tells these events from global ones.
    m_cell = m_adopter = cell != 0 ? static_cast<uint16_t>(cell) : 1;
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
    const Ptr<EventImpl> event(reinterpret_cast<EventImpl*>(entry.what));
    m_running = PeekPointer(event);
    Execute(entry);
    m_running = nullptr;
    event->Cancel(); // see IsExpired
}

void
CellLoop::EndAtInstant()
{
    NS_ABORT_MSG_IF(m_window > 0 && m_last > m_now,
                    "Simulator::Stop() was called by an event of a cell, at "
                        << m_now << " time steps, when other cells may have gone further; call "
                        << "Simulator::Stop(delay) before the run, or choose another "
                        << "SimulatorImplementationType");
    m_last = m_now;
}

} // namespace eventloop
} // namespace ns3
