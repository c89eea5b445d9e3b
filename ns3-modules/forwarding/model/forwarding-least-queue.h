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
 * Counted are the bytes that wait in the queues of the frame's class at that port, not the frame on
 * the wire, nor frames still on their way through the switch (Switch::Latency). Ties are broken at
 * random. With Refresh, a length that was read is believed for so long. Of queues further on
 * nothing is known.
 */
class LeastQueue : public lossless::ForwardingPolicy
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    std::size_t Choose(const lossless::Frame& frame, lossless::NextHops hops) override;

  private:
    /// A queue as it was when somebody looked.
    struct Reading
    {
        int64_t time{-1}; //!< when (ps); -1: never
        int64_t bytes{0}; //!< bytes in it
    };

    int64_t Read(uint16_t port, uint8_t cls);

    Time m_refresh;                  //!< attribute
    std::vector<Reading> m_readings; //!< by port and class
    std::vector<std::size_t> m_best; //!< places of the shortest queues
};

} // namespace forwarding
} // namespace ns3

#endif /* FORWARDING_LEAST_QUEUE_H */
