/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_TELEMETRY_CONTROL_H
#define RDMA_TELEMETRY_CONTROL_H

#include "rdma-window-control.h"

#include "ns3/lossless-frame.h"

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief A congestion control of windows that compares the telemetry of an answer with that of the
 * one before.
 *
 * The first answer has nothing before it, nor has the first of another path; one that was overtaken
 * by a later one is left out.
 */
class TelemetryControl : public WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    bool WantsTelemetry() const override;
    void NotifyAck(const lossless::Frame& frame) override;

  protected:
    /// Follow the telemetry.
    /// @param now of this answer. @param before of the one before, of the same ports.
    /// @param round whether it is the first answer to a packet sent after the last round trip.
    /// @return false if it is left out, so that the next one is compared with `before`.
    virtual bool Compare(const lossless::Telemetry& now,
                         const lossless::Telemetry& before,
                         bool round) = 0;

  private:
    lossless::Telemetry m_before; //!< of the last answer
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_TELEMETRY_CONTROL_H */
