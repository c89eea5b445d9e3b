/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SCOREBOARD_H
#define RDMA_SCOREBOARD_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief What a sender that repeats only what is missing knows of its packets, from the first one
 * that is not acknowledged to the last one sent.
 */
class Scoreboard
{
  public:
    /// A further packet was sent for the first time.
    void AddSent()
    {
        m_state.push_back(IN_FLIGHT);
    }

    /// @return true if a packet is to be repeated.
    bool HasMissing() const
    {
        return !m_missing.empty();
    }

    /// The packet to repeat next. Precondition: HasMissing.
    /// @return its number; it counts as repeated from now on.
    uint64_t TakeMissing()
    {
        const uint64_t psn = m_missing.front();
        m_missing.pop_front();
        m_state[psn - m_first] = REPEATED;
        return psn;
    }

    /// The receiver has a packet.
    /// @param psn its number.
    void NoteReceived(uint64_t psn)
    {
        if (psn >= m_first && psn < m_first + m_state.size() && m_state[psn - m_first] == IN_FLIGHT)
        {
            m_state[psn - m_first] = ACKED;
        }
    }

    /// Repeat what is in flight of a range.
    /// @param from first packet. @param to behind the last one.
    void MarkMissing(uint64_t from, uint64_t to)
    {
        for (uint64_t psn = std::max(from, m_first);
             psn < std::min<uint64_t>(to, m_first + m_state.size());
             ++psn)
        {
            if (m_state[psn - m_first] == IN_FLIGHT)
            {
                m_state[psn - m_first] = MISSING;
                m_missing.push_back(psn);
            }
        }
    }

    /// Repeat all that is not received, what was repeated before included.
    void MarkAllMissing()
    {
        for (PacketState& state : m_state)
        {
            state = state == REPEATED ? IN_FLIGHT : state;
        }
        MarkMissing(m_first, m_first + m_state.size());
    }

    /// All before a packet is acknowledged.
    /// @param first that packet.
    void Advance(uint64_t first)
    {
        m_state.erase(m_state.begin(),
                      m_state.begin() + static_cast<std::ptrdiff_t>(first - m_first));
        std::erase_if(m_missing, [first](uint64_t psn) { return psn < first; });
        m_first = first;
    }

  private:
    /// What is known of a packet.
    enum PacketState : uint8_t
    {
        IN_FLIGHT, ///< sent
        ACKED,     ///< received
        MISSING,   ///< to be repeated
        REPEATED,  ///< repeated once since the last time-out
    };

    uint64_t m_first{0};             //!< packet of m_state's first entry
    std::deque<PacketState> m_state; //!< of packets from m_first on
    std::deque<uint64_t> m_missing;  //!< packets to repeat
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SCOREBOARD_H */
