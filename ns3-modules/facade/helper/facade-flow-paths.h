/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_FLOW_PATHS_H
#define FACADE_FLOW_PATHS_H

#include <cstdint>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{
class Fabric;
}

namespace facade
{

/**
 * @ingroup facade
 * @brief Paths of flows and of their ACKs, NACKs and CNPs ("answers") that are set explicitly.
 */
class FlowPaths
{
  public:
    using Hops = std::vector<std::pair<uint32_t, uint16_t>>; //!< hops of a flow's data frames
    using Ends = std::vector<std::pair<uint32_t, uint32_t>>; //!< source and destination by flow

    /// Set paths in a network.
    /// @param fabric the network; outlives this. @param ends of the flows; outlives this.
    FlowPaths(lossless::Fabric& fabric, const Ends& ends)
        : m_fabric(fabric),
          m_ends(ends)
    {
    }

    /// Pin a flow, or its answers, to a path.
    /// @param flow its number. @param nodes all nodes of the path. @param n number of nodes.
    /// @param answers whether to pin its answers.
    void Pin(uint32_t flow, const uint32_t* nodes, uint32_t n, bool answers);
    /// Choose the routing of answers that are not pinned.
    /// @param flow its number.
    /// @param reverse along the reverse of the path that data frames have at the start; else by
    /// ECMP.
    void SetAnswerRouting(uint32_t flow, bool reverse);
    /// Route the answers of a flow.
    /// @param flow its number. @param hops hops of its data frames.
    /// @return true if answers are pinned to a path.
    bool RouteAnswers(uint32_t flow, const Hops& hops);

    /// @return the problems of the paths, one per line.
    std::string GetProblems() const
    {
        return m_problems.str();
    }

  private:
    bool Check(uint32_t flow, const uint32_t* nodes, uint32_t n, bool answers);

    lossless::Fabric& m_fabric; //!< the network
    const Ends& m_ends;         //!< by flow
    std::unordered_map<uint32_t, bool>
        m_routing;                      //!< by flow, where SetAckRouting was called: reverse
    std::unordered_set<uint32_t> m_own; //!< flows whose answers are pinned
    std::ostringstream m_problems;      //!< GetProblems
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_FLOW_PATHS_H */
