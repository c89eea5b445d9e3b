/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_INT_CONGESTION_CONTROL_H
#define @GUARD@_INT_CONGESTION_CONTROL_H

#include "ns3/data-rate.h"
#include "ns3/rdma-congestion-control.h"

/**
 * @defgroup @module@ @title@
 *
 * An end-to-end congestion control that reads in-band telemetry (INT).
 */

namespace ns3
{
namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief Keeps the busiest link of a queue pair's path at a given load.
 *
 * A round trip after each change, when its effect is visible, the load is measured over a base
 * round-trip time: the bytes that a hop's port sent in that time plus its queue, over what the link
 * carries in it. The rate moves half-way towards Target / load of the busiest hop, and grows by
 * Step, so that flows sharing a link converge to equal rates. The rate is never below Step.
 */
class @Class@ : public rdma::CongestionControl
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    bool WantsTelemetry() const override;
    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void Report(lossless::Summary& summary) const override;

  private:
    double LoadOf(const lossless::Telemetry& now) const;

    // Attributes
    double m_target; //!< target load of the busiest link
    DataRate m_step; //!< increase of the rate at each change

    uint64_t m_line{0};           //!< rate of the link (bit/s)
    uint64_t m_roundEnd{0};       //!< first packet not sent before the last change
    lossless::Telemetry m_before; //!< at the start of the measurement; no hops: not started
    double m_highest{0};          //!< highest load measured
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_INT_CONGESTION_CONTROL_H */
