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
 * Both ends live in this object; they learn of each other only by frames. Packets are numbered from
 * 0. Go-back-N: the receiver answers a gap with one NACK and drops what follows; Selective: it
 * keeps what follows, answers each such packet with a NACK, and the sender repeats only what is
 * missing (Scoreboard). With a ReorderWindow a gap is no loss until a packet comes from so far
 * behind it: what comes before is kept and acknowledged. A silence with data outstanding repeats
 * the first unacknowledged packet, and all after it with go-back-N.
 *
 * A message may also go over the scale-up domain of a server, which has neither frames nor packets:
 * the whole way, or before it is sent by another host of the server.
 */
class QueuePair : public LossRecovery
{
  public:
    /// What is sent, when, and how fast.
    struct Demand
    {
        uint64_t bytes{0};             //!< payload; 0: endless
        int64_t start{0};              //!< ps
        int64_t stop{lossless::NEVER}; //!< an endless source falls silent (ps)
        int64_t on{0};                 //!< length of a burst (ps); 0: no bursts
        int64_t off{0};                //!< silence after a burst (ps)
        uint64_t rate{0};              //!< cap in bit/s on the wire; 0: none
        uint64_t window{0};            //!< payload bytes in flight; 0: no limit
        uint8_t cls{0};                //!< class
    };

    /// What became of it.
    struct Outcome
    {
        int64_t finish{-1};        //!< last bit of the message received (ps); -1: not yet
        int64_t acked{-1};         //!< last ACK of the message at the sender (ps); -1: not yet
        uint64_t delivered{0};     //!< payload bytes received in order
        uint64_t sent{0};          //!< payload bytes sent, repeats included
        uint64_t retransmitted{0}; //!< of them, repeats
        uint64_t timeouts{0};      //!< silences that caused repeats
        uint64_t nacks{0};         //!< NACKs received
        uint64_t reordered{0};     //!< packets received after one that was sent later; repeats not
                                   //!< counted
        uint64_t reorderDistance{0}; //!< of these, the largest number of places behind the latest
        uint64_t cnpsSent{0};        //!< congestion notifications the receiver sent
        uint64_t cnps{0};            //!< congestion notifications received
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    QueuePair();
    ~QueuePair() override;

    /// Tie it to its hosts.
    /// @param flow its number. @param src sender. @param dst receiver. @param demand what to send.
    /// @param control congestion control, or null.
    /// @param pinned its data frames follow a pinned path.
    void Connect(uint32_t flow,
                 QueuePairOwner* src,
                 QueuePairOwner* dst,
                 const Demand& demand,
                 Ptr<CongestionControl> control,
                 bool pinned);
    /// Tell it what its path is like, for its congestion control.
    /// @param baseRtt see GetBaseRtt (ps). @param hops see GetHops.
    void SetPath(int64_t baseRtt, uint32_t hops);
    /// Tell it how long the longest path of all flows takes, in which WindowBdps counts.
    /// @param baseRtt the longest base round trip (ps).
    void SetLongestRtt(int64_t baseRtt);
    /// Say whether what answers it follows a pinned path; until then, it does not.
    /// @param pinned it does.
    void SetAnswersPinned(bool pinned);
    /// Let the message begin with a way over a scale-up domain.
    /// @param scaleUp it. @param from where the way begins.
    /// @param to where it ends: at the destination, or at the source, which sends the message on.
    void SetCarrier(ScaleUp* scaleUp, uint32_t from, uint32_t to);

    /// @return true if the message goes over a scale-up domain first.
    bool IsCarried() const
    {
        return m_carrier;
    }

    /// @return true if it goes over it the whole way.
    bool IsInside() const
    {
        return m_inside;
    }

    /// The message has come over the scale-up domain.
    void NotifyCarried();
    /// Can its ends become other hosts? @return true if it is on its way, or will be, by frames
    /// that are on no path of their own.
    bool MayMove() const;
    /// Change its ends. Precondition: no host has it in a list.
    /// @param src sender. @param dst receiver.
    void Move(QueuePairOwner* src, QueuePairOwner* dst);
    /// Begin to send, at the demanded time.
    void Start();
    /// Something that limits the sender has changed.
    void Reconsider();
    /// Send nothing before a time; a later call can only move it further.
    /// @param until ps.
    /// @return by how much this lengthens the time from now on in which it is held (ps).
    int64_t HoldUntil(int64_t until);

    /// Has it a packet to send, whatever the rate?
    /// @param now ps. @return true if so.
    bool CanSend(int64_t now) const;
    /// From when its rate, bursts and holds let the next packet go.
    /// @param now ps. @return ps.
    int64_t GetEarliest(int64_t now) const;
    /// The next packet may go, and waits for its turn at the NIC.
    /// @param now ps.
    void WaitForTurn(int64_t now);
    /// Make the next data frame. Precondition: CanSend.
    /// @param now ps. @return the frame.
    lossless::Frame* MakeNext(int64_t now);
    /// A frame with Frame::paced begins to go, or was dropped before: the rate counts from now on,
    /// and not from when the frame was made.
    /// @param frame it.
    /// @param held until when its class was held back (ps); waiting earned nothing before.
    /// @param now ps.
    void NotifyLeft(const lossless::Frame& frame, int64_t held, int64_t now);

    /// At the receiver.
    /// @param frame data frame; stays the caller's.
    void ReceiveData(const lossless::Frame& frame);
    /// At the sender.
    /// @param frame ACK, NACK or CNP; stays the caller's.
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

    /// What it was asked. @return demand.
    const Demand& GetDemand() const
    {
        return m_demand;
    }

    /// What became of it. @return outcome.
    const Outcome& GetOutcome() const
    {
        return m_outcome;
    }

    /// Bytes of telemetry in each DATA frame, ACK and NACK.
    /// @return bytes; 0: its congestion control does not want any.
    uint32_t GetTelemetryBytes() const
    {
        return m_collects ? FrameFormat::GetTelemetryBytes() : 0;
    }

    /// Hops that telemetry has room for.
    /// @return switches; 0: its congestion control does not want any.
    uint32_t GetTelemetryHops() const
    {
        return m_collects ? FrameFormat::GetTelemetryHops() : 0;
    }

    /**
     * @brief Round trip of its first packet, which is full unless the message is shorter, in an
     * empty network, along the paths that its frames and their ACKs have at set-up: from when the
     * first bit leaves the sender until the sender takes the ACK of that packet alone.
     *
     * That is the sum, there and back, of every link's time for the frame with its overhead and
     * its delay, of the latencies of switches, and of those of the hosts: the receiver's twice, on
     * arrival and on answering, the sender's once.
     *
     * @return time; 0: no path leads there and back.
     */
    Time GetBaseRtt() const;

    /// Switches on the path that its data frames have at set-up. @return count.
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

    /// Packets of the message. @return count; NEVER for an endless one.
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /// Its congestion control. @return it, or null.
    Ptr<CongestionControl> GetCongestionControl() const
    {
        return m_control;
    }

    /// Has its start come? @return true if so.
    bool IsStarted() const
    {
        return m_started;
    }

    /// Does the sender know that the whole message was received?
    /// @return true if so; an endless one never is.
    bool IsAcknowledged() const
    {
        return m_first >= m_packets;
    }

    /// TracedCallback signature of the rate.
    /// @param flow number. @param rate bit/s on the wire; 0: the message is acknowledged.
    typedef void (*RateCallback)(uint32_t flow, uint64_t rate);

    QueuePair* m_nextReady{nullptr};    //!< link of the host's list of those that may send
    int64_t m_timedAt{lossless::NEVER}; //!< when the host looks at it again (ps)
    uint16_t m_reopened{
        lossless::ANY_QUEUE}; //!< egress queue whose running empty gave it this turn
    bool m_listed{false};     //!< in a list of the host

  protected:
    void DoDispose() override;

  private:
    void Hash();
    void Send();
    void StartLimiter(const lossless::Frame& frame, int64_t now);
    void FillAnswer(lossless::Frame& frame) const;
    void Answer(lossless::FrameKind kind, const lossless::Frame& data);
    void ReceiveAhead(const lossless::Frame& frame);
    void NotifyTimeout() override;
    void UpdateRate(int64_t now);

    // Attributes
    uint32_t m_ackEvery;      //!< packets an ACK
    uint32_t m_reorderWindow; //!< packets; 0: any gap is a loss
    double m_windowBdps;      //!< window in BDPs of the longest path; 0: none

    // Both ends
    QueuePairOwner* m_src{nullptr};   //!< sender
    QueuePairOwner* m_dst{nullptr};   //!< receiver
    ScaleUp* m_carrier{nullptr};      //!< carries the message first; null: nothing does
    uint32_t m_carryFrom{0};          //!< number of the host from which it does
    uint32_t m_carryTo{0};            //!< number of the one to which it does
    Demand m_demand;                  //!< what to send
    Outcome m_outcome;                //!< what became of it
    Ptr<CongestionControl> m_control; //!< or null
    uint64_t m_packets{0};            //!< of the message
    uint32_t m_flow{0};               //!< number
    uint32_t m_hash{0};               //!< of the 5-tuple
    uint32_t m_reverseHash{0};        //!< of the 5-tuple of answers
    int64_t m_baseRtt{0};             //!< see GetBaseRtt (ps)
    uint32_t m_hops{0};               //!< see GetHops
    bool m_collects{false};           //!< its congestion control wants telemetry
    bool m_inside{false};             //!< it carries the message the whole way
    bool m_pinned{false};             //!< data frames follow a pinned path
    bool m_answersPinned{false};      //!< what answers follows a pinned path

    // Sender
    bool m_started{false};                          //!< begun
    bool m_underway{false};                         //!< on a scale-up domain, and not there yet
    int64_t m_holdUntil{0};                         //!< send nothing before (ps)
    bool m_paced{false};                            //!< a rate below the line's is in force
    bool m_inPort{false};                           //!< a paced frame has not left the port yet
    lossless::RateLimiter m_limiter;                //!< spaces packets
    TracedCallback<uint32_t, uint64_t> m_rateTrace; //!< Rate

    // Receiver
    Arrivals m_arrivals;        //!< which packets have come
    uint32_t m_unanswered{0};   //!< packets since the last ACK
    uint8_t m_unansweredEcn{0}; //!< Frame::ecn of packets since the last ACK or NACK, together
    bool m_gapKnown{false};     //!< the NACK of this gap is sent
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_QUEUE_PAIR_H */
