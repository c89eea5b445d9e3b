/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_CONGESTION_CONTROL_H
#define @GUARD@_CONGESTION_CONTROL_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/rdma-congestion-control.h"

/**
 * @defgroup @module@ @title@
 *
 * An end-to-end congestion control.
 */

namespace ns3
{
namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief Raises a queue pair's rate by steps while its round-trip times are short, and lowers it in
 * proportion when they are long.
 *
 * Once per round trip it uses the time from the transmission of a packet to its ACK. Up to Target
 * the rate grows by Step; above, it shrinks by Target / round-trip time, at most by half. No switch has to mark
 * packets. The rate is never below Step.
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

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    bool WantsRtt() const override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void Report(lossless::Summary& summary) const override;

  private:
    // Attributes
    Time m_target;   //!< largest round-trip time at which the rate still grows
    DataRate m_step; //!< increase per measured round trip

    uint64_t m_line{0};      //!< rate of the link (bit/s)
    uint64_t m_roundEnd{0};  //!< first packet not sent before the last change of the rate
    uint64_t m_decreases{0}; //!< number of decreases of the rate
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_CONGESTION_CONTROL_H */
