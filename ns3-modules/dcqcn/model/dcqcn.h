/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCQCN_H
#define DCQCN_H

#include "ns3/lossless-event.h"
#include "ns3/nstime.h"
#include "ns3/rdma-rate-control.h"
#include "ns3/traced-callback.h"

namespace ns3
{
namespace dcqcn
{

/// How the receiver reports marked packets.
enum class Notification
{
    PACED,      ///< a CNP, at most one every CnpInterval
    PER_PACKET, ///< a CNP for each marked packet
    ACK_BIT,    ///< no CNP: a bit of the packet's ACK or NACK
};

/**
 * @ingroup dcqcn
 * @brief DCQCN's receiver (the notification point of the paper): it reports marked packets.
 */
class NotificationPoint : public rdma::CongestionReceiver
{
  public:
    /// Constructor.
    /// @param notification how it reports. @param cnpInterval minimum time between two CNPs (ps).
    NotificationPoint(Notification notification, int64_t cnpInterval);

    bool NotifyData(const lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

  private:
    Notification m_notification; //!< how it reports
    int64_t m_cnpInterval;       //!< minimum time between two CNPs (ps)
    int64_t m_nextCnp{0};        //!< earliest time of the next CNP (ps)
    uint64_t m_marksSeen{0};     //!< marked packets received
};

/**
 * @ingroup dcqcn
 * @brief DCQCN's reaction point (the sender) and notification point (the receiver) of a queue pair;
 * lossless::EcnMarking is its congestion point.
 *
 * A flow starts at line rate, without a limiter. The first notification sets alpha to InitialAlpha
 * and the rate to FirstRate. A cut sets
 * Rc = max(Rmin, Rc (1 - alpha / 2)) and restarts the increases; an increase, by the timer or the
 * byte counter, moves Rc half-way to the target Rt, which from step FastRecovery on first grows by
 * AI, or, when both counts are beyond that step, by HAI. Alpha moves towards 1 by Gain for a
 * notification, and towards 0 after an AlphaInterval without one.
 *
 * Alpha needs no event: it is updated step by step when it is used, with the same result as a
 * timer. The check for a cut runs only after a notification, and the increase timer only while Rc
 * is below line rate and the message is not finished. Rates are whole bit/s: a cut rounds down, an
 * increase rounds up, so that it reaches Rt.
 */
class Dcqcn : public rdma::RateControl
{
  public:
    /// What triggers a rate cut.
    enum class CutOn
    {
        CNP,   ///< each notification, immediately
        TIMER, ///< a check every DecreaseInterval for a notification since the last one
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Dcqcn();
    ~Dcqcn() override;

    void Start(rdma::Sender& sender, uint64_t lineRate) override;
    std::string Check() const override;
    std::string GetSignaller() const override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const rdma::Acknowledgement& ack) override;
    void NotifyTimeout() override;
    void NotifyCnp(const lossless::Frame& frame) override;
    bool IsAtRest() const override;
    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override;
    void Report(lossless::Summary& summary) const override;

    /// Alpha, updated. @return 0 to 1.
    double GetAlpha();
    /// TracedCallback signature of changes.
    /// @param flow number. @param current Rc in bit/s. @param target Rt in bit/s.
    /// @param alpha as used by the last cut.
    typedef void (*StateCallback)(uint32_t flow, uint64_t current, uint64_t target, double alpha);

  private:
    void Heard();
    void HeardLate();
    void Notified();
    void AdvanceAlpha(int64_t now);
    void Look();
    void Cut(int64_t now);
    void IncreaseTimer();
    void Increase(int64_t& stage);
    void ArmIncrease(int64_t now);
    void Apply();

    // Attributes
    Notification m_notification; //!< how the receiver reports marks
    Time m_cnpInterval;          //!< minimum time between two CNPs of a flow
    Time m_latency;              //!< from the arrival of a notification to its effect
    CutOn m_cutOn;               //!< what triggers a cut
    Time m_decreaseTime;         //!< see m_decreaseInterval
    Time m_alphaTime;            //!< see m_alphaInterval
    double m_gain;               //!< g
    Time m_increaseTime;         //!< see m_increaseInterval
    int64_t m_byteCounter;       //!< B; 0: none
    int64_t m_fastRecovery;      //!< number of steps
    DataRate m_additiveRate;     //!< see m_additiveIncrease
    DataRate m_hyperRate;        //!< see m_hyperIncrease
    bool m_clampTarget;          //!< the target follows every cut
    bool m_clampAfterTimer;      //!< an increase by the timer lets the next cut move the target
    DataRate m_firstRate;        //!< set by the first notification; 0: line rate
    double m_initialAlpha;       //!< set by the first notification
    bool m_cutOnLoss;            //!< NACKs and timeouts count as notifications
    DataRate m_referenceRate;    //!< line rate for which the increases are given; 0: any

    // Sender
    int64_t m_decreaseInterval{0};         //!< ps
    int64_t m_alphaInterval{0};            //!< ps
    int64_t m_increaseInterval{0};         //!< ps
    uint64_t m_additiveIncrease{0};        //!< bit/s
    uint64_t m_hyperIncrease{0};           //!< bit/s
    uint64_t m_current{0};                 //!< Rc (bit/s)
    uint64_t m_target{0};                  //!< Rt (bit/s)
    double m_alpha{0};                     //!< as of m_alphaAt
    int64_t m_firstAt{-1};                 //!< first notification (ps); -1: none yet
    int64_t m_alphaAt{0};                  //!< last step of alpha (ps)
    int64_t m_cutAt{0};                    //!< last cut (ps)
    int64_t m_increaseAt{0};               //!< next increase by the timer (ps), or NEVER
    int64_t m_timeStage{0};                //!< increases by the timer since the last cut
    int64_t m_byteStage{0};                //!< increases by the byte counter since the last cut
    int64_t m_bytes{0};                    //!< sent since the last increase by the byte counter (B)
    bool m_alphaSeen{false};               //!< a notification since m_alphaAt
    bool m_lookPending{false};             //!< an occurrence of m_look is scheduled
    bool m_increasePending{false};         //!< an occurrence of m_increase is scheduled
    lossless::ReusableEvent<Dcqcn> m_look; //!< checks for a cut
    lossless::ReusableEvent<Dcqcn> m_increase; //!< the increase timer
    lossless::ReusableEvent<Dcqcn> m_heard;    //!< a notification takes effect

    // Counters and traces
    uint64_t m_notifications{0}; //!< notifications received by the sender
    uint64_t m_cuts{0};          //!< rate cuts
    TracedCallback<uint32_t, uint64_t, uint64_t, double> m_stateTrace; //!< State
};

} // namespace dcqcn
} // namespace ns3

#endif /* DCQCN_H */
