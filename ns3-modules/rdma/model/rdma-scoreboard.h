/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SCOREBOARD_H
#define RDMA_SCOREBOARD_H

#include "ns3/lossless-state-visitor.h"

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
 *
 * Beside IRN's rules: a packet of which the receiver got a truncated frame is lost for certain. It
 * is retransmitted before all others, as often as that is reported, and says nothing of earlier
 * packets, which it may have overtaken.
 */
class Scoreboard
{
  public:
    /// A further packet was sent for the first time.
    void AddSent()
    {
        m_packets.push_back(State::SENT);
    }

    /// @return true if a packet is to be retransmitted.
    bool HasMissing() const
    {
        return m_next < m_lostEnd || HasTruncated();
    }

    /// @return true if a packet is to be retransmitted because it came truncated.
    bool HasTruncated() const
    {
        return !m_truncated.empty();
    }

    /// The packet to retransmit next. Precondition: HasMissing.
    /// @return its number; it counts as retransmitted from now on.
    uint64_t TakeMissing()
    {
        if (HasTruncated())
        {
            const uint64_t psn = m_truncated.front();
            StateOf(psn) = State::REPEATED;
            Skip();
            return psn;
        }
        const uint64_t psn = m_next++;
        m_recoveryEnd = m_first + m_packets.size();
        Skip();
        return psn;
    }

    /// The receiver has received a packet.
    /// @param psn its number.
    void NoteReceived(uint64_t psn)
    {
        if (IsOutstanding(psn))
        {
            StateOf(psn) = State::RECEIVED;
            Skip();
        }
    }

    /// The receiver got a truncated frame of a packet.
    /// @param psn its number.
    void NoteTruncated(uint64_t psn)
    {
        if (IsOutstanding(psn) && StateOf(psn) != State::RECEIVED &&
            StateOf(psn) != State::TRUNCATED)
        {
            StateOf(psn) = State::TRUNCATED;
            m_truncated.push_back(psn);
            Skip();
        }
    }

    /// All packets before a given one are lost, unless they were received.
    /// @param end that packet.
    void MarkMissing(uint64_t end)
    {
        m_lostEnd = std::max(m_lostEnd, std::min<uint64_t>(end, m_first + m_packets.size()));
        Skip();
    }

    /// A timeout has expired. Precondition: packets are outstanding.
    /// @param all whether all packets that were not received are lost, else only the first one in
    /// addition.
    void NoteTimeout(bool all)
    {
        std::ranges::replace(m_packets, State::REPEATED, State::SENT);
        m_next = m_first;
        MarkMissing(m_first + (all ? m_packets.size() : 1));
    }

    /// All packets before a given one are acknowledged.
    /// @param first that packet, later than before.
    void Advance(uint64_t first)
    {
        m_packets.erase(m_packets.begin(),
                        m_packets.begin() + static_cast<std::ptrdiff_t>(first - m_first));
        m_first = first;
        m_next = std::max(m_next, first);
        if (first < m_recoveryEnd && m_next == first)
        {
            MarkMissing(first + 1);
        }
        Skip();
    }

    /// Visit the state: nothing is lost. @param visitor visitor. @param flow its flow.
    void Visit(lossless::StateVisitor& visitor, uint32_t flow)
    {
        visitor.Inside(*this);
        visitor.Require(m_truncated.empty() && m_lostEnd <= m_first && m_recoveryEnd <= m_first,
                        "packets are out of order");
        visitor.Packet(flow, m_first);
        visitor.Packet(flow, m_next);
        visitor.Same(m_packets.size(), m_lostEnd, m_recoveryEnd);
        visitor.Derived(m_packets);
        for (const State state : m_packets)
        {
            visitor.Same(static_cast<int>(state));
        }
    }

  private:
    /// What is known of a packet.
    enum class State : uint8_t
    {
        SENT,      ///< nothing, or that a later one was received
        RECEIVED,  ///< the receiver has it
        TRUNCATED, ///< a truncated frame was received; to be retransmitted
        REPEATED,  ///< retransmitted for that reason
    };

    bool IsOutstanding(uint64_t psn) const
    {
        return psn >= m_first && psn - m_first < m_packets.size();
    }

    State& StateOf(uint64_t psn)
    {
        return m_packets[psn - m_first];
    }

    /// Advance to packets that are to be retransmitted.
    void Skip()
    {
        while (m_next < m_lostEnd && StateOf(m_next) != State::SENT)
        {
            ++m_next;
        }
        while (!m_truncated.empty() && (!IsOutstanding(m_truncated.front()) ||
                                        StateOf(m_truncated.front()) != State::TRUNCATED))
        {
            m_truncated.pop_front();
        }
    }

    uint64_t m_first{0};              //!< first packet not acknowledged
    std::deque<State> m_packets;      //!< by packet from m_first on
    std::deque<uint64_t> m_truncated; //!< packets reported as truncated, in turn
    uint64_t m_next{0};               //!< next packet to retransmit, if it is before m_lostEnd
    uint64_t m_lostEnd{0};            //!< packets before it of which nothing is known are lost
    uint64_t m_recoveryEnd{
        0}; //!< first packet that had not been sent before the last retransmission
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SCOREBOARD_H */
