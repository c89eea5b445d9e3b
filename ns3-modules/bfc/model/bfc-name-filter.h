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
 * @brief A set of names as an array of bits: those that a port wants paused, or those that its peer
 * has reported.
 *
 * Without stages, name n is bit n modulo the number of bits: exact as long as there are fewer names
 * than bits. With k stages it is a Bloom filter of k equal parts, with one bit per part by k
 * independent hashes. With n names in m bits, the probability of a false positive is (1 - (1 - k /
 * m)^n)^k.
 *
 * The sending side counts the names behind each bit, so that they can be removed. The bits are sent
 * in segments that fit a control frame.
 */
class NameFilter
{
  public:
    static constexpr uint32_t SEGMENT_BITS = 128; //!< eight words of a control frame
    static constexpr uint32_t MOST_SEGMENTS = 32; //!< five bits number them

    /// Bits of a segment, lowest first.
    using Segment = std::array<uint16_t, 8>;

    /// Configure the filter; it starts empty.
    /// @param bits number of bits, a multiple of SEGMENT_BITS. @param stages k, a divisor of bits;
    /// 0: bit by number.
    /// @param counts whether names are added here (the sending side).
    void Configure(uint32_t bits, uint32_t stages, bool counts);

    /// Add a name; it may be added several times.
    /// @param name the name. @return changed segments, bit s: segment s.
    uint32_t Insert(uint32_t name);
    /// Remove a name once.
    /// @param name a name in the filter. @return changed segments.
    uint32_t Remove(uint32_t name);
    /// Would removing a name once change a bit?
    /// @param name a name in the filter. @return true if so.
    bool WouldClear(uint32_t name) const;

    /// Are all bits of a name set?
    /// @param name the name. @return true if it is in the filter, or a false positive.
    bool Contains(uint32_t name) const;

    /// Are all bits of a name also bits of others?
    /// @param name the name. @param others other names; may be empty.
    /// @return true if a filter of these alone would contain it.
    bool IsCoveredBy(uint32_t name, const std::vector<uint32_t>& others) const;

    /// @return true if Configure was called.
    bool IsConfigured() const
    {
        return !m_segments.empty();
    }

    /// @return the number of segments.
    uint32_t GetSegments() const
    {
        return static_cast<uint32_t>(m_segments.size());
    }

    /// @return segments with a bit set, bit s: segment s.
    uint32_t GetNonempty() const;

    /// Bits of a segment.
    /// @param segment its number. @return its bits.
    const Segment& Get(uint32_t segment) const
    {
        return m_segments[segment];
    }

    /// Set the bits of a segment.
    /// @param segment its number. @param bits its new bits.
    void Set(uint32_t segment, const Segment& bits)
    {
        m_segments[segment] = bits;
    }

  private:
    uint32_t BitOf(uint32_t name, uint32_t stage) const;

    /// Number of bits of a name. @return bits.
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
    std::vector<uint32_t> m_counts;  //!< names behind each bit; empty on the receiving side
    uint32_t m_bits{0};              //!< number of bits
    uint32_t m_stages{0};            //!< k; 0: bit by number
};

} // namespace bfc
} // namespace ns3

#endif /* BFC_NAME_FILTER_H */
