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
 * @brief A window-based congestion control that compares the telemetry of an ACK with that of the
 * previous one.
 *
 * The first ACK has no previous one, nor has the first one of another path; one that was overtaken
 * by a later one is ignored.
 */
class TelemetryControl : public WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    bool WantsTelemetry() const override;
    void NotifyAck(const Acknowledgement& ack) override;

  protected:
    /// Process the telemetry of an ACK.
    /// @param now telemetry of this ACK. @param before telemetry of the previous one, of the same
    /// ports.
    /// @param round whether it is the first ACK of a packet sent after the last round trip.
    /// @return false if it is ignored, so that the next one is compared with `before`.
    virtual bool Compare(const lossless::Telemetry& now,
                         const lossless::Telemetry& before,
                         bool round) = 0;

  private:
    lossless::Telemetry m_before; //!< of the last ACK
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_TELEMETRY_CONTROL_H */
