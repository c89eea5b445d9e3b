/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_SIMULATION_H
#define FACADE_SIMULATION_H

// Nothing of ns-3 may be included here: Python parses this header at the start of every run.
#include "facade-simulation-flows.h"
#include "facade-simulation-network.h"
#include "facade-simulation-results.h"

#include <cstdint>
#include <memory>
#include <string>

/**
 * @defgroup facade Facade
 *
 * The one door to a whole experiment, for programs and Python.
 */

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief One run, described by flat arrays and strings: the facade that Python drives.
 *
 * Three doors behind one object: what the network is, what flows on it, what came of it. Here is
 * what runs it.
 *
 * Call order: constructor; Set / Add functions; Build; Check; Run (once or in slices); results.
 * Node, link and flow numbers count from 0 in the order in which they were added. Every function
 * throws std::invalid_argument, with a sentence that names the argument, when it is called with
 * something that does not exist, and std::logic_error when it comes too early or too late. In
 * Python these are exceptions of Python.
 *
 * A neighbour, a node on a path, and the column `peer` of a table is the number of a node. Where
 * two switches have several links, the number of all nodes + 2 link is the first node of a link,
 * reached by that link, and one more its second node.
 *
 * A process has one clock and one built Simulation: delete it before the next one's Build.
 */
class Simulation : public SimulationNetwork, public SimulationFlows, public SimulationResults
{
  public:
    /**
     * @brief Create an empty network, with all random streams derived from the seed.
     *
     * A seed or an event loop that was chosen before, by the command line, is not overridden
     * silently: an RngRun other than the seed, or an RngSeed, throws std::logic_error, and
     * SimulatorImplementationType is kept (except for ns-3's default: select it by SetSimulator).
     * Programs pass RngSeedManager::GetRun().
     * @param seed the run's seed, from 1; ns-3's RngRun.
     */
    explicit Simulation(uint64_t seed);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Describe all registered types of the given modules as JSON.
    /// @param groups comma-separated TypeId group names ("lossless,rdma,gfc").
    /// @return a JSON list of {name, was, parent, group, abstract, signaller, telemetry,
    /// attributes: [{name, help, type, default, allowed}], traces: [{name, help, callback}]}; `was`
    /// is an old name that is still understood, or empty, the signaller that of
    /// CongestionControl::GetSignaller, telemetry what WantsTelemetry says.
    static std::string Describe(const std::string& groups);
    /// Select the event loop. The default orders events of the same time by place; it makes one
    /// cell of the network where something needs that, and Notes says why. All others order them by
    /// when they were scheduled, and have the same results as each other, which differ from those
    /// of the default in such ties.
    /// @param typeId full TypeId name of an ns3::SimulatorImpl; "ns3::eventloop::CellLoop" unless
    /// called, or chosen by the command line. Before anything is scheduled.
    void SetSimulator(const std::string& typeId);
    /// Let several threads run one simulation, each a part of the network's cells: the results are
    /// the same bytes. Before Run, which throws where a run needs one order of time, and says why.
    /// @param threads number, from 1.
    void SetThreads(uint32_t threads);
    /// Skip what repeats itself exactly, before the first Run.
    /// @param repeats "off", "on", or "verify": what a skip would lead to is simulated and
    /// compared.
    void SetRepeats(const std::string& repeats);
    /// Check for deadlocks periodically, and at the end in any case.
    /// @param period ps between two checks; 0: only at the end. @param stop end the run at one.
    void SetDeadlockTest(int64_t period, bool stop);
    /// Judge no deadlocks: the summary has nothing about them, and their tables are rejected.
    void SwitchOffOracle();
    /// Create ports, buffers, routes and queue pairs. Nothing may be added afterwards.
    void Build();
    /// Errors that make this configuration impossible.
    /// @return one problem per line; empty if none.
    std::string Check() const;
    /// Warnings about settings that may be intended (outside a sufficient bound).
    /// @return one warning per line.
    std::string Warnings() const;
    /// Simulate up to a time: what happens before it. Not to be called after Finish.
    /// @param until ps.
    /// @return false once all finite flows are done, if requested by SetStopWhenDone (Now() is then
    /// the time of the last one, whatever `until` is), or once a deadlock was found, if requested
    /// by SetDeadlockTest. Otherwise true, and Now() is `until`, even if no events are left: a run
    /// lasts as long as requested.
    bool Run(int64_t until);
    /// Simulated time. @return ps.
    int64_t Now() const;
    /// Number of events executed so far. @return count.
    uint64_t GetEventCount() const;
    /// Close open intervals, fill the table "flow" and check that bytes are conserved. Further
    /// calls return the result of the first one.
    /// @return problems, one per line; empty if none.
    std::string Finish();

  private:
    /// Constructor. @param state what the doors share.
    explicit Simulation(const std::shared_ptr<SimulationState>& state);

    std::shared_ptr<SimulationState> m_state; //!< what the doors share
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_SIMULATION_H */
