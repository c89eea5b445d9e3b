/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_ARGUMENTS_H
#define FACADE_ARGUMENTS_H

#include "ns3/rdma-host.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ns3
{
namespace lossless
{
class Fabric;
}

namespace rdma
{

/**
 * @ingroup facade
 * @brief Throw std::invalid_argument for a time before the start.
 *
 * @param what whose time.
 * @param time ps.
 */
void RequireTime(const std::string& what, int64_t time);
/**
 * @ingroup facade
 * @brief Throw std::invalid_argument for what is no class.
 *
 * @param cls 0..7.
 */
void RequireClass(uint8_t cls);
/**
 * @ingroup facade
 * @brief A host by number; throws std::invalid_argument where the node is none.
 *
 * @param fabric its network.
 * @param node its number.
 * @param what it is to be.
 * @return host.
 */
Host& RequireHost(lossless::Fabric& fabric, uint32_t node, const char* what);

/**
 * @ingroup facade
 * @brief Visit ports that are named by nodes; throws std::invalid_argument where no link joins two.
 *
 * @param fabric their network.
 * @param nodes nodes; empty: all.
 * @param peers for each node the neighbour its port leads to; -1: all.
 * @param n length of nodes and peers.
 * @param visit called with each port.
 */
void ForEachPort(lossless::Fabric& fabric,
                 const uint32_t* nodes,
                 const int64_t* peers,
                 uint32_t n,
                 const std::function<void(lossless::Port&)>& visit);

} // namespace rdma
} // namespace ns3

#endif /* FACADE_ARGUMENTS_H */
