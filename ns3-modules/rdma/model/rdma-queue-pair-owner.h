/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_QUEUE_PAIR_OWNER_H
#define RDMA_QUEUE_PAIR_OWNER_H

#include "ns3/lossless-fabric-node.h"

namespace ns3
{
namespace rdma
{

class SendQueue;

/**
 * @ingroup rdma
 * @brief A host as seen by its queue pairs.
 */
class QueuePairOwner : public lossless::FabricNode
{
  public:
    /// A queue pair that sends from here may have become able to send.
    /// @param queue its sender's end.
    virtual void Activate(SendQueue& queue) = 0;
    /// A queue pair that sends from here is about to move to another host: remove it from all
    /// lists.
    /// @param queue its sender's end.
    virtual void Forget(SendQueue& queue) = 0;
    /// A queue pair has received data in order.
    /// @param bytes payload of a finite message; 0 for a greedy source.
    virtual void NoteDelivery(uint64_t bytes) = 0;
    /// A message, or a share of one, has been received completely.
    /// @param flow its number.
    virtual void NoteFinished(uint32_t flow) = 0;
    /// A message that was sent from here, or a share of one, is fully acknowledged.
    /// @param flow its number.
    virtual void NoteAcknowledged(uint32_t flow) = 0;

    /// @return NIC latency (ps).
    virtual int64_t GetLatency() const = 0;
    /// @return class of ACKs and NACKs that it sends; CONTROL_CLASS + 1: as their queue pair says.
    virtual uint32_t GetAckClass() const = 0;
    /// @return the same of CNPs.
    virtual uint32_t GetCnpClass() const = 0;
    /// @return additional delay of an ACK or NACK in the NIC (ps).
    virtual int64_t GetAckDelay() const = 0;
    /// @return least time between two packets that the NIC sends (ps); 0: no limit.
    virtual int64_t GetSendInterval() const = 0;
    /// @return least time between two packets of data that the NIC takes (ps); 0: no limit.
    virtual int64_t GetReceiveInterval() const = 0;
    /// Wire bytes that a frame counts for in the pacing of its flow.
    /// @param wire its bytes on the wire. @return these, or with PacingJitter a draw around them.
    virtual int64_t DrawSpacing(int64_t wire) = 0;
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_QUEUE_PAIR_OWNER_H */
