/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-simulation-state.h"

#include "facade-arguments.h"

#include "ns3/lossless-refusal.h"
#include "ns3/simulator.h"

#include <functional>

namespace ns3
{
namespace facade
{

using lossless::Fabric;
using lossless::RefuseNow;

SimulationState::SimulationState(uint64_t seed)
    : claim(seed),
      fabric(CreateObject<Fabric>()),
      deadlocks(&fabric->AddObserver(std::make_unique<deadlock::DeadlockMonitor>(*fabric))),
      recorder(&fabric->AddObserver(std::make_unique<observe::Recorder>(*fabric))),
      traffic(*fabric)
{
}

SimulationState::~SimulationState()
{
    pcaps.reset();
    traffic.Release();
    Simulator::Destroy();
    fabric->Dispose();
}

bool
SimulationState::IsDone() const
{
    return deadlocks->IsStopped() || traffic.GetProgress().IsDone();
}

std::string
SimulationState::FindObstacle()
{
    std::string obstacle = traffic.GetMachines().FindCellObstacle();
    if (obstacle.empty() && MayDeadlock())
    {
        // They are judged from the state of several nodes at one time, but only during pauses.
        const std::string unannounced = deadlocks->GetOracle().FindUnannounced();
        obstacle = unannounced.empty() ? ""
                                       : "deadlocks are judged, and " + unannounced +
                                             " does not announce what it holds back";
    }
    return obstacle;
}

std::string
SimulationState::FindThreadProblem()
{
    if (threads == 1)
    {
        return {};
    }
    std::string obstacle = FindObstacle();
    if (obstacle.empty())
    {
        obstacle = fabric->FindThreadObstacle(MayDeadlock());
    }
    if (obstacle.empty() && repeatMode != Repeats::Mode::OFF)
    {
        obstacle = "run.repeats is not \"off\"";
    }
    return obstacle.empty() ? ""
                            : "run.threads is " + std::to_string(threads) + ", but " + obstacle +
                                  ": such a run needs 1 thread";
}

bool
SimulationState::MayDeadlock()
{
    return deadlocks->IsOn() && (silenced || !traffic.RulesOutCycles());
}

std::string
SimulationState::DescribeRepeats() const
{
    if (repeatMode == Repeats::Mode::OFF)
    {
        return "";
    }
    return repeats ? repeats->Describe()
                   : "repeats: nothing was skipped, as the event loop is not "
                     "ns3::eventloop::CellLoop\n";
}

void
SimulationState::ChooseCells()
{
    if (!cellsChosen)
    {
        cellsChosen = true;
        const std::string obstacle = FindObstacle();
        std::function<bool()> isQuiet;
        if (obstacle.empty() && MayDeadlock())
        {
            isQuiet = [&oracle = deadlocks->GetOracle()] { return oracle.IsQuiet(); };
        }
        if (const std::string problem = FindThreadProblem(); !problem.empty())
        {
            RefuseNow(problem);
        }
        if (threads > 1)
        {
            fabric->RunInThreads(static_cast<uint16_t>(threads));
        }
        oneCell = fabric->RunInCells(obstacle, isQuiet);
        if (eventloop::CellLoop::Peek() && !MayDeadlock() && fabric->FindObstacle().empty())
        {
            deadlocks->Rest();
        }
        if (repeatMode != Repeats::Mode::OFF && eventloop::CellLoop::Peek())
        {
            repeats = std::make_unique<Repeats>(*fabric, traffic, *deadlocks, repeatMode);
            repeats->Begin();
        }
    }
}

const observe::Table&
SimulationState::TableAt(uint32_t table) const
{
    RequirePlace("table", table, recorder->GetTables().size() + 1);
    return table == 0 ? flows : *recorder->GetTables()[table - 1];
}

const observe::Table::AnyColumn&
SimulationState::ColumnAt(uint32_t table, uint32_t column) const
{
    return RequireColumn(TableAt(table), column);
}

} // namespace facade
} // namespace ns3
