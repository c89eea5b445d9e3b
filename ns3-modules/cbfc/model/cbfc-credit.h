/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef CBFC_CREDIT_H
#define CBFC_CREDIT_H

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"

#include <array>

/**
 * @defgroup cbfc Credit-based flow control
 *
 * The link-level flow control of InfiniBand: a sender may send only what its receiver has reserved
 * space for.
 */

namespace ns3
{
namespace cbfc
{

/// Unit of credit: 64 bytes (InfiniBand Architecture Specification, volume 1, section 7.9).
inline constexpr uint32_t BLOCK_BYTES = 64;
/// MAC control opcode that carries an InfiniBand flow-control packet on Ethernet, from the range
/// that IEEE has not assigned.
inline constexpr uint16_t CREDIT_OPCODE = 0x0cbf;

/// Blocks that a frame occupies.
/// @param bytes size of the frame. @return blocks, rounded up.
inline uint32_t
BlocksOf(uint32_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

/**
 * @ingroup cbfc
 * @brief Credit-based flow control (CBFC) of InfiniBand, one credit loop per class, as per virtual
 * lane.
 *
 * The sender counts the blocks it has sent, FCTBS, and sends a frame only when FCTBS + its blocks
 * <= FCCL. The receiver counts the blocks it has received, ABR, and grants FCCL = ABR + free blocks
 * of its buffer, in a credit message every Period and, with OnChange, when blocks are freed, at
 * least MinGap apart. A message also carries the sender's FCTBS: the receiver sets ABR to it, so
 * that credit for blocks lost on the wire is recovered. Both ends of a link on which a class has
 * had traffic send messages, each with credit for the direction towards it and with FCTBS of the
 * direction from it.
 *
 * Counters are 32 bits wide and compared modulo 2^32, wide enough for any Buffer; InfiniBand's have
 * 12 bits (recalled), which limits a buffer to just below 128 KiB (CounterBits). Credits are
 * initialised when the link comes up, as by link training. The switch's buffer reserves the credits
 * of each (port, class) and rejects at the start a configuration that it cannot hold; no headroom
 * is needed, since nothing arrives without credit. A class counts as paused while its credits do
 * not cover a largest frame.
 *
 * Lossy classes and the control queue (as InfiniBand's VL15) need no credit.
 *
 * A message only ever moves ABR forwards, because a message that took ControlDelay to take effect
 * is older than the blocks received since.
 */
class Credit : public lossless::FlowControl,
               public lossless::ByteObserver,
               public lossless::Gate,
               public lossless::SentListener,
               public lossless::DeadlockModel
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Credit();

    lossless::BufferDemand GetBufferDemand() const override;
    void Start() override;
    std::string Check() const override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    void NotifyReceived(lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t now) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    /// Blocks that the sender may still send.
    /// @param cls class. @return FCCL - FCTBS, not negative.
    uint32_t GetCredit(uint8_t cls) const;

  protected:
    /// New credit has arrived.
    /// @param cls class. @param now ps.
    virtual void NotifyCredit(uint8_t cls, int64_t now);

    /// The buffer granted per class. @return bytes.
    int64_t GetBuffer() const;

    /// Time between credit messages. @return Period.
    Time GetPeriod() const;

  private:
    uint32_t GetLimit(uint8_t cls) const;
    void Activate(uint8_t cls);
    void Grant(uint8_t cls);
    void Period();
    void GrantPending();
    void UpdateStarved(uint8_t cls);

    // Attributes
    int64_t m_buffer; //!< granted per class (B)
    Time m_period;    //!< between messages
    bool m_onChange;  //!< also when blocks are freed
    Time m_minGap;    //!< between messages of a class
    uint32_t m_bits;  //!< width of the counters in messages

    // Receiver's side
    std::array<uint32_t, lossless::N_CLASSES> m_received{}; //!< ABR (blocks)
    std::array<uint32_t, lossless::N_CLASSES> m_held{};     //!< blocks in the buffer
    std::array<int64_t, lossless::N_CLASSES> m_lastGrant{}; //!< time of the last message (ps)
    uint32_t m_active{0};                                   //!< bit c: class c has had traffic
    uint32_t m_pending{0};  //!< bit c: class c waits for MinGap to pass
    uint32_t m_blocks{0};   //!< blocks of the buffer
    uint64_t m_messages{0}; //!< messages sent
    uint64_t m_resynced{0}; //!< blocks recovered by FCTBS

    // Sender's side
    std::array<uint32_t, lossless::N_CLASSES> m_sent{};  //!< FCTBS (blocks)
    std::array<uint32_t, lossless::N_CLASSES> m_limit{}; //!< FCCL (blocks)
    uint32_t m_starved{0};  //!< bit c: class c has less credit than a largest frame needs
    uint32_t m_largest{0};  //!< blocks of a largest frame
    uint32_t m_lossless{0}; //!< bit c: class c is lossless and needs credit

    lossless::ReusableEvent<Credit> m_tick; //!< a Period has passed
    lossless::ReusableEvent<Credit> m_gap;  //!< a MinGap has passed
};

} // namespace cbfc
} // namespace ns3

#endif /* CBFC_CREDIT_H */
