/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_CONNECTION_H
#define RDMA_CONNECTION_H

#include "rdma-frame-format.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-frame.h"
#include "ns3/nstime.h"

namespace ns3
{
namespace rdma
{

class QueuePairOwner;

/**
 * @ingroup rdma
 * @brief What both ends of a queue pair know of it: their hosts, the message, its path, and the
 * headers of its frames. Neither end changes it; they communicate only by frames.
 */
class Connection : public FrameFormat
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

    /// Number of packets of the message. @return count; NEVER for an endless one.
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /// Payload of a full packet. @return bytes.
    uint32_t GetPayloadSize() const
    {
        return m_payloadSize;
    }

    /// Payload of a packet.
    /// @param psn its number. @return bytes.
    uint32_t GetPayload(uint64_t psn) const
    {
        return psn + 1 == m_packets ? static_cast<uint32_t>(m_demand.bytes - psn * m_payloadSize)
                                    : m_payloadSize;
    }

    /// Size of the frame of a packet.
    /// @param psn its number. @return bytes.
    uint32_t GetFrameBytes(uint64_t psn) const;

    /// Bytes of a data frame besides its payload, telemetry and FCS included. @return bytes.
    uint32_t GetHeaderBytes() const
    {
        return m_headerSize + GetTelemetryBytes();
    }

    /// Size of a CNP. @return bytes.
    uint32_t GetCnpBytes() const
    {
        return m_cnpSize ? m_cnpSize : m_ackSize;
    }

    /// Do its frames carry telemetry? @return true if its congestion control uses it.
    bool HasTelemetry() const
    {
        return m_collects;
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
    /// Turn a new frame into an ACK of this flow, as the receiver would send it.
    /// @param frame the frame.
    void FillAnswer(lossless::Frame& frame) const;

  protected:
    /// Set the hosts, and with them the hashes of its frames.
    /// @param src sender. @param dst receiver.
    void SetHosts(QueuePairOwner* src, QueuePairOwner* dst);
    /// Set the message.
    /// @param demand the message.
    void SetDemand(const Demand& demand);

    QueuePairOwner* m_src{nullptr}; //!< sender
    QueuePairOwner* m_dst{nullptr}; //!< receiver
    Demand m_demand;                //!< the message
    uint64_t m_packets{0};          //!< of the message
    uint32_t m_flow{0};             //!< number
    uint32_t m_hash{0};             //!< of the 5-tuple
    uint32_t m_reverseHash{0};      //!< of the 5-tuple of answers
    int64_t m_baseRtt{0};           //!< see GetBaseRtt (ps)
    uint32_t m_hops{0};             //!< see GetHops
    bool m_collects{false};         //!< its congestion control uses telemetry
    bool m_pinned{false};           //!< data frames follow a pinned path
    bool m_answersPinned{false};    //!< answers follow a pinned path
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_CONNECTION_H */
