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
 * @brief The paper's tau: time from a message to the first whole frame at the new rate.
 *
 * The message waits for a frame and is serialised; it propagates and takes effect after the
 * processing time; a frame at the new rate propagates back and counts when its last bit has
 * arrived.
 *
 * @param rate of the link in bit/s.
 * @param delay of the link, one way, in ps.
 * @param frame wire bytes of the largest frame.
 * @param message wire bytes of a message; 0: ideal, neither waiting nor serialised.
 * @param processing time until the message takes effect, in ps.
 * @return ps.
 */
int64_t FeedbackLatency(uint64_t rate,
                        int64_t delay,
                        int64_t frame,
                        int64_t message,
                        int64_t processing);

/// Names of decimal units, each a thousand of the one before.
using Units = std::array<const char*, 5>;
inline constexpr Units SIZES{"B", "KB", "MB", "GB", "TB"};             ///< of bytes
inline constexpr Units RATES{"bit/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"}; ///< of bit/s
inline constexpr Units TIMES{"ps", "ns", "us", "ms", "s"};             ///< of ps

/// A value for people, with all its digits, in the largest unit of which it is at least one.
/// @param value in the first of the units. @param units its units.
/// @return "37.495 KB".
std::string Spell(int64_t value, const Units& units);

/**
 * @ingroup gfc
 * @brief Warn when a margin of buffer is below a sufficient bound.
 *
 * @param margin the left-hand side in words and its value in bytes ("Bm - B0").
 * @param bound the right-hand side in words and its value in bytes ("4 C tau").
 * @param source source of the bound.
 * @param consequence what may happen.
 * @return empty within the bound; otherwise the warning, to follow the name of the scheme.
 */
std::string WarnOutside(const std::pair<std::string, int64_t>& margin,
                        const std::pair<std::string, int64_t>& bound,
                        const std::string& source,
                        const std::string& consequence);

/**
 * @ingroup gfc
 * @brief What all gentle flow controls share: the downstream queue is fed back as a word, which
 * determines the sending rate.
 *
 * Receiver's side: after every change of the queue a mapping gives the word for the sender (a queue
 * length, a stage); a new word is sent, at most once per MinGap, and again every Refresh, so that a
 * lost message does not freeze a rate. Sender's side: the word determines a rate, which a
 * RateLimiter enforces on wire bytes.
 */
class Gentle : public lossless::FlowControl,
               public lossless::ByteObserver,
               public lossless::Gate,
               public lossless::SentListener,
               public lossless::DeadlockModel
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Gentle();

    void Start() override;
    void NotifyReceived(lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t now) override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    /// The rate for a word.
    /// @param word a message's word for a class. @return bit/s; 0 stops.
    virtual uint64_t GetRate(uint32_t word) const = 0;

    /// tau on this port: FeedbackLatency, with the peer's ControlDelay as processing time, plus
    /// MinGap, for which a message may have to wait.
    /// @return ps.
    int64_t GetFeedbackLatency() const;

  protected:
    /// The buffer demand of a mapping.
    /// @param bm its end, up to which the upstream may fill the queue, in bytes.
    /// @return the demand: Bm promised, and no headroom, since nothing is paused.
    lossless::BufferDemand DemandUpTo(int64_t bm) const;

    /// The word for a queue length.
    /// @param queueBytes length of the ingress queue.
    /// @param last the word sent last, for a mapping with hysteresis. @return the word.
    virtual uint32_t GetWord(int64_t queueBytes, uint32_t last) const = 0;

    /// The opcode of this scheme's MAC control frames. @return opcode.
    virtual uint16_t GetOpcode() const = 0;

    /// Warn when a margin of buffer is below a bound.
    /// @param what the left-hand side in words ("Bm - B0"). @param margin its value in bytes.
    /// @param factor the bound as a multiple of C tau. @param bound the bound in words ("4 C tau").
    /// @param source source of the bound. @return a warning with both sides, or empty.
    std::string WarnMargin(const std::string& what,
                           int64_t margin,
                           double factor,
                           const std::string& bound,
                           const std::string& source) const;

    bool m_ideal{false}; //!< messages use no bandwidth; an attribute of the derived class, whose
                         //!< default it is

  private:
    void Change(uint8_t cls, int64_t queueBytes);
    void Send(uint8_t cls);
    void SendPending();
    void Refresh();
    void SetRate(uint8_t cls, uint64_t rate, int64_t now);

    // Attributes
    Time m_minGap;  //!< minimum time between messages of a class
    Time m_refresh; //!< Refresh; 0: never

    // Receiver's side
    std::array<uint32_t, lossless::N_CLASSES> m_word{};    //!< current word for the sender
    std::array<uint32_t, lossless::N_CLASSES> m_sent{};    //!< word sent last
    std::array<int64_t, lossless::N_CLASSES> m_lastSent{}; //!< when it was sent (ps)
    uint32_t m_idleWord{0};                                //!< word of an empty queue
    uint32_t m_pending{0};    //!< bit c: class c waits for MinGap to pass
    bool m_refreshing{false}; //!< m_repeat is scheduled, from the first message on
    uint64_t m_messages{0};   //!< messages sent
    uint64_t m_repeats{0};    //!< of these, repeats
    int64_t m_peak{0};        //!< largest queue length (B)

    // Sender's side
    std::array<lossless::RateLimiter, lossless::N_CLASSES> m_limiter; //!< limiters, by class
    uint64_t m_lowestRate{0}; //!< lowest rate received (bit/s)

    lossless::ReusableEvent<Gentle> m_gap;    //!< a MinGap has passed
    lossless::ReusableEvent<Gentle> m_repeat; //!< repeats the words
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_GENTLE_H */
