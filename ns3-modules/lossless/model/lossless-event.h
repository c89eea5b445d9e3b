/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_EVENT_H
#define LOSSLESS_EVENT_H

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Let ns-3's clock count picoseconds: 1048 B at 100 Gb/s take 83.84 ns, which nanoseconds
 * cannot say.
 *
 * Call it before any simulation in the process; further calls do nothing.
 */
inline void
UsePicoseconds()
{
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
}

/**
 * @brief Simulated time.
 *
 * @return ps.
 */
inline int64_t
NowPs()
{
    return Simulator::Now().GetTimeStep();
}

/**
 * @ingroup lossless
 * @brief An event that calls a member function and is allocated once, however often it is
 * scheduled.
 *
 * It may be pending several times at once. There is no way to cancel it: the function must know
 * whether it is still wanted.
 *
 * @tparam T class of the object
 */
template <class T>
class ReusableEvent
{
  public:
    /**
     * @brief Bind it.
     * @param object the object, which must outlive every pending occurrence or the simulation.
     * @param function the member function to call.
     */
    ReusableEvent(T* object, void (T::*function)())
        : m_impl(Ptr<Impl>(new Impl(object, function), false))
    {
    }

    /**
     * @brief Schedule one more occurrence.
     *
     * @param delay ps from now, not negative.
     */
    void Schedule(int64_t delay)
    {
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)), Ptr<EventImpl>(m_impl));
    }

  private:
    /// What the event loop holds.
    class Impl : public EventImpl
    {
      public:
        /**
         * @brief Bind.
         *
         * @param object the object.
         * @param function its member.
         */
        Impl(T* object, void (T::*function)())
            : m_object(object),
              m_function(function)
        {
        }

      private:
        void Notify() override
        {
            (m_object->*m_function)();
        }

        T* m_object;             //!< whom to call
        void (T::*m_function)(); //!< what to call
    };

    Ptr<Impl> m_impl; //!< the one event
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_EVENT_H */
