/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_CLASS_RATES_H
#define LOSSLESS_CLASS_RATES_H

#include "ns3/lossless-constants.h"
#include "ns3/lossless-rate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Minimum and maximum rates of the classes of a port, in bytes on the wire.
 *
 * Each rate is a token bucket: a class has paid until a time, which every frame moves by its own
 * length at the rate. A class that has paid until the future is above its rate. One that lags
 * behind may make up for as much as its bucket holds: a round of its own and two of the longest
 * frames, which is what it can miss while it waits for its turn.
 */
class ClassRates
{
  public:
    /// Rates by class (bit/s); 0: none.
    using Rates = std::array<uint64_t, N_CLASSES>;

    /// Constructor.
    /// @param least minimum rates. @param most maximum rates.
    /// @param rounds bytes that a class may send in a round.
    ClassRates(const Rates& least, const Rates& most, const std::array<int64_t, N_CLASSES>& rounds)
        : m_rounds(rounds)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            m_least[cls].rate = least[cls];
            m_most[cls].rate = most[cls];
            m_assured |= (least[cls] > 0 ? 1U : 0U) << cls;
            m_bounded |= (most[cls] > 0 ? 1U : 0U) << cls;
        }
    }

    /// The classes that are not above their maximum.
    /// @param classes bit c: class c has frames. @param now ps.
    /// @param[in,out] wakeTime lowered to when the first of the others may send (ps).
    /// @return those that may send.
    uint32_t KeepAllowed(uint32_t classes, int64_t now, int64_t& wakeTime) const
    {
        for (uint32_t asked = classes & m_bounded; asked; asked &= asked - 1)
        {
            const auto cls = static_cast<uint8_t>(std::countr_zero(asked));
            if (m_most[cls].paid > now)
            {
                classes &= ~(1U << cls);
                wakeTime = std::min(wakeTime, m_most[cls].paid);
            }
        }
        return classes;
    }

    /// The classes that are below their minimum.
    /// @param classes bit c: class c may send. @param now ps. @return those of them.
    uint32_t KeepAssured(uint32_t classes, int64_t now) const
    {
        uint32_t kept = 0;
        for (uint32_t asked = classes & m_assured; asked; asked &= asked - 1)
        {
            const auto cls = static_cast<uint8_t>(std::countr_zero(asked));
            kept |= (m_least[cls].paid <= now ? 1U : 0U) << cls;
        }
        return kept;
    }

    /// When a frame must have been sent for its class to have its minimum.
    /// @param cls class with a minimum. @param wire bytes of the frame on the wire. @return ps.
    int64_t GetDeadline(uint8_t cls, int64_t wire) const
    {
        return m_least[cls].paid + TransmissionTime(wire, m_least[cls].rate);
    }

    /// A frame starts.
    /// @param cls its class. @param wire its bytes on the wire. @param now ps.
    void NotifySent(uint8_t cls, int64_t wire, int64_t now)
    {
        m_longest = std::max(m_longest, wire);
        const int64_t bucket = 2 * m_longest + m_rounds[cls];
        m_least[cls].Pay(wire, bucket, now);
        m_most[cls].Pay(wire, bucket, now);
    }

  private:
    /// A rate, and until when it is used up.
    struct Bucket
    {
        uint64_t rate{0}; //!< bit/s; 0: none
        int64_t paid{0};  //!< ps

        /// A frame starts.
        void Pay(int64_t wire, int64_t bucket, int64_t now)
        {
            if (rate)
            {
                paid = std::max(paid, now - TransmissionTime(bucket, rate)) +
                       TransmissionTime(wire, rate);
            }
        }
    };

    uint32_t m_assured{0};                     //!< bit c: class c has a minimum
    uint32_t m_bounded{0};                     //!< bit c: class c has a maximum
    int64_t m_longest{0};                      //!< longest frame so far (B on the wire)
    std::array<Bucket, N_CLASSES> m_least;     //!< minima
    std::array<Bucket, N_CLASSES> m_most;      //!< maxima
    std::array<int64_t, N_CLASSES> m_rounds{}; //!< bytes of a round
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_CLASS_RATES_H */
