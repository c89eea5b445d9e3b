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
 * Data center TCP's congestion control on queue pairs: windows from the share of marked packets.
 */

namespace ns3
{
namespace dctcp
{

/**
 * @ingroup dctcp
 * @brief DCTCP's sender on a queue pair: it cuts its window in proportion to the share of packets
 * that were marked.
 *
 * Once a round trip alpha = (1 - g) alpha + g F, F being the share of the answers of that round
 * trip that carry a mark. The first answer with a mark cuts the window W to W (1 - alpha / 2); no
 * other one cuts it until a packet that was sent after the cut is answered. A round trip that ends
 * without a cut under way adds a packet to W. Slow start and what follows a loss are TCP's and not
 * here: a queue pair begins at the line's rate, as in the public HPCC simulator.
 */
class Dctcp : public rdma::WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::string GetSignaller() const override;
    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    void NotifyAck(const lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of changes.
    /// @param flow number. @param window W in bytes. @param alpha the estimate of the share.
    typedef void (*WindowCallback)(uint32_t flow, double window, double alpha);

  private:
    void EndRound();

    // Attributes
    double m_gain;           //!< g
    DataRate m_additiveRate; //!< step / T; 0: a packet a round trip

    double m_step{0};        //!< what a round trip adds to W (B)
    double m_alpha{1};       //!< estimate of the share of marked packets
    uint64_t m_answers{0};   //!< in this round trip
    uint64_t m_marked{0};    //!< of these with a mark
    int64_t m_cutEnd{0};     //!< next packet to send as of the last cut
    bool m_isCutting{false}; //!< no answer to a packet sent after the last cut yet
    uint64_t m_cuts{0};      //!< so far
    uint64_t m_rounds{0};    //!< round trips so far
    TracedCallback<uint32_t, double, double> m_windowTrace; //!< Window
};

} // namespace dctcp
} // namespace ns3

#endif /* DCTCP_H */
