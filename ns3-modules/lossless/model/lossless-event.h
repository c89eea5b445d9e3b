/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_EVENT_H
#define LOSSLESS_EVENT_H

#include "lossless-constants.h"
#include "lossless-refusal.h"
#include "lossless-state-visitor.h"

#include "ns3/abort.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/eventloop-cell-loop.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <memory>
#include <typeinfo>
#include <utility>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Make ns-3's clock count picoseconds: 1048 B at 100 Gb/s take 83.84 ns, which is not a
 * whole number of nanoseconds.
 *
 * Call it before any simulation in the process; further calls do nothing. It throws
 * std::logic_error if events are already pending: their times would change.
 */
inline void
UsePicoseconds()
{
    if (Time::GetResolution() == Time::PS)
    {
        return;
    }
    if (!Simulator::IsFinished() || Simulator::GetEventCount() > 0)
    {
        RefuseNow("an event was scheduled before ns-3's clock counted picoseconds, and its time "
                  "would change; call lossless::UsePicoseconds() first");
    }
    const SimulatorImpl& loop = *PeekPointer(Simulator::GetImplementation());
    if (typeid(loop) == typeid(DefaultSimulatorImpl) ||
        typeid(loop) == typeid(eventloop::EventLoop) || typeid(loop) == typeid(eventloop::CellLoop))
    {
        Simulator::Destroy(); // an idle one, created by the query: another may still be chosen
    }
    Time::SetResolution(Time::PS);
}

/// Simulated time. @return ps.
inline int64_t
NowPs()
{
    const eventloop::EventLoop* loop = eventloop::EventLoop::Peek();
    return loop ? loop->GetTimeStep() : Simulator::Now().GetTimeStep();
}

/// Check a delay for ns-3's own event loops, which check it only in debug builds. Aborts if it is
/// negative.
/// @param delay ps. @return the delay, capped at the end of time.
inline Time
TimeUntil(int64_t delay)
{
    const int64_t now = NowPs();
    NS_ABORT_MSG_IF(delay < 0,
                    "an event was scheduled in the past: for " << now + delay << " ps, but it is "
                                                               << now << " ps now");
    return TimeStep(static_cast<uint64_t>(std::min(delay, NEVER - now)));
}

/**
 * @ingroup lossless
 * @brief An event that calls a member function and is allocated once, however often it is
 * scheduled.
 *
 * It may be pending several times at once. It cannot be cancelled: the function must check whether
 * it still applies. Under eventloop::EventLoop an occurrence is one record in its heap; under any
 * other SimulatorImpl it is an EventImpl of its own, with the same order.
 *
 * @tparam T class of the object
 */
template <class T>
class ReusableEvent : private eventloop::Occurrence
{
  public:
    /// Constructor.
    /// @param object the object, which must outlive every pending occurrence or the simulation.
    /// @param function the member function to call.
    ReusableEvent(T* object, void (T::*function)())
        : Occurrence(&ReusableEvent::Happen),
          m_object(object),
          m_function(function)
    {
    }

    using Occurrence::GetPlace;
    using Occurrence::SetPlace;

    /// Schedule one more occurrence.
    /// @param delay ps from now, not negative.
    void Schedule(int64_t delay)
    {
        if (eventloop::EventLoop* loop = eventloop::EventLoop::Peek())
        {
            loop->Push(loop->GetTimeIn(delay), loop->TakeKey(), this);
            return;
        }
        Simulator::Schedule(TimeUntil(delay), m_function, m_object);
    }

    /// Its state is when it is pending.
    /// @param visitor visitor.
    void Visit(StateVisitor& visitor) const
    {
        visitor.Inside(*this);
        visitor.Event(*this); // constant: m_object, m_function
    }

  private:
    static void Happen(Occurrence* occurrence)
    {
        auto event = static_cast<ReusableEvent*>(occurrence);
        (event->m_object->*event->m_function)();
    }

    T* m_object;             //!< object to call
    void (T::*m_function)(); //!< function to call
};

/**
 * @ingroup lossless
 * @brief Items in flight, each with the time of its arrival: a wire, a pipeline.
 *
 * Items arrive in the order in which they were sent. Only the next arrival is scheduled in the
 * event loop; the others wait here. So the event loop holds ports instead of frames and stays
 * small, and the order of events is the same as if each item had been scheduled individually.
 *
 * @tparam T class of the object
 * @tparam Item type of the items
 * @tparam FUNCTION member function called with an item that has arrived
 */
template <class T, class Item, void (T::*FUNCTION)(Item*)>
class EventStream : private eventloop::Occurrence
{
  public:
    /// Constructor.
    /// @param object the object, which must outlive every pending arrival or the simulation.
    explicit EventStream(T* object)
        : Occurrence(&EventStream::Happen),
          m_object(object)
    {
    }

    using Occurrence::GetPlace;
    using Occurrence::SetPlace;

    /// Send an item.
    /// @param delay ps from now, not negative; not before earlier items. @param item the item.
    void Send(int64_t delay, Item* item)
    {
        if (m_count == m_size)
        {
            Grow();
        }
        eventloop::EventLoop* loop = eventloop::EventLoop::Peek();
        Arrival& arrival = m_ring[(m_first + m_count) & (m_size - 1)];
        arrival.item = item;
        if (!loop)
        {
            arrival.time = NowPs() + TimeUntil(delay).GetTimeStep();
            const int64_t before =
                m_count ? m_ring[(m_first + m_count - 1) & (m_size - 1)].time : 0;
            NS_ABORT_MSG_IF(arrival.time < before,
                            "an item would arrive at " << arrival.time
                                                       << " ps, before an item sent earlier, "
                                                          "which arrives at "
                                                       << before << " ps");
            ++m_count;
            Simulator::Schedule(TimeUntil(delay), &EventStream::Arrive, this);
            return;
        }
        arrival.time = loop->GetTimeIn(delay);
        arrival.key = loop->TakeKey();
        if (m_count++ == 0)
        {
            SetSubject(item);
            loop->Push(arrival.time, arrival.key, this);
        }
    }

    /**
     * @brief Visit every item in flight, the next to arrive first.
     *
     * @tparam F callable with an Item&
     * @param look called with each.
     */
    template <class F>
    void ForEach(F look) const
    {
        for (uint32_t i = 0; i < m_count; ++i)
        {
            look(*m_ring[(m_first + i) & (m_size - 1)].item);
        }
    }

    /**
     * @brief Visit the state: the items in flight, and when they arrive.
     *
     * @tparam F callable with an Item&
     * @param visitor visitor. @param look visits an item.
     */
    template <class F>
    void Visit(StateVisitor& visitor, F look)
    {
        visitor.Inside(*this);
        visitor.Event(*this);                                   // constant: m_object
        visitor.Derived(m_ring, m_size, m_first);               // where items lie
        visitor.Derived(static_cast<const Occurrence&>(*this)); // points to the next one
        visitor.Same(m_count);
        for (uint32_t i = 0; i < m_count; ++i)
        {
            Arrival& arrival = m_ring[(m_first + i) & (m_size - 1)];
            visitor.Time(arrival.time); // its key is that of its place
            look(*arrival.item);
        }
    }

    /// Number of items in flight. @return count.
    uint32_t GetCount() const
    {
        return m_count;
    }

  protected:
    /// Constructor of what is no wire itself, see EventMailbox.
    /// @param function to call at its time.
    explicit EventStream(Occurrence::Function function)
        : Occurrence(function)
    {
    }

    /// Let all items arrive by another stream, at their times.
    /// @param other the other stream.
    void MoveTo(EventStream& other)
    {
        for (; m_count > 0; --m_count)
        {
            other.Append(m_ring[m_first]);
            m_first = (m_first + 1) & (m_size - 1);
        }
    }

    /// The stream whose time has come.
    /// @param occurrence its base. @return stream.
    static EventStream* Of(Occurrence* occurrence)
    {
        return static_cast<EventStream*>(occurrence);
    }

  private:
    /// An item and its arrival time.
    struct Arrival
    {
        int64_t time;                  //!< ps
        eventloop::EventLoop::Key key; //!< order among the events of that time
        Item* item;                    //!< the item
    };

    static void Happen(Occurrence* occurrence)
    {
        static_cast<EventStream*>(occurrence)->ArriveInLoop();
    }

    void Append(const Arrival& arrival)
    {
        if (m_count == m_size)
        {
            Grow();
        }
        m_ring[(m_first + m_count) & (m_size - 1)] = arrival;
        if (m_count++ == 0)
        {
            SetSubject(arrival.item);
            eventloop::EventLoop::Peek()->Push(arrival.time, arrival.key, this);
        }
    }

    void ArriveInLoop()
    {
        if (m_count > 1)
        {
            const Arrival& next = m_ring[(m_first + 1) & (m_size - 1)];
            SetSubject(next.item);
            eventloop::EventLoop::Peek()->Push(next.time, next.key, this);
        }
        Arrive();
    }

    void Arrive()
    {
        Item* item = m_ring[m_first].item;
        m_first = (m_first + 1) & (m_size - 1);
        --m_count;
        (m_object->*FUNCTION)(item);
    }

    void Grow()
    {
        const uint32_t size = m_size ? 2 * m_size : 4;
        auto larger = std::make_unique_for_overwrite<Arrival[]>(size);
        for (uint32_t i = 0; i < m_count; ++i)
        {
            larger[i] = m_ring[(m_first + i) & (m_size - 1)];
        }
        m_ring = std::move(larger);
        m_size = size;
        m_first = 0;
    }

    T* m_object{nullptr};              //!< whom to call
    std::unique_ptr<Arrival[]> m_ring; //!< items, from m_first on
    uint32_t m_size{0};                //!< capacity, a power of two
    uint32_t m_first{0};               //!< index of the first item
    uint32_t m_count{0};               //!< number of items
};

/**
 * @ingroup lossless
 * @brief Takes the place of a stream towards a node that another thread may simulate: what is sent
 * meanwhile moves into the stream when neither thread is at work.
 *
 * @tparam T see EventStream
 * @tparam Item see EventStream
 * @tparam FUNCTION see EventStream
 */
template <class T, class Item, void (T::*FUNCTION)(Item*)>
class EventMailbox : public EventStream<T, Item, FUNCTION>
{
    using Stream = EventStream<T, Item, FUNCTION>;

  public:
    /// Constructor.
    /// @param stream the stream, which has a place and must outlive it.
    explicit EventMailbox(Stream& stream)
        : Stream(&EventMailbox::Empty),
          m_stream(stream)
    {
        this->SetPlace(eventloop::Place::OfMailbox(stream.GetPlace().GetCell()));
    }

    /// @return the stream.
    Stream& GetStream() const
    {
        return m_stream;
    }

  private:
    static void Empty(eventloop::Occurrence* occurrence)
    {
        auto* mailbox = static_cast<EventMailbox*>(Stream::Of(occurrence));
        mailbox->MoveTo(mailbox->m_stream);
    }

    Stream& m_stream; //!< where items arrive
};

/**
 * @ingroup lossless
 * @brief The end at which items are put into a stream of another node.
 *
 * @tparam T see EventStream
 * @tparam Item see EventStream
 * @tparam FUNCTION see EventStream
 */
template <class T, class Item, void (T::*FUNCTION)(Item*)>
class EventOutlet
{
    using Stream = EventStream<T, Item, FUNCTION>;
    using Mailbox = EventMailbox<T, Item, FUNCTION>;

  public:
    /// Connect it.
    /// @param stream the stream, which must outlive it.
    void Connect(Stream& stream)
    {
        m_to = &stream;
    }

    /// Say whether another thread runs the other node, so that items go through a mailbox. Between
    /// windows, see eventloop::CellThreads. Precondition: connected, and the stream has a place.
    /// @param apart true if so.
    void SetApart(bool apart)
    {
        if (apart && !m_mailbox)
        {
            m_mailbox = std::make_unique<Mailbox>(*m_to);
        }
        if (m_mailbox)
        {
            m_to = apart ? m_mailbox.get() : &m_mailbox->GetStream();
        }
    }

    /// Send an item, see EventStream::Send.
    /// @param delay ps from now. @param item the item.
    void Send(int64_t delay, Item* item)
    {
        m_to->Send(delay, item);
    }

  private:
    Stream* m_to{nullptr};              //!< the stream, or the mailbox
    std::unique_ptr<Mailbox> m_mailbox; //!< null until it was apart
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_EVENT_H */
