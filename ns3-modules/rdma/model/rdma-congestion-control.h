/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_CONGESTION_CONTROL_H
#define RDMA_CONGESTION_CONTROL_H

#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-frame.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/object.h"

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

class QueuePair;

/**
 * @ingroup rdma
 * @brief An end-to-end congestion control: one instance per queue pair, for both its sender and its
 * receiver.
 *
 * The NIC enforces GetRate() and GetWindow(); after changing them from a timer call
 * QueuePair::Reconsider. After the sender's Notify functions the queue pair checks for changes
 * itself; they must not call it.
 */
class CongestionControl : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Attach to a queue pair.
    /// @param queuePair the queue pair. @param lineRate rate of the sender's link in bit/s.
    virtual void Start(QueuePair* queuePair, uint64_t lineRate);
    /// Errors of the configuration. @return one problem per line; empty if none.
    virtual std::string Check() const;
    /// The switch agent that sends its congestion signal, such as the one that marks frames.
    /// @return its full TypeId name; empty if it needs none.
    virtual std::string GetSignaller() const;
    /// Does it use in-band network telemetry (INT)? Then switches write into its data frames, which
    /// grow by QueuePair::GetTelemetryBytes, and Frame::telemetry of the frame passed to NotifyAck
    /// is that of the acknowledged data frame. QueuePair::GetBaseRtt and GetHops are available in
    /// any case.
    /// @return true if so; the same for all objects of a type.
    virtual bool WantsTelemetry() const;
    /// Warnings, such as that nothing sends its congestion signal.
    /// @param agents the agents of a switch. @return one warning per line; empty if none.
    std::string Warn(const std::vector<Ptr<lossless::SwitchAgent>>& agents) const;
    /// The path of a flow that has begun has changed: QueuePair::GetBaseRtt and GetHops are those
    /// of the new one.
    virtual void NotifyPath();
    /// The sender sent a data frame.
    /// @param frame the frame.
    virtual void NotifySent(const lossless::Frame& frame);
    /// An ACK or NACK has arrived; its `ecn` is that of the acknowledged data frame.
    /// @param frame the frame.
    virtual void NotifyAck(const lossless::Frame& frame);
    /// A timeout has expired and the sender retransmits.
    virtual void NotifyTimeout();
    /// A congestion notification has arrived.
    /// @param frame the frame.
    virtual void NotifyCnp(const lossless::Frame& frame);
    /// The receiver has received a data frame.
    /// @param frame the frame. @return true: send a congestion notification.
    virtual bool NotifyData(const lossless::Frame& frame);
    /// The receiver answers a data frame by an ACK or a NACK, after the call of NotifyData for it.
    /// @param data the data frame; its `queued` is its arrival time at the host (ps).
    /// @param answer the ACK or NACK, whose Frame::scheme it may modify.
    virtual void NotifyAnswer(const lossless::Frame& data, lossless::Frame& answer);
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
    QueuePair* m_queuePair{nullptr}; //!< its queue pair
    uint64_t m_rate{0};              //!< bit/s; 0: line rate
    uint64_t m_window{0};            //!< bytes; 0: no limit
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_CONGESTION_CONTROL_H */
