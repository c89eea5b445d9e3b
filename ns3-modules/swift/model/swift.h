/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SWIFT_H
#define SWIFT_H

#include "ns3/nstime.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/traced-callback.h"

#include <string>

/**
 * @defgroup swift Swift
 *
 * Swift's congestion control on queue pairs: windows that keep delays at a target.
 */

namespace ns3
{
namespace swift
{

/**
 * @ingroup swift
 * @brief Swift's receiver: it writes into each answer how long the packet was in the host.
 */
class DelayReporter : public rdma::CongestionReceiver
{
  public:
    DelayReporter();

    void NotifyAnswer(const rdma::QueuePairOwner& host,
                      const lossless::Frame& data,
                      lossless::Frame& answer) override;

  private:
    uint32_t m_schemeByte; //!< offset in Frame::scheme of the delay (ns)
};

/**
 * @ingroup swift
 * @brief Swift's sender on a queue pair: it keeps the fabric delay and the host delay at their
 * targets, with one window each, and applies the smaller one.
 *
 * If the delay of an ACK is below the target, the window grows by AdditiveIncrease packets per
 * round trip; otherwise it shrinks by Beta times the relative excess over the target, by at most
 * MostDecrease and once per round trip. The fabric's target grows with the number of switches on
 * the path and as the window shrinks: a small window indicates many flows. A window below one
 * packet spaces packets out. The receiver writes the time that a frame spent in its host into the
 * ACK.
 */
class Swift : public rdma::CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::string Check() const override;
    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    bool WantsRtt() const override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void NotifyTimeout() override;
    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override;
    void Report(lossless::Summary& summary) const override;

    /// Target of the fabric delay.
    /// @param window window of the fabric (packets). @return ps.
    double GetTarget(double window) const;

    /// TracedCallback signature of samples.
    /// @param flow number. @param fabric fabric delay (ps). @param endpoint host delay
    /// (ps). @param fabricWindow resulting window (packets). @param endpointWindow likewise.
    typedef void (*SampleCallback)(uint32_t flow,
                                   int64_t fabric,
                                   int64_t endpoint,
                                   double fabricWindow,
                                   double endpointWindow);

  private:
    /// A window and the time of its last decrease.
    struct Window
    {
        double packets{0}; //!< its size
        int64_t cut{0};    //!< when it was last cut (ps)
    };

    void Sample(int64_t rtt, int64_t endpoint, uint64_t acknowledged);
    void Adjust(Window& window, double delay, double target, uint64_t acknowledged);
    void Cut(Window& window, double factor);
    void Apply();

    // Attributes
    Time m_baseTarget;         //!< target of the fabric delay, without switches
    Time m_hopTarget;          //!< added per switch
    Time m_flowRange;          //!< maximum added for small windows
    double m_flowLeastWindow;  //!< at or below this window, all of m_flowRange is added (packets)
    double m_flowMostWindow;   //!< at or above this window, nothing is added (packets)
    Time m_endpointTarget;     //!< target of the host delay
    double m_increase;         //!< packets per round trip
    double m_beta;             //!< gain of a decrease
    double m_mostDecrease;     //!< largest share of a decrease
    double m_leastWindow;      //!< packets
    double m_mostWindow;       //!< packets
    double m_initialWindow;    //!< packets; 0: BDP of the path
    uint32_t m_resetThreshold; //!< consecutive timeouts

    uint64_t m_line{0};       //!< rate of the link (bit/s)
    double m_wireBits{0};     //!< wire bytes of a full packet
    uint32_t m_schemeByte{0}; //!< offset in Frame::scheme of the delay at the receiver (ns)
    int64_t m_rtt{0};         //!< last round-trip time (ps)
    Window m_fabric;          //!< controlled by the fabric delay
    Window m_endpoint;        //!< controlled by the host delay
    uint64_t m_lossEnd{0};    //!< first packet never sent when a loss last cut the window
    uint32_t m_timeouts{0};   //!< timeouts since the last ACK
    uint64_t m_cuts{0};       //!< number of decreases
    TracedCallback<uint32_t, int64_t, int64_t, double, double> m_sampleTrace; //!< Sample
};

} // namespace swift
} // namespace ns3

#endif /* SWIFT_H */
