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
 * A round trip after each change, when what it brought is seen, a base round trip is measured: the
 * load of a hop is what its port sent in that time, and what then waits there, over what the link
 * carries in it. The rate takes half the way towards Target / load of the busiest hop, and grows by
 * Step, so that flows that share a link come to equal rates. A rate is never below Step.
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
    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

  private:
    double LoadOf(const lossless::Telemetry& now) const;

    // Attributes
    double m_target; //!< load of the busiest link
    DataRate m_step; //!< by which the rate grows at each change

    uint64_t m_line{0};           //!< rate of the link (bit/s)
    int64_t m_baseRtt{0};         //!< ps
    int64_t m_first{-1};          //!< first packet sent since the last change; -1: none yet
    lossless::Telemetry m_before; //!< when the measurement began; no hops: it has not
    double m_highest{0};          //!< load that was measured
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_INT_CONGESTION_CONTROL_H */
