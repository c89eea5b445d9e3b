/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef GFC_CONCEPTUAL_H
#define GFC_CONCEPTUAL_H

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-rate.h"

#include <array>

/**
 * @defgroup gfc Gentle Flow Control
 *
 * Qian, Cheng, Zhang, Ren: Gentle Flow Control, SIGCOMM 2019.
 */

namespace ns3
{
namespace gfc
{

/**
 * @ingroup gfc
 * @brief Conceptual GFC (section 4.1, Figure 4): the sending rate is a continuous function of the
 * downstream queue length.
 *
 * R(q) = C for q <= B0, C (Bm - q) / (Bm - B0) for B0 < q < Bm, 0 from Bm on. Theorem 4.1: with B0
 * <= Bm - 4 C tau the queue never reaches Bm. The concept assumes that feedback is continuous and
 * free: a message after every change of the queue, which takes no bandwidth. Both can be changed
 * (Ideal, MinGap). Rates count wire bytes. What happens from Bm on is for a flow control behind it
 * in the chain (PFC) or the buffer.
 */
class ConceptualGfc : public lossless::FlowControl
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    ConceptualGfc();

    uint32_t GetHooks() const override;
    void Start() override;
    std::string Check() const override;
    std::string Warn() const override;
    void NotifyReceived(const lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(uint8_t cls, uint32_t flow, uint32_t bytes, int64_t queueBytes) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, const lossless::Frame& frame, int64_t now) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief The mapping.
     *
     * @param queueBytes q.
     * @return R(q) in bit/s.
     */
    uint64_t MapRate(int64_t queueBytes) const;
    /**
     * @brief Feedback latency of a port: message out, rate applied, first frame at the new rate in.
     *
     * @return tau in ps.
     */
    int64_t GetFeedbackLatency() const;

  private:
    void Feedback(uint8_t cls, int64_t queueBytes);
    void Send(uint8_t cls);
    void SendPending();

    // Attributes
    int64_t m_bm;  //!< queue length at which the rate reaches 0 (B)
    int64_t m_b0;  //!< queue length up to which the rate is the line's (B)
    bool m_ideal;  //!< feedback takes no bandwidth
    Time m_minGap; //!< between messages of a class

    // Receiver's side
    std::array<int64_t, lossless::N_CLASSES> m_queue{};    //!< q (B)
    std::array<int64_t, lossless::N_CLASSES> m_lastSent{}; //!< when the last message went (ps)
    uint32_t m_pending{0};  //!< bit c: a message of class c waits for its gap
    uint64_t m_messages{0}; //!< sent
    int64_t m_peak{0};      //!< largest q (B)

    // Sender's side
    std::array<lossless::RateLimiter, lossless::N_CLASSES> m_limiter; //!< per class
    int64_t m_lowestRate{0}; //!< lowest rate obeyed (bit/s)

    lossless::ReusableEvent<ConceptualGfc> m_gap; //!< a gap is over
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_CONCEPTUAL_H */
