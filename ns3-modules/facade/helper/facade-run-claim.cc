/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-run-claim.h"

#include "ns3/global-value.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-refusal.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

namespace ns3
{
namespace facade
{

using lossless::Refuse;
using lossless::RefuseNow;

namespace
{

/// Settings made by runs of this process; other settings come from elsewhere.
struct Chosen
{
    uint64_t run{1};   //!< RngRun; 1 is ns-3's default
    uint32_t built{0}; //!< number of runs that have been built and still exist
};

Chosen g_chosen; //!< of this process

} // namespace

RunClaim::RunClaim(uint64_t seed)
{
    if (seed == 0)
    {
        Refuse("the seed of a run cannot be 0; seeds start at 1");
    }
    const uint64_t run = RngSeedManager::GetRun();
    if (RngSeedManager::GetSeed() != 1 || (run != g_chosen.run && run != seed))
    {
        RefuseNow("other code has set RngSeed ",
                  RngSeedManager::GetSeed(),
                  " and RngRun ",
                  run,
                  " before Simulation(",
                  seed,
                  "); leave RngSeed 1 and pass RngSeedManager::GetRun() as the seed");
    }
    lossless::UsePicoseconds();
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    g_chosen.run = seed;
    StringValue chosen;
    GlobalValue::GetValueByName("SimulatorImplementationType", chosen);
    const bool byDefault = chosen.Get() == "ns3::DefaultSimulatorImpl";
    m_simulator = byDefault ? "ns3::eventloop::CellLoop" : chosen.Get();
    if (byDefault)
    {
        Choose();
    }
}

RunClaim::~RunClaim()
{
    g_chosen.built -= m_built;
}

void
RunClaim::Choose() const
{
    const bool idle = Simulator::IsFinished() && Simulator::GetEventCount() == 0;
    if (idle && Simulator::GetImplementation()->GetInstanceTypeId().GetName() != m_simulator)
    {
        ObjectFactory factory(m_simulator);
        Simulator::Destroy(); // an idle one, created by the query
        Simulator::SetImplementation(factory.Create<SimulatorImpl>());
        // The fastest of ns-3's schedulers; the loops of the module eventloop have their own.
        Simulator::SetScheduler(ObjectFactory("ns3::PriorityQueueScheduler"));
    }
}

void
RunClaim::RequireClock() const
{
    if (g_chosen.built > 0)
    {
        // Also a finished one: this run would begin at its end, and end with it.
        RefuseNow("another Simulation still exists, and ns-3 has only one clock: copy its "
                  "results and delete it before Build");
    }
    Choose();
    const std::string used = Simulator::GetImplementation()->GetInstanceTypeId().GetName();
    if (used != m_simulator)
    {
        RefuseNow("ns-3 is already running ",
                  used,
                  ", not ",
                  m_simulator,
                  ": an event was scheduled, or a node was created, before; create the "
                  "facade::Simulation first, or select that event loop by SetSimulator");
    }
}

void
RunClaim::SetSimulator(const std::string& typeId)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(typeId, &tid) ||
        !tid.IsChildOf(TypeId::LookupByName("ns3::SimulatorImpl")))
    {
        Refuse("there is no event loop '", typeId, "'");
    }
    m_simulator = typeId;
    Choose();
}

void
RunClaim::Begin()
{
    ++g_chosen.built;
    m_built = true;
}

} // namespace facade
} // namespace ns3
