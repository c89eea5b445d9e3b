/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FORWARDING_LEAST_QUEUE_H
#define FORWARDING_LEAST_QUEUE_H

#include "ns3/lossless-forwarding-policy.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{
namespace forwarding
{

/**
 * @ingroup forwarding
 * @brief Local adaptive forwarding: each frame takes the next hop whose egress queue of its class
 * is the shortest.
 *
 * The length counts the bytes queued in the frame's class at that port, without the frame on the
 * wire and without frames still in the switch's pipeline (Switch::Latency). Ties are broken at
 * random. With Refresh, a length that was read is reused for that time. Queues further downstream
 * are not considered.
 */
class LeastQueue : public lossless::ForwardingPolicy
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    std::size_t Choose(const lossless::Frame& frame, lossless::NextHops hops) override;

  private:
    /// A queue length that was read.
    struct Reading
    {
        int64_t time{-1}; //!< when (ps); -1: never
        int64_t bytes{0}; //!< length (B)
    };

    int64_t Read(uint16_t port, uint8_t cls);

    Time m_refresh;                  //!< attribute
    std::vector<Reading> m_readings; //!< by port and class
    std::vector<std::size_t> m_best; //!< indices of the shortest queues
};

} // namespace forwarding
} // namespace ns3

#endif /* FORWARDING_LEAST_QUEUE_H */
