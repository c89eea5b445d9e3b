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
 * @brief Observes a whole fabric from outside and contributes to the summary: the tables of a run,
 * the monitor of deadlocks.
 *
 * The fabric owns its observers (Fabric::AddObserver) and calls them in the order in which they
 * were added; it knows nothing else about them. An observer changes nothing in the network.
 */
class FabricObserver
{
  public:
    FabricObserver() = default;
    virtual ~FabricObserver() = default;
    FabricObserver(const FabricObserver&) = delete;
    FabricObserver& operator=(const FabricObserver&) = delete;

    /// The fabric is built; the run has not started.
    virtual void NotifyBuilt()
    {
    }

    /// The run is over.
    virtual void NotifyFinish()
    {
    }

    /// What it observes that needs all nodes in one order of time, see Fabric::RunInCells.
    /// @return the first such thing; empty: there is none.
    virtual std::string GetCellObstacle() const
    {
        return {};
    }

    /// Add values to the summary of the run.
    /// @param summary the summary.
    virtual void Report([[maybe_unused]] Summary& summary) const
    {
    }
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_OBSERVER_H */
