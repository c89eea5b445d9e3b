/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_DRAIN_RATE_H
#define SFC_DRAIN_RATE_H

#include "ns3/lossless-rate.h"

#include <algorithm>

namespace ns3
{
namespace sfc
{

/**
 * @ingroup sfc
 * @brief The bandwidth that a queue receives: the share of its link that is left by pauses, rate
 * limits and other classes.
 *
 * While the queue holds frames, the wire bytes that it sent are counted from the start of one frame
 * to the start of another at least a window later, so that a queue that has the line to itself
 * measures exactly line rate. The result is the lower of the last full window and the current one,
 * once that is long enough: it reflects a pause at once, and the end of a pause a window later. A
 * queue that was empty has no measurement yet and assumes line rate.
 */
class DrainRate
{
  public:
    /// A frame joined the empty queue.
    /// @param now ps. @param line rate of the link (bit/s).
    void Begin(int64_t now, uint64_t line)
    {
        m_since = now;
        m_bytes = 0;
        m_rate = line;
    }

    /// A frame of the queue starts transmission.
    /// @param wireBytes its bytes on the wire. @param now ps. @param line rate of the link (bit/s).
    /// @param window minimum time of a measurement (ps).
    void NoteSent(int64_t wireBytes, int64_t now, uint64_t line, int64_t window)
    {
        if (m_bytes > 0 && now - m_since >= window)
        {
            m_rate = std::min(line, Rate(m_bytes, now - m_since));
            m_since = now;
            m_bytes = 0;
        }
        else if (m_bytes == 0)
        {
            m_since = now; // the wait for its first frame is not measured
        }
        m_bytes += wireBytes;
    }

    /// The current bandwidth.
    /// @param now ps. @param line rate of the link (bit/s). @param window as above (ps).
    /// @param floor lower bound of the result (bit/s). @return bit/s.
    uint64_t Get(int64_t now, uint64_t line, int64_t window, uint64_t floor) const
    {
        uint64_t rate = m_rate;
        if (now - m_since >= window)
        {
            rate = std::min(rate, Rate(m_bytes, now - m_since));
        }
        return std::clamp(rate, std::min(floor, line), line);
    }

  private:
    static uint64_t Rate(int64_t bytes, int64_t time)
    {
        constexpr lossless::Uint128 UNIT = 8'000'000'000'000ULL;
        return static_cast<uint64_t>(static_cast<lossless::Uint128>(bytes) * UNIT /
                                     static_cast<uint64_t>(time));
    }

    int64_t m_since{0}; //!< start of the current window (ps)
    int64_t m_bytes{0}; //!< wire bytes of frames that started in it
    uint64_t m_rate{0}; //!< of the last full window (bit/s)
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_DRAIN_RATE_H */
