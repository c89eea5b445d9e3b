/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_TYPE_CATALOGUE_H
#define FACADE_TYPE_CATALOGUE_H

#include <string>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Let ns-3 find types by the names that they had when they shared namespaces. It warns of
 * each such name.
 */
void AcceptOldNames();

/**
 * @ingroup facade
 * @brief Describe all registered types of the given modules as JSON; see Simulation::Describe for
 * the format.
 *
 * @param groups comma-separated TypeId group names ("lossless,rdma,gfc").
 * @return a JSON list, sorted by name.
 */
std::string DescribeTypes(const std::string& groups);

} // namespace facade
} // namespace ns3

#endif /* FACADE_TYPE_CATALOGUE_H */
