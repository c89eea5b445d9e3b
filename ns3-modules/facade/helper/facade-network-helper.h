/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_NETWORK_HELPER_H
#define FACADE_NETWORK_HELPER_H

#include "facade-simulation.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Installs hosts, switches and links in a Simulation, for C++ programs.
 *
 *     NetworkHelper network(sim, DataRate("10Gbps"), MicroSeconds(1));
 *     const auto hosts = network.InstallHosts(4);
 *     network.InstallLinks(hosts, network.InstallSwitches(1)); // a star
 */
class NetworkHelper
{
  public:
    /// Constructor. @param simulation where to install; it outlives this object.
    /// @param rate of links. @param delay of links, one way.
    NetworkHelper(Simulation& simulation, DataRate rate, Time delay);

    /// Set the rate of links installed from now on.
    /// @param rate the rate.
    void SetRate(DataRate rate);
    /// Set the delay of links installed from now on.
    /// @param delay the one-way delay.
    void SetDelay(Time delay);

    /// Add hosts; "h0", "h1" and so on.
    /// @param n number of hosts. @return their numbers.
    std::vector<uint32_t> InstallHosts(uint32_t n);
    /// Add switches; "s0", "s1" and so on.
    /// @param n number of switches. @return their numbers.
    std::vector<uint32_t> InstallSwitches(uint32_t n);
    /// Add a link.
    /// @param a node. @param b node.
    void InstallLink(uint32_t a, uint32_t b);
    /// Add a link between each node of one list and each of the other: a star, or two tiers of a
    /// leaf-spine network.
    /// @param lower nodes. @param upper nodes.
    void InstallLinks(const std::vector<uint32_t>& lower, const std::vector<uint32_t>& upper);

  private:
    std::vector<uint32_t> Install(uint8_t kind, char prefix, uint32_t& made, uint32_t n);

    Simulation& m_simulation; //!< where to install
    DataRate m_rate;          //!< of the next links
    Time m_delay;             //!< of the next links
    uint32_t m_hosts{0};      //!< number of hosts installed
    uint32_t m_switches{0};   //!< number of switches installed
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_NETWORK_HELPER_H */
