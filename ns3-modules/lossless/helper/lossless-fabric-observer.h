/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FABRIC_OBSERVER_H
#define LOSSLESS_FABRIC_OBSERVER_H

#include "ns3/lossless-flow-control.h"

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief What watches a whole fabric from outside and has numbers of its own: the tables of a run,
 * who judges deadlocks.
 *
 * The fabric owns its observers (Fabric::AddObserver), calls them in the order in which they were
 * added and knows nothing else of them. An observer changes nothing
 * in the network.
 */
class FabricObserver
{
  public:
    FabricObserver() = default;
    virtual ~FabricObserver() = default;
    FabricObserver(const FabricObserver&) = delete;
    FabricObserver& operator=(const FabricObserver&) = delete;

    /// The fabric is built; the run has not begun.
    virtual void NotifyBuilt()
    {
    }

    /// The run is over.
    virtual void NotifyFinish()
    {
    }

    /// Add numbers to the run's summary.
    /// @param summary where to.
    virtual void Report([[maybe_unused]] Summary& summary) const
    {
    }
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_OBSERVER_H */
