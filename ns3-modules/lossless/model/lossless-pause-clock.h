/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PAUSE_CLOCK_H
#define LOSSLESS_PAUSE_CLOCK_H

#include "lossless-constants.h"

#include <array>
#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Measures how long the classes of a port were paused.
 */
class PauseClock
{
  public:
    PauseClock()
    {
        m_since.fill(-1);
    }

    /// A pause starts or ends.
    /// @param cls class. @param on whether it starts. @param now ps.
    void Set(uint8_t cls, bool on, int64_t now)
    {
        m_time += on ? 0 : now - m_since[cls];
        m_since[cls] = on ? now : -1;
    }

    /// Is a class paused?
    /// @param cls class. @return true if so.
    bool IsPaused(uint8_t cls) const
    {
        return m_since[cls] >= 0;
    }

    /// Total pause time, summed over classes.
    /// @param now ps. @return ps.
    int64_t GetTime(int64_t now) const
    {
        int64_t time = m_time;
        for (const int64_t since : m_since)
        {
            time += since >= 0 ? now - since : 0;
        }
        return time;
    }

  private:
    int64_t m_time{0};                      //!< total of pauses that have ended (ps)
    std::array<int64_t, N_CLASSES> m_since; //!< start of the current pause (ps), or -1
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PAUSE_CLOCK_H */
