/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-simulation-results.h"

#include "facade-arguments.h"
#include "facade-simulation-state.h"

#include "ns3/lossless-refusal.h"
#include "ns3/simulator.h"

#include <limits>
#include <sstream>
#include <utility>

namespace ns3
{
namespace facade
{

using lossless::NowPs;
using lossless::Refuse;
using lossless::RefuseNow;
using lossless::Summary;

SimulationResults::SimulationResults(std::shared_ptr<SimulationState> state)
    : m_state(std::move(state))
{
}

SimulationResults::~SimulationResults() = default;

void
SimulationResults::Trace(const std::string& table,
                         const uint32_t* nodes,
                         const int64_t* peers,
                         uint32_t n,
                         uint32_t classMask,
                         int64_t period)
{
    if (period < 0)
    {
        Refuse("table '", table, "' cannot have a period of ", period, " ps; 0: on every change");
    }
    if (m_state->finished)
    {
        RefuseNow("Trace was called after Finish: the results are complete");
    }
    ForEachPort(*m_state->fabric, nodes, peers, n, [&](lossless::Port& port) {
        m_state->recorder->Trace(table, port, classMask, PicoSeconds(period));
    });
    if (m_state->cellsChosen && m_state->oneCell.empty() && eventloop::CellLoop::Peek() &&
        !m_state->recorder->GetCellObstacle().empty())
    {
        RefuseNow("the table '",
                  table,
                  "' needs all nodes in one order of time, and cells already run on their own: "
                  "request it before Run");
    }
}

std::string
SimulationResults::TracePcap(const uint32_t* nodes,
                             const int64_t* peers,
                             uint32_t n,
                             const std::string& folder)
{
    m_state->fabric->RequireBuilt("TracePcap");
    if (!m_state->pcaps)
    {
        m_state->pcaps = std::make_unique<observe::FabricPcapHelper>(*m_state->fabric);
    }
    std::string problems;
    ForEachPort(*m_state->fabric, nodes, peers, n, [&](lossless::Port& port) {
        if (!m_state->pcaps->EnablePcap(folder + "/", port))
        {
            problems += m_state->pcaps->GetTaps().back()->GetFile() + ": cannot be written\n";
        }
    });
    return problems;
}

std::string
SimulationResults::GetPcaps() const
{
    std::ostringstream text;
    if (m_state->pcaps)
    {
        for (const auto& tap : m_state->pcaps->GetTaps())
        {
            text << tap->GetFile() << "\t" << tap->GetFrames() << "\t" << tap->GetCutFrames()
                 << "\n";
        }
    }
    return text.str();
}

std::string
SimulationResults::Notes() const
{
    m_state->fabric->RequireBuilt("Notes");
    return m_state->traffic.DescribeCycle() + m_state->deadlocks->Describe() +
           (m_state->oneCell.empty() ? "" : "all is one cell: " + m_state->oneCell + "\n") +
           m_state->DescribeRepeats();
}

std::vector<std::pair<std::string, double>>
SimulationResults::GetSummary() const
{
    m_state->fabric->RequireBuilt("GetSummary");
    Summary summary;
    m_state->fabric->Report(summary);
    m_state->traffic.Report(summary);
    summary["end_ps"] = static_cast<double>(NowPs());
    summary["events"] = static_cast<double>(Simulator::GetEventCount());
    return {summary.begin(), summary.end()};
}

double
SimulationResults::GetNumber(const std::string& name) const
{
    for (const auto& [known, value] : GetSummary())
    {
        if (known == name)
        {
            return value;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

uint32_t
SimulationResults::GetNTables() const
{
    return static_cast<uint32_t>(m_state->recorder->GetTables().size() + 1);
}

std::string
SimulationResults::GetTableName(uint32_t table) const
{
    return m_state->TableAt(table).GetName();
}

uint32_t
SimulationResults::GetNColumns(uint32_t table) const
{
    return static_cast<uint32_t>(m_state->TableAt(table).GetColumns().size());
}

std::string
SimulationResults::GetColumnName(uint32_t table, uint32_t column) const
{
    return m_state->ColumnAt(table, column).m_name;
}

std::string
SimulationResults::GetColumnType(uint32_t table, uint32_t column) const
{
    return m_state->ColumnAt(table, column).m_type;
}

uintptr_t
SimulationResults::GetColumnData(uint32_t table, uint32_t column) const
{
    return reinterpret_cast<uintptr_t>(m_state->ColumnAt(table, column).GetData());
}

uint64_t
SimulationResults::GetNRows(uint32_t table) const
{
    return m_state->TableAt(table).GetRows();
}

} // namespace facade
} // namespace ns3
