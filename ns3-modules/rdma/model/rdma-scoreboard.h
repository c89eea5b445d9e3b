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
 * @brief State of the packets of a selective-repeat sender, from the first unacknowledged one to
 * the last one sent: the loss recovery of IRN.
 *
 * A packet counts as lost when a NACK reports a later one. Recovery starts with the first
 * retransmission, and retransmits each lost packet once, in order. It ends when everything sent
 * before the last retransmission is acknowledged; until then, an acknowledgement beyond all
 * retransmissions indicates that the packet it requests is lost, too. A timeout restarts with the
 * first packet: only that one counts as lost, or all that were not received.
 */
class Scoreboard
{
  public:
    /// A further packet was sent for the first time.
    void AddSent()
    {
        m_received.push_back(false);
    }

    /// @return true if a packet is to be retransmitted.
    bool HasMissing() const
    {
        return m_next < m_lostEnd;
    }

    /// The packet to retransmit next. Precondition: HasMissing.
    /// @return its number; it counts as retransmitted from now on.
    uint64_t TakeMissing()
    {
        const uint64_t psn = m_next++;
        m_recoveryEnd = m_first + m_received.size();
        SkipReceived();
        return psn;
    }

    /// The receiver has received a packet.
    /// @param psn its number.
    void NoteReceived(uint64_t psn)
    {
        if (psn >= m_first && psn - m_first < m_received.size())
        {
            m_received[psn - m_first] = true;
            SkipReceived();
        }
    }

    /// All packets before a given one are lost, unless they were received.
    /// @param end that packet.
    void MarkMissing(uint64_t end)
    {
        m_lostEnd = std::max(m_lostEnd, std::min<uint64_t>(end, m_first + m_received.size()));
        SkipReceived();
    }

    /// A timeout has expired. Precondition: packets are outstanding.
    /// @param all whether all packets that were not received are lost, else only the first one in
    /// addition.
    void NoteTimeout(bool all)
    {
        m_next = m_first;
        MarkMissing(m_first + (all ? m_received.size() : 1));
    }

    /// All packets before a given one are acknowledged.
    /// @param first that packet, later than before.
    void Advance(uint64_t first)
    {
        m_received.erase(m_received.begin(),
                         m_received.begin() + static_cast<std::ptrdiff_t>(first - m_first));
        m_first = first;
        m_next = std::max(m_next, first);
        if (first < m_recoveryEnd && m_next == first)
        {
            MarkMissing(first + 1);
        }
        SkipReceived();
    }

  private:
    /// Advance to a packet that was not received.
    void SkipReceived()
    {
        while (m_next < m_lostEnd && m_received[m_next - m_first])
        {
            ++m_next;
        }
    }

    uint64_t m_first{0};         //!< first packet not acknowledged
    std::deque<bool> m_received; //!< by packet from m_first on: received
    uint64_t m_next{0};          //!< next packet to retransmit, if it is before m_lostEnd
    uint64_t m_lostEnd{0};       //!< packets before it that were not received are lost
    uint64_t m_recoveryEnd{
        0}; //!< first packet that had not been sent before the last retransmission
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SCOREBOARD_H */
