/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_CONGESTION_CONTROL_H
#define RDMA_CONGESTION_CONTROL_H

#include "rdma-sender.h"

#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-frame.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/object.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @defgroup rdma RDMA hosts
 *
 * Hosts of a lossless fabric: queue pairs that send messages, receivers that acknowledge them, and
 * faults.
 */

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief What an ACK or NACK tells the sender.
 */
struct Acknowledgement
{
    const lossless::Frame& frame; //!< the ACK or NACK; its `telemetry` is that of the data frame,
                                  //!< its `scheme` what the receiver's half wrote
    uint64_t answered;            //!< packet that it answers
    uint64_t first{0};            //!< first packet not acknowledged
    uint64_t news{0};             //!< packets that it acknowledges and no answer before did
    uint64_t next{0};             //!< first packet never sent
    int64_t rtt{-1}; //!< round-trip time of that packet (ps); -1: it gives none, or none is
                     //!< measured (WantsRtt)

    /// What an answer says by itself, without what the sender knows.
    /// @param frame ACK or NACK.
    explicit Acknowledgement(const lossless::Frame& frame)
        : frame(frame),
          answered(frame.word[1])
    {
    }

    /// @return true if a gap was reported.
    bool IsNack() const
    {
        return frame.kind == lossless::FrameKind::NACK;
    }

    /// @return true if a switch truncated the packet that it answers, a NACK.
    bool IsTruncated() const
    {
        return frame.truncated;
    }

    /// @return true if a switch marked one of the packets that it answers (ECN).
    bool IsMarked() const
    {
        return frame.ecn == lossless::Frame::ECN_MARKED;
    }
};

/**
 * @ingroup rdma
 * @brief The receiver's half of a congestion control that has one: what it does with data.
 */
class CongestionReceiver
{
  public:
    virtual ~CongestionReceiver() = default;
    /// A data frame has been received.
    /// @param frame the frame. @return true: send a congestion notification.
    virtual bool NotifyData(const lossless::Frame& frame);
    /// A data frame is answered by an ACK or a NACK, after the call of NotifyData for it.
    /// @param host the host that receives. @param data the data frame; its `queued` is its arrival
    /// time at the host (ps).
    /// @param answer the ACK or NACK, whose Frame::scheme it may modify.
    virtual void NotifyAnswer(const QueuePairOwner& host,
                              const lossless::Frame& data,
                              lossless::Frame& answer);
    /// Add its numbers to the run's summary.
    /// @param summary the summary.
    virtual void Report(lossless::Summary& summary) const;
};

/**
 * @ingroup rdma
 * @brief An end-to-end congestion control: one instance per queue pair, for its sender. If the
 * receiver takes part, MakeReceiver makes its half. It sees the sender's end alone.
 *
 * The NIC enforces GetRate() and GetWindow(); after changing them from a timer call
 * Sender::Reconsider. After the Notify functions the sender checks for changes itself; they must
 * not call it.
 */
class CongestionControl : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// The sender starts.
    /// @param sender the sender. @param lineRate rate of its link in bit/s.
    virtual void Start(Sender& sender, uint64_t lineRate);
    /// Errors of the configuration. @return one problem per line; empty if none.
    virtual std::string Check() const;
    /// The switch agent that sends its congestion signal, such as the one that marks frames.
    /// @return its full TypeId name; empty if it needs none.
    virtual std::string GetSignaller() const;
    /// Does it use in-band network telemetry (INT)? Then switches write into its data frames, which
    /// grow by Connection::GetTelemetryBytes, and Frame::telemetry of what is passed to NotifyAck
    /// is that of the acknowledged data frame. Connection::GetBaseRtt and GetHops are available
    /// in any case.
    /// @return true if so; the same for all objects of a type.
    virtual bool WantsTelemetry() const;
    /// Warnings, such as that nothing sends its congestion signal.
    /// @param agents the agents of a switch. @return one warning per line; empty if none.
    std::string Warn(const std::vector<Ptr<lossless::SwitchAgent>>& agents) const;
    /// The path of a flow that has begun has changed: Connection::GetBaseRtt and GetHops are those
    /// of the new one.
    virtual void NotifyPath();
    /// The sender sent a data frame.
    /// @param frame the frame.
    virtual void NotifySent(const lossless::Frame& frame);
    /// Are round-trip times to be measured for it? @return true if so; the same for all objects of
    /// a type.
    virtual bool WantsRtt() const;
    /// An ACK or NACK has arrived.
    /// @param ack what it says.
    virtual void NotifyAck(const Acknowledgement& ack);
    /// A timeout has expired and the sender retransmits.
    virtual void NotifyTimeout();
    /// A congestion notification has arrived.
    /// @param frame the frame.
    virtual void NotifyCnp(const lossless::Frame& frame);
    /// Has it done nothing so far, and will neither it nor its receiver do anything, whatever the
    /// time, until a frame is marked or lost? Only then may what repeats be skipped.
    /// @return true if so; by default false.
    virtual bool IsAtRest() const;
    /// Make the receiver's half, at set-up.
    /// @return a new one; null: the receiver takes no part.
    virtual std::unique_ptr<CongestionReceiver> MakeReceiver() const;
    /// Add its numbers to the run's summary.
    /// @param summary the summary.
    virtual void Report(lossless::Summary& summary) const;

    /// Rate limit of the sender. @return bit/s; 0: line rate.
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /// Window of the sender. @return bytes in flight; 0: no limit.
    uint64_t GetWindow() const
    {
        return m_window;
    }

  protected:
    Sender* m_sender{nullptr};               //!< whom it controls
    const Connection* m_connection{nullptr}; //!< that of the sender
    uint64_t m_rate{0};                      //!< bit/s; 0: line rate
    uint64_t m_window{0};                    //!< bytes; 0: no limit
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_CONGESTION_CONTROL_H */
