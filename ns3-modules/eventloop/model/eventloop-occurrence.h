/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_OCCURRENCE_H
#define EVENTLOOP_OCCURRENCE_H

#include <cstdint>

/**
 * @defgroup eventloop Event loop
 *
 * A SimulatorImpl for simulations of many small events: the same order and the same results as
 * ns3::DefaultSimulatorImpl, at a fraction of its cost.
 */

namespace ns3
{
namespace eventloop
{

/**
 * @ingroup eventloop
 * @brief Where an event happens. A CellLoop keeps the events of a cell together, and orders events
 * of the same time by their places.
 */
class Place
{
  public:
    static constexpr uint32_t MOST_CELLS = (1U << 16) - 1; //!< numbers of cells start at 1
    static constexpr uint32_t MOST_NODES = 1U << 20;       //!< numbers of nodes start at 0
    static constexpr uint32_t MOST_KINDS = 1U << 10;       //!< numbers of kinds start at 0
    static constexpr uint64_t LATE = 1ULL << 46;           //!< see the constructor with a number

    /// No place: such an event takes that of the event which first schedules it.
    Place() = default;

    /// A place.
    /// @param cell its number, from 1. @param node number of the node. @param port index of the
    /// port in it. @param kind of event, distinct among those of the port.
    Place(uint16_t cell, uint32_t node, uint16_t port, uint16_t kind)
        : m_word(uint64_t{cell} << 48 | IS_PORT | Mix(uint64_t{node} << 16 | port) << 10 | kind)
    {
    }

    /// A place that comes after all ports.
    /// @param cell its number, from 1. @param number distinguishes it from others, and orders them;
    /// below 2^47. Numbers from LATE on are the caller's, smaller ones those of events that take
    /// the cell of another.
    Place(uint16_t cell, uint64_t number)
        : m_word(uint64_t{cell} << 48 | number)
    {
    }

    /// The place of a mailbox: pushed into the event loop, it happens when no cell runs, so that
    /// what it holds may move to a cell that another thread runs.
    /// @param cell that cell. @return place, of no cell.
    static Place OfMailbox(uint16_t cell)
    {
        Place place;
        place.m_word = MAILBOX | cell;
        return place;
    }

    /// @return the cell whose mailbox this is; 0: it is none.
    uint16_t GetMailboxCell() const
    {
        return m_word >> 16 == MAILBOX >> 16 ? static_cast<uint16_t>(m_word) : 0;
    }

    /// @return the number of its cell; 0: it is no place, or that of a mailbox.
    uint16_t GetCell() const
    {
        return static_cast<uint16_t>(m_word >> 48);
    }

    /**
     * @brief Its rank among the places of an instant.
     *
     * The order of ports is drawn anew for every instant, so that of equal senders in step none
     * is always first; that of the kinds of a port is fixed.
     *
     * @param salt of the instant, see SaltOf. @return distinct for distinct places, from 2^63.
     */
    uint64_t GetRank(uint64_t salt) const
    {
        // Both steps permute the numbers of ports, so that no two share a rank.
        constexpr uint64_t FACTOR = 0x9e3779b97f4a7c15;
        return 1ULL << 63 |
               (m_word & IS_PORT ? (((m_word ^ salt) & PORTS) * FACTOR & PORTS) | (m_word & KINDS)
                                 : IS_PORT | (m_word & (IS_PORT - 1)));
    }

    /// @return the lowest rank of numbers from LATE on: all other places come before it.
    static constexpr uint64_t GetLateRank()
    {
        return 1ULL << 63 | IS_PORT | LATE;
    }

    /// The salt of an instant.
    /// @param time time steps. @return salt.
    static uint64_t SaltOf(int64_t time)
    {
        const uint64_t mixed = static_cast<uint64_t>(time) * 0xbf58476d1ce4e5b9;
        return mixed ^ mixed >> 32;
    }

  private:
    static constexpr uint64_t IS_PORT = 1ULL << 47;            //!< of m_word: else a number
    static constexpr uint64_t MAILBOX = 1ULL << 32;            //!< of m_word, without a cell
    static constexpr uint64_t KINDS = MOST_KINDS - 1;          //!< its part of m_word
    static constexpr uint64_t PORTS = (IS_PORT - 1) & ~KINDS;  //!< its part of m_word
    static constexpr uint64_t PORT_NUMBERS = (1ULL << 37) - 1; //!< what Mix permutes

    /// Scatter the numbers of ports, so that ranks of neighbours are not alike.
    /// @param port below 2^37. @return distinct for distinct ports, below 2^37.
    static constexpr uint64_t Mix(uint64_t port)
    {
        // Each step is a permutation (finalizer of SplitMix, on 37 bits).
        port = (port ^ port >> 18) * 0xbf58476d1ce4e5b9 & PORT_NUMBERS;
        port = (port ^ port >> 17) * 0x94d049bb133111eb & PORT_NUMBERS;
        return port ^ port >> 19;
    }

    uint64_t m_word{0}; //!< cell 16, is a port 1, then port (mixed) 37 and kind 10, or number 47
};

/**
 * @ingroup eventloop
 * @brief A recurring event that is scheduled without allocation.
 *
 * The event loop holds only a pointer to it: it must outlive its last occurrence.
 */
class Occurrence
{
  public:
    /// The function to call at its time.
    using Function = void (*)(Occurrence*);

    /// Constructor.
    /// @param function function to call.
    explicit Occurrence(Function function)
        : m_function(function)
    {
    }

    Occurrence(const Occurrence&) = delete;
    Occurrence& operator=(const Occurrence&) = delete;

    /// Call the function.
    void Happen()
    {
        m_function(this);
    }

    /// Where it happens. @return place; only a CellLoop uses it.
    Place GetPlace() const
    {
        return m_place;
    }

    /// Set where it happens, while it is not pending.
    /// @param place place.
    void SetPlace(Place place)
    {
        m_place = place;
    }

    /// Memory that it will access, for prefetching. @return address, or nullptr.
    const void* GetSubject() const
    {
        return m_subject;
    }

  protected:
    /// Set the memory that it will access; affects only speed.
    /// @param subject address, or nullptr.
    void SetSubject(const void* subject)
    {
        m_subject = subject;
    }

  private:
    Function m_function;            //!< function to call
    const void* m_subject{nullptr}; //!< memory that it will access
    Place m_place;                  //!< where it happens
};

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_OCCURRENCE_H */
