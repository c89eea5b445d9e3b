/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FORWARDING_SPRAY_H
#define FORWARDING_SPRAY_H

#include "ns3/lossless-forwarding-policy.h"

#include <vector>

/**
 * @defgroup forwarding Forwarding policies
 *
 * How a switch chooses among equal-cost next hops, other than by a hash.
 */

namespace ns3
{
namespace forwarding
{

/**
 * @ingroup forwarding
 * @brief Per-packet spraying: each frame takes the next of the equal-cost next hops in turn, or a
 * random one.
 */
class Spray : public lossless::ForwardingPolicy
{
  public:
    /// Which next hop is taken.
    enum class Order
    {
        RANDOM,      ///< uniformly at random, independent of earlier frames
        ROUND_ROBIN, ///< the next one of the set, in turn
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::size_t Choose(const lossless::Frame& frame, lossless::NextHops hops) override;

  private:
    /// A set of next hops that frames choose from.
    struct Group
    {
        std::vector<uint16_t> ports; //!< the next hops
        std::size_t next;            //!< index of the next one to take
    };

    Order m_order;               //!< attribute
    std::vector<Group> m_groups; //!< for RoundRobin; a switch has few different sets
};

} // namespace forwarding
} // namespace ns3

#endif /* FORWARDING_SPRAY_H */
