/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FEED_MAP_H
#define LOSSLESS_FEED_MAP_H

#include "ns3/lossless-constants.h"

#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Which ingress ports of a node feed which of its egress ports, per class, and which egress
 * caused a pause.
 *
 * It counts the charged bytes of lossless classes from a frame's admission until its last bit has
 * been sent. A node keeps a map only if an agent needs one (SwitchAgent::FEEDS), or the deadlock
 * oracle. A frame costs an addition to three numbers at its arrival and a subtraction at its
 * departure.
 */
class FeedMap
{
  public:
    /// Constructor of an empty map.
    /// @param ports number of ports of the node.
    explicit FeedMap(uint16_t ports)
        : m_ports(ports),
          m_words((ports + 63U) / 64U),
          m_bytes(static_cast<std::size_t>(N_CLASSES) * ports * ports, 0),
          m_total(static_cast<std::size_t>(N_CLASSES) * ports, 0),
          m_since(static_cast<std::size_t>(N_CLASSES) * ports * m_words, 0),
          m_cause(static_cast<std::size_t>(N_CLASSES) * ports, NO_PORT)
    {
    }

    /// A frame was admitted.
    /// @param ingress port by which it arrived. @param egress port by which it will leave.
    /// @param cls its class. @param bytes its size.
    void Add(uint16_t ingress, uint16_t egress, uint8_t cls, uint32_t bytes)
    {
        const std::size_t row = Row(egress, cls);
        m_bytes[row * m_ports + ingress] += bytes;
        m_total[row] += bytes;
        m_since[row * m_words + ingress / 64U] |= 1ULL << (ingress % 64U);
    }

    /// An admitted frame has left.
    /// @param ingress port by which it arrived. @param egress port by which it left. @param cls its
    /// class.
    /// @param bytes its size.
    void Remove(uint16_t ingress, uint16_t egress, uint8_t cls, uint32_t bytes)
    {
        const std::size_t row = Row(egress, cls);
        m_bytes[row * m_ports + ingress] -= bytes;
        m_total[row] -= bytes;
        if (m_total[row] == 0)
        {
            for (std::size_t word = 0; word < m_words; ++word)
            {
                m_since[row * m_words + word] = 0;
            }
        }
    }

    /// Record the egress of the frame that caused a pause.
    /// @param ingress port whose upstream is to be paused. @param cls class.
    /// @param egress port by which the frame will leave.
    void NoteCause(uint16_t ingress, uint8_t cls, uint16_t egress)
    {
        m_cause[Row(ingress, cls)] = egress;
    }

    /// Bytes from an ingress for an egress.
    /// @param egress port. @param ingress port. @param cls class. @return bytes.
    uint32_t GetBytes(uint16_t egress, uint16_t ingress, uint8_t cls) const
    {
        return m_bytes[Row(egress, cls) * m_ports + ingress];
    }

    /// Has an egress received frames from an ingress since it was last empty? This needs one bit
    /// where GetBytes needs a counter.
    /// @param egress port. @param ingress port. @param cls class. @return true if so.
    bool HasFed(uint16_t egress, uint16_t ingress, uint8_t cls) const
    {
        return (m_since[Row(egress, cls) * m_words + ingress / 64U] >> (ingress % 64U)) & 1U;
    }

    /// The egress of the frame that caused the last pause of an ingress.
    /// @param ingress port. @param cls class. @return port; NO_PORT if there was none.
    uint16_t GetCause(uint16_t ingress, uint8_t cls) const
    {
        return m_cause[Row(ingress, cls)];
    }

    /// The egress for which an ingress holds most bytes.
    /// @param ingress port. @param cls class.
    /// @return port, the first among equals; NO_PORT if there are no bytes.
    uint16_t FindLargest(uint16_t ingress, uint8_t cls) const
    {
        uint16_t largest = NO_PORT;
        uint32_t most = 0;
        for (uint16_t egress = 0; egress < m_ports; ++egress)
        {
            if (GetBytes(egress, ingress, cls) > most)
            {
                most = GetBytes(egress, ingress, cls);
                largest = egress;
            }
        }
        return largest;
    }

  private:
    std::size_t Row(uint16_t port, uint8_t cls) const
    {
        return static_cast<std::size_t>(cls) * m_ports + port;
    }

    uint16_t m_ports;              //!< number of ports
    std::size_t m_words;           //!< words of 64 bits per row
    std::vector<uint32_t> m_bytes; //!< by class, egress, ingress
    std::vector<uint32_t> m_total; //!< by class, egress
    std::vector<uint64_t>
        m_since; //!< by class, egress: bit i, ingress i has fed it since it was empty
    std::vector<uint16_t> m_cause; //!< by class, ingress
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FEED_MAP_H */
