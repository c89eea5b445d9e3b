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
 * High precision congestion control: windows from in-band telemetry.
 */

namespace ns3
{
namespace hpcc
{

/**
 * @ingroup hpcc
 * @brief HPCC's sender: it keeps the bytes in flight at a share of what the busiest link carries in
 * a round trip.
 *
 * Every answer says, for each hop, what its port sent and what waited there (Algorithm 1 of the
 * paper): U = min(queue now, queue before) / (B T) + (bytes sent) / (B dt) is the load of a link of
 * rate B, T the base round trip. The highest of them goes into a moving average over T. The window
 * is W = Wc Eta / U + W_AI when U >= Eta, or after MaxStage additive steps, and Wc + W_AI else. The
 * reference Wc follows W once a round trip, so that answers to the same packets in flight are not
 * counted twice.
 */
class Hpcc : public rdma::TelemetryControl
{
  public:
    /// When the window and its reference follow the telemetry.
    enum class Reaction
    {
        BOTH,    ///< the window at every answer, the reference once a round trip: HPCC
        PER_RTT, ///< both once a round trip: reacts late
        PER_ACK, ///< both at every answer: counts one and the same queue many times
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(rdma::QueuePair* queuePair, uint64_t lineRate) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of changes.
    /// @param flow number. @param window W in bytes. @param reference Wc in bytes.
    /// @param utilization U. @param stage additive steps since the last other one.
    typedef void (*WindowCallback)(uint32_t flow,
                                   double window,
                                   double reference,
                                   double utilization,
                                   uint32_t stage);

  protected:
    bool Compare(const lossless::Telemetry& now,
                 const lossless::Telemetry& before,
                 bool round) override;

  private:
    void Measure(const lossless::Telemetry& now, const lossless::Telemetry& last);
    void Update(bool reference);

    // Attributes
    double m_eta;             //!< share of a link that is aimed at
    uint32_t m_maxStage;      //!< additive steps before one by the telemetry
    DataRate m_additiveRate;  //!< W_AI / T
    DataRate m_referenceRate; //!< of the line at which m_additiveRate holds; 0: any
    Reaction m_reaction;      //!< when to follow

    double m_step{0};        //!< W_AI (B)
    double m_reference{0};   //!< Wc (B)
    double m_utilization{1}; //!< U
    double m_highest{0};     //!< highest U
    uint32_t m_stage{0};     //!< additive steps since the last other one
    uint64_t m_rounds{0};    //!< updates of Wc
    TracedCallback<uint32_t, double, double, double, uint32_t> m_windowTrace; //!< Window
};

} // namespace hpcc
} // namespace ns3

#endif /* HPCC_H */
