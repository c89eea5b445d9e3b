/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_SINGLE_EVENT_H
#define LOSSLESS_SINGLE_EVENT_H

#include "lossless-event.h"

#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief A ReusableEvent that is pending at most once: what paces messages, and refreshes what a
 * lost message may have left wrong.
 *
 * @verbatim
 *            Schedule              its time
 *     idle ------------> pending ------------> idle, and the function is called
 *                        |     ^
 *                        +-----+ Schedule: the first time stays
 * @endverbatim
 *
 * @tparam T class of the object that is called
 */
template <class T>
class SingleEvent
{
  public:
    /// Constructor.
    /// @param object the object, which must outlive a pending event or the simulation.
    /// @param function the member function to call.
    SingleEvent(T* object, void (T::*function)())
        : m_object(object),
          m_function(function),
          m_event(this, &SingleEvent::Happen)
    {
    }

    /// Schedule it, unless it is pending.
    /// @param delay ps from now, not negative.
    void Schedule(int64_t delay)
    {
        if (!m_pending)
        {
            m_pending = true;
            m_event.Schedule(delay);
        }
    }

  private:
    void Happen()
    {
        m_pending = false;
        (m_object->*m_function)();
    }

    T* m_object;                        //!< object to call
    void (T::*m_function)();            //!< function to call
    bool m_pending{false};              //!< it is scheduled
    ReusableEvent<SingleEvent> m_event; //!< calls Happen
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SINGLE_EVENT_H */
