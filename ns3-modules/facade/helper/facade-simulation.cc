/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-simulation.h"

#include "facade-arguments.h"
#include "facade-simulation-state.h"
#include "facade-type-catalogue.h"

#include "ns3/lossless-refusal.h"
#include "ns3/simulator.h"

#include <map>

namespace ns3
{
namespace facade
{

using lossless::NowPs;
using lossless::Refuse;
using lossless::RefuseNow;

/// A machine has no more cores.
constexpr uint32_t MOST_THREADS = 1024;

Simulation::Simulation(uint64_t seed)
    : Simulation(std::make_shared<SimulationState>(seed))
{
    AcceptOldNames();
}

Simulation::Simulation(const std::shared_ptr<SimulationState>& state)
    : SimulationNetwork(state),
      SimulationFlows(state),
      SimulationResults(state),
      m_state(state)
{
}

Simulation::~Simulation() = default;

std::string
Simulation::Describe(const std::string& groups)
{
    return DescribeTypes(groups);
}

void
Simulation::SetSimulator(const std::string& typeId)
{
    m_state->fabric->RequireOpen("SetSimulator");
    m_state->claim.SetSimulator(typeId);
}

void
Simulation::SetThreads(uint32_t threads)
{
    if (threads == 0 || threads > MOST_THREADS)
    {
        Refuse("a run has 1 to ", MOST_THREADS, " threads, not ", threads);
    }
    m_state->threads = threads;
}

void
Simulation::SetRepeats(const std::string& repeats)
{
    static const std::map<std::string, Repeats::Mode> MODES{{"off", Repeats::Mode::OFF},
                                                            {"verify", Repeats::Mode::VERIFY},
                                                            {"on", Repeats::Mode::ON}};
    const auto mode = MODES.find(repeats);
    if (mode == MODES.end())
    {
        Refuse("repeats are \"off\", \"verify\" or \"on\", not \"", repeats, "\"");
    }
    m_state->repeatMode = mode->second;
}

void
Simulation::SetDeadlockTest(int64_t period, bool stop)
{
    m_state->deadlocks->SetTest(PicoSeconds(period), stop);
}

void
Simulation::SwitchOffOracle()
{
    m_state->deadlocks->SwitchOff();
}

void
Simulation::Build()
{
    m_state->fabric->RequireOpen("Build");
    m_state->claim.RequireClock();
    m_state->traffic.Prepare();
    m_state->fabric->Build();
    m_state->claim.Begin();
    m_state->traffic.Connect();
}

std::string
Simulation::Check() const
{
    m_state->fabric->RequireBuilt("Check");
    const std::string threads = m_state->FindThreadProblem();
    return m_state->traffic.CheckWays() + m_state->fabric->Check() + m_state->traffic.Check() +
           (threads.empty() ? "" : threads + "\n");
}

std::string
Simulation::Warnings() const
{
    m_state->fabric->RequireBuilt("Warnings");
    return m_state->fabric->Warn() + m_state->traffic.Warn();
}

bool
Simulation::Run(int64_t until)
{
    m_state->fabric->RequireBuilt("Run");
    if (m_state->finished)
    {
        RefuseNow("Run was called after Finish: the results are complete");
    }
    RequireTime("the end of a run", until);
    const int64_t now = NowPs();
    if (!m_state->IsDone() && until > now)
    {
        m_state->ChooseCells();
        Simulator::Stop(TimeStep(static_cast<uint64_t>(until - now)));
        Simulator::Run();
    }
    return !m_state->IsDone();
}

int64_t
Simulation::Now() const
{
    return NowPs();
}

uint64_t
Simulation::GetEventCount() const
{
    return Simulator::GetEventCount();
}

std::string
Simulation::Finish()
{
    m_state->fabric->RequireBuilt("Finish");
    if (!m_state->finished)
    {
        m_state->finished = true;
        m_state->traffic.FillTable(m_state->flows);
        m_state->problems = m_state->fabric->Finish();
        if (m_state->pcaps)
        {
            m_state->problems += m_state->pcaps->Close();
        }
    }
    return m_state->problems;
}

} // namespace facade
} // namespace ns3
