/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_HOST_H
#define RDMA_HOST_H

#include "rdma-queue-pair-owner.h"
#include "rdma-queue-pair.h"
#include "rdma-send-pipeline.h"

#include "ns3/callback.h"
#include "ns3/lossless-frame-source.h"
#include "ns3/random-variable-stream.h"

#include <array>
#include <atomic>
#include <memory>
#include <queue>
#include <vector>

namespace ns3
{
namespace rdma
{

/// Totals shared by the hosts of a fabric, which several threads may simulate.
struct Progress
{
    std::atomic<uint64_t> finished{0};     //!< messages received completely
    std::atomic<uint64_t> acknowledged{0}; //!< messages acknowledged at their senders
    uint64_t finite{0};                    //!< number of finite messages
    bool stopWhenDone{false};              //!< stop the simulator when all are done
    bool untilAcked{false}; //!< done means acknowledged; otherwise received completely
    Callback<void, uint32_t>
        whenFinished; //!< called for each flow received completely; may be null

    /// May the run stop? @return true if it was requested when all messages are done, and they are.
    bool IsDone() const
    {
        return stopWhenDone && finite > 0 && (untilAcked ? acknowledged : finished) == finite;
    }
};

/**
 * @ingroup rdma
 * @brief A host: one NIC with queue pairs, served round-robin within a class: frame by frame, or in
 * bursts.
 *
 * It receives at line rate, or more slowly: then arriving frames fill its buffer and its port's
 * flow controls act on the switch. Packets of another protocol stack count as data here; they go to
 * the node's packet receiver, which shares the port with the queue pairs frame by frame.
 *
 * Latency delays arriving frames and the host's answers. Data frames are created when they can be
 * sent: their path through the NIC matters only to schemes that stop them, which model it
 * themselves.
 */
class Host : public QueuePairOwner, public lossless::FrameSource
{
  public:
    /// What a host has received of all messages.
    struct Delivered
    {
        int64_t last{-1};  //!< time of the last data received in order (ps); -1: none yet
        uint64_t bytes{0}; //!< payload of finite messages
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Host();
    ~Host() override;

    /// Set the objects shared by all hosts.
    /// @param queuePairs by flow. @param progress shared totals.
    void SetShared(const std::vector<Ptr<QueuePair>>* queuePairs, Progress* progress);
    /// Set a callback for changes of its link's state.
    /// @param told called then.
    void SetLinkCallback(Callback<void> told);
    /// Largest frame a queue pair of this host may send.
    /// @param bytes bytes.
    void SetLargestFrame(uint32_t bytes);
    /// Receive at a limited rate.
    /// @param rate bit/s of frame bytes; 0: at line rate.
    void SetReceiveRate(uint64_t rate);
    void SetCell(uint16_t cell) override;

    void Activate(SendQueue& queue) final;
    void Forget(SendQueue& queue) final;
    void NoteDelivery(uint64_t bytes) final;

    /// What it has received. @return totals.
    const Delivered& GetDelivered() const
    {
        return m_delivered;
    }

    void NoteFinished(uint32_t flow) final;
    void NoteAcknowledged(uint32_t flow) final;
    void NotifyLeft(const lossless::Frame& frame) override;
    void NotifyLink(lossless::Port& port, bool up) override;

    lossless::Frame* Pull(uint8_t cls) override;
    void Reopen(uint16_t queue) override;
    int64_t GetPipelineLatency() const override;
    uint32_t GetLargestFrame() const override;
    void Receive(lossless::Frame* frame, lossless::Port& ingress) override;
    void Inject(lossless::Frame* frame) override;
    uint64_t CountHeld() const override;
    void Visit(lossless::StateVisitor& visitor) override;

    /// A queue pair that sends from here.
    /// @param flow its number.
    /// @return the queue pair, or nullptr if there is none of that number, or another host sends
    /// it.
    QueuePair* FindSender(uint32_t flow) const;
    /// The queue pair of a flow, of any host.
    /// @param flow its number, below GetNFlows. @return the queue pair.
    QueuePair& GetQueuePair(uint32_t flow) const;
    /// Number of flows in the network. @return count.
    uint32_t GetNFlows() const;
    int64_t GetLatency() const final;
    uint32_t GetAckClass() const final;
    uint32_t GetCnpClass() const final;
    int64_t GetAckDelay() const final;
    int64_t GetSendInterval() const final;
    int64_t GetReceiveInterval() const final;
    int64_t DrawSpacing(int64_t wire) final;

    /// Make the port take frames from the queue pairs; called once it exists.
    void ConnectSource();

  private:
    /// Flows that wait in the order in which they came.
    struct Line
    {
        SendQueue* head{nullptr}; //!< first
        SendQueue* tail{nullptr}; //!< last
        uint64_t served{0};       //!< bytes that the first has sent in its turn

        /// Append one.
        /// @param queue of a flow, in no line.
        void Append(SendQueue& queue);
        /// Put one first, as its turn is not over.
        /// @param queue of a flow, in no line. @param bytes that it has sent in its turn.
        void Continue(SendQueue& queue, uint64_t bytes);
        /// Take out one, if it is in it.
        /// @param queue of a flow.
        void Remove(SendQueue& queue);
    };

    /// A flow that may send later.
    struct Timed
    {
        int64_t time;     //!< ps
        uint32_t flow;    //!< breaks ties the same way in every run
        SendQueue* queue; //!< its sender's end

        /// Order for a heap with the earliest on top.
        /// @param other the other one. @return true if this is later.
        bool operator<(const Timed& other) const
        {
            return time != other.time ? time > other.time : flow > other.flow;
        }
    };

    /// A flow may send: it waits for its turn.
    void PushReady(SendQueue& queue, int64_t now);
    /// A flow waits for an egress queue to become empty.
    void Park(SendQueue& queue, uint16_t egressQueue);
    /// The first flow that waits for an egress queue waits for its turn instead.
    SendQueue* Unpark(uint16_t egressQueue);
    /// A flow that is in no line waits for its turn, or for its time.
    void List(SendQueue& queue, int64_t now);
    /// Flows whose time has come wait for their turn.
    void Timer();
    /// An answer has crossed the NIC.
    void LeaveOutbound(lossless::Frame* frame);
    /// A frame has crossed the NIC: process it, or let it wait if something limits the rate.
    void Accept(lossless::Frame* frame);
    /// Give a frame to whom it is for; here it ends.
    void Process(lossless::Frame* frame);
    /// Start to drain the first frame that waits, unless one is being drained.
    void ServeNext();
    /// A frame has been drained.
    void Served();
    /// Set m_takesTime.
    void UpdateTaking();
    /// The rate at which it drains frames of a size (bit/s): the lower one of both limits.
    uint64_t GetTakingRate(const lossless::Frame& frame) const;

    const std::vector<Ptr<QueuePair>>* m_queuePairs{nullptr}; //!< by flow
    Progress* m_progress{nullptr};                            //!< shared totals
    Delivered m_delivered;                                    //!< what it has received
    Callback<void> m_linkCallback; //!< called for changes of its link; may be null
    uint32_t m_largestFrame{0};    //!< bytes
    std::array<Line, lossless::N_CLASSES> m_readyLines{}; //!< flows that may send, by class
    std::vector<Line> m_parked;            //!< by egress queue, up to the highest one in use
    std::priority_queue<Timed> m_timed;    //!< flows that may send later
    int64_t m_timerAt{lossless::NEVER};    //!< earliest pending timer (ps)
    lossless::ReusableEvent<Host> m_timer; //!< reactivates them
    Time m_latency;                        //!< attribute
    lossless::EventStream<Host, lossless::Frame, &Host::Accept>
        m_inbound;                            //!< arrived, still in the NIC
    Time m_ackDelay;                          //!< attribute
    Time m_cnpDelay;                          //!< attribute
    uint32_t m_ackClass;                      //!< attribute
    uint32_t m_cnpClass;                      //!< attribute
    Time m_sendInterval;                      //!< attribute
    uint32_t m_queuePairBurst;                //!< attribute
    double m_pacingJitter;                    //!< attribute
    Ptr<UniformRandomVariable> m_random;      //!< of pacing; null until it is used
    Time m_receiveInterval;                   //!< attribute
    std::unique_ptr<SendPipeline> m_pipeline; //!< of SendInterval, else null
    FrameSource* m_source{this};              //!< what the port takes data from
    bool m_direct{false};                     //!< answers join their queue as they are made
    using Outbound = lossless::EventStream<Host, lossless::Frame, &Host::LeaveOutbound>;
    Outbound m_outbound;                    //!< made here, still in the NIC: routed control frames
    Outbound m_outboundAcks;                //!< ACKs and NACKs
    Outbound m_outboundCnps;                //!< CNPs
    uint64_t m_receiveRate{0};              //!< bit/s; 0: line rate
    lossless::FrameFifo m_received;         //!< received frames not yet drained
    int64_t m_nextTake{0};                  //!< when ReceiveInterval allows the next one (ps)
    bool m_takesTime{false};                //!< something limits how fast data are drained
    bool m_serving{false};                  //!< a frame is being drained
    lossless::ReusableEvent<Host> m_served; //!< a frame has been drained
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_HOST_H */
