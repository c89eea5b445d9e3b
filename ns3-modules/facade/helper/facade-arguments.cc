/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-arguments.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"

#include <algorithm>

namespace ns3
{
namespace facade
{

using lossless::Refuse;

void
RequireTime(const std::string& what, int64_t time)
{
    if (time < 0)
    {
        Refuse(what, " cannot be at ", time, " ps: a run starts at 0 ps");
    }
}

void
RequireClass(uint8_t cls)
{
    if (cls >= lossless::N_CLASSES)
    {
        Refuse("class ", +cls, " is not in 0..7");
    }
}

void
RequireNames(const std::string& names, uint32_t n)
{
    const auto given = static_cast<uint64_t>(std::count(names.begin(), names.end(), '\n')) + 1;
    if (given < n)
    {
        Refuse("AddNodes was given ",
               given,
               " names for ",
               n,
               " nodes; names are joined by newlines");
    }
}

void
RequirePlace(const char* what, uint32_t number, std::size_t count)
{
    if (number >= count)
    {
        Refuse("there is no ", what, " ", number, "; there are ", count, ", counted from 0");
    }
}

void
RequireKind(const std::string& name, uint8_t kind)
{
    if (kind > 1)
    {
        Refuse("node ", name, " cannot be of the kind ", +kind, "; 0 is a host, 1 a switch");
    }
}

const observe::Table::AnyColumn&
RequireColumn(const observe::Table& table, uint32_t column)
{
    const auto& columns = table.GetColumns();
    if (column >= columns.size())
    {
        Refuse("table '",
               table.GetName(),
               "' has no column ",
               column,
               "; it has ",
               columns.size(),
               ", counted from 0");
    }
    return *columns[column];
}

rdma::Host&
RequireHost(lossless::Fabric& fabric, uint32_t node, const char* what)
{
    if (node >= fabric.GetNNodes())
    {
        Refuse(what,
               " cannot be node ",
               node,
               ": there are ",
               fabric.GetNNodes(),
               ", counted from 0");
    }
    if (fabric.GetRoutes().IsSwitch(node))
    {
        Refuse(what,
               " must be a host, but node ",
               node,
               " (",
               fabric.GetNode(node).GetName(),
               ") is a switch");
    }
    return dynamic_cast<rdma::Host&>(fabric.GetNode(node));
}

void
ForEachPort(lossless::Fabric& fabric,
            const uint32_t* nodes,
            const int64_t* peers,
            uint32_t n,
            const std::function<void(lossless::Port&)>& visit)
{
    const auto visitNode = [&](uint32_t node) {
        for (uint16_t port = 0; port < fabric.GetNode(node).GetNPorts(); ++port)
        {
            visit(fabric.GetNode(node).GetPort(port));
        }
    };
    for (uint32_t i = 0; i < n; ++i)
    {
        if (peers[i] < 0)
        {
            visitNode(nodes[i]);
            continue;
        }
        lossless::Port* port = nodes[i] < fabric.GetNNodes()
                                   ? fabric.FindPort(nodes[i], static_cast<uint32_t>(peers[i]))
                                   : nullptr;
        if (!port)
        {
            Refuse("there is no link between nodes ", nodes[i], " and ", peers[i]);
        }
        visit(*port);
    }
    for (uint32_t node = 0; n == 0 && node < fabric.GetNNodes(); ++node)
    {
        visitNode(node);
    }
}

} // namespace facade
} // namespace ns3
