/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_HOST_H
#define RDMA_HOST_H

#include "rdma-queue-pair-owner.h"
#include "rdma-queue-pair.h"

#include "ns3/callback.h"
#include "ns3/lossless-frame-source.h"

#include <array>
#include <queue>
#include <vector>

namespace ns3
{
namespace rdma
{

/// What the hosts of a fabric count together.
struct Progress
{
    int64_t lastDelivery{-1};              //!< last data received in order (ps); -1: none yet
    uint64_t finished{0};                  //!< messages received whole
    uint64_t acknowledged{0};              //!< messages whose senders know of it
    uint64_t finite{0};                    //!< messages there are
    uint64_t delivered{0};                 //!< payload of these, received in order (bytes)
    bool stopWhenDone{false};              //!< stop the simulator when all are done
    bool untilAcked{false};                //!< done is acknowledged, else received whole
    Callback<void, uint32_t> whenFinished; //!< told of each flow received whole; null: nobody asks

    /// May the run stop? @return true if it was asked to when all messages are done, and they are.
    bool IsDone() const
    {
        return stopWhenDone && finite > 0 && (untilAcked ? acknowledged : finished) == finite;
    }
};

/**
 * @ingroup rdma
 * @brief A host: one NIC with queue pairs, served round-robin frame by frame within a class.
 *
 * It takes data at line rate, or slower: then arriving frames fill its buffer and its port's flow
 * controls act on the switch. Packets of another protocol stack are data in this sense; they go to
 * the node's packet receiver, which shares the port with the queue pairs frame by frame.
 *
 * Latency delays what arrives and what the host answers with. Data frames are made when they can
 * go: their way through the NIC is seen only by what stops them, and belongs to the scheme that
 * does.
 */
class Host : public QueuePairOwner, public lossless::FrameSource
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Host();
    ~Host() override;

    /// Share what all hosts have in common.
    /// @param queuePairs by flow. @param progress common counters.
    void SetShared(const std::vector<Ptr<QueuePair>>* queuePairs, Progress* progress);
    /// Tell somebody when its link goes down or comes up.
    /// @param told called then.
    void SetLinkCallback(Callback<void> told);
    /// Largest frame a queue pair of this host may send.
    /// @param bytes bytes.
    void SetLargestFrame(uint32_t bytes);
    /// Take data at a rate.
    /// @param rate bit/s of frame bytes; 0: at line rate.
    void SetReceiveRate(uint64_t rate);
    /// Behave as if the buffer wanted the switch silent, whatever it holds.
    /// @param cls class. @param on begin, else end. @param endless it will not end.
    void SetPauseStorm(uint8_t cls, bool on, bool endless);
    bool IsPausingForever(uint8_t cls) const override;

    void Activate(QueuePair* queuePair) final;
    void Forget(QueuePair* queuePair) final;
    void NoteDelivery(uint64_t bytes) final;
    void NoteFinished(uint32_t flow) final;
    void NoteAcknowledged() final;
    void NotifyLeft(const lossless::Frame& frame) override;
    void NotifyLink(lossless::Port& port, bool up) override;

    lossless::Frame* Pull(uint8_t cls) override;
    void Reopen(uint16_t queue) override;
    int64_t GetPipelineLatency() const override;
    uint32_t GetLargestFrame() const override;
    void Receive(lossless::Frame* frame, lossless::Port& ingress) override;
    void Inject(lossless::Frame* frame) override;
    uint64_t CountHeld() const override;

    /// A queue pair that sends from here.
    /// @param flow its number.
    /// @return it, or nullptr if there is none of that number, or another host sends it.
    QueuePair* FindSender(uint32_t flow) const;
    /// The queue pair of a flow, of any host.
    /// @param flow its number, below GetNFlows. @return it.
    QueuePair& GetQueuePair(uint32_t flow) const;
    /// Flows of the network. @return count.
    uint32_t GetNFlows() const;
    int64_t GetLatency() const final;
    int64_t GetAckDelay() const final;

    /// Make the port take frames from the queue pairs; call once it is there.
    void ConnectSource();

  private:
    /// Queue pairs that wait for an egress queue to run empty.
    struct Parked
    {
        QueuePair* head{nullptr}; //!< first
        QueuePair* tail{nullptr}; //!< last
    };

    /// A queue pair that may send later.
    struct Timed
    {
        int64_t time;         //!< ps
        uint32_t flow;        //!< breaks ties the same way in every run
        QueuePair* queuePair; //!< it

        /// Order for a heap with the earliest on top.
        /// @param other another. @return true if this is later.
        bool operator<(const Timed& other) const
        {
            return time != other.time ? time > other.time : flow > other.flow;
        }
    };

    void PushReady(QueuePair* queuePair, int64_t now);
    void Park(QueuePair* queuePair, uint16_t queue);
    QueuePair* Unpark(uint16_t queue);
    void List(QueuePair* queuePair, int64_t now);
    void Timer();
    void LeaveOutbound(lossless::Frame* frame);
    void Accept(lossless::Frame* frame);
    void Process(lossless::Frame* frame);
    void ServeNext();
    void Served();

    const std::vector<Ptr<QueuePair>>* m_queuePairs{nullptr}; //!< by flow
    Progress* m_progress{nullptr};                            //!< common counters
    Callback<void> m_linkCallback; //!< told of its link; null: nobody asks
    uint32_t m_largestFrame{0};    //!< bytes
    std::array<QueuePair*, lossless::N_CLASSES>
        m_readyHead{}; //!< queue pairs that may send, by class
    std::array<QueuePair*, lossless::N_CLASSES> m_readyTail{}; //!< last of them
    std::vector<Parked> m_parked;       //!< by egress queue, up to the highest that was waited for
    std::priority_queue<Timed> m_timed; //!< queue pairs that may send later
    int64_t m_timerAt{lossless::NEVER}; //!< earliest pending look (ps)
    lossless::ReusableEvent<Host> m_timer; //!< look at them
    Time m_latency;                        //!< attribute
    lossless::EventStream<Host, lossless::Frame, &Host::Accept>
        m_inbound;   //!< arrived, still in the NIC
    Time m_ackDelay; //!< attribute
    Time m_cnpDelay; //!< attribute
    using Outbound = lossless::EventStream<Host, lossless::Frame, &Host::LeaveOutbound>;
    Outbound m_outbound;                    //!< made here, still in the NIC: routed control frames
    Outbound m_outboundAcks;                //!< ACKs and NACKs
    Outbound m_outboundCnps;                //!< CNPs
    uint32_t m_silencing{0};                //!< bit c: pauses class c without an end
    uint64_t m_receiveRate{0};              //!< bit/s; 0: line rate
    lossless::FrameFifo m_received;         //!< frames not yet taken
    bool m_serving{false};                  //!< taking one
    lossless::ReusableEvent<Host> m_served; //!< it is taken
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_HOST_H */
