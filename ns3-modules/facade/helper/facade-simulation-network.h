/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_SIMULATION_NETWORK_H
#define FACADE_SIMULATION_NETWORK_H

// Nothing of ns-3 may be included here: Python parses this header at the start of every run.
#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{
namespace lossless
{
class Fabric;
}

namespace facade
{

class SimulationState;

/**
 * @ingroup facade
 * @brief The first door of a Simulation: nodes, links, schemes and faults.
 *
 * Times are in ps, rates in bit/s. See Simulation for the order of calls and for errors.
 */
class SimulationNetwork
{
  public:
    SimulationNetwork(const SimulationNetwork&) = delete;
    SimulationNetwork& operator=(const SimulationNetwork&) = delete;

    /// Set an attribute on every object of a type that this run creates.
    /// @param typeId full TypeId name, for instance "ns3::lossless::SharedBuffer".
    /// @param name attribute name. @param value in ns-3's syntax ("25000000ps", "0.125").
    void SetAttribute(const std::string& typeId, const std::string& name, const std::string& value);
    /// Append a FlowControl to the chain of every port.
    /// @param typeId full TypeId name.
    void AddFlowControl(const std::string& typeId);
    /// Add a SwitchAgent to every switch.
    /// @param typeId full TypeId name.
    void AddAgent(const std::string& typeId);
    /// Add a SwitchAgent to every host.
    /// @param typeId full TypeId name.
    void AddHostAgent(const std::string& typeId);
    /// Set the policy that manages the buffer of every node; SharedBuffer by default.
    /// @param typeId full TypeId name of a BufferPolicy.
    void SetBufferPolicy(const std::string& typeId);
    /// Set the policy that chooses among equal-cost next hops at every switch; before AddNodes.
    /// @param typeId full TypeId name; "ns3::lossless::Ecmp" by default.
    void SetForwarding(const std::string& typeId);
    /// Allow the loss of lossless frames, and less headroom than the flow controls demand.
    /// @param allow true to allow.
    void SetAllowLoss(bool allow);
    /// Add nodes.
    /// @param kinds 0 host, 1 switch. @param names one per node, joined by newlines.
    /// @param n number of nodes.
    void AddNodes(const uint8_t* kinds, const std::string& names, uint32_t n);
    /// Add links.
    /// @param a one end. @param b other end. @param rates bit/s. @param delays ps.
    /// @param n number of links.
    void AddLinks(const uint32_t* a,
                  const uint32_t* b,
                  const uint64_t* rates,
                  const int64_t* delays,
                  uint32_t n);
    /// Set an attribute on the objects of a single node: the node, its buffer, its agents, its
    /// ports and their flow controls. After AddLinks.
    /// @param node its number. @param typeId full TypeId name. @param name attribute name.
    /// @param value in ns-3's syntax.
    void SetNodeAttribute(uint32_t node,
                          const std::string& typeId,
                          const std::string& name,
                          const std::string& value);
    /// Set an attribute on a single port, or on its flow controls. After AddLinks.
    /// @param node number of its node. @param neighbour the one that it leads to; see the class.
    /// @param typeId full TypeId name. @param name attribute name. @param value in ns-3's syntax.
    void SetPortAttribute(uint32_t node,
                          uint32_t neighbour,
                          const std::string& typeId,
                          const std::string& name,
                          const std::string& value);
    /// Take a link down.
    /// @param link its number. @param down ps (0: before the start). @param up ps; -1: never.
    void FailLink(uint32_t link, int64_t down, int64_t up);
    /// Let a switch send frames for a host to a given neighbour for some time.
    /// @param node the switch. @param dst host. @param neighbour next node.
    /// @param at ps (0: from the start). @param until ps, shortest paths from then; -1: never.
    void DivertRoute(uint32_t node, uint32_t dst, uint32_t neighbour, int64_t at, int64_t until);
    /// Make nodes the ports of one host with several links: each has a link, and the first stands
    /// for the host. When a link fails, flows move to the ports that are nearest to each other.
    /// Before AddServer, which gets the first nodes only.
    /// @param nodes hosts. @param n number of them.
    void SetHostPorts(const uint32_t* nodes, uint32_t n);
    /// Declare hosts to be one server. After AddNodes.
    /// @param hosts their numbers. @param n number of hosts. @param rate of each host's link into
    /// and out of a scale-up domain (bit/s), see ScaleUp; 0: none. @param delay of the domain (ps).
    /// @param failover whether flows of a host whose link fails move to another one of the server.
    void AddServer(const uint32_t* hosts, uint32_t n, uint64_t rate, int64_t delay, bool failover);
    /// Make a host a slow receiver.
    /// @param host node. @param rate bit/s at which the host drains data; 0: line rate.
    /// @param start ps.
    void SetReceiveRate(uint32_t host, uint64_t rate, int64_t start);
    /// Make a faulty NIC pause its switch continually.
    /// @param host node. @param cls class. @param start ps. @param stop ps.
    void AddPauseStorm(uint32_t host, uint8_t cls, int64_t start, int64_t stop);
    /// Make a faulty port pause or resume its peer without reason, now and then.
    /// @param node its node. @param peer node to which it leads; -1: every port of the node.
    /// @param cls class. @param start ps. @param stop ps; -1: never. @param on ps that a pause
    /// takes; 0: until the end. @param off ps between two pauses. @param resumes it sends a RESUME
    /// every `on` instead.
    void AddStorm(uint32_t node,
                  int64_t peer,
                  uint8_t cls,
                  int64_t start,
                  int64_t stop,
                  int64_t on,
                  int64_t off,
                  bool resumes);
    /// The network, to whose nodes programs may attach other objects before Build.
    /// @return the fabric; it exists as long as this object.
    lossless::Fabric& GetFabric() const;

  protected:
    /// Constructor. @param state what the doors of a run share.
    explicit SimulationNetwork(std::shared_ptr<SimulationState> state);
    ~SimulationNetwork();

  private:
    std::shared_ptr<SimulationState> m_state; //!< what the doors of a run share
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_SIMULATION_NETWORK_H */
