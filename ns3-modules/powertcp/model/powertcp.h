/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef POWERTCP_H
#define POWERTCP_H

#include "powertcp-response.h"

#include "ns3/data-rate.h"
#include "ns3/rdma-telemetry-control.h"
#include "ns3/traced-callback.h"

#include <deque>

/**
 * @defgroup powertcp PowerTCP
 *
 * Addanki, Michel, Schmid: PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI
 * 2022.
 */

namespace ns3
{
namespace powertcp
{

/// TracedCallback signature of changes.
/// @param flow number. @param window W in bytes. @param reference Wc in bytes.
/// @param power smoothed.
typedef void (*WindowCallback)(uint32_t flow, double window, double reference, double power);

/**
 * @ingroup powertcp
 * @brief PowerTCP: windows by the power of the busiest hop, as telemetry says it.
 *
 * Of each hop of rate b, with T the base round trip: current is the rate at which bytes come, which
 * is the rate at which they go and the growth of the queue; voltage is what waits and b T; power is
 * their product, over Eta b b T. The highest is averaged over T, and at each answer
 *
 *   W = Gamma (Wc / power + W_AI) + (1 - Gamma) Wc
 *
 * where Wc is W as it was a round trip ago.
 */
class PowerTcp : public rdma::TelemetryControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    void Report(lossless::Summary& summary) const override;

  protected:
    bool Compare(const lossless::Telemetry& now,
                 const lossless::Telemetry& before,
                 bool round) override;

  private:
    // Attributes
    double m_gamma;          //!< share of the new window
    DataRate m_additiveRate; //!< W_AI / T
    double m_eta;            //!< share of a link that is aimed at
    double m_leastCurrent;   //!< share of a link that current is at the least

    Response m_response;                                            //!< W by the power
    double m_highest{0};                                            //!< highest power
    TracedCallback<uint32_t, double, double, double> m_windowTrace; //!< Window
};

/**
 * @ingroup powertcp
 * @brief Theta-PowerTCP: the same without telemetry, by round trips.
 *
 * Power is (1 + the growth of the round trip in time) RTT / (Margin T). Each packet is measured.
 */
class ThetaPowerTcp : public rdma::WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// A packet in flight.
    struct Probe
    {
        int64_t psn;  //!< its number
        int64_t sent; //!< when it went (ps)
    };

    // Attributes
    double m_gamma;          //!< share of the new window
    DataRate m_additiveRate; //!< W_AI / T
    double m_margin;         //!< of the base round trip that is no congestion
    double m_leastCurrent;   //!< what the current is at the least

    Response m_response;        //!< W by the power
    double m_highest{0};        //!< highest power
    std::deque<Probe> m_probes; //!< in flight
    int64_t m_lastRtt{0};       //!< of the answer before (ps)
    int64_t m_lastTime{-1};     //!< when that came (ps); -1: none yet
    TracedCallback<uint32_t, double, double, double> m_windowTrace; //!< Window
};

} // namespace powertcp
} // namespace ns3

#endif /* POWERTCP_H */
