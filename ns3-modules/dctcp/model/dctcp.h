/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCTCP_H
#define DCTCP_H

#include "ns3/data-rate.h"
#include "ns3/rdma-window-control.h"
#include "ns3/traced-callback.h"

#include <string>

/**
 * @defgroup dctcp DCTCP
 *
 * Data Center TCP's congestion control on queue pairs: windows controlled by the share of marked
 * packets.
 */

namespace ns3
{
namespace dctcp
{

/**
 * @ingroup dctcp
 * @brief DCTCP's sender on a queue pair: it cuts its window in proportion to the share of marked
 * packets.
 *
 * Once per round trip alpha = (1 - g) alpha + g F, F being the share of ACKs with an ECN echo in
 * that round trip. The first such ACK cuts the window W to W (1 - alpha / 2); no other one cuts it
 * until a packet sent after the cut is acknowledged. A round trip that ends with no cut in progress
 * adds a packet to W. Slow start and loss recovery are TCP's and not modelled: a queue pair starts
 * at line rate, as in the public HPCC simulator.
 */
class Dctcp : public rdma::WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::string GetSignaller() const override;
    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of changes.
    /// @param flow number. @param window W in bytes. @param alpha the estimate of the share.
    typedef void (*WindowCallback)(uint32_t flow, double window, double alpha);

  protected:
    void Rescale(double factor) override;

  private:
    void EndRound();

    // Attributes
    double m_gain;           //!< g
    DataRate m_additiveRate; //!< step / T; 0: a packet per round trip

    double m_step{0};        //!< additive increase per round trip (B)
    double m_alpha{1};       //!< estimate of the share of marked packets
    uint64_t m_answers{0};   //!< in this round trip
    uint64_t m_marked{0};    //!< of these, with an ECN echo
    int64_t m_cutEnd{0};     //!< next packet to send at the time of the last cut
    bool m_isCutting{false}; //!< no packet sent after the last cut has been acknowledged yet
    uint64_t m_cuts{0};      //!< total number of cuts
    uint64_t m_rounds{0};    //!< total number of round trips
    TracedCallback<uint32_t, double, double> m_windowTrace; //!< Window
};

} // namespace dctcp
} // namespace ns3

#endif /* DCTCP_H */
