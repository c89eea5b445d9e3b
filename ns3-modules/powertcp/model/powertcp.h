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
 * @brief PowerTCP: windows controlled by the power of the busiest hop, from telemetry.
 *
 * For each hop of rate b, with T the base round-trip time: the current is the arrival rate, that is
 * the departure rate plus the growth of the queue; the voltage is the queue length plus b T; the
 * power is their product over Eta b b T. The highest power is averaged over T, and each ACK sets
 *
 *   W = Gamma (Wc / power + W_AI) + (1 - Gamma) Wc
 *
 * where Wc is the W of a round trip ago.
 */
class PowerTcp : public rdma::TelemetryControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    void Report(lossless::Summary& summary) const override;

  protected:
    bool Compare(const lossless::Telemetry& now,
                 const lossless::Telemetry& before,
                 bool round) override;
    void Rescale(double factor) override;

  private:
    // Attributes
    double m_gamma;          //!< weight of the new window
    DataRate m_additiveRate; //!< W_AI / T
    double m_eta;            //!< target utilization of a link
    double m_leastCurrent;   //!< lower bound of the current, as a share of the link's rate

    Response m_response; //!< window controlled by the power
    double m_highest{0}; //!< highest power
    TracedCallback<uint32_t, double, double, double> m_windowTrace; //!< Window
};

/**
 * @ingroup powertcp
 * @brief Theta-PowerTCP: the same without telemetry, from round-trip times.
 *
 * The power is (1 + d RTT / dt) RTT / (Margin T). Each packet is measured.
 */
class ThetaPowerTcp : public rdma::WindowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    bool WantsRtt() const override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void Report(lossless::Summary& summary) const override;

  protected:
    void Rescale(double factor) override;

  private:
    // Attributes
    double m_gamma;          //!< weight of the new window
    DataRate m_additiveRate; //!< W_AI / T
    double m_margin;         //!< round-trip time over the base one that is not yet congestion
    double m_leastCurrent;   //!< lower bound of the current

    Response m_response;    //!< window controlled by the power
    double m_highest{0};    //!< highest power
    int64_t m_lastRtt{0};   //!< round-trip time of the previous ACK (ps)
    int64_t m_lastTime{-1}; //!< arrival of the previous ACK (ps); -1: none yet
    TracedCallback<uint32_t, double, double, double> m_windowTrace; //!< Window
};

} // namespace powertcp
} // namespace ns3

#endif /* POWERTCP_H */
