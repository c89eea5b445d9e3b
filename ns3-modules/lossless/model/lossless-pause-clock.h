/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PAUSE_CLOCK_H
#define LOSSLESS_PAUSE_CLOCK_H

#include "lossless-constants.h"

#include "ns3/abort.h"

#include <array>
#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Which classes of a port are paused, and for how long they were.
 *
 * Several flow controls of a chain may pause a class at the same time: it is paused from the first
 * pause until none is left. Only here are pauses counted, so that whoever needs to know of them
 * (egress, traces, agents) is told of starts and ends that alternate.
 */
class PauseClock
{
  public:
    /// A flow control starts or ends its pause of a class.
    /// @param cls class. @param on whether it starts. @param now ps.
    /// @return true if the class is paused from now on, or no longer is.
    bool Set(uint8_t cls, bool on, int64_t now)
    {
        Pauses& pauses = m_pauses[cls];
        NS_ABORT_MSG_IF(!on && pauses.count == 0,
                        "a flow control ended a pause that had not begun");
        pauses.count += on ? 1 : -1;
        if (pauses.count != (on ? 1 : 0))
        {
            return false;
        }
        m_time += on ? 0 : now - pauses.since;
        pauses.since = now;
        return true;
    }

    /// Is a class paused?
    /// @param cls class. @return true if so.
    bool IsPaused(uint8_t cls) const
    {
        return m_pauses[cls].count > 0;
    }

    /// Total pause time, summed over classes.
    /// @param now ps. @return ps.
    int64_t GetTime(int64_t now) const
    {
        int64_t time = m_time;
        for (const Pauses& pauses : m_pauses)
        {
            time += pauses.count > 0 ? now - pauses.since : 0;
        }
        return time;
    }

  private:
    /// Pauses of a class.
    struct Pauses
    {
        uint32_t count{0}; //!< flow controls that pause it now
        int64_t since{0};  //!< when count was last 0 or became 0 (ps)
    };

    int64_t m_time{0};                        //!< total of pauses that have ended (ps)
    std::array<Pauses, N_CLASSES> m_pauses{}; //!< by class
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PAUSE_CLOCK_H */
