/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_TWO_HASH_FILTER_H
#define SFC_TWO_HASH_FILTER_H

#include "ns3/lossless-hash.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace sfc
{

/**
 * @ingroup sfc
 * @brief Remembers, in two arrays of bits, which keys have been seen.
 *
 * A key (source, destination, class) sets one bit in each array, by two independent hashes; it
 * counts as seen if both bits were set before. So each key gets at most one message per epoch, but
 * a key that shares its bits with others may get none. All keys are forgotten at the end of an
 * epoch.
 */
class TwoHashFilter
{
  public:
    /// Initialise.
    /// @param bits each array has 2^bits bits. @param epoch time after which the filter is cleared
    /// (ps).
    void Configure(uint32_t bits, int64_t epoch)
    {
        m_mask = (UINT32_C(1) << bits) - 1;
        m_epoch = epoch;
        for (auto& bank : m_banks)
        {
            for (auto& array : bank)
            {
                array.assign(static_cast<std::size_t>(m_mask) + 1, false);
            }
        }
    }

    /// Check whether a key was seen in this epoch, and mark it as seen.
    /// @param src source. @param dst destination. @param cls class. @param now ps.
    /// @return true if so, or if other keys have set the same bits.
    bool TestAndSet(uint32_t src, uint32_t dst, uint8_t cls, int64_t now)
    {
        const int64_t epoch = now / m_epoch;
        if (epoch != m_current)
        {
            // The bank not in use is empty: the switch cleared it during the previous epoch.
            m_current = epoch;
            for (auto& array : m_banks[m_active])
            {
                array.assign(array.size(), false);
            }
            m_active = 1 - m_active;
        }
        const auto places = Places(src, dst, cls);
        bool known = true;
        for (std::size_t i = 0; i < places.size(); ++i)
        {
            auto bit = m_banks[m_active][i][places[i]];
            known = known && bit;
            bit = true;
        }
        return known;
    }

    /// The bits of a key.
    /// @param src source. @param dst destination. @param cls class.
    /// @return its index in each array.
    std::array<uint32_t, 2> Places(uint32_t src, uint32_t dst, uint8_t cls) const
    {
        const uint64_t key = static_cast<uint64_t>(src) << 32 | dst;
        return {static_cast<uint32_t>(lossless::Mix(key ^ static_cast<uint64_t>(cls) << 60)) &
                    m_mask,
                static_cast<uint32_t>(lossless::Mix(~key - cls) >> 32) & m_mask};
    }

  private:
    std::array<std::array<std::vector<bool>, 2>, 2> m_banks; //!< bank, array, bit
    std::size_t m_active{0};                                 //!< bank in use
    int64_t m_current{0};                                    //!< number of the current epoch
    int64_t m_epoch{1};                                      //!< length of an epoch (ps)
    uint32_t m_mask{0};                                      //!< mask of an index
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_TWO_HASH_FILTER_H */
