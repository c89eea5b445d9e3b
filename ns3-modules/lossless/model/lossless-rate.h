/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_RATE_H
#define LOSSLESS_RATE_H

#include "lossless-constants.h"

#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Time to send bytes at a rate, rounded to the nearest picosecond.
 * @param bytes bytes on the wire.
 * @param rate bit/s, not 0.
 * @return ps.
 */
inline int64_t
TransmissionTime(int64_t bytes, uint64_t rate)
{
    const auto bits = static_cast<Uint128>(bytes) * 8U * 1'000'000'000'000ULL;
    return static_cast<int64_t>((bits + rate / 2) / rate);
}

/**
 * @ingroup lossless
 * @brief Bytes transferred at a rate in a time, rounded up.
 * @param rate bit/s.
 * @param time ps.
 * @return bytes; at most 2^59, more than any buffer has, so that a few can be added.
 */
inline int64_t
BytesInTime(uint64_t rate, int64_t time)
{
    constexpr Uint128 UNIT = 8'000'000'000'000ULL;
    constexpr Uint128 MOST = 1ULL << 59;
    const Uint128 bytes =
        (static_cast<Uint128>(rate) * static_cast<uint64_t>(time) + UNIT - 1) / UNIT;
    return static_cast<int64_t>(bytes < MOST ? bytes : MOST);
}

/**
 * @ingroup lossless
 * @brief Scale a value that is given for a reference rate to another rate, rounded down.
 * @param value the value, in any unit.
 * @param rate bit/s.
 * @param reference rate in bit/s for which the value is given; 0: no scaling.
 * @param most upper bound of the result, in the unit of the value.
 * @return the value at the rate.
 */
inline uint64_t
InProportion(uint64_t value, uint64_t rate, uint64_t reference, uint64_t most)
{
    if (reference == 0)
    {
        return value;
    }
    const Uint128 scaled = static_cast<Uint128>(value) * rate / reference;
    return static_cast<uint64_t>(scaled < most ? scaled : most);
}

/// What a change of a rate does to the spacing of the last frame and the next.
enum class RateChange : uint8_t
{
    INTEGRATED, ///< the rest of it passes at the new rate
    NEXT_FRAME, ///< nothing: it was fixed when the last frame started
    LAST_FRAME, ///< all of it has the new rate, from the start of the last frame on
};

/**
 * @ingroup lossless
 * @brief Paces frames so that the wire bytes sent never exceed the integral of a rate, which may
 * change at any time.
 *
 * After a frame of L bytes the next may start once the integral of the rate since the frame's start
 * has reached L. This is exact for a rate that changes in between, where "last start + L / rate" is
 * not. Idle time earns no credit. For simulators that have neither, see RateChange.
 *
 * A frame that may start but has to wait for its turn (Wait) does not delay those behind it: their
 * spacing counts from when it could have started, by at most its own length. So a queue that shares
 * a line achieves its rate whenever that is not above its fair share: its turn then comes within
 * its own spacing, and the limit of one frame is never reached. Waiting for other reasons, such as
 * a pause, earns no credit (Forfeit).
 */
class RateLimiter
{
  public:
    /// Change the rate from now on.
    /// @param rate bit/s; 0 stops. @param now ps.
    /// @param change always the same one; without Wait unless it is INTEGRATED.
    void SetRate(uint64_t rate, int64_t now, RateChange change = RateChange::INTEGRATED)
    {
        if (change == RateChange::INTEGRATED)
        {
            Advance(now);
        }
        else if (change == RateChange::NEXT_FRAME)
        {
            m_owed = static_cast<Int128>(rate) * (GetEarliest(now) - now);
            m_since = now;
        }
        m_rate = rate;
    }

    /// The current rate. @return bit/s.
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /// The next frame may start, and waits for its turn from now until it does.
    /// @param now ps.
    void Wait(int64_t now)
    {
        m_waiting = false;
        Advance(now);
        m_waiting = true;
    }

    /// Waiting until a given time earned no credit: the line was not available. At most what the
    /// current rate earns from then on is left.
    /// @param until ps, at most now. @param now ps.
    void Forfeit(int64_t until, int64_t now)
    {
        const Int128 most = static_cast<Int128>(m_rate) * (now - until);
        Advance(now);
        m_owed = m_owed < -most ? -most : m_owed;
    }

    /// A frame starts.
    /// @param wireBytes its bytes on the wire. @param now ps.
    void Start(int64_t wireBytes, int64_t now)
    {
        Advance(now);
        m_waiting = false;
        const Int128 price = static_cast<Int128>(wireBytes) * BIT_PS_PER_BYTE;
        m_owed = m_owed < -price ? 0 : m_owed < 0 ? price + m_owed : price;
    }

    /// Earliest start of the next frame.
    /// @param now ps. @return ps, at least now; NEVER when the rate is 0 and bits are owed.
    int64_t GetEarliest(int64_t now) const
    {
        const Int128 owed = m_owed - Earned(now);
        if (owed <= 0)
        {
            return now;
        }
        return m_rate == 0 ? NEVER : now + static_cast<int64_t>((owed + m_rate - 1) / m_rate);
    }

  private:
    /// Bits times ps per s: the debt is kept in this unit so that rate (bit/s) x time (ps) needs no
    /// division.
    static constexpr Int128 BIT_PS_PER_BYTE = static_cast<Int128>(8) * 1'000'000'000'000LL;

    Int128 Earned(int64_t now) const
    {
        return static_cast<Int128>(m_rate) * (now - m_since);
    }

    void Advance(int64_t now)
    {
        m_owed -= Earned(now);
        if (m_owed < 0 && !m_waiting)
        {
            m_owed = 0;
        }
        m_since = now;
    }

    uint64_t m_rate{0};    //!< bit/s
    int64_t m_since{0};    //!< when m_owed was last updated (ps)
    Int128 m_owed{0};      //!< debt of the last frame; below 0: credit earned by waiting
    bool m_waiting{false}; //!< a frame waits for its turn
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_RATE_H */
