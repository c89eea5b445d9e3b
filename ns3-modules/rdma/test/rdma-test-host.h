/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_TEST_HOST_H
#define RDMA_TEST_HOST_H

#include "ns3/lossless-port.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/rdma-queue-pair-owner.h"

#include <utility>
#include <vector>

namespace ns3
{
namespace rdma
{
namespace tests
{

/// @ingroup rdma-tests
/// @brief A host that notes what an end of a queue pair tells it, and sends nothing.
class TestHost : public QueuePairOwner
{
  public:
    TestHost()
    {
        SetBuffer(CreateObject<lossless::SharedBuffer>());
    }

    /// Give it a port, at the other end of which nobody has to be.
    /// @param rate bit/s. @param peer the other end; itself: none.
    /// @return the port.
    lossless::Port& Join(uint64_t rate, TestHost& peer)
    {
        if (GetNPorts() == 0)
        {
            AddPort(CreateObject<lossless::Port>());
            peer.Join(rate, *this);
        }
        GetPort(0).Attach(this, 0, &peer.GetPort(0), rate, 0);
        return GetPort(0);
    }

    void Inject(lossless::Frame* frame) override
    {
        m_injected.push_back(*frame);
        lossless::FramePool::Give(frame);
    }

    void NoteDelivery(uint64_t bytes) override
    {
        m_delivered += bytes;
    }

    void NoteFinished(uint32_t flow) override
    {
        m_finished.push_back(flow);
    }

    void Receive(lossless::Frame* frame, lossless::Port& /* ingress */) override
    {
        m_received.emplace_back(lossless::NowPs(), *frame);
        Take(frame);
    }

    void Activate(SendQueue& /* queue */) override
    {
    }

    void Forget(SendQueue& /* queue */) override
    {
    }

    void NoteAcknowledged(uint32_t /* flow */) override
    {
    }

    int64_t GetPipelineLatency() const override
    {
        return 0;
    }

    int64_t GetLatency() const override
    {
        return 0;
    }

    uint32_t GetAckClass() const override
    {
        return lossless::CONTROL_CLASS + 1;
    }

    uint32_t GetCnpClass() const override
    {
        return lossless::CONTROL_CLASS + 1;
    }

    int64_t GetAckDelay() const override
    {
        return 0;
    }

    int64_t GetSendInterval() const override
    {
        return 0;
    }

    int64_t GetReceiveInterval() const override
    {
        return 0;
    }

    int64_t DrawSpacing(int64_t wire) override
    {
        return wire;
    }

    std::vector<lossless::Frame> m_injected;                     //!< answers
    std::vector<std::pair<int64_t, lossless::Frame>> m_received; //!< when (ps), what
    std::vector<uint32_t> m_finished;                            //!< flows
    uint64_t m_delivered{0};                                     //!< bytes
};

} // namespace tests
} // namespace rdma
} // namespace ns3

#endif /* RDMA_TEST_HOST_H */
