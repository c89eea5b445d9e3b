/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_RECEIVE_QUEUE_H
#define RDMA_RECEIVE_QUEUE_H

#include "rdma-arrivals.h"
#include "rdma-congestion-control.h"
#include "rdma-connection.h"
#include "rdma-loss-recovery.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief The receiver's end of a queue pair: which packets have arrived, and the answers to them.
 * Only the receiver's host calls it.
 *
 * Go-back-N: it answers a gap with one NACK and drops further packets; Selective: it keeps them and
 * answers each with a NACK. None: it counts whatever arrives, and a message is complete when all of
 * its own packets are there. With a reorder window a gap counts as
 * a loss only when a packet arrives from beyond the window: packets within it are kept and
 * acknowledged. A truncated frame is answered with a NACK that says so, and has no other effect.
 */
class ReceiveQueue
{
  public:
    /// What it counts of a message.
    struct Counters
    {
        int64_t finish{-1};          //!< last bit of the message received (ps); -1: not yet
        uint64_t delivered{0};       //!< payload bytes received in order; without loss recovery,
                                     //!< in any order
        uint64_t reordered{0};       //!< packets received after a later one; retransmissions not
                                     //!< counted
        uint64_t reorderDistance{0}; //!< largest number of places of these behind the latest
        uint64_t cnpsSent{0};        //!< congestion notifications sent
        uint64_t telemetryMissed{0}; //!< data frames that had no room for the telemetry of each
                                     //!< switch
    };

    /// Constructor.
    /// @param connection what both ends know. @param recovery kind of loss recovery; final when
    /// Start is called.
    ReceiveQueue(const Connection& connection, const RecoverySettings& recovery);

    /// Set the host that receives, before it starts or when it moves.
    /// @param host the host.
    void SetHost(QueuePairOwner& host)
    {
        m_host = &host;
    }

    /// @return the host that receives; null before set-up.
    QueuePairOwner* GetHost() const
    {
        return m_host;
    }

    /// The settings are final.
    /// @param ackEvery packets per ACK. @param reorderWindow packets; 0: any gap is a loss.
    /// @param control receiver's half of the congestion control, or null.
    void Start(uint32_t ackEvery,
               uint32_t reorderWindow,
               std::unique_ptr<CongestionReceiver> control);
    /// The whole message has arrived by a scale-up domain.
    void NotifyCarried();
    /// Process a frame.
    /// @param frame data frame; the caller keeps ownership.
    void Receive(const lossless::Frame& frame);

    /// Add the numbers of its half of the congestion control to the run's summary.
    /// @param summary the summary.
    void Report(lossless::Summary& summary) const;

    /// Visit the state, after that of the sender. @param visitor visitor.
    void Visit(lossless::StateVisitor& visitor);

    /// @return the next packet in order.
    uint64_t GetExpected() const
    {
        return m_arrivals.GetExpected();
    }

    /// @return one past the latest packet that has arrived.
    uint64_t GetFrontier() const
    {
        return m_arrivals.GetFrontier();
    }

    /// @param message place of a message. @return what it has counted of it.
    Counters GetCounters(std::size_t message) const
    {
        return message < m_counters.size() ? m_counters[message] : Counters{};
    }

  private:
    /// Send an ACK, NACK or CNP.
    void Answer(lossless::FrameKind kind, const lossless::Frame& data);
    /// A packet from beyond the next one in order has arrived.
    void ReceiveAhead(const lossless::Frame& frame);
    /// Count the payload of a packet as delivered.
    void Deliver(uint64_t psn, uint64_t bytes);
    /// More packets have arrived in order. @return true if a message is complete.
    bool FinishMessages();
    /// All of a message has arrived.
    void Finish(std::size_t message);
    /// What it counts of a message.
    Counters& CountersOf(std::size_t message);

    const Connection& m_connection;                //!< what both ends know
    const RecoverySettings& m_recovery;            //!< kind of loss recovery
    QueuePairOwner* m_host{nullptr};               //!< receives
    std::unique_ptr<CongestionReceiver> m_control; //!< or null
    uint32_t m_ackEvery{1};                        //!< packets per ACK
    uint32_t m_reorderWindow{0};                   //!< packets; 0: any gap is a loss
    Arrivals m_arrivals;                           //!< packets received
    uint32_t m_unanswered{0};                      //!< packets since the last ACK
    uint8_t m_unansweredEcn{0}; //!< bitwise or of Frame::ecn of packets since the last ACK or NACK
    bool m_gapKnown{false};     //!< the NACK for this gap has been sent
    std::vector<Counters> m_counters{1}; //!< by message, up to the last one with any
    std::size_t m_finished{0};           //!< number of messages
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_RECEIVE_QUEUE_H */
