/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_LOSS_RECOVERY_H
#define RDMA_LOSS_RECOVERY_H

#include "rdma-scoreboard.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"
#include "ns3/type-id.h"

#include <memory>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief How a sender recovers from losses, as attributes of a queue pair.
 */
class RecoverySettings
{
  public:
    /// Kinds of loss recovery.
    enum class Retransmit
    {
        NONE,      ///< none: what arrives counts, and a lost packet leaves the message unfinished
        GO_BACK_N, ///< retransmit everything from the gap on
        SELECTIVE, ///< retransmit only missing packets
    };

    /// Which packets a selective-repeat sender retransmits after a timeout.
    enum class TimeoutRepeats
    {
        ALL,   ///< all that were not received
        FIRST, ///< the first packet, and those reported by NACKs
    };

    /// @return true if lost packets are retransmitted.
    bool IsReliable() const
    {
        return m_retransmit != Retransmit::NONE;
    }

    /// @return true if only missing packets are retransmitted.
    bool IsSelective() const
    {
        return m_retransmit == Retransmit::SELECTIVE;
    }

    /// @return true if the receiver drops what arrives after a gap.
    bool IsGoBackN() const
    {
        return m_retransmit == Retransmit::GO_BACK_N;
    }

    /// Timeout with a number of packets in flight, counted from the first unacknowledged one.
    /// @param packets number of packets. @return ps.
    int64_t GetTimeout(uint64_t packets) const;
    /// @return the shortest timeout (ps).
    int64_t GetShortTimeout() const;

    /// @return timeouts in a row after which it gives up; 0: never.
    uint32_t GetRetryCount() const
    {
        return m_retryCount;
    }

    /// @return true if a timeout repeats all packets that were not received.
    bool RepeatsAll() const
    {
        return m_timeoutRepeats == TimeoutRepeats::ALL;
    }

  protected:
    /// Add the attributes to the type of a class derived from this.
    /// @param tid type. @return the same.
    static TypeId AddAttributes(TypeId tid);

  private:
    int64_t GetLongTimeout() const;

    Retransmit m_retransmit;         //!< kind of loss recovery
    uint32_t m_localAck;             //!< exponent of the timeout; 0: m_timeout
    uint32_t m_retryCount;           //!< timeouts until it gives up; 0: never does
    Time m_timeout;                  //!< timeout
    Time m_shortTimeout;             //!< timeout with few packets in flight; 0: none
    uint32_t m_shortPackets;         //!< maximum number of packets that are few
    TimeoutRepeats m_timeoutRepeats; //!< of Selective
};

/**
 * @ingroup rdma
 * @brief Which packet the sender of a queue pair sends next: retransmissions after NACKs and
 * timeouts.
 */
class LossRecovery
{
  public:
    /// Who is told of timeouts.
    class Owner
    {
      public:
        virtual ~Owner() = default;
        /// A timeout has expired: there may be packets to retransmit.
        virtual void NotifyTimeout() = 0;
        /// One timeout too many has expired: nothing is sent any more.
        virtual void NotifyFailure() = 0;
    };

    /// Constructor.
    /// @param settings whose values are final when Start is called. @param owner told of timeouts.
    LossRecovery(const RecoverySettings& settings, Owner& owner);
    ~LossRecovery();

    /// The settings are final.
    void Start();

    /// @return first packet not acknowledged.
    uint64_t GetFirst() const
    {
        return m_first;
    }

    /// @return next packet to send, unless one is missing.
    uint64_t GetNext() const
    {
        return m_next;
    }

    /// @return first packet never sent.
    uint64_t GetHighest() const
    {
        return m_highest;
    }

    /// @return true if a packet is to be retransmitted, whatever the window.
    bool HasMissing() const
    {
        return m_scoreboard && m_scoreboard->HasMissing();
    }

    /// @return true if it has given up.
    bool HasFailed() const
    {
        return m_failed;
    }

    /// Take the packet to send next.
    /// @param repeat set to true if it is a retransmission. @return its number.
    uint64_t TakeNext(bool& repeat);
    /// A packet was sent.
    /// @param psn its number. @param now ps.
    void WatchProgress(uint64_t psn, int64_t now);
    /// All packets before a given one are acknowledged.
    /// @param first that packet. @param now ps. @return true if this is new.
    bool Advance(uint64_t first, int64_t now);
    /// An answer has arrived, after Advance.
    /// @param nack whether it is a NACK. @param expected packet that the receiver expects.
    /// @param got packet that it answers.
    void NoteAnswer(bool nack, uint64_t expected, uint64_t got);

    /// A NACK has arrived that says that a packet came truncated, after Advance. Only a Selective
    /// sender makes use of it. No timeout expires until it has sent that packet again.
    /// @param psn the packet.
    void NoteTruncated(uint64_t psn)
    {
        if (m_scoreboard)
        {
            m_scoreboard->NoteTruncated(psn);
        }
    }

    /// All packets have arrived by another way.
    /// @param packets number of packets.
    void Skip(uint64_t packets);
    /// Visit the state. @param visitor visitor. @param flow its flow.
    /// @param hasWindow whether packets wait for answers. @param now ps.
    void Visit(lossless::StateVisitor& visitor, uint32_t flow, bool hasWindow, int64_t now);

  private:
    /// Retransmit if there was no progress for too long.
    void Look();
    /// Schedule the next check.
    void LookAt(int64_t time, int64_t now);

    const RecoverySettings& m_settings; //!< of the queue pair
    Owner& m_owner;                     //!< told of timeouts
    uint64_t m_first{0};                //!< first packet not acknowledged
    uint64_t m_next{0};                 //!< next packet to send, unless one is missing
    uint64_t m_highest{0};              //!< first packet never sent

    uint32_t m_retries{0}; //!< timeouts since the last progress
    bool m_failed{false};  //!< it has given up

    std::unique_ptr<Scoreboard> m_scoreboard;     //!< Selective, or null
    int64_t m_progress{0};                        //!< last progress (ps)
    int64_t m_lookAt{lossless::NEVER};            //!< time of the next check (ps); NEVER: none
    lossless::ReusableEvent<LossRecovery> m_look; //!< checks for a timeout
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_LOSS_RECOVERY_H */
