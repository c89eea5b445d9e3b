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
 * that is not acknowledged to the last one sent: the loss recovery of IRN.
 *
 * A packet is lost when a NACK tells of a later one. Recovery begins with the first repeat, and
 * repeats each lost packet once, in order. It ends when all is acknowledged that had been sent
 * before the last repeat; until then an acknowledgement that passes all repeats says that the
 * packet it asks for is lost, too. A time-out begins anew with the first packet, which alone is
 * lost, or all are that were not received.
 */
class Scoreboard
{
  public:
    /// A further packet was sent for the first time.
    void AddSent()
    {
        m_received.push_back(false);
    }

    /// @return true if a packet is to be repeated.
    bool HasMissing() const
    {
        return m_next < m_lostEnd;
    }

    /// The packet to repeat next. Precondition: HasMissing.
    /// @return its number; it counts as repeated from now on.
    uint64_t TakeMissing()
    {
        const uint64_t psn = m_next++;
        m_recoveryEnd = m_first + m_received.size();
        SkipReceived();
        return psn;
    }

    /// The receiver has a packet.
    /// @param psn its number.
    void NoteReceived(uint64_t psn)
    {
        if (psn >= m_first && psn - m_first < m_received.size())
        {
            m_received[psn - m_first] = true;
            SkipReceived();
        }
    }

    /// What comes before a packet is lost, unless it was received.
    /// @param end that packet.
    void MarkMissing(uint64_t end)
    {
        m_lostEnd = std::max(m_lostEnd, std::min<uint64_t>(end, m_first + m_received.size()));
        SkipReceived();
    }

    /// Nothing was heard for too long. Precondition: something is outstanding.
    /// @param all all that was not received is lost, else what was and the first packet.
    void NoteTimeout(bool all)
    {
        m_next = m_first;
        MarkMissing(m_first + (all ? m_received.size() : 1));
    }

    /// All before a packet is acknowledged.
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
    /// Move on to a packet that was not received.
    void SkipReceived()
    {
        while (m_next < m_lostEnd && m_received[m_next - m_first])
        {
            ++m_next;
        }
    }

    uint64_t m_first{0};         //!< first packet not acknowledged
    std::deque<bool> m_received; //!< of packets from m_first on: the receiver has it
    uint64_t m_next{0};          //!< next packet to repeat, if it is before m_lostEnd
    uint64_t m_lostEnd{0};       //!< packets before it that were not received are lost
    uint64_t m_recoveryEnd{0};   //!< first packet that was not sent before the last repeat
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SCOREBOARD_H */
