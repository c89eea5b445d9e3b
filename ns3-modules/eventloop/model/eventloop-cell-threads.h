/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_CELL_THREADS_H
#define EVENTLOOP_CELL_THREADS_H

#include "eventloop-cell-loop.h"

#include <atomic>
#include <exception>
#include <thread>

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief The threads that run the cells of a CellLoop: each has a part of the loop, with the cells
 * that belong to it and a clock of its own.
 *
 * In a window every part runs its own cells and touches nothing of the others. What it sends to
 * their cells is in mailboxes (Place::OfMailbox), which the receiving part empties when all parts
 * have come to the end of the window. Between windows the calling thread is alone: it chooses the
 * next window, lets global events happen, and now and then gives cells of a part that is late to
 * others.
 *
 * The order of events within a cell is that of one thread, and only it decides results: so these
 * are the same bytes for any number of threads and any division.
 */
class CellThreads : public PartRunner
{
  public:
    /// Called with the part of each cell, by its number, when cells are given to parts.
    using Assigned = std::function<void(const std::vector<uint16_t>&)>;

    /// Constructor.
    /// @param whole the loop, which is the first part. @param threads number, from 2. @param loads
    /// expected, by number of the cell. @param assigned see Assigned.
    CellThreads(CellLoop& whole, uint16_t threads, std::vector<uint64_t> loads, Assigned assigned);
    ~CellThreads() override;
    CellThreads(const CellThreads&) = delete;
    CellThreads& operator=(const CellThreads&) = delete;

    // Documented in PartRunner
    void Start() override;
    void Stop() override;
    void Assign() override;
    void Post(CellLoop& sender, uint16_t cell, const PendingEvent& entry) override;
    void Post(CellLoop& sender, uint16_t cell, Occurrence& mailbox) override;
    void Run(uint32_t colour, const PendingEvent& limit) override;
    void RunAlone(uint32_t colour, const PendingEvent& limit) override;

    CellLoop& PartOf(std::size_t cell) const override
    {
        return *m_parts[m_partOf[cell]];
    }

    const std::vector<CellLoop*>& GetParts() const override
    {
        return m_parts;
    }

    void Count(std::size_t cell, uint64_t events) override
    {
        m_loads[cell] += events;
    }

  private:
    /// What one part has for another at the end of a window.
    struct Mail
    {
        std::vector<Occurrence*> mailboxes;                    //!< to be emptied
        std::vector<std::pair<uint16_t, PendingEvent>> events; //!< cell and event
    };

    static constexpr uint32_t SPINS = 4096;      //!< before a thread that waits goes to sleep
    static constexpr uint32_t REVIEW_EVERY = 32; //!< windows between two looks at the balance
    static constexpr double UNEVEN = 1.08;       //!< load of the largest part to that of all

    void Wait();
    void Serve(uint16_t part);
    void RunPart(uint16_t part);
    void Empty(uint16_t part);
    void Collect();
    void Balance();
    double GetUnevenness() const;

    CellLoop& m_whole;                              //!< the first part
    std::vector<Ptr<CellLoop>> m_others;            //!< the others
    std::vector<CellLoop*> m_parts;                 //!< all
    std::vector<uint16_t> m_partOf;                 //!< by cell
    std::vector<uint64_t> m_loads;                  //!< by cell: events since the last division
    Assigned m_assigned;                            //!< see Assigned
    std::vector<std::thread> m_threads;             //!< of the other parts, while they run
    std::vector<std::exception_ptr> m_errors;       //!< by part: what ended its window, or null
    std::vector<std::vector<Mail>> m_mail;          //!< by receiving part, then by sender
    bool m_isAlone{false};                          //!< RunAlone: no other thread runs
    uint32_t m_colour{0};                           //!< of the window
    PendingEvent m_limit{};                         //!< of the window
    uint64_t m_lastEvents{~0ULL};                   //!< number of events in the last window
    uint64_t m_events{0};                           //!< of all parts, at the end of the last window
    uint32_t m_spins;                               //!< SPINS; 0 with more threads than cores
    uint32_t m_windows{0};                          //!< since the last look at the balance
    bool m_over{false};                             //!< the threads end
    alignas(64) std::atomic<uint32_t> m_waiting{0}; //!< threads that wait for the others
    alignas(64) std::atomic<uint32_t> m_phase{0};   //!< changes when all have come
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_CELL_THREADS_H */
