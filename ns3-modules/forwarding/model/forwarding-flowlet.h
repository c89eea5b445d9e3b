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
 * @brief Flowlets: a flow stays on its next hop until it pauses for a while, then takes a random
 * one.
 *
 * A frame that comes Gap or more after the one before it in its entry begins a flowlet. Where Gap
 * is longer than the ways differ in delay, nothing is overtaken. Flows are told apart by their
 * hash, in a table of TableSize entries; those that share one share their flowlets.
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
    /// What is known of the flows of one hash.
    struct Entry
    {
        int64_t last{0};                  //!< when the last frame came (ps)
        uint16_t port{lossless::NO_PORT}; //!< where it went
    };

    // Attributes
    Time m_gap;           //!< silence that ends a flowlet
    uint32_t m_tableSize; //!< entries

    std::vector<Entry> m_table; //!< by hash
    uint64_t m_flowlets{0};     //!< begun
};

} // namespace forwarding
} // namespace ns3

#endif /* FORWARDING_FLOWLET_H */
