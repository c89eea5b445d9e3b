/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_HOST_H
#define FABRICDEVICE_HOST_H

#include "ns3/lossless-fabric-node.h"

namespace ns3
{
namespace fabricdevice
{

/**
 * @ingroup fabricdevice
 * @brief A host of a fabric with only a FabricNetDevice: no queue pairs.
 *
 * It receives at line rate.
 */
class PlainHost : public lossless::FabricNode
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    PlainHost();
    ~PlainHost() override;

    int64_t GetPipelineLatency() const override;
    void Receive(lossless::Frame* frame, lossless::Port& ingress) override;
    void Inject(lossless::Frame* frame) override;
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_HOST_H */
