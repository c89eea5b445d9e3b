/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_TEST_NODE_H
#define LOSSLESS_TEST_NODE_H

#include "ns3/lossless-fabric-node.h"

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief The simplest host: it takes what arrives, and sends what it is given by its first port.
class TestNode : public FabricNode
{
  public:
    /// Make one.
    /// @param largest largest frame it says that it sends (bytes); 0: it says that it is a switch
    explicit TestNode(uint32_t largest = 1500)
        : m_largest(largest)
    {
    }

    void Receive(Frame* frame, Port& /* ingress */) override
    {
        Take(frame);
    }

    void Inject(Frame* frame) override
    {
        CountMade(frame);
        m_ports.front()->Enqueue(frame);
    }

    int64_t GetPipelineLatency() const override
    {
        return 0;
    }

    bool IsSwitch() const override
    {
        return m_largest == 0;
    }

    uint32_t GetLargestFrame() const override
    {
        return m_largest;
    }

  private:
    uint32_t m_largest; //!< bytes
};

} // namespace tests
} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_TEST_NODE_H */
