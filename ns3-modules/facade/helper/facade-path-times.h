/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_PATH_TIMES_H
#define FACADE_PATH_TIMES_H

#include "ns3/deadlock-dependency.h"
#include "ns3/lossless-rate.h"
#include "ns3/rdma-queue-pair.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace lossless
{
class Fabric;
}

namespace facade
{

/// A saturating sum of two times, neither negative.
/// @param a ps. @param b ps. @return ps.
inline int64_t
Later(int64_t a, int64_t b)
{
    return b > lossless::NEVER - a ? lossless::NEVER : a + b;
}

/**
 * @ingroup facade
 * @brief Delays of messages and their ACKs on an otherwise idle network, as it was built.
 */
class PathTimes
{
  public:
    using Hops = std::vector<deadlock::DependencyGraph::Egress>; //!< hops of a flow's data frames

    /// Compute delays in a network.
    /// @param fabric the network; built, outlives this.
    explicit PathTimes(lossless::Fabric& fabric)
        : m_fabric(fabric)
    {
    }

    /// Time from the start of a message until its last bit is received.
    /// @param queuePair its queue pair. @param hops its path.
    /// @return ps; -1: it is endless, or there is no path.
    int64_t IdealTime(const rdma::QueuePair& queuePair, const Hops& hops) const;
    /// Delay of an ACK.
    /// @param queuePair the queue pair it acknowledges. @return ps; -1: there is no path.
    int64_t AnswerTime(const rdma::QueuePair& queuePair) const;
    /// See QueuePair::GetBaseRtt.
    /// @param queuePair the queue pair. @param hops its path. @param back AnswerTime (ps).
    /// @return ps; 0: there is no path.
    int64_t BaseRtt(const rdma::QueuePair& queuePair, const Hops& hops, int64_t back) const;

  private:
    int64_t TimeOf(uint32_t bytes, const Hops& hops) const;

    lossless::Fabric& m_fabric; //!< the network
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_PATH_TIMES_H */
