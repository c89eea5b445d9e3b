/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-path-times.h"

#include "ns3/lossless-fabric.h"
#include "ns3/rdma-queue-pair-owner.h"

#include <algorithm>

namespace ns3
{
namespace facade
{

using rdma::QueuePair;

using lossless::NEVER;

int64_t
PathTimes::IdealTime(const QueuePair& queuePair, const Hops& hops) const
{
    const uint64_t bytes = queuePair.GetMessageBytes();
    if (bytes == 0 || hops.empty())
    {
        return -1;
    }
    // The last packet leaves hop i when it has arrived there and its predecessor has left; packets
    // are spaced by the sender's NIC or the slowest link so far. All packets but the last are full.
    const uint64_t packets = queuePair.CountPackets(bytes);
    const uint32_t payload = queuePair.GetPayloadSize();
    const int64_t full = packets > 1 ? queuePair.GetFrameBytes(payload) : 0;
    const int64_t last =
        queuePair.GetFrameBytes(static_cast<uint32_t>(bytes - (packets - 1) * payload));
    const auto trainOf = [packets](uint64_t gaps, int64_t gap) {
        const auto train = static_cast<lossless::Int128>(gaps) * gap;
        return packets == 1 ? 0 : train > NEVER ? NEVER : static_cast<int64_t>(train);
    };
    int64_t firstFull = 0; // when the first packet has left this hop
    int64_t slowest = queuePair.GetSource()->GetSendInterval(); // spacing of full packets so far
    int64_t time = trainOf(packets - 1, slowest); // when the last packet has left this hop
    int64_t delays = 0;
    for (const auto& [node, index] : hops)
    {
        const lossless::Port& port = m_fabric.GetNode(node).GetPort(index);
        const int64_t overhead = port.GetOverhead();
        const int64_t latency = m_fabric.GetNode(node).GetPipelineLatency();
        firstFull = Later(firstFull, delays + latency);
        time = Later(time, delays + latency);
        if (packets > 1)
        {
            const int64_t full1 = lossless::TransmissionTime(full + overhead, port.GetRate());
            slowest = std::max(slowest, full1);
            firstFull = Later(firstFull, full1);
            time = std::max(time, Later(firstFull, trainOf(packets - 2, slowest)));
        }
        time = Later(time, lossless::TransmissionTime(last + overhead, port.GetRate()));
        delays = port.GetDelay();
    }
    if (const int64_t taking = queuePair.GetDestination()->GetReceiveInterval();
        packets > 1 && taking > 0)
    {
        const int64_t before = Later(firstFull, trainOf(packets - 2, std::max(slowest, taking)));
        time = std::max(time, Later(before, taking));
    }
    return Later(time, delays + queuePair.GetDestination()->GetLatency());
}

int64_t
PathTimes::AnswerTime(const QueuePair& queuePair) const
{
    const lossless::Frame ack = queuePair.GetAnswerHeader();
    const rdma::QueuePairOwner& receiver = *queuePair.GetDestination();
    const auto hops = m_fabric.GetRoutes().Trace(receiver.GetId(), ack);
    if (hops.empty())
    {
        return -1;
    }
    return Later(TimeOf(ack.bytes, hops),
                 receiver.GetLatency() + receiver.GetAckDelay() +
                     queuePair.GetSource()->GetLatency());
}

int64_t
PathTimes::TimeOf(uint32_t bytes, const Hops& hops) const
{
    int64_t time = 0;
    for (const auto& [node, index] : hops)
    {
        const lossless::Port& port = m_fabric.GetNode(node).GetPort(index);
        const int64_t wire = bytes + static_cast<int64_t>(port.GetOverhead());
        time = Later(time,
                     m_fabric.GetNode(node).GetPipelineLatency() + port.GetDelay() +
                         lossless::TransmissionTime(wire, port.GetRate()));
    }
    return time;
}

int64_t
PathTimes::BaseRtt(const QueuePair& queuePair, const Hops& hops, int64_t back) const
{
    if (hops.empty() || back < 0)
    {
        return 0;
    }
    const int64_t there = TimeOf(queuePair.GetFrameBytes(queuePair.GetLargestPayload()), hops);
    return Later(Later(there, queuePair.GetDestination()->GetLatency()), back);
}

} // namespace facade
} // namespace ns3
