/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_QUEUE_PAIR_H
#define RDMA_QUEUE_PAIR_H

#include "rdma-connection.h"
#include "rdma-loss-recovery.h"
#include "rdma-receive-queue.h"
#include "rdma-send-queue.h"

#include "ns3/traced-callback.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace rdma
{

class QueuePairOwner;
class ScaleUp;

/**
 * @ingroup rdma
 * @brief A message, or an endless one, from a host to another, and the reliable connection that
 * carries it: its own, or that of another one (Join).
 *
 * It pairs the two ends for set-up and results: its SendQueue belongs to the host that sends, its
 * ReceiveQueue to the one that receives, and neither touches the other. What they share is constant
 * while the flow runs, unless its ends move to other hosts.
 *
 * The messages of one connection are sent one after the other, in the order of their starts: the
 * first packet of a message follows the last one of the message before, whether that is
 * acknowledged or not. So packets are numbered on, losses are recovered across messages, and path
 * and congestion control stay as they are; no control is told of a pause between two messages.
 *
 * A message may also be cut into shares, each of which is a QueuePair like a message, mostly on a
 * connection of its own. It starts all of them, and has arrived when all of them have.
 *
 * A message may also use the scale-up domain of a server, which has neither frames nor packets: for
 * the whole path, or before another host of the server sends it.
 */
class QueuePair : public Connection, public RecoverySettings
{
  public:
    /// Results: what both ends have counted.
    struct Outcome : SendQueue::Counters, ReceiveQueue::Counters
    {
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
    /// Use the connection of another message. Both are connected, and that one has its own.
    /// @param other the other message, which outlives this one.
    void Join(QueuePair& other);
    /// Let another one carry a share of the message besides its own bytes. At set-up.
    /// @param share the other one, connected; it outlives this one.
    void AddShare(QueuePair& share);

    /// The message of which it carries a share, or all. @return the one to which it was added, or
    /// itself.
    QueuePair& GetWhole()
    {
        return m_whole ? *m_whole : *this;
    }

    /// @return true if it carries a share of the message of another one.
    bool IsShare() const
    {
        return m_whole;
    }

    /// @return payload of all shares of its message (B); 0: endless.
    uint64_t GetMessageBytes() const;
    /// A share has arrived; for the receiver. @return true if all have.
    bool NoteArrivedShare();
    /// A share is acknowledged; for the sender. @return true if all are.
    bool NoteAcknowledgedShare();

    /// The sender. @return host.
    QueuePairOwner* GetSource() const
    {
        return GetCarrying().m_send.GetHost();
    }

    /// The receiver. @return host.
    QueuePairOwner* GetDestination() const
    {
        return GetCarrying().m_receive.GetHost();
    }

    /// Whose queue pair carries the message, or its first share. @return number of that flow.
    uint32_t GetCarryingFlow() const
    {
        return GetCarrying().m_number;
    }

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
    /// The message starts, at the configured time.
    void Start();

    /// Its number. @return flow.
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /// Send nothing until a time; a later call can only extend it.
    /// @param until ps.
    /// @return by how much this extends the remaining hold (ps).
    int64_t HoldUntil(int64_t until)
    {
        return m_send.HoldUntil(until);
    }

    /// @return the sender's end.
    SendQueue& GetSendQueue()
    {
        return m_send;
    }

    /// @return the receiver's end.
    ReceiveQueue& GetReceiveQueue()
    {
        return m_receive;
    }

    /// Payload received without a gap, from the first byte of each share on. @return bytes.
    uint64_t GetInOrder() const;

    /// When its receiver can have the whole message at the earliest: packets that have not arrived
    /// come one after the other over the receiver's link.
    /// @return ps; NEVER for an endless one.
    int64_t GetEarliestFinish() const;

    /// Results of its message so far, with all shares. @return outcome of both ends.
    Outcome GetOutcome() const;

    /// Its congestion control. @return the object, or null.
    Ptr<CongestionControl> GetCongestionControl() const
    {
        return m_control;
    }

    /// Add the numbers of its congestion control to the run's summary.
    /// @param summary the summary.
    void Report(lossless::Summary& summary) const;

    /// Has its start time come? @return true if so.
    bool IsStarted() const
    {
        return m_started;
    }

    /// Will its ends send nothing more? @return true if all of its messages are acknowledged.
    bool IsDone() const
    {
        return GetCarrying().m_send.IsDone();
    }

    /// Visit the state of its ends, if they send or wait. @param visitor visitor. @param now ps.
    void Visit(lossless::StateVisitor& visitor, int64_t now);

    /// TracedCallback signature of the rate.
    /// @param flow number. @param rate bit/s on the wire; 0: the message is acknowledged.
    typedef void (*RateCallback)(uint32_t flow, uint64_t rate);

  protected:
    void DoDispose() override;

  private:
    /// Place of a message that has not been given to a connection.
    static constexpr std::size_t NOWHERE = SIZE_MAX;

    /// Give its ends to hosts.
    void SetHosts(QueuePairOwner& src, QueuePairOwner& dst);
    /// Give the shares of the message to their connections.
    void Launch();
    /// GetInOrder, GetEarliestFinish and GetOutcome of one share.
    uint64_t GetShareInOrder() const;
    int64_t GetEarliestFinishOfShare() const;
    Outcome GetShareOutcome() const;

    // Attributes
    uint32_t m_ackEvery;               //!< packets per ACK
    uint32_t m_reorderWindow;          //!< packets; 0: any gap is a loss
    double m_windowBdps;               //!< window in BDPs of the longest path; 0: none
    lossless::RateChange m_rateChange; //!< what a change of the rate does to the next packet

    /// That whose ends carry the message.
    const QueuePair& GetCarrying() const
    {
        return m_other ? *m_other : *this;
    }

    uint32_t m_number{0};                           //!< see GetNumber
    QueuePair* m_other{nullptr};                    //!< see Join; null: the connection is its own
    std::size_t m_place{NOWHERE};                   //!< of the message on its connection
    std::vector<QueuePair*> m_shares;               //!< see AddShare
    QueuePair* m_whole{nullptr};                    //!< see GetWhole; null: itself
    std::size_t m_arrived{0};                       //!< shares; the receiver's
    std::size_t m_acknowledged{0};                  //!< shares; the sender's
    Ptr<CongestionControl> m_control;               //!< or null
    TracedCallback<uint32_t, uint64_t> m_rateTrace; //!< Rate
    SendQueue m_send;                               //!< the sender's end
    ReceiveQueue m_receive;                         //!< the receiver's end
    ScaleUp* m_carrier{nullptr};                    //!< carries the message first; may be null
    uint32_t m_carryFrom{0};                        //!< number of the host from which it is carried
    uint32_t m_carryTo{0};                          //!< number of the host to which it is carried
    bool m_inside{false};  //!< the domain carries the message for the whole path
    bool m_started{false}; //!< its start time has come
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_QUEUE_PAIR_H */
