/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "eventloop-cell-loop.h"

#include "ns3/abort.h"
#include "ns3/nstime.h"
#include "ns3/uinteger.h"

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
                                          MakeTimeChecker(Time(0)))
                            .AddAttribute("ThreadsFrom",
                                          "Number of events in a window from which several threads "
                                          "run the next one, if there are any: with fewer, waiting "
                                          "for them costs more. It affects only speed.",
                                          UintegerValue(256),
                                          MakeUintegerAccessor(&CellLoop::m_threadsFrom),
                                          MakeUintegerChecker<uint32_t>());
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
    m_isRanked = true;
}

CellLoop::CellLoop(PartRunner& threads, uint16_t part)
    : EventLoop(IsPart()),
      m_inCells(true),
      m_threads(&threads),
      m_part(part)
{
    m_isRanked = true;
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
    m_ownThreads.reset();
    m_threads = nullptr;
    m_parts = {this};
    m_heaps.push_back(std::exchange(m_global, EventHeap()));
    for (const EventHeap& heap : m_heaps)
    {
        std::for_each(heap.Get().begin(), heap.Get().end(), &EventLoop::Forget);
    }
    m_heaps.clear();
    m_last = nullptr;
    m_horizon = nullptr;
    m_isQuiet = nullptr;
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
    m_work[ColourOf(cell)].Push(Entry{entries.front().time, cell, 0});
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

/// Add an event to a cell of this part.
/// @param cell its number. @param entry the event.
void
CellLoop::Receive(std::size_t cell, const Entry& entry)
{
    PushInto(cell, entry);
}

void
CellLoop::SetWindow(int64_t window, bool alternates)
{
    NS_ABORT_MSG_IF(m_inCells && m_cell != 0, "SetWindow() was called while a cell runs");
    NS_ABORT_MSG_IF(window < 0, "a window of " << window << " time steps");
    window = std::min(window, m_mostWindow.GetTimeStep());
    if (window == m_window)
    {
        return;
    }
    if (m_inCells)
    {
        LeaveCells();
    }
    m_window = window;
    m_colours = alternates ? 1 : 0;
    m_reviews = FIRST_REVIEWS;
    if (window > 0)
    {
        EnterCells();
    }
}

void
CellLoop::SetThreads(std::unique_ptr<PartRunner> threads)
{
    NS_ABORT_MSG_IF(m_inCells || m_threads, "SetThreads() was called after cells ran");
    m_ownThreads = std::move(threads);
    m_threads = m_ownThreads.get();
    m_parts = m_threads->GetParts();
}

std::unique_lock<std::mutex>
CellLoop::Lock(std::mutex& mutex)
{
    return s_cells && s_cells->m_threads ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

/// Give a cell to another part.
/// @param cell its number. @param to the other part.
void
CellLoop::MoveCell(std::size_t cell, CellLoop& to)
{
    if (cell < m_heaps.size())
    {
        const EventHeap events = std::exchange(m_heaps[cell], EventHeap());
        m_next[cell] = NONE; // what m_work says of it is outdated
        for (const Entry& entry : events.Get())
        {
            to.PushInto(cell, entry);
        }
    }
}

void
CellLoop::SetHorizon(std::function<int64_t()> earliest)
{
    m_horizon = std::move(earliest);
}

void
CellLoop::SetWatch(std::function<bool()> isQuiet)
{
    m_isQuiet = std::move(isQuiet);
}

uint16_t
CellLoop::CellOf(const Entry& entry) const
{
    if (entry.key < IN_CELL)
    {
        return 0;
    }
    return entry.what & OCCURRENCE
               ? reinterpret_cast<const Occurrence*>(entry.what - OCCURRENCE)->GetPlace().GetCell()
               : m_cellOf.at(reinterpret_cast<const EventImpl*>(entry.what));
}

void
CellLoop::EnterCells()
{
    m_inCells = true;
    m_cell = 0;
    m_visits = 0;
    m_eventsBefore = GetEventCount();
    m_done = {};
    m_instant = 0;
    if (m_threads)
    {
        m_threads->Assign();
    }
    for (const Entry& entry : TakePending())
    {
        const uint16_t cell = CellOf(entry);
        cell == 0 ? m_global.Push(entry) : PartOf(cell).PushInto(cell, entry);
    }
    m_cellOf.clear();
}

void
CellLoop::LeaveCells()
{
    // Precondition: m_now, where the wheel begins, is not after any pending event.
    m_inCells = false;
    std::vector<Entry> pending = m_global.Get();
    m_global = EventHeap();
    for (CellLoop* part : m_parts)
    {
        for (std::size_t cell = 0; cell < part->m_heaps.size(); ++cell)
        {
            for (const Entry& entry : part->m_heaps[cell].Get())
            {
                pending.push_back(entry);
                if (!(entry.what & OCCURRENCE))
                {
                    m_cellOf[reinterpret_cast<const EventImpl*>(entry.what)] =
                        static_cast<uint16_t>(cell);
                }
            }
        }
        part->m_heaps.clear();
        part->m_next.clear();
        part->m_work = {};
    }
    ResetWheel();
    for (const Entry& entry : pending)
    {
        EventLoop::Insert(entry.time, entry.key, entry.what);
    }
    m_reviewsLeft = m_reviews;
    m_reviews = std::min(2 * m_reviews, MOST_REVIEWS);
}

void
CellLoop::Review()
{
    // In one order: time for cells again? Called by Refill, so that no event is half done.
    if (m_window == 0 || --m_reviewsLeft > 0)
    {
        return;
    }
    if (m_isQuiet && !m_isQuiet())
    {
        m_reviewsLeft = 1;
        return;
    }
    m_leave = true;
    m_stop = true;
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
            m_inCells ? InsertIntoCell(place.GetCell(), time, key, what)
                      : EventLoop::Insert(time, key, what);
            return;
        }
    }
    InsertUnplaced(time, key, what);
}

inline void
CellLoop::InsertIntoCell(uint16_t cell, int64_t time, Key key, uintptr_t what)
{
    const Entry entry{time, key, what};
    if (cell != m_cell &&
        (m_cell == 0 ? m_threads != nullptr : m_threads || !m_done[ColourOf(cell)].Before(entry)))
        [[unlikely]]
    {
        InsertBeyond(cell, entry);
        return;
    }
    if (what & OCCURRENCE)
    {
        const auto* occurrence = reinterpret_cast<const Occurrence*>(what - OCCURRENCE);
        __builtin_prefetch(occurrence->GetSubject(), 1);
    }
    PushInto(cell, entry);
}

/// Add an event to another cell than that of the current event, where threads run cells or the time
/// is too early.
/// @param cell its number. @param entry the event.
[[gnu::noinline]] void
CellLoop::InsertBeyond(uint16_t cell, const Entry& entry)
{
    if (m_cell != 0 && !m_done[ColourOf(cell)].Before(entry))
    {
        AbortEarly(entry.time - m_now, m_window);
    }
    m_cell == 0 ? PartOf(cell).PushInto(cell, entry) : m_threads->Post(*this, cell, entry);
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
        if (const uint16_t to = occurrence->GetPlace().GetMailboxCell(); to != 0)
        {
            m_threads&& m_inCells ? m_threads->Post(*this, to, *occurrence) : occurrence->Happen();
            return;
        }
        cell = Adopt(*occurrence);
        key = cell != 0 ? occurrence->GetPlace().GetRank(Place::SaltOf(time)) : key;
    }
    else if (IsInCell())
    {
        cell = FindCell();
        key |= IN_CELL;
        if (!m_inCells)
        {
            m_cellOf[reinterpret_cast<const EventImpl*>(what)] = cell;
        }
    }
    if (!m_inCells)
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

/// The cell of the current event. Precondition: IsInCell().
/// @return its number.
uint16_t
CellLoop::FindCell() const
{
    return m_inCells || !(m_what & OCCURRENCE)
               ? m_cell
               : reinterpret_cast<const Occurrence*>(m_what - OCCURRENCE)->GetPlace().GetCell();
}

uint16_t
CellLoop::Adopt(Occurrence& occurrence)
{
    if (const uint16_t cell = occurrence.GetPlace().GetCell(); cell != 0)
    {
        return cell;
    }
    const uint16_t cell = m_adopter != 0 ? m_adopter : IsInCell() ? FindCell() : 0;
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
    if (!m_inCells)
    {
        m_cellOf.erase(id.PeekEventImpl());
        return EventLoop::Extract(id);
    }
    for (CellLoop* part : m_parts)
    {
        for (std::size_t cell = 0; IsWithinReach(part) && cell < part->m_heaps.size(); ++cell)
        {
            if (take(part->m_heaps[cell]))
            {
                if (part->m_next[cell] != VISITED)
                {
                    part->NoteNext(cell);
                }
                return true;
            }
        }
    }
    return take(m_global);
}

bool
CellLoop::IsFinished() const
{
    if (!m_inCells)
    {
        return EventLoop::IsFinished();
    }
    std::size_t pending = m_global.Get().size() - std::size_t{m_happened};
    for (const CellLoop* part : m_parts)
    {
        for (const EventHeap& heap : part->m_heaps)
        {
            pending += heap.Get().size();
        }
    }
    return m_stop || pending == 0;
}

EventId
CellLoop::Schedule(const Time& delay, EventImpl* event)
{
    return IsOfAnother() ? Mine().Schedule(delay, event) : EventLoop::Schedule(delay, event);
}

void
CellLoop::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    IsOfAnother() ? Mine().ScheduleWithContext(context, delay, event)
                  : EventLoop::ScheduleWithContext(context, delay, event);
}

EventId
CellLoop::ScheduleNow(EventImpl* event)
{
    return IsOfAnother() ? Mine().ScheduleNow(event) : EventLoop::ScheduleNow(event);
}

void
CellLoop::Remove(const EventId& id)
{
    IsOfAnother() ? Mine().Remove(id) : EventLoop::Remove(id);
}

Time
CellLoop::Now() const
{
    return IsOfAnother() ? Mine().Now() : EventLoop::Now();
}

Time
CellLoop::GetDelayLeft(const EventId& id) const
{
    return IsOfAnother() ? Mine().GetDelayLeft(id) : EventLoop::GetDelayLeft(id);
}

uint64_t
CellLoop::GetEventCount() const
{
    uint64_t count = 0;
    for (const CellLoop* part : m_parts)
    {
        count += part->m_executed;
    }
    return count;
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
    if (IsOfAnother())
    {
        return Mine().IsExpired(id);
    }
    const EventImpl* event = id.PeekEventImpl();
    return !event || id.PeekEventImpl()->IsCancelled() ||
           std::ranges::any_of(m_parts, [&](const CellLoop* part) {
               return IsWithinReach(part) && event == PeekPointer(part->m_last);
           });
}

/// Mark the latest event of ns-3 as one that has happened.
void
CellLoop::ForgetLast()
{
    if (m_last)
    {
        m_last->Cancel();
    }
    m_last = nullptr;
}

void
CellLoop::PreEventHook(const EventId& id)
{
    ForgetLast();
    m_last = id.PeekEventImpl();
    if (!m_inCells)
    {
        const auto found = m_cellOf.find(id.PeekEventImpl());
        m_cell = found == m_cellOf.end() ? 0 : found->second;
        if (m_cell != 0)
        {
            m_cellOf.erase(found);
        }
    }
}

uint32_t
CellLoop::GetContext() const
{
    if (IsOfAnother())
    {
        return Mine().GetContext();
    }
    // What holds a rank is no event of ns-3, and has no context.
    return m_key >> 63 ? NO_CONTEXT : EventLoop::GetContext();
}

// The loop

void
CellLoop::Stop()
{
    if (IsOfAnother())
    {
        Mine().Stop();
    }
    else if (m_inCells && m_cell != 0)
    {
        NS_ABORT_MSG_IF(m_limit.time > m_now,
                        "Simulator::Stop() was called by an event of a cell, at "
                            << m_now << " time steps, when other cells may have gone further; call "
                            << "Simulator::Stop(delay) before the run, or choose another "
                            << "SimulatorImplementationType");
        EventLoop::Stop();
    }
    else if (m_inCells || !IsInCell())
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
    m_stop = false;
    if (m_ownThreads)
    {
        m_ownThreads->Start();
    }
    for (bool again = true; again;)
    {
        if (m_inCells)
        {
            again = RunCells();
        }
        else
        {
            EventLoop::Run();
            if (std::exchange(m_leave, false))
            {
                EnterCells();
            }
            again = m_inCells; // also after a call of SetWindow
        }
    }
    if (m_ownThreads)
    {
        m_ownThreads->Stop();
    }
    m_cell = 0;
    m_what = 0;
    m_key = CONTEXT_MASK;
}

/// Run in cells. @return false: the run is over; true: it goes on in one order.
bool
CellLoop::RunCells()
{
    m_stop = false;
    m_latest = m_now;
    while (!m_stop)
    {
        const uint64_t first = FirstOf(0);
        const uint64_t second = m_colours ? FirstOf(1) : NONE;
        const uint64_t next = std::min(first, second);
        const auto& global = m_global.Get();
        if (!global.empty() && NextOf(global.front().time) <= next)
        {
            Happen(m_global.Pop());
            m_latest = std::max(m_latest, m_now);
            if (!m_inCells)
            {
                return !m_stop; // it has called SetWindow
            }
            continue;
        }
        if (next == NONE)
        {
            break;
        }
        if (!MayStayInCells())
        {
            m_now = static_cast<int64_t>(next - 1);
            LeaveCells();
            return true;
        }
        RunWindow(first, second);
    }
    m_now = m_latest;
    return false;
}

/// Decide between two windows whether cells go on. @return false: one order is right or cheaper.
bool
CellLoop::MayStayInCells()
{
    if (m_isQuiet && !m_isQuiet())
    {
        return false;
    }
    uint64_t visits = 0;
    for (const CellLoop* part : m_parts)
    {
        visits += part->m_visits;
    }
    if (visits < COUNTED_VISITS)
    {
        return true;
    }
    const uint64_t executed = GetEventCount();
    const uint64_t events = executed - std::exchange(m_eventsBefore, executed);
    for (CellLoop* part : m_parts)
    {
        part->m_visits = 0;
    }
    if (events < FEW_EVENTS * visits)
    {
        return false;
    }
    m_reviews = FIRST_REVIEWS;
    return true;
}

/// The first event of the cells of a colour.
/// @param colour 0 or 1. @return its time as NextOf; NONE: there is none.
uint64_t
CellLoop::FirstOf(uint32_t colour)
{
    uint64_t first = NONE;
    for (CellLoop* part : m_parts)
    {
        first = std::min(first, part->FirstOfOwn(colour));
    }
    return first;
}

/// FirstOf() of the cells of this part.
/// @param colour 0 or 1. @return see FirstOf.
uint64_t
CellLoop::FirstOfOwn(uint32_t colour)
{
    EventHeap& work = m_work[colour];
    while (!work.Get().empty() && NextOf(work.Get().front().time) != m_next[work.Get().front().key])
    {
        work.Pop();
    }
    return work.Get().empty() ? NONE : NextOf(work.Get().front().time);
}

/// Run cells until others, or something global, may have changed them.
/// @param first of the first colour: its first event, see FirstOf. @param second of the other one.
void
CellLoop::RunWindow(uint64_t first, uint64_t second)
{
    constexpr uint64_t END = NONE - 1; // later than any event
    const auto later = [](uint64_t next, int64_t window) {
        return next < END - static_cast<uint64_t>(window) ? next + window : END;
    };
    const auto limitAt = [](uint64_t next) {
        return Entry{static_cast<int64_t>(next - 1), LAST, 0};
    };
    const uint64_t from = std::min(first, second);
    m_now = static_cast<int64_t>(from - 1);
    uint64_t bound = END;
    if (!m_global.Get().empty())
    {
        bound = NextOf(m_global.Get().front().time);
    }
    const uint64_t horizon = m_horizon ? NextOf(std::max<int64_t>(m_horizon(), 0)) : END;
    const uint64_t end = later(from, m_window); // of a window
    // Cells stop before the time of what is global, which goes first there, and within the instant
    // of the horizon.
    if (horizon < end)
    {
        RunInstants(from, limitAt(std::min({end, bound, std::max(horizon, from) + 1}) - 1));
    }
    else if (!m_colours)
    {
        RunUpTo(0, limitAt(std::min(end, bound) - 1));
    }
    else
    {
        // Those of one colour are changed by the others only, or by themselves after two windows.
        const uint32_t colour = second < first;
        const uint64_t other = std::max(first, second);
        const uint64_t until = later(std::min(other, end), m_window);
        RunUpTo(colour, limitAt(std::min({until, bound, horizon}) - 1));
    }
}

/// Run all cells up to a time at which one of them may have an effect beyond it, or through that
/// instant.
/// @param from the first event, see FirstOf. @param limit the last possible event.
void
CellLoop::RunInstants(uint64_t from, Entry limit)
{
    // First all but the late events of the last instant, as the others may schedule some in any
    // cell. The next call for that instant runs these.
    const uint64_t last = NextOf(limit.time);
    if (last > from || m_instant != last)
    {
        limit.key = NOT_LATE;
    }
    RunAllUpTo(limit);
    if (m_stop)
    {
        // The run ends after the instant.
        limit.key = LAST;
        RunAllUpTo(limit);
        return;
    }
    m_instant = last;
}

/// Let the cells of one colour run, then those of the other one.
/// @param limit the last possible event.
void
CellLoop::RunAllUpTo(const Entry& limit)
{
    for (uint32_t colour = 0; colour <= m_colours; ++colour)
    {
        m_ownThreads ? m_ownThreads->RunAlone(colour, limit) : RunOwn(colour, limit);
    }
}

/// Let the cells of a colour run.
/// @param colour 0 or 1. @param limit the last possible event.
inline void
CellLoop::RunUpTo(uint32_t colour, const Entry& limit)
{
    m_ownThreads ? m_ownThreads->Run(colour, limit) : RunOwn(colour, limit);
}

/// Let the cells of a colour run that belong to this part.
/// @param colour 0 or 1. @param limit the last possible event.
void
CellLoop::RunOwn(uint32_t colour, const Entry& limit)
{
    m_limit = limit;
    m_done[colour] =
        std::max(m_done[colour], limit, [](const Entry& a, const Entry& b) { return a.Before(b); });
    EventHeap& work = m_work[colour];
    while (!work.Get().empty() && work.Get().front().time <= limit.time)
    {
        const Entry first = work.Pop();
        if (NextOf(first.time) != m_next[first.key])
        {
            continue;
        }
        if (limit.Before(m_heaps[first.key].Get().front()))
        {
            m_beyond.push_back(first);
            continue;
        }
        Visit(first.key);
        m_latest = std::max(m_latest, m_now);
    }
    for (const Entry& first : m_beyond)
    {
        work.Push(first);
    }
    m_beyond.clear();
    m_cell = 0;
}

void
CellLoop::Visit(std::size_t cell)
{
    m_next[cell] = VISITED;
    m_cell = static_cast<uint16_t>(cell);
    m_visited = cell;
    ++m_visits;
    const uint64_t before = m_executed;
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
    } while (!m_heaps[cell].Get().empty() && !m_limit.Before(m_heaps[cell].Get().front()));
    NoteNext(cell);
    if (m_threads)
    {
        m_threads->Count(cell, m_executed - before);
    }
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

} // namespace eventloop
} // namespace ns3
