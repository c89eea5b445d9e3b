/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_DCQCN_H
#define RDMA_DCQCN_H

#include "rdma-congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

namespace ns3
{
namespace rdma
{

/// Named sets of parameters; what is not given explicitly comes from one.
enum class DcqcnSet
{
    HPCC,       ///< "dcqcn" of run.py of the public HPCC simulator
    HPCC_PAPER, ///< "dcqcn_paper" of the same
    PAPER,      ///< the paper's, for 40 Gb/s, as recalled: not verified
};

/// Does a value grow with the rate of the line?
enum class DcqcnScale
{
    SET,  ///< values of the set as the set says; values given explicitly do not
    NONE, ///< no
    LINE, ///< all do, also those given explicitly: they hold at the reference rate
};

/**
 * @ingroup rdma
 * @brief Values of a set of parameters, of the sender, the receiver and the switch.
 */
struct DcqcnValues
{
    /// What makes the sender cut its rate.
    enum class CutOn
    {
        SET,   ///< as the set says
        CNP,   ///< each notification, at once
        TIMER, ///< a look every DecreaseInterval, when there was a notification since the last
    };

    /// How the receiver tells of marked packets.
    enum class Notification
    {
        SET,        ///< as the set says
        PACED,      ///< a CNP, at most one every CnpInterval
        PER_PACKET, ///< a CNP for each
        ACK_BIT,    ///< no CNP: a bit of the packet's ACK or NACK
    };

    /// When a cut moves the target rate down to the current rate.
    enum class Clamp
    {
        SET,            ///< as the set says
        ALWAYS,         ///< at each
        AFTER_INCREASE, ///< when the rate was increased since the last cut
        AFTER_TIMER,    ///< when the timer increased it since the last cut
    };

    /**
     * @brief Values of a set.
     *
     * @param set which.
     * @return its values.
     */
    static const DcqcnValues& Of(DcqcnSet set);

    CutOn cutOn;               //!< what makes the sender cut
    Notification notification; //!< how it is told
    Clamp clamp;               //!< of the target rate
    int64_t decreaseInterval;  //!< ps
    int64_t alphaInterval;     //!< ps
    int64_t increaseInterval;  //!< ps
    int64_t byteCounter;       //!< B; 0: none
    int64_t fastRecovery;      //!< steps
    uint64_t additiveIncrease; //!< bit/s
    uint64_t hyperIncrease;    //!< bit/s
    uint64_t minRate;          //!< bit/s
    int64_t kmin;              //!< B
    int64_t kmax;              //!< B
    double pmax;               //!< 0 to 1
    bool markAtEnqueue;        //!< else at dequeue
    bool scales;               //!< AI, HAI, Kmin, Kmax hold at 25 Gb/s and grow with the rate
};

/**
 * @ingroup rdma
 * @brief DCQCN's reaction point (the sender) and notification point (the receiver) of a queue pair;
 * EcnMarking is its congestion point.
 *
 * A flow starts at line rate and unlimited. The first notification sets alpha to InitialAlpha. A
 * cut makes Rc = max(Rmin, Rc (1 - alpha / 2)) and starts the increases anew; an increase, by the
 * timer or the byte counter, moves Rc half-way to the target Rt, which from step FastRecovery on
 * first grows by AI, or, when both are beyond that step, by HAI. Alpha moves by Gain towards 1 when
 * there was a notification, and towards 0 when for AlphaInterval there was none.
 *
 * Alpha has no event: it is brought up to date when it is used, step by step, which gives the same
 * numbers as a timer. The sender looks whether to cut only when there was a notification, and the
 * increase timer runs only while Rc is below the line's rate and the message is not finished. Rates
 * are whole bit/s: a cut rounds down, an increase rounds up, so that it ends at Rt.
 */
class Dcqcn : public CongestionControl
{
  public:
    using CutOn = DcqcnValues::CutOn;               //!< what makes the sender cut
    using Notification = DcqcnValues::Notification; //!< how it is told
    using Clamp = DcqcnValues::Clamp;               //!< of the target rate

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    Dcqcn();
    ~Dcqcn() override;

    void Start(QueuePair* queuePair, uint64_t lineRate) override;
    std::string Check() const override;
    std::string GetSignaller() const override;
    void NotifySent(const lossless::Frame& frame) override;
    void NotifyAck(const lossless::Frame& frame) override;
    void NotifyCnp(const lossless::Frame& frame) override;
    bool NotifyData(const lossless::Frame& frame) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief Rc.
     *
     * @return bit/s.
     */
    uint64_t GetCurrentRate() const;
    /**
     * @brief Rt.
     *
     * @return bit/s.
     */
    uint64_t GetTargetRate() const;
    /**
     * @brief Alpha, brought up to date.
     *
     * @return 0 to 1.
     */
    double GetAlpha();
    /**
     * @brief The parameters in force, the line's rate taken into account.
     *
     * @return values; those of the switch are the set's.
     */
    const DcqcnValues& GetValues() const;

    /**
     * @brief TracedCallback signature of changes.
     *
     * @param flow number.
     * @param current Rc in bit/s.
     * @param target Rt in bit/s.
     * @param alpha as used by the last cut.
     */
    typedef void (*StateCallback)(uint32_t flow, uint64_t current, uint64_t target, double alpha);

  private:
    void Resolve(uint64_t lineRate);
    void Notified();
    void AdvanceAlpha(int64_t now);
    void Look();
    void Cut(int64_t now);
    void IncreaseTimer();
    void Increase(int64_t& stage);
    void ArmIncrease(int64_t now);
    void Apply();

    // Attributes
    DcqcnSet m_set;              //!< where values come from that are not given
    Notification m_notification; //!< how the receiver tells
    Time m_cnpInterval;          //!< least time between two CNPs of a flow
    CutOn m_cutOn;               //!< what makes the sender cut
    Time m_decreaseInterval;     //!< 0: of the set
    Time m_alphaInterval;        //!< 0: of the set
    double m_gain;               //!< g
    double m_initialAlpha;       //!< at the first notification
    double m_firstFactor;        //!< of the rate, at the first notification
    Time m_increaseInterval;     //!< 0: of the set
    int64_t m_byteCounter;       //!< B; -1: of the set
    int64_t m_fastRecovery;      //!< steps; -1: of the set
    DataRate m_additive;         //!< 0: of the set
    DataRate m_hyper;            //!< 0: of the set
    DataRate m_minRate;          //!< 0: of the set
    Clamp m_clamp;               //!< of the target rate
    DcqcnScale m_scale;          //!< AI and HAI with the line's rate?
    DataRate m_referenceRate;    //!< at which they hold if they scale
    bool m_cutOnNack;            //!< a NACK counts as a notification

    // Sender
    DcqcnValues m_values{};                //!< in force
    uint64_t m_line{0};                    //!< bit/s
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
    lossless::ReusableEvent<Dcqcn> m_look; //!< cut?
    lossless::ReusableEvent<Dcqcn> m_increase; //!< the increase timer

    // Receiver
    int64_t m_nextCnp{0}; //!< no CNP before (ps)

    // Counters and traces
    uint64_t m_marksSeen{0};                                           //!< marked packets received
    uint64_t m_notifications{0};                                       //!< received by the sender
    uint64_t m_cuts{0};                                                //!< of the rate
    TracedCallback<uint32_t, uint64_t, uint64_t, double> m_stateTrace; //!< State
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_DCQCN_H */
