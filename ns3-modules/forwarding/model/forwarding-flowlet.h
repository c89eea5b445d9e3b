/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FORWARDING_FLOWLET_H
#define FORWARDING_FLOWLET_H

#include "ns3/lossless-forwarding-policy.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{
namespace forwarding
{

/**
 * @ingroup forwarding
 * @brief Flowlets: a flow stays on its next hop until it is idle for a while, then takes a random
 * one.
 *
 * A frame that arrives Gap or more after the previous one of its table entry starts a flowlet. If
 * Gap exceeds the difference in delay between paths, frames are not reordered. Flows are mapped by
 * their hash to TableSize entries; those in the same entry share their flowlets.
 */
class Flowlet : public lossless::ForwardingPolicy
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    std::size_t Choose(const lossless::Frame& frame, lossless::NextHops hops) override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// State of the flows of one table entry.
    struct Entry
    {
        int64_t last{0};                  //!< when the last frame arrived (ps)
        uint16_t port{lossless::NO_PORT}; //!< its next hop
    };

    // Attributes
    Time m_gap;           //!< idle time that ends a flowlet
    uint32_t m_tableSize; //!< number of entries

    std::vector<Entry> m_table; //!< by hash
    uint64_t m_flowlets{0};     //!< flowlets started
};

} // namespace forwarding
} // namespace ns3

#endif /* FORWARDING_FLOWLET_H */
