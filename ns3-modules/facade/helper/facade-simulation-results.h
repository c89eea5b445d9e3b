/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_SIMULATION_RESULTS_H
#define FACADE_SIMULATION_RESULTS_H

// Nothing of ns-3 may be included here: Python parses this header at the start of every run.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace facade
{

class SimulationState;

/**
 * @ingroup facade
 * @brief The third door of a Simulation: tables, captures, values and words about a run.
 *
 * Times are in ps. See Simulation for the order of calls and for errors.
 */
class SimulationResults
{
  public:
    SimulationResults(const SimulationResults&) = delete;
    SimulationResults& operator=(const SimulationResults&) = delete;

    /// Record a table.
    /// @param table name of a table, see observe::Probe; `pyorch docs tables` lists them.
    /// @param nodes nodes to trace; empty: all. @param peers for each node the neighbour that its
    /// port leads to; -1: all. @param classMask bit c set: class c. @param n length of nodes and
    /// peers.
    /// @param period ps between samples; 0: on every change.
    void Trace(const std::string& table,
               const uint32_t* nodes,
               const int64_t* peers,
               uint32_t n,
               uint32_t classMask,
               int64_t period);
    /// Capture ports into pcap files, one per port, with observe::PcapTap; its attributes are set
    /// by SetAttribute. After Build. Finish closes the files.
    /// @param nodes nodes to capture; empty: all. @param peers for each node the neighbour that its
    /// port leads to; -1: all. @param n length of nodes and peers.
    /// @param folder an existing folder; files are named "s0-h0.pcap", the port of s0 towards h0.
    /// @return problems, one per line; empty if none.
    std::string TracePcap(const uint32_t* nodes,
                          const int64_t* peers,
                          uint32_t n,
                          const std::string& folder);
    /// The captures. @return "path\tframes\tcut" of each file, one per line; cut: frames
    /// truncated because the standards' headers need more bytes than the model's frame has.
    std::string GetPcaps() const;
    /// Remarks about the run in words, such as the deadlock that was found.
    /// @return one note per line; empty if none.
    std::string Notes() const;
    /// Values of the whole run, in a fixed order.
    /// @return (name, value) pairs; names end in their unit.
    std::vector<std::pair<std::string, double>> GetSummary() const;
    /// One value of GetSummary.
    /// @param name its name.
    /// @return the value; not a number (NaN) if there is none of this name.
    double GetNumber(const std::string& name) const;
    /// Result tables ("flow" always exists). @return number of tables.
    uint32_t GetNTables() const;
    /// Name of a table.
    /// @param table its number. @return name.
    std::string GetTableName(uint32_t table) const;
    /// Number of columns.
    /// @param table its number. @return number of columns.
    uint32_t GetNColumns(uint32_t table) const;
    /// Name of a column.
    /// @param table its number. @param column its number. @return name, ending in its unit.
    std::string GetColumnName(uint32_t table, uint32_t column) const;
    /// The type of a column, as named by numpy.
    /// @param table its number. @param column its number. @return "int64", "uint8"..
    std::string GetColumnType(uint32_t table, uint32_t column) const;
    /// Address of a column's first element.
    /// @param table its number. @param column its number. @return address.
    uintptr_t GetColumnData(uint32_t table, uint32_t column) const;
    /// Number of rows.
    /// @param table its number. @return number of rows.
    uint64_t GetNRows(uint32_t table) const;

  protected:
    /// Constructor. @param state what the doors of a run share.
    explicit SimulationResults(std::shared_ptr<SimulationState> state);
    ~SimulationResults();

  private:
    std::shared_ptr<SimulationState> m_state; //!< what the doors of a run share
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_SIMULATION_RESULTS_H */
