/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "eventloop-cell-threads.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{
namespace eventloop
{

namespace
{

/// Tell the processor that the thread spins, where it has an instruction for that.
inline void
Pause()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

CellThreads::CellThreads(CellLoop& whole,
                         uint16_t threads,
                         std::vector<uint64_t> loads,
                         Assigned assigned)
    : m_whole(whole),
      m_parts{&whole},
      m_partOf(loads.size(), 0),
      m_loads(std::move(loads)),
      m_assigned(std::move(assigned)),
      m_errors(threads),
      m_mail(threads, std::vector<Mail>(threads)),
      m_spins(threads <= std::thread::hardware_concurrency() ? SPINS : 0)
{
    for (uint16_t part = 1; part < threads; ++part)
    {
        m_others.emplace_back(new CellLoop(*this, part), false);
        m_parts.push_back(PeekPointer(m_others.back()));
    }
}

CellThreads::~CellThreads()
{
    Stop();
    for (const auto& part : m_others)
    {
        part->Dispose();
    }
}

void
CellThreads::Start()
{
    if (!m_threads.empty())
    {
        return; // an exception ended the last run
    }
    m_over = false;
    for (uint16_t part = 1; part < m_parts.size(); ++part)
    {
        m_threads.emplace_back(&CellThreads::Serve, this, part);
    }
}

void
CellThreads::Stop()
{
    if (!m_threads.empty())
    {
        m_over = true;
        Wait();
        for (std::thread& thread : m_threads)
        {
            thread.join();
        }
        m_threads.clear();
    }
}

/// Wait until all threads have come here.
void
CellThreads::Wait()
{
    const uint32_t phase = m_phase.load(std::memory_order_relaxed);
    if (m_waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == m_parts.size())
    {
        m_waiting.store(0, std::memory_order_relaxed);
        m_phase.store(phase + 1, std::memory_order_release);
        m_phase.notify_all();
        return;
    }
    for (uint32_t spin = 0; spin < m_spins; ++spin)
    {
        if (m_phase.load(std::memory_order_acquire) != phase)
        {
            return;
        }
        Pause();
    }
    m_phase.wait(phase, std::memory_order_acquire);
}

/// The life of a thread.
/// @param part of the loop that it runs.
void
CellThreads::Serve(uint16_t part)
{
    m_parts[part]->Use();
    for (Wait(); !m_over; Wait())
    {
        RunPart(part);
        Wait();
        Empty(part);
        Wait();
    }
}

void
CellThreads::RunPart(uint16_t part)
{
    try
    {
        m_parts[part]->RunOwn(m_colour, m_limit);
    }
    catch (...)
    {
        m_errors[part] = std::current_exception(); // Collect() throws it in the calling thread
    }
}

void
CellThreads::Post(CellLoop& sender, uint16_t cell, const PendingEvent& entry)
{
    CellLoop& part = PartOf(cell);
    if (&part == &sender || m_isAlone)
    {
        part.Receive(cell, entry);
        return;
    }
    m_mail[part.m_part][sender.m_part].events.emplace_back(cell, entry);
}

void
CellThreads::Post(CellLoop& sender, uint16_t cell, Occurrence& mailbox)
{
    const uint16_t to = m_partOf[cell];
    if (to == sender.m_part || sender.m_cell == 0) // no other thread runs
    {
        mailbox.Happen();
        return;
    }
    m_mail[to][sender.m_part].mailboxes.push_back(&mailbox);
}

/// Let a part take what the others have sent. Precondition: its loop is that of the thread.
/// @param part the part.
void
CellThreads::Empty(uint16_t part)
{
    // Cells of the other colour may have gone beyond the times of what comes.
    const int64_t before = std::exchange(m_parts[part]->m_now, 0);
    for (Mail& mail : m_mail[part])
    {
        for (Occurrence* mailbox : mail.mailboxes)
        {
            mailbox->Happen();
        }
        mail.mailboxes.clear();
        for (const auto& [cell, entry] : mail.events)
        {
            m_parts[part]->Receive(cell, entry);
        }
        mail.events.clear();
    }
    m_parts[part]->m_now = before;
}

void
CellThreads::Run(uint32_t colour, const PendingEvent& limit)
{
    if (m_lastEvents < m_whole.m_threadsFrom || m_threads.empty())
    {
        RunAlone(colour, limit);
        return;
    }
    m_colour = colour;
    m_limit = limit;
    Wait();
    RunPart(0);
    Wait();
    Empty(0);
    Wait();
    Collect();
    if (++m_windows == REVIEW_EVERY)
    {
        m_windows = 0;
        Balance();
    }
}

void
CellThreads::RunAlone(uint32_t colour, const PendingEvent& limit)
{
    m_colour = colour;
    m_limit = limit;
    m_isAlone = true;
    for (uint16_t part = 0; part < m_parts.size(); ++part)
    {
        m_parts[part]->Use();
        RunPart(part);
    }
    for (uint16_t part = 0; part < m_parts.size(); ++part)
    {
        m_parts[part]->Use();
        Empty(part);
    }
    m_whole.Use();
    m_isAlone = false;
    Collect();
}

/// Take together what the parts have come to.
void
CellThreads::Collect()
{
    uint64_t events = 0;
    for (CellLoop* part : m_parts)
    {
        m_whole.m_latest = std::max(m_whole.m_latest, part->m_latest);
        m_whole.m_stop |= part->m_stop;
        if (part != &m_whole)
        {
            part->m_stop = false;
        }
        events += part->m_executed;
    }
    m_lastEvents = events - std::exchange(m_events, events);
    for (std::exception_ptr& error : m_errors)
    {
        if (error)
        {
            std::rethrow_exception(std::exchange(error, nullptr));
        }
    }
}

/// By how much the largest part of a colour exceeds the others: with two colours, each must be
/// even.
/// @return the time that a window takes, to that of an even division.
double
CellThreads::GetUnevenness() const
{
    uint64_t longest = 0;
    uint64_t all = 0;
    for (uint32_t colour = 0; colour <= m_whole.m_colours; ++colour)
    {
        std::vector<uint64_t> sums(m_parts.size());
        for (std::size_t cell = 0; cell < m_loads.size(); ++cell)
        {
            sums[m_partOf[cell]] += m_whole.ColourOf(cell) == colour ? m_loads[cell] : 0;
        }
        longest += *std::max_element(sums.begin(), sums.end());
        all += std::accumulate(sums.begin(), sums.end(), uint64_t{0});
    }
    return all == 0 ? 1 : static_cast<double>(longest * m_parts.size()) / static_cast<double>(all);
}

/// Divide the cells anew where one part takes much longer than the others.
void
CellThreads::Balance()
{
    if (GetUnevenness() > UNEVEN)
    {
        Assign();
    }
    std::fill(m_loads.begin(), m_loads.end(), 0);
}

void
CellThreads::Assign()
{
    // Neighbours in number are neighbours in the network: each part is a row of them.
    const std::vector<uint16_t> before = m_partOf;
    for (uint32_t colour = 0; colour <= m_whole.m_colours; ++colour)
    {
        double sum = 0;
        for (std::size_t cell = 1; cell < m_loads.size(); ++cell)
        {
            sum += m_whole.ColourOf(cell) == colour ? static_cast<double>(m_loads[cell] + 1) : 0;
        }
        double come = 0;
        for (std::size_t cell = 1; cell < m_loads.size(); ++cell)
        {
            if (m_whole.ColourOf(cell) == colour)
            {
                const auto load = static_cast<double>(m_loads[cell] + 1);
                const double middle = (come + load / 2) / sum;
                m_partOf[cell] =
                    static_cast<uint16_t>(middle * static_cast<double>(m_parts.size()));
                come += load;
            }
        }
    }
    uint64_t adopted = 0;
    uint64_t number = 0;
    for (const CellLoop* part : m_parts)
    {
        adopted = std::max(adopted, part->m_adopted);
        number = std::max(number, part->m_number);
    }
    for (CellLoop* part : m_parts)
    {
        // What a cell numbers from now on comes after what it has numbered in another part.
        part->m_adopted = adopted;
        part->m_number = number;
        part->ForgetLast();
        part->m_window = m_whole.m_window;
        part->m_colours = m_whole.m_colours;
    }
    for (std::size_t cell = 1; cell < m_partOf.size(); ++cell)
    {
        if (before[cell] != m_partOf[cell])
        {
            m_parts[before[cell]]->MoveCell(cell, *m_parts[m_partOf[cell]]);
        }
    }
    if (m_assigned)
    {
        m_assigned(m_partOf);
    }
}

} // namespace eventloop
} // namespace ns3
