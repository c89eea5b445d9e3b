/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef BFC_NAME_FILTER_H
#define BFC_NAME_FILTER_H

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace bfc
{

/**
 * @ingroup bfc
 * @brief Names in an array of bits: what a port says of those it wants paused, and what its peer
 * has heard.
 *
 * Without stages, name n is bit n modulo the number of bits: exact as long as names are fewer.
 * With k stages it is a Bloom filter in equal parts, a bit of each, by k independent hashes. Of n
 * names in m bits, another one is found by mistake with a probability of (1 - (1 - k / m)^n)^k.
 *
 * Who says counts the names behind each bit, so that they can be taken out again. Bits travel in
 * segments, as many as a control frame has room for.
 */
class NameFilter
{
  public:
    static constexpr uint32_t SEGMENT_BITS = 128; //!< eight words of a control frame
    static constexpr uint32_t MOST_SEGMENTS = 32; //!< five bits number them

    /// Bits of a segment, lowest first.
    using Segment = std::array<uint16_t, 8>;

    /// Set it up, empty.
    /// @param bits how many, whole segments. @param stages k, a divisor of it; 0: bit by number.
    /// @param counts whether names are put in here, or only heard.
    void Configure(uint32_t bits, uint32_t stages, bool counts);

    /// Put a name in once more.
    /// @param name it. @return segments that have changed, bit s: segment s.
    uint32_t Insert(uint32_t name);
    /// Take a name out once.
    /// @param name one that is in. @return segments that have changed.
    uint32_t Remove(uint32_t name);
    /// Would taking a name out once change a bit?
    /// @param name one that is in. @return true if so.
    bool WouldClear(uint32_t name) const;

    /// Are all bits of a name set?
    /// @param name it. @return true if it is in, or taken for one that is.
    bool Contains(uint32_t name) const;

    /// Does a name share all its bits with some of others?
    /// @param name it. @param others names; may be none.
    /// @return true if it would be found in a filter of these alone.
    bool IsCoveredBy(uint32_t name, const std::vector<uint32_t>& others) const;

    /// @return true if Configure was called.
    bool IsConfigured() const
    {
        return !m_segments.empty();
    }

    /// @return how many segments it has.
    uint32_t GetSegments() const
    {
        return static_cast<uint32_t>(m_segments.size());
    }

    /// @return segments with a bit set, bit s: segment s.
    uint32_t GetNonempty() const;

    /// Bits of a segment.
    /// @param segment its number. @return bits.
    const Segment& Get(uint32_t segment) const
    {
        return m_segments[segment];
    }

    /// Set the bits of a segment.
    /// @param segment its number. @param bits them.
    void Set(uint32_t segment, const Segment& bits)
    {
        m_segments[segment] = bits;
    }

  private:
    uint32_t BitOf(uint32_t name, uint32_t stage) const;

    /// How many bits a name has. @return count.
    uint32_t CountHashes() const
    {
        return m_stages == 0 ? 1 : m_stages;
    }

    bool Test(uint32_t bit) const
    {
        return (m_segments[bit / SEGMENT_BITS][bit / 16 % 8] >> bit % 16) & 1U;
    }

    void Flip(uint32_t bit)
    {
        uint16_t& word = m_segments[bit / SEGMENT_BITS][bit / 16 % 8];
        word = static_cast<uint16_t>(word ^ 1U << bit % 16);
    }

    std::vector<Segment> m_segments; //!< the bits
    std::vector<uint32_t> m_counts;  //!< names behind each bit; empty if it only hears
    uint32_t m_bits{0};              //!< how many
    uint32_t m_stages{0};            //!< k; 0: bit by number
};

} // namespace bfc
} // namespace ns3

#endif /* BFC_NAME_FILTER_H */
