/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_RUN_CLAIM_H
#define FACADE_RUN_CLAIM_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief What a run takes of what ns-3 has one of in a process: the seed, the clock and the event
 * loop.
 */
class RunClaim
{
  public:
    /// Take the seed, and the event loop unless somebody chose another; throws std::logic_error if
    /// somebody chose another seed.
    /// @param seed the run's seed, from 1; ns-3's RngRun.
    explicit RunClaim(uint64_t seed);
    ~RunClaim();
    RunClaim(const RunClaim&) = delete;
    RunClaim& operator=(const RunClaim&) = delete;

    /// Choose the event loop.
    /// @param typeId full TypeId name of an ns3::SimulatorImpl.
    void SetSimulator(const std::string& typeId);
    /// Take the clock; throws std::logic_error if another run has it, or if
    /// the event loop is another.
    void RequireClock() const;
    /// The run is built: the clock is its own until it is deleted.
    void Begin();

  private:
    void Choose() const;

    std::string m_simulator; //!< TypeId name of the event loop
    bool m_built{false};     //!< it has the clock
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_RUN_CLAIM_H */
