/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-arguments.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"

namespace ns3
{
namespace rdma
{

using lossless::Refuse;

void
RequireTime(const std::string& what, int64_t time)
{
    if (time < 0)
    {
        Refuse(what, " cannot be at ", time, " ps: a run begins at 0 ps");
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

Host&
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
    return dynamic_cast<Host&>(fabric.GetNode(node));
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
            Refuse("no link joins nodes ", nodes[i], " and ", peers[i]);
        }
        visit(*port);
    }
    for (uint32_t node = 0; n == 0 && node < fabric.GetNNodes(); ++node)
    {
        visitNode(node);
    }
}

} // namespace rdma
} // namespace ns3
