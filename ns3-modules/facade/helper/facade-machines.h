/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_MACHINES_H
#define FACADE_MACHINES_H

#include "ns3/lossless-fabric.h"
#include "ns3/rdma-failover.h"
#include "ns3/rdma-scale-up.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Which nodes are one machine: servers of several hosts, and hosts with several links.
 */
class Machines
{
  public:
    /// No machines but single hosts.
    /// @param fabric the network; outlives this.
    explicit Machines(lossless::Fabric& fabric);

    /// See Simulation::AddServer.
    void AddServer(const uint32_t* hosts, uint32_t n, uint64_t rate, int64_t delay, bool failover);
    /// See Simulation::SetHostPorts.
    void SetHostPorts(const uint32_t* nodes, uint32_t n);

    /// The host of a node.
    /// @param node a host, or a port of one with several links. @return the host.
    uint32_t HostOf(uint32_t node) const;
    /// Are two nodes of hosts in one server, or of one host?
    /// @param node one. @param other the other one. @return true if so.
    bool AreTogether(uint32_t node, uint32_t other) const;
    /// Are the hosts of two nodes in one server?
    /// @param node one. @param other the other one. @return true if so; false without servers.
    bool AreInOneServer(uint32_t node, uint32_t other) const;
    /// The scale-up domain of the server of a node.
    /// @param node of a host. @return the domain; nullptr: it uses the network.
    rdma::ScaleUp* FindScaleUp(uint32_t node) const;
    /// @return true if a host has several links.
    bool HavePorts() const;
    /// @return what needs all hosts in one order of time; empty: nothing.
    std::string FindCellObstacle() const;

  private:
    lossless::Fabric& m_fabric;                            //!< the network
    std::vector<std::unique_ptr<rdma::ScaleUp>> m_servers; //!< the domain of each, or null
    std::map<uint32_t, std::size_t> m_serverOf;            //!< by host, if it belongs to one
    std::map<uint32_t, uint32_t> m_hostOf; //!< by port of a host with several links, that host
    rdma::Failover m_failover;             //!< moves flows away from links that fail
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_MACHINES_H */
