/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef GFC_GENTLE_H
#define GFC_GENTLE_H

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-rate.h"

#include <array>
#include <string>
#include <utility>

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
 * @brief Time from a message to the first whole frame at its rate, tau of the paper.
 *
 * The message waits for a frame and is sent itself; it travels, has effect after the processing,
 * and a frame at the new rate travels back and is seen when its last bit is in.
 *
 * @param rate of the link in bit/s.
 * @param delay of the link, one way, in ps.
 * @param frame wire bytes of the largest frame.
 * @param message wire bytes of a message; 0: ideal, waits for nothing and takes no time.
 * @param processing until the message has effect, in ps.
 * @return ps.
 */
int64_t FeedbackLatency(uint64_t rate,
                        int64_t delay,
                        int64_t frame,
                        int64_t message,
                        int64_t processing);

/**
 * @ingroup gfc
 * @brief Warn when a margin of buffer is less than a sufficient bound asks for.
 *
 * @param margin the left-hand side in words and its value in bytes ("Bm - B0").
 * @param bound the right-hand side in words and its value in bytes ("4 C tau").
 * @param source where the bound is from.
 * @param consequence what may happen.
 * @return empty inside the bound; else what to say after the name of the scheme.
 */
std::string WarnOutside(const std::pair<std::string, int64_t>& margin,
                        const std::pair<std::string, int64_t>& bound,
                        const std::string& source,
                        const std::string& consequence);

/**
 * @ingroup gfc
 * @brief What all gentle flow controls share: a word about the downstream queue goes up, a rate
 * comes of it.
 *
 * Receiver's side: after every change of the queue a mapping says what word the sender should know
 * (a queue length, a stage); a new word is sent, at most once a MinGap, and again every Refresh, so
 * that a lost message does not freeze a rate. Sender's side: the word becomes a rate, which a
 * RateLimiter keeps on wire bytes.
 */
class Gentle : public lossless::FlowControl,
               public lossless::ByteObserver,
               public lossless::Gate,
               public lossless::DeadlockModel
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Gentle();

    void Start() override;
    void NotifyReceived(const lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, const lossless::Frame& frame, int64_t now) override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    /// The rate a word stands for.
    /// @param word what a message carries for a class. @return bit/s; 0 stops.
    virtual uint64_t GetRate(uint32_t word) const = 0;

    /// tau on this port: FeedbackLatency, with the peer's ControlDelay as processing, and MinGap,
    /// for which a message may have to wait.
    /// @return ps.
    int64_t GetFeedbackLatency() const;

  protected:
    /// The demand of a mapping.
    /// @param bm its end, up to which the upstream may fill the queue, in bytes.
    /// @return the demand: Bm, and no headroom, since nobody is told to stop.
    lossless::BufferDemand DemandUpTo(int64_t bm) const;

    /// The word for a queue length.
    /// @param queueBytes length of the ingress queue.
    /// @param last the word that was sent last, for a mapping with memory. @return the word.
    virtual uint32_t GetWord(int64_t queueBytes, uint32_t last) const = 0;

    /// Which MAC control frames are this scheme's. @return opcode.
    virtual uint16_t GetOpcode() const = 0;

    /// Warn when a margin of buffer is less than a bound asks for.
    /// @param what the left-hand side in words ("Bm - B0"). @param margin its value in bytes.
    /// @param factor the bound as a multiple of C tau. @param bound the bound in words ("4 C tau").
    /// @param source where it is from. @return a warning that quotes both sides, or empty.
    std::string WarnMargin(const std::string& what,
                           int64_t margin,
                           double factor,
                           const std::string& bound,
                           const std::string& source) const;

    bool m_ideal{false}; //!< messages take no bandwidth; an attribute of the derived class, whose
                         //!< default it is

  private:
    void Change(uint8_t cls, int64_t queueBytes);
    void Send(uint8_t cls);
    void SendPending();
    void Refresh();
    void SetRate(uint8_t cls, uint64_t rate, int64_t now);

    // Attributes
    Time m_minGap;  //!< between messages of a class
    Time m_refresh; //!< between repeats of a word; 0: none

    // Receiver's side
    std::array<uint32_t, lossless::N_CLASSES> m_word{};    //!< that the sender should know
    std::array<uint32_t, lossless::N_CLASSES> m_sent{};    //!< that was sent last
    std::array<int64_t, lossless::N_CLASSES> m_lastSent{}; //!< when (ps)
    uint32_t m_idleWord{0};                                //!< of an empty queue
    uint32_t m_pending{0};                                 //!< bit c: class c waits for its gap
    bool m_refreshing{false}; //!< m_repeat is scheduled, as it is from the first message on
    uint64_t m_messages{0};   //!< sent
    uint64_t m_repeats{0};    //!< of them, repeats
    int64_t m_peak{0};        //!< longest queue (B)

    // Sender's side
    std::array<lossless::RateLimiter, lossless::N_CLASSES> m_limiter; //!< per class
    uint64_t m_lowestRate{0}; //!< lowest rate obeyed (bit/s)

    lossless::ReusableEvent<Gentle> m_gap;    //!< a gap is over
    lossless::ReusableEvent<Gentle> m_repeat; //!< repeat the words
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_GENTLE_H */
