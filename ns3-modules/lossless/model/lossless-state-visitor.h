/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_STATE_VISITOR_H
#define LOSSLESS_STATE_VISITOR_H

#include "lossless-constants.h"

#include "ns3/eventloop-occurrence.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief What a network at rest holds at one time, as a StateVisitor has written it down.
 */
struct State
{
    /// A number that stays, or follows the packets of its flow.
    struct Follower
    {
        uint32_t flow;   //!< the flow
        uint64_t number; //!< the number
        uint64_t limit;  //!< largest number for which this holds
        bool stays;      //!< it may stay while packets are sent

        bool operator==(const Follower& other) const = default;
    };

    int64_t time{0};                 //!< when (ps)
    std::vector<uint8_t> same;       //!< bytes that must be the same again, times as delays
    std::vector<int64_t> alarms;     //!< times of events that are none of the path (ps)
    std::vector<int64_t> notes;      //!< times of what happened last (ps)
    std::vector<int64_t> counts;     //!< what only counts
    std::vector<Follower> followers; //!< numbers of packets, and of what they count
    std::unordered_map<uint32_t, uint64_t> bases; //!< by flow: the next packet
    std::string refusal;                          //!< why it says nothing; empty: it does
};

/**
 * @ingroup lossless
 * @brief How a state differs from an earlier one that it equals: what one period adds.
 */
struct Growth
{
    int64_t period{0};                              //!< ps
    std::vector<bool> moved;                        //!< by State::notes: it happened again
    std::vector<int64_t> counts;                    //!< by State::counts
    std::unordered_map<uint32_t, uint64_t> packets; //!< by flow: sent
    std::vector<uint64_t> followers;                //!< by State::followers
    int64_t most{NEVER};                            //!< periods for which all this holds

    /// What a period added, if the state recurred.
    /// @param before earlier state. @param after later state. @return why it did not; empty: it
    /// did.
    std::string Derive(const State& before, const State& after);
    /// The state after more periods.
    /// @param state the present one. @param periods how many. @return that state.
    State Predict(const State& state, int64_t periods) const;
    /// Is a state the one that was predicted?
    /// @param expected predicted. @param found the other one. @return true if so.
    static bool Matches(const State& expected, const State& found);
};

/**
 * @ingroup lossless
 * @brief Where the objects lie that a StateVisitor goes through, and what of them it visits: what
 * else changes has been forgotten.
 */
struct StateMap
{
    /// Bytes in memory.
    struct Range
    {
        const void* first;         //!< address
        std::size_t bytes;         //!< how many
        const char* type{nullptr}; //!< of an object: its name, as typeid spells it
    };

    std::vector<Range> objects; //!< parts of others after them, or not
    std::vector<Range> visited; //!< variables
};

/**
 * @ingroup lossless
 * @brief Goes through all that a network at rest holds, to write it down or to move it by whole
 * periods.
 *
 * Every class on the path of a frame has a function Visit that names each of its members: as one of
 * these, or in a comment as constant. If two states are the same, what happens after
 * them is the same, too: at times later by what lies between them, with packets whose numbers are
 * higher by what was sent in between.
 */
class StateVisitor
{
  public:
    /// Write a state down.
    /// @param state where. @param now ps.
    StateVisitor(State& state, int64_t now)
        : m_record(&state)
    {
        const std::size_t size = state.same.size();
        state = State();
        state.time = now;
        state.same.reserve(size);
    }

    /// Move a state.
    /// @param growth of a period. @param periods by how many.
    StateVisitor(const Growth& growth, int64_t periods)
        : m_growth(&growth),
          m_periods(periods)
    {
    }

    /// Only collect the events of the path.
    /// @param events where.
    explicit StateVisitor(std::unordered_set<const eventloop::Occurrence*>& events)
        : m_events(&events)
    {
    }

    /// Only find where the state lies.
    /// @param map where to tell.
    explicit StateVisitor(StateMap& map)
        : m_map(&map)
    {
    }

    /// The object whose members are visited next.
    /// @param object itself. @param contents vectors of it, whose elements count as its members.
    template <class T, class... C>
    void Inside(const T& object, const C&... contents)
    {
        if (m_map)
        {
            const char* type = typeid(T).name();
            m_map->objects.push_back({&object, sizeof(T), type});
            (m_map->objects.push_back(
                 {contents.data(), contents.size() * sizeof(*contents.data()), type}),
             ...);
        }
    }

    /// Members that follow from others, say where others lie, or mean nothing at rest.
    /// @param members of any type.
    template <class... T>
    void Derived(const T&... members)
    {
        if (m_map)
        {
            (m_map->visited.push_back({&members, sizeof(members)}), ...);
        }
    }

    /// The network is not at rest, or something is not understood.
    /// @param why a clause. @param unless only if this is false.
    void Require(bool unless, const char* why)
    {
        if (!unless && m_record && m_record->refusal.empty())
        {
            m_record->refusal = why;
        }
    }

    /// Values that must be the same again.
    /// @param values numbers, flags, arrays of these.
    template <class... T>
    void Same(const T&... values)
    {
        static_assert((std::has_unique_object_representations_v<T> && ...), "padding differs");
        if (m_record)
        {
            std::array<uint8_t, (sizeof(T) + ...)> bytes;
            uint8_t* end = bytes.data();
            ((std::memcpy(end, &values, sizeof(T)), end += sizeof(T)), ...);
            m_record->same.insert(m_record->same.end(), bytes.begin(), bytes.end());
        }
        Derived(values...);
    }

    /// A time on which what happens depends: it must be as far away again.
    /// @param time ps; NEVER stays.
    void Time(int64_t& time)
    {
        if (m_record)
        {
            Same(time == NEVER ? NEVER : time - m_record->time);
        }
        else if (m_growth && time != NEVER)
        {
            time += m_periods * m_growth->period;
        }
        Derived(time);
    }

    /// When something happened last, on which nothing depends until an event that is none of the
    /// path. Either it happens again in a period, or not.
    /// @param time ps.
    void Note(int64_t& time)
    {
        if (m_record)
        {
            m_record->notes.push_back(time);
        }
        else if (m_growth && m_growth->moved[m_note++])
        {
            time += m_periods * m_growth->period;
        }
        Derived(time);
    }

    /// When an event that is none of the path happens: only such an event may change it.
    /// @param time ps.
    void Alarm(const int64_t& time)
    {
        if (m_record)
        {
            m_record->alarms.push_back(time);
        }
        Derived(time);
    }

    /// A number that only counts: every period adds the same.
    /// @param count the number.
    template <class T>
    void Count(T& count)
    {
        if (m_record)
        {
            m_record->counts.push_back(static_cast<int64_t>(count));
        }
        else if (m_growth)
        {
            count += static_cast<T>(m_periods * m_growth->counts[m_count++]);
        }
        Derived(count);
    }

    /// The packets of a flow are visited from now on: first at its ends, then in frames.
    /// @param flow its number. @param next the packet that it sends next.
    void Begin(uint32_t flow, uint64_t next)
    {
        if (m_record)
        {
            m_record->bases[flow] = next;
            Same(flow);
        }
    }

    /// The number of a packet, or of one after it: it must be as far from the next one again.
    /// @param flow its flow. @param number the number.
    template <class T>
    void Packet(uint32_t flow, T& number)
    {
        if (m_record)
        {
            const auto base = m_record->bases.find(flow);
            const bool known = base != m_record->bases.end();
            Require(known, "a frame of a flow that has ended is on its way");
            Same(known ? static_cast<int64_t>(number) - static_cast<int64_t>(base->second) : 0);
        }
        else if (m_growth)
        {
            number += static_cast<T>(static_cast<uint64_t>(m_periods) * m_growth->packets.at(flow));
        }
        Derived(number);
    }

    /// A number that either stays or grows as the packets of a flow do.
    /// @param flow its flow. @param number the number. @param stays whether it may stay while
    /// packets are sent. @param limit largest number for which nothing else happens.
    template <class T>
    void Follow(uint32_t flow, T& number, bool stays, uint64_t limit)
    {
        if (m_record)
        {
            m_record->followers.push_back({flow, number, limit, stays});
        }
        else if (m_growth)
        {
            number += static_cast<T>(static_cast<uint64_t>(m_periods) *
                                     m_growth->followers[m_follower++]);
        }
        Derived(number);
    }

    /// An event of the path. When it is pending is visited by the event loop.
    /// @param event the event.
    void Event(const eventloop::Occurrence& event)
    {
        if (m_events)
        {
            m_events->insert(&event);
        }
    }

  private:
    State* m_record{nullptr};                                            //!< or null
    const Growth* m_growth{nullptr};                                     //!< or null
    std::unordered_set<const eventloop::Occurrence*>* m_events{nullptr}; //!< or null
    StateMap* m_map{nullptr};                                            //!< or null
    int64_t m_periods{0};                                                //!< to move by
    std::size_t m_note{0};                                               //!< index of the next
    std::size_t m_count{0};                                              //!< index of the next
    std::size_t m_follower{0};                                           //!< index of the next
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_STATE_VISITOR_H */
