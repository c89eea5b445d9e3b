/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-frame-limits.h"

#include "ns3/rdma-queue-pair-owner.h"

namespace ns3
{
namespace facade
{

FrameLimits::FrameLimits(const lossless::Fabric& fabric)
{
    for (uint32_t node = 0; node < fabric.GetNNodes(); ++node)
    {
        const lossless::FabricNode& from = fabric.GetNode(node);
        for (uint16_t index = 0; from.IsSwitch() && index < from.GetNPorts(); ++index)
        {
            const lossless::Port& port = from.GetPort(index);
            if (port.GetPeer().GetNode().IsSwitch() && port.GetMtu() > 0 &&
                (!m_tightest || port.GetMtu() < m_tightest->GetMtu()))
            {
                m_tightest = &port;
            }
        }
    }
}

std::string
FrameLimits::Check(const rdma::QueuePair& queuePair) const
{
    const uint32_t frame = queuePair.GetLargestFrame(queuePair.HasTelemetry());
    const auto refusal = [&](const lossless::Port& port) {
        return "flow " + std::to_string(queuePair.GetNumber()) + ": its frames have up to " +
               std::to_string(frame) + " B, the port of " + port.GetNode().GetName() + " to " +
               port.GetNeighbourName() + " takes at most " + std::to_string(port.GetMtu()) +
               "; lower its PayloadSize, or raise Mtu\n";
    };
    const auto fits = [frame](const lossless::Port& port) {
        return port.GetMtu() == 0 || frame <= port.GetMtu();
    };
    for (const lossless::FabricNode* host : {queuePair.GetSource(), queuePair.GetDestination()})
    {
        if (!fits(host->GetPort(0)))
        {
            return refusal(host->GetPort(0));
        }
    }
    return m_tightest && !fits(*m_tightest) ? refusal(*m_tightest) : "";
}

} // namespace facade
} // namespace ns3
