/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef HPCC_H
#define HPCC_H

#include "ns3/data-rate.h"
#include "ns3/rdma-telemetry-control.h"
#include "ns3/traced-callback.h"

/**
 * @defgroup hpcc HPCC
 *
 * High precision congestion control: windows controlled by in-band telemetry.
 */

namespace ns3
{
namespace hpcc
{

/**
 * @ingroup hpcc
 * @brief HPCC's sender: it keeps the bytes in flight at a target share of what the busiest link
 * carries in a round trip.
 *
 * Every ACK carries, for each hop, the bytes that its port has sent and the length of its queue
 * (Algorithm 1 of the paper): U = min(queue now, queue before) / (B T) + (bytes sent) / (B dt) is
 * the utilization of a link of rate B, T the base round-trip time. The highest U enters a moving
 * average over T. The window is W = Wc Eta / U + W_AI when U >= Eta or after MaxStage additive
 * steps, and Wc + W_AI otherwise. The reference Wc follows W once per round trip, so that ACKs of
 * the same packets in flight are not counted twice.
 */
class Hpcc : public rdma::TelemetryControl
{
  public:
    /// When the window and its reference follow the telemetry.
    enum class Reaction
    {
        BOTH,    ///< the window at every ACK, the reference once per round trip: HPCC
        PER_RTT, ///< both once per round trip: reacts late
        PER_ACK, ///< both at every ACK: counts the same queue several times
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of changes.
    /// @param flow number. @param window W in bytes. @param reference Wc in bytes.
    /// @param utilization U. @param stage additive steps since the last multiplicative one.
    typedef void (*WindowCallback)(uint32_t flow,
                                   double window,
                                   double reference,
                                   double utilization,
                                   uint32_t stage);

  protected:
    bool Compare(const lossless::Telemetry& now,
                 const lossless::Telemetry& before,
                 bool round) override;
    void Rescale(double factor) override;

  private:
    void Measure(const lossless::Telemetry& now, const lossless::Telemetry& last);
    void Update(bool reference);

    // Attributes
    double m_eta;             //!< target utilization of a link
    uint32_t m_maxStage;      //!< additive steps before a multiplicative one
    DataRate m_additiveRate;  //!< W_AI / T
    DataRate m_referenceRate; //!< line rate for which m_additiveRate is given; 0: any
    Reaction m_reaction;      //!< when the window follows the telemetry

    double m_step{0};        //!< W_AI (B)
    double m_reference{0};   //!< Wc (B)
    double m_utilization{1}; //!< U
    double m_highest{0};     //!< highest U
    uint32_t m_stage{0};     //!< additive steps since the last multiplicative one
    uint64_t m_rounds{0};    //!< number of updates of Wc
    TracedCallback<uint32_t, double, double, double, uint32_t> m_windowTrace; //!< Window
};

} // namespace hpcc
} // namespace ns3

#endif /* HPCC_H */
