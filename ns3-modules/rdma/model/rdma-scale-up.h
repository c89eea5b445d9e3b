/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SCALE_UP_H
#define RDMA_SCALE_UP_H

#include "ns3/callback.h"

#include <cstdint>
#include <map>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief A scale-up domain, over which the hosts of a server communicate without the network.
 *
 * Every host has one link into the domain and one out of it. A link carries whole messages one at a
 * time: outward in the order of their starts, inward in the order in which their first bits arrive.
 * A message of S bytes that starts to leave at t arrives from t + delay to t + delay + 8 S / rate,
 * or later by the time that the inward link is busy. Nothing is lost and nothing is acknowledged.
 */
class ScaleUp
{
  public:
    /// Constructor.
    /// @param rate rate of each link (bit/s). @param delay from link to link (ps).
    ScaleUp(uint64_t rate, int64_t delay);

    /// Transfer time of a message on the idle domain.
    /// @param bytes its size. @return ps.
    int64_t GetTime(uint64_t bytes) const;
    /// Carry a message, starting now.
    /// @param from number of the sending host. @param to number of the receiving host.
    /// @param bytes its size. @param done called on arrival.
    void Carry(uint32_t from, uint32_t to, uint64_t bytes, Callback<void> done);

  private:
    int64_t GetTransmission(uint64_t bytes) const;
    void Arrive(uint32_t to, uint64_t bytes, Callback<void> done);

    uint64_t m_rate;                       //!< bit/s
    int64_t m_delay;                       //!< ps
    std::map<uint32_t, int64_t> m_outward; //!< by host: when its link is free (ps)
    std::map<uint32_t, int64_t> m_inward;  //!< by host: when its link is free (ps)
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SCALE_UP_H */
