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

class QueuePair;

/**
 * @ingroup rdma
 * @brief A host as its queue pairs know it.
 */
class QueuePairOwner : public lossless::FabricNode
{
  public:
    /// A queue pair may have become able to send.
    /// @param queuePair it.
    virtual void Activate(QueuePair* queuePair) = 0;
    /// A queue pair is about to move to another host: take it out of all lists.
    /// @param queuePair it.
    virtual void Forget(QueuePair* queuePair) = 0;
    /// A queue pair received data in order.
    /// @param bytes payload of a message with an end; 0 for a greedy source.
    virtual void NoteDelivery(uint64_t bytes) = 0;
    /// A queue pair received its message whole.
    /// @param flow its number.
    virtual void NoteFinished(uint32_t flow) = 0;
    /// A queue pair that sends from here learned that its message was received whole.
    virtual void NoteAcknowledged() = 0;

    /// @return NIC latency (ps).
    virtual int64_t GetLatency() const = 0;
    /// @return time beside it that an ACK or NACK takes to leave the NIC (ps).
    virtual int64_t GetAckDelay() const = 0;
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_QUEUE_PAIR_OWNER_H */
