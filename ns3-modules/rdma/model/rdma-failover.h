/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_FAILOVER_H
#define RDMA_FAILOVER_H

#include "rdma-host.h"

#include <map>
#include <memory>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief Moves the flows of hosts whose links have failed to others that stand in for them.
 *
 * Hosts of a server stand in for each other; a flow chooses by its number, and its other end moves
 * only if no path leads there. The ports of a host with several links do so, too; then both ends
 * move to those of their ports that are nearest to each other.
 */
class Failover
{
  public:
    Failover() = default;
    Failover(const Failover&) = delete;
    Failover& operator=(const Failover&) = delete;

    /// Let hosts stand in for each other.
    /// @param hosts which; each in one group only. @param ports they are the ports of one host.
    void Add(const std::vector<Host*>& hosts, bool ports);

  private:
    /// Hosts that stand in for each other.
    struct Group
    {
        std::vector<QueuePairOwner*> hosts; //!< which
        bool ports;                         //!< of one host
    };

    /// Where a flow may begin or end.
    using Ends = std::vector<QueuePairOwner*>;

    void NotifyLink();
    bool IsPort(const QueuePairOwner* end) const;
    Ends FindEnds(QueuePairOwner* end, bool all) const;
    static void Move(QueuePair& queuePair, uint32_t flow, const Ends& sources, const Ends& sinks);
    static std::size_t CountHops(const QueuePair& queuePair,
                                 const QueuePairOwner& src,
                                 const QueuePairOwner& dst);

    std::vector<std::unique_ptr<Group>> m_groups;      //!< all
    std::map<const QueuePairOwner*, Group*> m_groupOf; //!< by host
    const Host* m_any{nullptr};                        //!< a host, which knows all flows
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_FAILOVER_H */
