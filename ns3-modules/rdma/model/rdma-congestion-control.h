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
 * @brief An end-to-end congestion control: one instance a queue pair, for its sender and its
 * receiver.
 *
 * The NIC obeys GetRate() and GetWindow(); after changing them from a timer call
 * QueuePair::Reconsider. After the Notify functions of the sender the queue pair looks by itself;
 * they must not call it.
 */
class CongestionControl : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Begin.
    /// @param queuePair whose. @param lineRate rate of the sender's link in bit/s.
    virtual void Start(QueuePair* queuePair, uint64_t lineRate);
    /// What makes its configuration impossible. @return one problem a line; empty if none.
    virtual std::string Check() const;
    /// The switch agent that sends the signal it obeys, such as the one that marks frames.
    /// @return its full TypeId name; empty if it obeys no agent.
    virtual std::string GetSignaller() const;
    /// Does it want in-band network telemetry (INT)? Then switches write into its data frames,
    /// which grow by QueuePair::GetTelemetryBytes, and Frame::telemetry of what NotifyAck is given
    /// is that of the data frame answered. QueuePair::GetBaseRtt and GetHops are there in any case.
    /// @return true if so; the same for all objects of a type.
    virtual bool WantsTelemetry() const;
    /// What the user should know of but may want: that nobody sends the signal it obeys.
    /// @param agents those of a switch. @return one warning a line; empty if none.
    std::string Warn(const std::vector<Ptr<lossless::SwitchAgent>>& agents) const;
    /// The sender sent a data frame.
    /// @param frame it.
    virtual void NotifySent(const lossless::Frame& frame);
    /// An ACK or NACK came back; its `ecn` is that of the data frame it answers.
    /// @param frame it.
    virtual void NotifyAck(const lossless::Frame& frame);
    /// Nothing was heard for so long that the sender repeats.
    virtual void NotifyTimeout();
    /// A congestion notification came back.
    /// @param frame it.
    virtual void NotifyCnp(const lossless::Frame& frame);
    /// The receiver got a data frame.
    /// @param frame it. @return true: send a congestion notification.
    virtual bool NotifyData(const lossless::Frame& frame);
    /// The receiver answers a data frame by an ACK or a NACK, before which NotifyData was called.
    /// @param data the data frame; its `queued` is when it came to the host (ps).
    /// @param answer the ACK or NACK, in whose Frame::scheme it may write.
    virtual void NotifyAnswer(const lossless::Frame& data, lossless::Frame& answer);
    /// Add its numbers to the run's summary.
    /// @param summary where to add.
    virtual void Report(lossless::Summary& summary) const;

    /// Rate the sender may use. @return bit/s; 0: the line's.
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /// Bytes the sender may have in flight. @return bytes; 0: no limit.
    uint64_t GetWindow() const
    {
        return m_window;
    }

  protected:
    QueuePair* m_queuePair{nullptr}; //!< whose
    uint64_t m_rate{0};              //!< bit/s; 0: the line's
    uint64_t m_window{0};            //!< bytes; 0: no limit
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_CONGESTION_CONTROL_H */
