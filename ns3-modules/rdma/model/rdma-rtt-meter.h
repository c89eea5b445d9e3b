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

/// Which round-trip times a congestion control gets with an answer.
enum class RttRule
{
    NONE,     ///< none
    ANSWERED, ///< that of the packet answered
    LATEST,   ///< the same, but none if a later packet was answered before
    CHOSEN,   ///< of the packets that the control chose, that of the last one acknowledged
};

/**
 * @ingroup rdma
 * @brief Measures the round-trip times of a sender: from the creation of a packet to the answer
 * that acknowledges it.
 *
 * By Karn's rule a packet that is sent again is not measured, since it is unknown which of the two
 * the answer is for. The rules differ in what they make of answers that come out of order, or that
 * acknowledge several packets; each is that of the scheme that uses it.
 */
class RttMeter
{
  public:
    /// Set the rule, before the first packet.
    /// @param rule the rule.
    void SetRule(RttRule rule)
    {
        m_rule = rule;
    }

    /// @return the rule.
    RttRule GetRule() const
    {
        return m_rule;
    }

    /// @return true if a packet is being measured.
    bool IsMeasuring() const
    {
        return !m_probes.empty();
    }

    /// A packet that is to be measured was sent, or any packet was sent again.
    /// @param psn its number; first transmissions come in ascending order.
    /// @param repeat whether it was sent before. @param now ps.
    void NoteSent(uint64_t psn, bool repeat, int64_t now)
    {
        if (!repeat)
        {
            m_probes.push_back({psn, now});
            return;
        }
        const auto probe = Find(psn);
        if (probe != m_probes.end() && probe->psn == psn)
        {
            m_probes.erase(probe);
        }
    }

    /// An answer has arrived.
    /// @param first packets below this one are acknowledged. @param answered packet it answers.
    /// @param now ps. @return the round-trip time (ps); -1: it gives none.
    int64_t Read(uint64_t first, uint64_t answered, int64_t now)
    {
        int64_t sent = -1;
        switch (m_rule)
        {
        case RttRule::NONE:
            break;
        case RttRule::ANSWERED: {
            const auto probe = Find(answered);
            sent = probe != m_probes.end() && probe->psn == answered ? probe->sent : -1;
            PopBelow(first);
            break;
        }
        case RttRule::LATEST:
            PopBelow(answered);
            sent = PopIf(answered);
            break;
        case RttRule::CHOSEN:
            sent = PopBelow(first);
            sent = std::max(sent, PopIf(answered));
            break;
        }
        return sent < 0 ? -1 : now - sent;
    }

  private:
    /// A measured packet.
    struct Probe
    {
        uint64_t psn; //!< its number
        int64_t sent; //!< when it was sent (ps)
    };

    /// The first probe of at least a number.
    std::deque<Probe>::iterator Find(uint64_t psn)
    {
        return std::lower_bound(
            m_probes.begin(),
            m_probes.end(),
            psn,
            [](const Probe& probe, uint64_t number) { return probe.psn < number; });
    }

    /// Forget the packets below one; when the last of them was sent, or -1.
    int64_t PopBelow(uint64_t psn)
    {
        int64_t sent = -1;
        while (!m_probes.empty() && m_probes.front().psn < psn)
        {
            sent = m_probes.front().sent;
            m_probes.pop_front();
        }
        return sent;
    }

    /// Forget the first packet if it is a given one; when it was sent, or -1.
    int64_t PopIf(uint64_t psn)
    {
        return IsMeasuring() && m_probes.front().psn == psn ? PopBelow(psn + 1) : -1;
    }

    RttRule m_rule{RttRule::NONE}; //!< the rule
    std::deque<Probe> m_probes;    //!< packets being measured, by number
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_RTT_METER_H */
