/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_DEPENDENCY_H
#define DEADLOCK_DEPENDENCY_H

#include "ns3/lossless-routes.h"

#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ns3
{
namespace deadlock
{

/**
 * @ingroup deadlock
 * @brief The buffer dependency graph of paths: an egress depends on the next egress of every path
 * that uses both, as frames in the ingress buffer between them wait for it.
 *
 * A cycle in it is necessary for a deadlock, but not sufficient.
 */
class DependencyGraph
{
  public:
    /// An egress: node and port.
    using Egress = std::pair<uint32_t, uint16_t>;

    /// Add a path.
    /// @param path its egresses, from the source on.
    void Add(const std::vector<Egress>& path);
    /// Add every path that a frame may take if no hash keeps its flow on one path.
    /// @param routes the paths. @param src the sending host. @param header the frame.
    void Add(const lossless::Routes& routes, uint32_t src, const lossless::Frame& header);
    /// Find a shortest cycle.
    /// @return its egresses in order, starting with the lowest; empty if there is none.
    std::vector<Egress> FindCycle() const;

  private:
    std::map<Egress, std::set<Egress>> m_next; //!< the egresses that an egress depends on
    std::unordered_set<uint64_t> m_known;      //!< (node, port, next node's port) in m_next
};

} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_DEPENDENCY_H */
