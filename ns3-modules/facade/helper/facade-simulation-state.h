/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_SIMULATION_STATE_H
#define FACADE_SIMULATION_STATE_H

#include "facade-repeats.h"
#include "facade-run-claim.h"
#include "facade-traffic.h"

#include "ns3/deadlock-monitor.h"
#include "ns3/lossless-fabric.h"
#include "ns3/observe-pcap-helper.h"
#include "ns3/observe-probe.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief What the doors of a Simulation share: all that needs ns-3's headers.
 */
class SimulationState
{
  public:
    /// Constructor. @param seed the run's seed, from 1.
    explicit SimulationState(uint64_t seed);
    ~SimulationState();
    /// Has what ends a run occurred? @return true if so.
    bool IsDone() const;
    /// At the first Run, let cells run on their own, unless something of the run needs one order
    /// of time.
    void ChooseCells();
    /// What repeats skipped, in words. @return a line; empty if nothing was to be skipped.
    std::string DescribeRepeats() const;
    /// What keeps several threads from running the cells, if several are asked for.
    /// @return the problem; empty: none.
    std::string FindThreadProblem();
    /// A table. @param table its number; 0 is "flow". @return it; Refuse if there is none.
    const observe::Table& TableAt(uint32_t table) const;
    /// A column. @param table number of its table. @param column its number in it.
    /// @return it; Refuse if there is none.
    const observe::Table::AnyColumn& ColumnAt(uint32_t table, uint32_t column) const;

    RunClaim claim;                                   //!< claim on ns-3's global state
    Ptr<lossless::Fabric> fabric;                     //!< the network
    deadlock::DeadlockMonitor* deadlocks;             //!< of the network
    observe::Recorder* recorder;                      //!< tables of the network
    Traffic traffic;                                  //!< the flows
    observe::Table flows{"flow"};                     //!< result of every flow
    std::unique_ptr<observe::FabricPcapHelper> pcaps; //!< captures, or null
    bool silenced{false};                             //!< a host will pause forever
    uint32_t threads{1};                              //!< see SetThreads
    Repeats::Mode repeatMode{Repeats::Mode::OFF};     //!< see SetRepeats
    std::unique_ptr<Repeats> repeats;                 //!< or null
    bool cellsChosen{false};                          //!< see ChooseCells
    std::string oneCell;                              //!< why all is one cell; empty: it is not
    bool finished{false};                             //!< Finish was called
    std::string problems;                             //!< what it found

  private:
    /// What needs one order of time, besides what the network knows.
    /// @return the first such thing; empty: there is none.
    std::string FindObstacle();
    /// Are deadlocks judged, and may there be any? @return true if so.
    bool MayDeadlock();
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_SIMULATION_STATE_H */
