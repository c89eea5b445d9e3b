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

#include <deque>
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
 * @brief Swift's sender on a queue pair: it keeps the delay of the fabric, and that of the hosts,
 * at a target by one window each, and obeys the smaller one.
 *
 * With the delay of an answer below the target a window grows by AdditiveIncrease packets a round
 * trip, else it shrinks by Beta times the excess over the delay, at most by MostDecrease and once a
 * round trip. The fabric's target grows with the switches on the path, and as its window shrinks: a
 * small window tells of many flows. Windows below a packet space the packets. The receiver writes
 * what a frame spent in its host into the answer.
 */
class Swift : public rdma::CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::string Check() const override;
    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const lossless::Frame& frame) override;
    void NotifyTimeout() override;
    void NotifyAnswer(const lossless::Frame& data, lossless::Frame& answer) override;
    void Report(lossless::Summary& summary) const override;

    /// Target of the fabric's delay.
    /// @param window of the fabric (packets). @return ps.
    double GetTarget(double window) const;

    /// TracedCallback signature of samples.
    /// @param flow number. @param fabric delay of the fabric (ps). @param endpoint delay of the
    /// hosts (ps). @param fabricWindow after it (packets). @param endpointWindow the same.
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
        int64_t cut{0};    //!< when it shrank last (ps)
    };

    void Sample(int64_t rtt, int64_t endpoint, uint64_t acknowledged);
    void Adjust(Window& window, double delay, double target, uint64_t acknowledged);
    void Cut(Window& window, double factor);
    void Apply();

    // Attributes
    Time m_baseTarget;         //!< of the fabric, without switches
    Time m_hopTarget;          //!< more for each switch
    Time m_flowRange;          //!< most that small windows add
    double m_flowLeastWindow;  //!< at or below it they add m_flowRange (packets)
    double m_flowMostWindow;   //!< at or above it they add nothing (packets)
    Time m_endpointTarget;     //!< of the hosts
    double m_increase;         //!< packets a round trip
    double m_beta;             //!< of decreases
    double m_mostDecrease;     //!< in one round trip
    double m_leastWindow;      //!< packets
    double m_mostWindow;       //!< packets
    double m_initialWindow;    //!< packets; 0: BDP of the path
    uint32_t m_resetThreshold; //!< time-outs in turn

    uint64_t m_line{0};         //!< rate of the link (bit/s)
    double m_wireBits{0};       //!< of a full packet
    uint32_t m_schemeByte{0};   //!< of Frame::scheme: delay at the receiver (ns)
    uint64_t m_acknowledged{0}; //!< first packet not acknowledged
    uint64_t m_firstSent{0};    //!< packet of the first entry of m_sent
    std::deque<int64_t> m_sent; //!< when packets went (ps); -1: more than once
    int64_t m_rtt{0};           //!< last round trip (ps)
    Window m_fabric;            //!< by the delay of the fabric
    Window m_endpoint;          //!< by that of the hosts
    uint64_t m_next{0};         //!< first packet never sent
    uint64_t m_lossEnd{0};      //!< m_next as a loss cut the window last
    uint32_t m_timeouts{0};     //!< since the last answer
    uint64_t m_cuts{0};         //!< decreases so far
    TracedCallback<uint32_t, int64_t, int64_t, double, double> m_sampleTrace; //!< Sample
};

} // namespace swift
} // namespace ns3

#endif /* SWIFT_H */
