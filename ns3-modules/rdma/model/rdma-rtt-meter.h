/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_RTT_METER_H
#define RDMA_RTT_METER_H

#include <algorithm>
#include <cstdint>
#include <deque>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief Measures the round-trip times of a sender: from the creation of a packet to the answer
 * that it caused at the receiver.
 *
 * Every answer to a packet gives one, whatever else it acknowledges and whatever was answered
 * before, as if it echoed a time stamp of the packet (RFC 7323; Swift and the public simulators of
 * HPCC and PowerTCP do). By Karn's rule a packet that was sent again gives none, since answers
 * carry no such stamp: it is unknown which of the two the answer is for. A control that wants fewer
 * chooses among them.
 */
class RttMeter
{
  public:
    /// A packet was sent.
    /// @param psn its number; first transmissions come in ascending order.
    /// @param repeat whether it was sent before. @param now ps.
    void NoteSent(uint64_t psn, bool repeat, int64_t now)
    {
        if (!repeat)
        {
            m_probes.push_back({psn, now});
            return;
        }
        Take(psn);
    }

    /// An answer has arrived.
    /// @param first packets below this one are acknowledged. @param answered packet it answers.
    /// @param now ps. @return the round-trip time (ps); -1: it gives none.
    int64_t Read(uint64_t first, uint64_t answered, int64_t now)
    {
        int64_t sent = answered < first ? -1 : Take(answered);
        for (; !m_probes.empty() && m_probes.front().psn < first; m_probes.pop_front())
        {
            sent = m_probes.front().psn == answered ? m_probes.front().sent : sent;
        }
        return sent < 0 ? -1 : now - sent;
    }

  private:
    /// A packet that was sent once.
    struct Probe
    {
        uint64_t psn; //!< its number
        int64_t sent; //!< when it was sent (ps)
    };

    /// Forget a packet. @return when it was sent (ps); -1: it is not known.
    int64_t Take(uint64_t psn)
    {
        const auto probe = std::ranges::lower_bound(m_probes, psn, {}, &Probe::psn);
        if (probe == m_probes.end() || probe->psn != psn)
        {
            return -1;
        }
        const int64_t sent = probe->sent;
        m_probes.erase(probe);
        return sent;
    }

    std::deque<Probe> m_probes; //!< sent once and not answered, by number
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_RTT_METER_H */
