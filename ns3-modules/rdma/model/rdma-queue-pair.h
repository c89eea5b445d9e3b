/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_QUEUE_PAIR_H
#define RDMA_QUEUE_PAIR_H

#include "rdma-arrivals.h"
#include "rdma-congestion-control.h"
#include "rdma-loss-recovery.h"

#include "ns3/lossless-rate.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

namespace ns3
{
namespace rdma
{

class QueuePairOwner;
class ScaleUp;

/**
 * @ingroup rdma
 * @brief A reliable connection that carries one message, or an endless one, from a host to another.
 *
 * This object represents both ends; they communicate only by frames. Packets are numbered from 0.
 * Go-back-N: the receiver answers a gap with one NACK and drops further packets; Selective: it
 * keeps them, answers each with a NACK, and the sender retransmits only missing packets
 * (Scoreboard). None: the receiver counts whatever arrives. With a ReorderWindow a gap counts as a
 * loss only when a packet arrives from beyond the window: packets within it are kept and
 * acknowledged. After a timeout with data outstanding the sender retransmits the first
 * unacknowledged packet, with go-back-N also all after it.
 *
 * A message may also use the scale-up domain of a server, which has neither frames nor packets: for
 * the whole path, or before another host of the server sends it.
 */
class QueuePair : public LossRecovery
{
  public:
    /// Size, timing and rate of a message.
    struct Demand
    {
        uint64_t bytes{0};             //!< payload; 0: endless
        int64_t start{0};              //!< ps
        int64_t stop{lossless::NEVER}; //!< an endless source stops (ps)
        int64_t on{0};                 //!< length of a burst (ps); 0: no bursts
        int64_t off{0};                //!< pause after a burst (ps)
        uint64_t rate{0};              //!< rate limit in bit/s on the wire; 0: none
        uint64_t window{0};            //!< payload bytes in flight; 0: no limit
        uint8_t cls{0};                //!< class
    };

    /// Results.
    struct Outcome
    {
        int64_t finish{-1};          //!< last bit of the message received (ps); -1: not yet
        int64_t acked{-1};           //!< last ACK of the message at the sender (ps); -1: not yet
        uint64_t delivered{0};       //!< payload bytes received in order; without loss recovery,
                                     //!< in any order
        uint64_t sent{0};            //!< payload bytes sent, including retransmissions
        uint64_t retransmitted{0};   //!< of these, retransmissions
        uint64_t timeouts{0};        //!< timeouts
        uint64_t nacks{0};           //!< NACKs received
        uint64_t reordered{0};       //!< packets received after a later one; retransmissions not
                                     //!< counted
        uint64_t reorderDistance{0}; //!< largest number of places of these behind the latest
        uint64_t cnpsSent{0};        //!< congestion notifications the receiver sent
        uint64_t cnps{0};            //!< congestion notifications received
        uint64_t telemetryMissed{0}; //!< data frames received that had no room for the telemetry
                                     //!< of each switch
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    QueuePair();
    ~QueuePair() override;

    /// Set the hosts.
    /// @param flow its number. @param src sender. @param dst receiver. @param demand the message.
    /// @param control congestion control, or null.
    /// @param pinned whether its data frames follow a pinned path.
    void Connect(uint32_t flow,
                 QueuePairOwner* src,
                 QueuePairOwner* dst,
                 const Demand& demand,
                 Ptr<CongestionControl> control,
                 bool pinned);
    /// Set the properties of its path, for its congestion control: at set-up, and when its path
    /// has changed.
    /// @param baseRtt see GetBaseRtt (ps). @param hops see GetHops.
    void SetPath(int64_t baseRtt, uint32_t hops);
    /// Set the longest base round-trip time of all flows, which WindowBdps is based on; likewise.
    /// @param baseRtt ps.
    void SetLongestRtt(int64_t baseRtt);
    /// Set whether its answers follow a pinned path; by default they do not.
    /// @param pinned whether they do.
    void SetAnswersPinned(bool pinned);
    /// Let the message start on a scale-up domain.
    /// @param scaleUp the domain. @param from host at which that path starts.
    /// @param to host at which it ends: the destination, or the source, which forwards the message.
    void SetCarrier(ScaleUp* scaleUp, uint32_t from, uint32_t to);

    /// @return true if something that it does depends on SetPath or SetLongestRtt.
    bool UsesPath() const
    {
        return m_control || m_windowBdps > 0;
    }

    /// @return true if the message first uses a scale-up domain.
    bool IsCarried() const
    {
        return m_carrier;
    }

    /// @return true if it uses the domain for the whole path.
    bool IsInside() const
    {
        return m_inside;
    }

    /// The message has arrived over the scale-up domain.
    void NotifyCarried();
    /// Can its ends be moved to other hosts? @return true if it is, or will be, sent in frames
    /// without a pinned path.
    bool MayMove() const;
    /// Move its ends. Precondition: it is in no host's list.
    /// @param src sender. @param dst receiver.
    void Move(QueuePairOwner* src, QueuePairOwner* dst);
    /// Start sending, at the configured time.
    void Start();
    /// A limit of the sender has changed.
    void Reconsider();
    /// Send nothing until a time; a later call can only extend it.
    /// @param until ps.
    /// @return by how much this extends the remaining hold (ps).
    int64_t HoldUntil(int64_t until);

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

    /// Process a frame at the receiver.
    /// @param frame data frame; the caller keeps ownership.
    void ReceiveData(const lossless::Frame& frame);
    /// Process a frame at the sender.
    /// @param frame ACK, NACK or CNP; the caller keeps ownership.
    void ReceiveAnswer(const lossless::Frame& frame);

    /// Its number. @return flow.
    uint32_t GetFlow() const
    {
        return m_flow;
    }

    /// The sender. @return host.
    QueuePairOwner* GetSource() const
    {
        return m_src;
    }

    /// The receiver. @return host.
    QueuePairOwner* GetDestination() const
    {
        return m_dst;
    }

    /// The configured message. @return demand.
    const Demand& GetDemand() const
    {
        return m_demand;
    }

    /// Payload received without a gap, from the first byte on. @return bytes.
    uint64_t GetInOrder() const;

    /// Its results so far. @return outcome.
    const Outcome& GetOutcome() const
    {
        return m_outcome;
    }

    /// Bytes of telemetry in each DATA frame, ACK and NACK.
    /// @return bytes; 0: its congestion control uses no telemetry.
    uint32_t GetTelemetryBytes() const
    {
        return m_collects ? FrameFormat::GetTelemetryBytes() : 0;
    }

    /// Maximum number of hops in its telemetry.
    /// @return switches; 0: its congestion control uses no telemetry.
    uint32_t GetTelemetryHops() const
    {
        return m_collects ? FrameFormat::GetTelemetryHops() : 0;
    }

    /**
     * @brief Round-trip time of its first packet, which is full unless the message is shorter, on
     * an idle network, along the present paths of its frames and their ACKs: from the first bit
     * leaving the sender until the sender has processed the ACK of that packet alone. While there
     * is no path it remains that of the last one.
     *
     * This is the sum, in both directions, of every link's transmission time including overhead and
     * its delay, the latencies of switches, and those of the hosts: the receiver's twice, on
     * arrival and for the ACK, the sender's once.
     *
     * @return time; 0: there has been no path there and back.
     */
    Time GetBaseRtt() const;

    /// Number of switches on that path of its data frames. @return count.
    uint32_t GetHops() const
    {
        return m_hops;
    }

    /// A frame with this flow's addresses, as the sender would send it.
    /// @return by value; not from the pool.
    lossless::Frame GetHeader() const;
    /// An ACK of this flow, as the receiver would send it. @return by value; not from the pool.
    lossless::Frame GetAnswerHeader() const;
    /// Payload of a packet.
    /// @param psn its number. @return bytes.
    uint32_t GetPayload(uint64_t psn) const;
    /// Size of the frame of a packet.
    /// @param psn its number. @return bytes.
    uint32_t GetFrameBytes(uint64_t psn) const;

    /// Number of packets of the message. @return count; NEVER for an endless one.
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /// Its congestion control. @return the object, or null.
    Ptr<CongestionControl> GetCongestionControl() const
    {
        return m_control;
    }

    /// Has its start time come? @return true if so.
    bool IsStarted() const
    {
        return m_started;
    }

    /// Is the whole message acknowledged?
    /// @return true if so; an endless one never is.
    bool IsAcknowledged() const
    {
        return m_first >= m_packets;
    }

    /// TracedCallback signature of the rate.
    /// @param flow number. @param rate bit/s on the wire; 0: the message is acknowledged.
    typedef void (*RateCallback)(uint32_t flow, uint64_t rate);

    QueuePair* m_nextReady{nullptr};    //!< link of the host's list of ready queue pairs
    int64_t m_timedAt{lossless::NEVER}; //!< when the host reactivates it (ps)
    uint16_t m_reopened{
        lossless::ANY_QUEUE}; //!< egress queue whose running empty gave it this turn
    bool m_listed{false};     //!< it is in a list of the host

  protected:
    void DoDispose() override;

  private:
    void Hash();
    void Send();
    bool IsSending() const;
    void StartLimiter(const lossless::Frame& frame, int64_t now);
    void FillAnswer(lossless::Frame& frame) const;
    void Answer(lossless::FrameKind kind, const lossless::Frame& data);
    void ReceiveAhead(const lossless::Frame& frame);
    void Deliver(uint64_t bytes);
    void NotifyTimeout() override;
    void UpdateRate(int64_t now);

    // Attributes
    uint32_t m_ackEvery;               //!< packets per ACK
    uint32_t m_reorderWindow;          //!< packets; 0: any gap is a loss
    double m_windowBdps;               //!< window in BDPs of the longest path; 0: none
    lossless::RateChange m_rateChange; //!< what a change of the rate does to the next packet

    // Both ends
    QueuePairOwner* m_src{nullptr};   //!< sender
    QueuePairOwner* m_dst{nullptr};   //!< receiver
    ScaleUp* m_carrier{nullptr};      //!< carries the message first; may be null
    uint32_t m_carryFrom{0};          //!< number of the host from which it is carried
    uint32_t m_carryTo{0};            //!< number of the host to which it is carried
    Demand m_demand;                  //!< the message
    uint64_t m_window{0};             //!< smallest fixed window (B); 0: none
    Outcome m_outcome;                //!< results
    Ptr<CongestionControl> m_control; //!< or null
    uint64_t m_packets{0};            //!< of the message
    uint32_t m_flow{0};               //!< number
    uint32_t m_hash{0};               //!< of the 5-tuple
    uint32_t m_reverseHash{0};        //!< of the 5-tuple of answers
    int64_t m_baseRtt{0};             //!< see GetBaseRtt (ps)
    uint32_t m_hops{0};               //!< see GetHops
    bool m_collects{false};           //!< its congestion control uses telemetry
    bool m_inside{false};             //!< the domain carries the message for the whole path
    bool m_pinned{false};             //!< data frames follow a pinned path
    bool m_answersPinned{false};      //!< answers follow a pinned path

    // Sender
    bool m_started{false};                          //!< started
    bool m_underway{false};                         //!< on a scale-up domain, not arrived yet
    int64_t m_holdUntil{0};                         //!< send nothing before (ps)
    bool m_paced{false};                            //!< the limiter applies
    bool m_inPort{false};                           //!< a paced frame has not left the port yet
    lossless::RateLimiter m_limiter;                //!< paces packets
    TracedCallback<uint32_t, uint64_t> m_rateTrace; //!< Rate

    // Receiver
    Arrivals m_arrivals;        //!< packets received
    uint32_t m_unanswered{0};   //!< packets since the last ACK
    uint8_t m_unansweredEcn{0}; //!< bitwise or of Frame::ecn of packets since the last ACK or NACK
    bool m_gapKnown{false};     //!< the NACK for this gap has been sent
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_QUEUE_PAIR_H */
