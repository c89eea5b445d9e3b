/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_CELLS_H
#define LOSSLESS_CELLS_H

#include "ns3/lossless-fabric-node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief How the cells of a network may run, see eventloop::CellLoop::SetWindow.
 */
struct CellRules
{
    /// How long each cell may run on its own, the shortest delay between two cells, since neither a
    /// frame nor a control frame without a length of its own takes less (ps); 0: all is one cell.
    int64_t window{0};
    bool alternates{false}; //!< every link between cells joins an odd and an even one
    int64_t shortest{0};    //!< shortest delay of any link, within cells too (ps)
};

/**
 * @ingroup lossless
 * @brief Divide a network into cells, and tell the nodes: a switch with its hosts is a cell, and so
 * are nodes that a link without a delay joins.
 *
 * @param nodes all, with their links. @return how the cells may run.
 */
CellRules AssignCells(const std::vector<Ptr<FabricNode>>& nodes);

/**
 * @ingroup lossless
 * @brief What on these nodes looks beyond its own node, so that they must share a cell.
 *
 * @param nodes all.
 * @return the first such thing; empty: there is none.
 */
std::string FindCellObstacle(const std::vector<Ptr<FabricNode>>& nodes);

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_CELLS_H */
