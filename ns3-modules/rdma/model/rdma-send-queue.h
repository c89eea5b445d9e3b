/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_SEND_QUEUE_H
#define RDMA_SEND_QUEUE_H

#include "rdma-congestion-control.h"
#include "rdma-connection.h"
#include "rdma-loss-recovery.h"
#include "rdma-rtt-meter.h"
#include "rdma-sender.h"

#include "ns3/lossless-rate.h"
#include "ns3/traced-callback.h"

#include <cstddef>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief The sender's end of a queue pair: which packet may be sent when, and what is learned from
 * the answers. Only the sender's host calls it.
 *
 * Packets of all messages are numbered from 0. A packet may be sent if the window has room and the
 * rate allows it. After a timeout with data outstanding the first unacknowledged packet is
 * retransmitted, with go-back-N also all after it.
 */
class SendQueue : public Sender, private LossRecovery::Owner
{
  public:
    /// What it counts of a message. A timeout counts for that of the first packet not acknowledged.
    struct Counters
    {
        int64_t acked{-1};         //!< last ACK of the message (ps); -1: not yet
        uint64_t sent{0};          //!< payload bytes sent, including retransmissions
        uint64_t retransmitted{0}; //!< of these, retransmissions
        uint64_t timeouts{0};      //!< timeouts
        uint64_t nacks{0};         //!< NACKs received
        uint64_t cnps{0};          //!< congestion notifications received
    };

    /// Its place in the lists of its host, which alone writes it.
    struct Listing
    {
        SendQueue* next{nullptr};               //!< the next one in the same list
        int64_t timedAt{lossless::NEVER};       //!< when the host activates it again (ps)
        uint16_t reopened{lossless::ANY_QUEUE}; //!< egress queue whose running empty gave it this
                                                //!< turn
        bool listed{false};                     //!< it is in a list
    };

    /// Constructor.
    /// @param connection what both ends know. @param recovery loss recovery. Both are final when
    /// Prepare is called.
    /// @param rateTrace fired with the flow and its rate when that has changed.
    SendQueue(const Connection& connection,
              const RecoverySettings& recovery,
              const TracedCallback<uint32_t, uint64_t>& rateTrace);
    ~SendQueue() override;

    /// Set the host that sends, before it starts or when it moves.
    /// @param host the host.
    void SetHost(QueuePairOwner& host)
    {
        m_host = &host;
    }

    /// The settings are final.
    /// @param rateChange what a change of the rate does to the next packet.
    /// @param control congestion control, or null; it outlives this object.
    void Prepare(lossless::RateChange rateChange, CongestionControl* control);
    /// Set the fixed window.
    /// @param bytes smallest fixed window; 0: none.
    void SetWindow(uint64_t bytes);
    /// A message has started: send it, after those before it.
    void Start();
    /// The whole message has arrived by a scale-up domain.
    void NotifyCarried();
    /// The path has changed.
    void NotifyPath();
    void Reconsider() override;
    int64_t HoldUntil(int64_t until) override;
    bool IsDone() const override;

    /// Does it have a packet to send, regardless of the rate?
    /// @param now ps. @return true if so.
    bool CanSend(int64_t now) const;
    /// Earliest time of the next packet by rate, bursts and holds.
    /// @param now ps. @return ps.
    int64_t GetEarliest(int64_t now) const;
    /// The next packet may be sent, and waits for its turn at the NIC.
    /// @param now ps.
    void WaitForTurn(int64_t now);
    /// Create the next data frame. Precondition: CanSend.
    /// @param now ps. @return the frame.
    lossless::Frame* MakeNext(int64_t now);
    /// A frame with Frame::paced starts transmission, or was dropped before: the rate counts from
    /// now on, and not from when the frame was created.
    /// @param frame the frame.
    /// @param held until when its class was held back (ps); waiting before that earned no credit.
    /// @param now ps.
    void NotifyLeft(const lossless::Frame& frame, int64_t held, int64_t now);
    /// Process a frame.
    /// @param frame ACK, NACK or CNP; the caller keeps ownership.
    void Receive(const lossless::Frame& frame);

    /// Is all acknowledged that has started?
    /// @return true if so; an endless message never is.
    bool IsAcknowledged() const
    {
        return m_recovery.GetFirst() >= m_connection.GetPackets();
    }

    /// @param message place of a message. @return whether it is acknowledged.
    bool IsAcknowledged(std::size_t message) const
    {
        return message < m_acknowledged;
    }

    /// @return true if it has given up after too many timeouts.
    bool HasFailed() const
    {
        return m_recovery.HasFailed();
    }

    /// @param message place of a message. @return what it has counted of it.
    Counters GetCounters(std::size_t message) const
    {
        return message < m_counters.size() ? m_counters[message] : Counters{};
    }

    /// How many packets may follow before the last one of the message that it sends.
    /// @return count, at most 2^40, which stands for more than there are; -1: answers of an earlier
    /// message are outstanding.
    int64_t CountAhead() const;

    /// Does it send, or wait for answers or messages? @return true if it has state.
    bool IsLive() const
    {
        return IsSending();
    }

    /// Visit the state. @param visitor visitor. @param now ps.
    void Visit(lossless::StateVisitor& visitor, int64_t now);

    /// @return its place in the lists of its host.
    Listing& GetListing()
    {
        return m_listing;
    }

  private:
    void NotifyTimeout() override;
    void NotifyFailure() override;
    /// It has begun, and is not done.
    bool IsSending() const;
    /// What it counts of a message.
    Counters& CountersOf(std::size_t message);
    /// More packets are acknowledged.
    void FinishMessages(int64_t now);
    /// Apply the rate of the traffic and of the congestion control.
    void UpdateRate(int64_t now);
    /// Report the rate if it has changed: 0 while all that has started is acknowledged.
    void TraceRate();
    /// Tell the congestion control of a packet that is sent, and measure it if it wants that.
    void TellSent(const lossless::Frame& frame, int64_t now);
    /// The rate counts from a frame on.
    void StartLimiter(const lossless::Frame& frame, int64_t now);

    LossRecovery m_recovery;                               //!< which packet is next
    Listing m_listing;                                     //!< see GetListing
    const TracedCallback<uint32_t, uint64_t>& m_rateTrace; //!< Rate
    CongestionControl* m_control{nullptr};                 //!< or null
    lossless::RateChange m_rateChange{}; //!< what a change of the rate does to the next packet
    uint64_t m_window{0};                //!< smallest fixed window (B); 0: none
    int64_t m_holdUntil{0};              //!< send nothing before (ps)
    bool m_started{false};               //!< it sends, or has sent
    bool m_paced{false};                 //!< the limiter applies
    bool m_inPort{false};                //!< a paced frame has not left the port yet
    lossless::RateLimiter m_limiter;     //!< paces packets
    uint64_t m_traced{0};                //!< last rate that was reported (bit/s)
    bool m_measures{false};              //!< the congestion control wants round-trip times
    RttMeter m_meter;                    //!< for it
    std::vector<Counters> m_counters{1}; //!< by message, up to the last one with any
    std::size_t m_acknowledged{0};       //!< number of messages
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_SEND_QUEUE_H */
