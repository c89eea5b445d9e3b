/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_FRAME_LIMITS_H
#define FACADE_FRAME_LIMITS_H

#include "ns3/lossless-fabric.h"
#include "ns3/rdma-queue-pair.h"

#include <string>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Which frames the links of a network take: the Mtu of their ports.
 *
 * Routes may change, so that every flow has to fit the smallest one between switches.
 */
class FrameLimits
{
  public:
    /// Read the ports.
    /// @param fabric the network, built.
    explicit FrameLimits(const lossless::Fabric& fabric);

    /// Do the frames of a queue pair fit?
    /// @param queuePair with both hosts. @return what is wrong and what to do, a line; empty: they
    /// fit.
    std::string Check(const rdma::QueuePair& queuePair) const;

  private:
    const lossless::Port* m_tightest{nullptr}; //!< of those between switches; null: take any frame
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_FRAME_LIMITS_H */
