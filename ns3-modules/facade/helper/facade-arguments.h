/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_ARGUMENTS_H
#define FACADE_ARGUMENTS_H

#include "ns3/observe-table.h"
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

namespace facade
{

/**
 * @ingroup facade
 * @brief Throw std::invalid_argument for a time before the start.
 *
 * @param what name of the quantity.
 * @param time ps.
 */
void RequireTime(const std::string& what, int64_t time);
/**
 * @ingroup facade
 * @brief Throw std::invalid_argument unless a number is a class.
 *
 * @param cls 0..7.
 */
void RequireClass(uint8_t cls);
/**
 * @ingroup facade
 * @brief Throw std::invalid_argument unless there is a name for each node.
 *
 * @param names joined by newlines.
 * @param n number of nodes.
 */
void RequireNames(const std::string& names, uint32_t n);
/**
 * @ingroup facade
 * @brief Throw std::invalid_argument for a number out of range.
 *
 * @param what kind of object.
 * @param number counted from 0.
 * @param count number of objects.
 */
void RequirePlace(const char* what, uint32_t number, std::size_t count);
/**
 * @ingroup facade
 * @brief Throw std::invalid_argument unless a number is a kind of node.
 *
 * @param name name of the node.
 * @param kind 0 host, 1 switch.
 */
void RequireKind(const std::string& name, uint8_t kind);
/**
 * @ingroup facade
 * @brief A column by number; throws std::invalid_argument if there is none.
 *
 * @param table its table.
 * @param column its number.
 * @return column.
 */
const observe::Table::AnyColumn& RequireColumn(const observe::Table& table, uint32_t column);
/**
 * @ingroup facade
 * @brief A host by number; throws std::invalid_argument if the node is not a host.
 *
 * @param fabric its network.
 * @param node its number.
 * @param what its intended role.
 * @return host.
 */
rdma::Host& RequireHost(lossless::Fabric& fabric, uint32_t node, const char* what);

/**
 * @ingroup facade
 * @brief Visit ports identified by nodes; throws std::invalid_argument if two nodes have no link.
 *
 * @param fabric their network.
 * @param nodes nodes; empty: all.
 * @param peers for each node the neighbour that its port leads to; -1: all.
 * @param n length of nodes and peers.
 * @param visit called for each port.
 */
void ForEachPort(lossless::Fabric& fabric,
                 const uint32_t* nodes,
                 const int64_t* peers,
                 uint32_t n,
                 const std::function<void(lossless::Port&)>& visit);

} // namespace facade
} // namespace ns3

#endif /* FACADE_ARGUMENTS_H */
