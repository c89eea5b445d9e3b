/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef TIMELY_H
#define TIMELY_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/traced-callback.h"

#include <deque>

/**
 * @defgroup timely TIMELY
 *
 * Congestion control by the gradient of round trips.
 */

namespace ns3
{
namespace timely
{

/**
 * @ingroup timely
 * @brief TIMELY's sender: it raises and lowers its rate by how round trips change.
 *
 * A packet is measured from its going to its ACK (Algorithm 1 of the paper). Below LowRtt the rate
 * grows by AdditiveIncrease; above HighRtt it shrinks by Beta (1 - HighRtt / RTT). Between them the
 * gradient decides, which is the moving average of the differences of round trips over MinRtt: at
 * most 0, the rate grows by a step, or by HyperFactor of them after HyperAfter such samples; above
 * 0, it shrinks by Beta times the gradient.
 *
 * The rate is kept within the line's and MinRate.
 */
class Timely : public rdma::CongestionControl
{
  public:
    /// What the rate spaces.
    enum class Pacing
    {
        PACKET,  ///< packets
        SEGMENT, ///< segments, whose packets go at the line's rate
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    std::string Check() const override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

    /// The rate that it aims at. @return bit/s on the wire.
    double GetCurrentRate() const
    {
        return m_current;
    }

    /// TracedCallback signature of samples.
    /// @param flow number. @param rtt round trip (ps).
    /// @param gradient normalised. @param rate bit/s on the wire, by this sample.
    typedef void (*SampleCallback)(uint32_t flow, int64_t rtt, double gradient, double rate);

  private:
    /// A packet that is measured.
    struct Probe
    {
        uint32_t psn; //!< its number
        int64_t sent; //!< when it went (ps)
    };

    bool IsMeasured(const lossless::Frame& frame) const;
    void HoldSegment(const lossless::Frame& frame, bool last);
    void Sample(int64_t rtt);
    void Raise(bool mayBeHyper);
    void Lower(double share);
    void Apply();

    // Attributes
    Time m_low;               //!< the rate grows below it
    Time m_high;              //!< the rate shrinks above it
    Time m_givenRtt;          //!< what gradients are a share of; 0: the path's
    double m_weight;          //!< of a new difference in the average
    double m_beta;            //!< of decreases
    DataRate m_additiveRate;  //!< a step
    DataRate m_referenceRate; //!< of the line at which m_additiveRate holds; 0: any
    DataRate m_minRate;       //!< least rate
    uint32_t m_hyperAfter;    //!< steps before larger ones
    double m_hyperFactor;     //!< how many times larger
    bool m_hyperBelowLow;     //!< short round trips count for larger steps
    uint32_t m_segment;       //!< payload from one measured packet to the next (B); 0: a round trip
    Pacing m_pacing;          //!< what the rate spaces

    double m_line{0};             //!< rate of the link (bit/s)
    double m_least{0};            //!< least rate (bit/s)
    double m_step{0};             //!< a step (bit/s)
    double m_minRtt{0};           //!< what gradients are a share of (ps)
    uint32_t m_segmentPackets{0}; //!< packets a segment; 0: a round trip
    std::deque<Probe> m_probes;   //!< measured packets in flight
    double m_current{0};          //!< rate (bit/s)
    int64_t m_previous{-1};       //!< last round trip (ps); -1: none yet
    double m_difference{0};       //!< average difference of two (ps)
    double m_gradient{0};         //!< the same over m_minRtt
    uint32_t m_steps{0};          //!< since the last decrease
    int64_t m_burst{0};           //!< wire bytes of the segment so far
    int64_t m_burstStart{0};      //!< when the segment began (ps)
    uint64_t m_samples{0};        //!< round trips
    uint64_t m_cuts{0};           //!< decreases
    TracedCallback<uint32_t, int64_t, double, double> m_sampleTrace; //!< Sample
};

} // namespace timely
} // namespace ns3

#endif /* TIMELY_H */
