/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef TIMELY_H
#define TIMELY_H

#include "ns3/nstime.h"
#include "ns3/rdma-rate-control.h"
#include "ns3/traced-callback.h"

/**
 * @defgroup timely TIMELY
 *
 * Congestion control by the gradient of round-trip times.
 */

namespace ns3
{
namespace timely
{

/**
 * @ingroup timely
 * @brief TIMELY's sender: it adjusts its rate to changes of the round-trip time.
 *
 * A round-trip time counts once per segment, or per round trip (Algorithm 1 of the paper): that of
 * the packet whose ACK is the first to complete it, if it was sent once. Below LowRtt
 * the rate grows by AdditiveIncrease; above HighRtt it shrinks by Beta (1 - HighRtt / RTT). In
 * between the gradient decides, the moving average of round-trip time differences over MinRtt: if
 * it is at most 0, the rate grows by one step, or by HyperFactor steps after HyperAfter such
 * samples; if it is above 0, the rate shrinks by Beta times the gradient.
 *
 * The rate is kept between MinRate and line rate.
 */
class Timely : public rdma::RateControl
{
  public:
    /// What is paced.
    enum class Pacing
    {
        PACKET,  ///< packets
        SEGMENT, ///< segments, whose packets are sent at line rate
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    void NotifyPath() override;
    std::string Check() const override;
    bool WantsRtt() const override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of samples.
    /// @param flow number. @param rtt round-trip time (ps).
    /// @param gradient normalised. @param rate resulting rate, bit/s on the wire.
    typedef void (*SampleCallback)(uint32_t flow, int64_t rtt, double gradient, double rate);

  private:
    bool EndsSegment(const lossless::Frame& frame) const;
    uint64_t GetNextDue(const rdma::Acknowledgement& ack) const;
    void HoldSegment(const lossless::Frame& frame, bool last);
    void Sample(int64_t rtt);
    void Raise(bool mayBeHyper);
    void Lower(double share);
    void Apply();

    // Attributes
    Time m_low;               //!< below this round-trip time the rate grows
    Time m_high;              //!< above this round-trip time the rate shrinks
    Time m_givenRtt;          //!< normalises gradients; 0: the path's round-trip time
    double m_weight;          //!< weight of a new difference in the average
    double m_beta;            //!< gain of decreases
    DataRate m_additiveRate;  //!< additive step
    DataRate m_referenceRate; //!< line rate for which m_additiveRate is given; 0: any
    uint32_t m_hyperAfter;    //!< steps before hyperactive increase
    double m_hyperFactor;     //!< steps of a hyperactive increase
    bool m_hyperBelowLow;     //!< short round trips count towards hyperactive increase
    uint32_t m_segment;       //!< payload between measured packets (B); 0: a round trip
    Pacing m_pacing;          //!< what is paced

    double m_step{0};             //!< additive step (bit/s)
    double m_minRtt{0};           //!< normalises gradients (ps)
    uint32_t m_segmentPackets{0}; //!< packets per segment; 0: a round trip
    double m_current{0};          //!< rate (bit/s)
    int64_t m_previous{-1};       //!< last round-trip time (ps); -1: none yet
    double m_difference{0};       //!< average difference of successive round trips (ps)
    double m_gradient{0};         //!< the same over m_minRtt
    uint32_t m_steps{0};          //!< steps since the last decrease
    int64_t m_burst{0};           //!< wire bytes of the segment so far
    int64_t m_burstStart{0};      //!< start of the segment (ps)
    uint64_t m_due{0};            //!< an answer to this packet, or to a later one, is a sample
    uint64_t m_samples{0};        //!< number of samples
    uint64_t m_cuts{0};           //!< number of decreases
    TracedCallback<uint32_t, int64_t, double, double> m_sampleTrace; //!< Sample
};

} // namespace timely
} // namespace ns3

#endif /* TIMELY_H */
