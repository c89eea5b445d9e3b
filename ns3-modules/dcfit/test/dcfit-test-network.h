/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_TEST_NETWORK_H
#define DCFIT_TEST_NETWORK_H

#include "ns3/facade-simulation.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup dcfit-tests
 * What the suites of dcfit share: small networks under PFC.
 */

namespace ns3
{
namespace dcfit
{
namespace tests
{

/// @ingroup dcfit-tests
/// @brief A small network of links of 10 Gb/s and 1 us with PFC (280 KB), and the results of its
/// run by name.
class Network
{
  public:
    /// Start empty.
    Network()
        : sim(1)
    {
        sim.AddFlowControl("ns3::pfc::Pfc");
        Set("lossless::SharedBuffer", "Size", "20000000");
        Set("lossless::SharedBuffer", "Threshold", "Static");
        Set("lossless::SharedBuffer", "Xoff", "280000");
        Set("lossless::SharedBuffer", "Xon", "277000");
    }

    /// Set an attribute.
    /// @param type type without "ns3::". @param name attribute. @param value in ns-3's spelling.
    void Set(const std::string& type, const std::string& name, const std::string& value)
    {
        sim.SetAttribute("ns3::" + type, name, value);
    }

    /// Give every switch an agent. @param type type without "ns3::dcfit::"
    void Agent(const std::string& type = "Dcfit")
    {
        sim.AddAgent("ns3::dcfit::" + type);
    }

    /// Add nodes: hosts first, h0.., then switches.
    /// @param hosts how many hosts. @param switches how many switches.
    void Nodes(uint32_t hosts, uint32_t switches)
    {
        std::vector<uint8_t> kinds(hosts, 0);
        kinds.insert(kinds.end(), switches, 1);
        std::string names;
        for (std::size_t i = 0; i < kinds.size(); ++i)
        {
            names.append(kinds[i] ? "s" : "h").append(std::to_string(i)).append("\n");
        }
        sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    }

    /// Add a link. @param a node. @param b node. @param rate bit/s.
    void Link(uint32_t a, uint32_t b, uint64_t rate = 10'000'000'000)
    {
        const int64_t delay = 1'000'000;
        sim.AddLinks(&a, &b, &rate, &delay, 1);
    }

    /// Switches in a ring, each with a host; host i is on switch n + i. @param n how many
    void Ring(uint32_t n)
    {
        Nodes(n, n);
        for (uint32_t i = 0; i < n; ++i)
        {
            Link(i, n + i);
        }
        for (uint32_t i = 0; i < n; ++i)
        {
            Link(n + i, n + (i + 1) % n);
        }
    }

    /// Add a flow on a path.
    /// @param path all its nodes. @param start ps. @param bytes size; 0: endless. @param stop ps.
    /// @param cap bit/s; 0: none.
    void Flow(const std::vector<uint32_t>& path,
              int64_t start = 0,
              uint64_t bytes = 0,
              int64_t stop = -1,
              uint64_t cap = 0)
    {
        const uint32_t src = path.front();
        const uint32_t dst = path.back();
        const uint8_t cls = 3;
        const uint64_t window = 0;
        const uint32_t flow =
            sim.AddFlows(&src, &dst, &bytes, &start, &stop, &cls, &cap, &window, 1);
        sim.SetPath(flow, path.data(), static_cast<uint32_t>(path.size()));
    }

    /// Every host of a ring sends to the host `hops` switches on.
    /// @param n size of the ring. @param hops switches. @param stagger ps between the starts.
    void RingFlows(uint32_t n, uint32_t hops, int64_t stagger)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            std::vector<uint32_t> path{i};
            for (uint32_t hop = 0; hop <= hops; ++hop)
            {
                path.push_back(n + (i + hop) % n);
            }
            path.push_back((i + hops) % n);
            Flow(path, stagger * i);
        }
    }

    /// Build, run and finish. @param until ps. @return what Check and Finish say.
    std::string Run(int64_t until)
    {
        sim.SetDeadlockTest(0, false);
        sim.Trace("detection", nullptr, nullptr, 0, 0xff, 0);
        sim.Build();
        const std::string problems = sim.Check();
        sim.Run(until);
        return problems + sim.Finish();
    }

    /// A column of a table.
    /// @param table name. @param column name. @return its values; empty when there is none.
    std::vector<int64_t> Column(const std::string& table, const std::string& column) const
    {
        for (uint32_t t = 0; t < sim.GetNTables(); ++t)
        {
            for (uint32_t c = 0; sim.GetTableName(t) == table && c < sim.GetNColumns(t); ++c)
            {
                if (sim.GetColumnName(t, c) == column)
                {
                    const std::string type = sim.GetColumnType(t, c);
                    return type == "int64"    ? Values<int64_t>(t, c)
                           : type == "uint32" ? Values<uint32_t>(t, c)
                           : type == "uint16" ? Values<uint16_t>(t, c)
                                              : Values<uint8_t>(t, c);
                }
            }
        }
        return {};
    }

    /// A number of the summary. @param name its name. @return its value; NaN if there is none.
    double Number(const std::string& name) const
    {
        return sim.GetNumber(name);
    }

    facade::Simulation sim; //!< the run

  private:
    /// Copy a column.
    /// @tparam T type of its elements. @param table number. @param column number. @return its
    /// values.
    template <class T>
    std::vector<int64_t> Values(uint32_t table, uint32_t column) const
    {
        const auto* data = reinterpret_cast<const T*>(sim.GetColumnData(table, column));
        return {data, data + sim.GetNRows(table)};
    }
};

} // namespace tests
} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_TEST_NETWORK_H */
