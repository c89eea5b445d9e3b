/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_FORWARDING_POLICY_H
#define @GUARD@_FORWARDING_POLICY_H

#include "ns3/lossless-forwarding-policy.h"

/**
 * @defgroup @module@ @title@
 *
 * A forwarding policy.
 */

namespace ns3
{
namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief Leaves the next hop of ECMP while its egress queue is long, for a random one.
 *
 * A frame takes the next hop given by the hash of its flow, unless more than Limit waits there in
 * its class. Then it takes a random next hop, so that frames may be reordered.
 */
class @Class@ : public lossless::ForwardingPolicy
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    std::size_t Choose(const lossless::Frame& frame, lossless::NextHops hops) override;
    void Report(lossless::Summary& summary) const override;

  private:
    int64_t m_limit; //!< attribute (B)

    uint64_t m_left{0}; //!< frames not bound to the next hop of the hash
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_FORWARDING_POLICY_H */
