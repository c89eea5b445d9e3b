/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_ARRIVALS_H
#define RDMA_ARRIVALS_H

#include "ns3/lossless-state-visitor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief Tracks which packets of a queue pair have reached its receiver.
 */
class Arrivals
{
  public:
    /// Keep packets received out of order from now on.
    void KeepAhead()
    {
        m_kept = std::make_unique<std::deque<bool>>();
    }

    /// @return the next packet in order.
    uint64_t GetExpected() const
    {
        return m_expected;
    }

    /// One past the latest packet that has arrived. @return its number.
    uint64_t GetFrontier() const
    {
        return std::max(m_seen, m_expected + (m_kept ? m_kept->size() : 0));
    }

    /// Was a first transmission overtaken by a later one? Packets are first sent in order, each
    /// once: so it was if it arrives after a later one.
    /// @param psn its number. @param distance raised to the number of places behind the latest.
    /// @return true if so.
    bool IsOvertaken(uint64_t psn, uint64_t& distance)
    {
        const bool overtaken = psn < m_seen;
        if (overtaken)
        {
            distance = std::max(distance, m_seen - 1 - psn);
        }
        m_seen = std::max(m_seen, psn + 1);
        return overtaken;
    }

    /// Record a packet ahead of the next one in order. Precondition: KeepAhead.
    /// @param psn its number.
    void Keep(uint64_t psn)
    {
        const std::size_t at = psn - m_expected;
        if (m_kept->size() <= at)
        {
            m_kept->resize(at + 1, false);
        }
        (*m_kept)[at] = true;
    }

    /// The next packet in order has arrived. @return true if the one after it was kept.
    bool TakeNext()
    {
        ++m_expected;
        if (m_kept && !m_kept->empty())
        {
            m_kept->pop_front();
        }
        return m_kept && !m_kept->empty() && m_kept->front();
    }

    /// Visit the state. @param visitor visitor. @param flow its flow.
    void Visit(lossless::StateVisitor& visitor, uint32_t flow)
    {
        visitor.Inside(*this);
        visitor.Packet(flow, m_expected);
        visitor.Packet(flow, m_seen);
        visitor.Require(!m_kept || m_kept->empty(), "packets are out of order");
    }

  private:
    uint64_t m_expected{0}; //!< next packet in order
    uint64_t m_seen{0};     //!< one past the latest packet received, retransmissions not counted
    std::unique_ptr<std::deque<bool>>
        m_kept; //!< from m_expected on: received; null: packets are not kept
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_ARRIVALS_H */
