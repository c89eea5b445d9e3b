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
 * @brief A scale-up domain, over which the hosts of a server talk without the network.
 *
 * Every host has one link into the domain and one out of it. A link carries whole messages one
 * after the other: outward in the order of their starts, inward in that in which their first bits
 * arrive. A message of S bytes that begins to leave at t arrives from t + delay to t + delay +
 * 8 S / rate, or as much later as the inward link is busy. Nothing is lost and nothing is answered.
 */
class ScaleUp
{
  public:
    /// A domain.
    /// @param rate of each link (bit/s). @param delay from link to link (ps).
    ScaleUp(uint64_t rate, int64_t delay);

    /// How long a message takes alone.
    /// @param bytes its size. @return ps.
    int64_t GetTime(uint64_t bytes) const;
    /// Carry a message, from now on.
    /// @param from number of the host that it comes from. @param to of the one that it goes to.
    /// @param bytes its size. @param done called when it is there.
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
