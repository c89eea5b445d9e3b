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

#include <cstddef>
#include <utility>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief What both ends of a queue pair know of it: its messages, its path, and the headers of its
 * frames. Neither end changes it; they communicate only by frames.
 *
 * A connection carries one message, or several one after the other. Their packets have consecutive
 * numbers; a message gets its numbers when it starts.
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

    /// Number of its first flow, which its frames carry. @return flow.
    uint32_t GetFlow() const
    {
        return m_flow;
    }

    /// The configured message. @return demand.
    const Demand& GetDemand() const
    {
        return m_demand;
    }

    /// Number of packets of all messages that have started; before that, of the first one.
    /// @return count; NEVER for an endless one.
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /// @return true if it carries several messages, of which some have not started.
    bool AwaitsMessages() const
    {
        return m_awaited > 0;
    }

    /// Which message is a packet of?
    /// @param psn its number. @return place of the message, in the order of their starts.
    std::size_t GetMessageOf(uint64_t psn) const
    {
        return m_messages.empty() ? 0 : FindMessage(psn);
    }

    /// Has a message been sent, or received, up to a packet?
    /// @param message its place. @param next the packet after it.
    /// @return true if the message has started and has no packet from that one on.
    bool EndsBefore(std::size_t message, uint64_t next) const
    {
        return m_messages.empty() ? message == 0 && m_packets <= next
                                  : message < m_messages.size() && m_messages[message].end <= next;
    }

    /// How many messages have no packet from one on?
    /// @param next that packet. @return count, of those that have started.
    std::size_t CountMessagesBefore(uint64_t next) const
    {
        return m_messages.empty() ? m_packets <= next : FindMessage(next);
    }

    /// Packets of a message.
    /// @param message its place; it has started. @return the first one, and one past the last.
    std::pair<uint64_t, uint64_t> GetRange(std::size_t message) const;

    /// @param message place of a message that has started. @return its payload (B); 0: endless.
    uint64_t GetBytesOf(std::size_t message) const
    {
        return m_messages.empty() ? m_demand.bytes : m_messages[message].bytes;
    }

    /// @param bytes of a message, above 0. @return its packets.
    uint64_t CountPackets(uint64_t bytes) const;

    /// UDP source port of its frames, from which ECMP takes their hash.
    /// @return port; 0: the hash is of the flow's number, and the port follows from it.
    uint16_t GetSourcePort() const
    {
        return m_sourcePort;
    }

    /// Set its UDP source port, before its hosts.
    /// @param port above 0.
    void SetSourcePort(uint16_t port)
    {
        m_sourcePort = port;
    }

    /// @param message place of a message that has started. @return its flow.
    uint32_t GetFlowOf(std::size_t message) const
    {
        return m_messages.empty() ? m_flow : m_messages[message].flow;
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
        if (!m_messages.empty())
        {
            return FindPayload(psn);
        }
        return psn + 1 == m_packets ? static_cast<uint32_t>(m_demand.bytes - psn * m_payloadSize)
                                    : m_payloadSize;
    }

    /// Payload of its largest packet, which is full unless all messages are shorter.
    /// @return bytes.
    uint32_t GetLargestPayload() const
    {
        return m_mostBytes == 0 || m_mostBytes > m_payloadSize ? m_payloadSize
                                                               : static_cast<uint32_t>(m_mostBytes);
    }

    /// Size of the frame of a packet.
    /// @param payload its payload (B). @return bytes.
    uint32_t GetFrameBytes(uint32_t payload) const;

    /// Bytes of a data frame besides its payload, telemetry and FCS included. @return bytes.
    uint32_t GetHeaderBytes() const
    {
        return m_headerSize + GetTelemetryBytes();
    }

    /// @return class of a CNP.
    uint8_t GetCnpClass() const
    {
        return m_cnpClass;
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
     * @brief Round-trip time of its largest packet on an idle network, along the present paths of
     * its frames and their ACKs: from the first bit leaving the sender until the sender has
     * processed the ACK of that packet alone. While there is no path it remains that of the last
     * one.
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
    /// Set the addresses, and with them the hashes of its frames.
    /// @param src number of the sender. @param dst number of the receiver.
    void SetAddresses(uint32_t src, uint32_t dst);
    /// Set the classes of answers, and with them their code points; after SetDemand.
    /// @param acks of ACKs and NACKs. @param cnps of CNPs.
    /// CONTROL_CLASS + 1: AnswerClass.
    void SetAnswerClasses(uint32_t acks, uint32_t cnps);
    /// Set the message.
    /// @param demand the message.
    void SetDemand(const Demand& demand);
    /// It will carry another message, too. At set-up.
    /// @param other that of the message, if it had its own; it will use the frames of this one.
    void Expect(Connection& other);
    /// A message starts: its packets follow those that have started.
    /// @param flow its number. @param bytes payload, above 0. @return its place.
    std::size_t Append(uint32_t flow, uint64_t bytes);

    Demand m_demand;             //!< the message, the first one of several
    uint64_t m_packets{0};       //!< see GetPackets
    uint32_t m_flow{0};          //!< see GetFlow
    uint32_t m_hash{0};          //!< of the 5-tuple
    uint32_t m_reverseHash{0};   //!< of the 5-tuple of answers
    int64_t m_baseRtt{0};        //!< see GetBaseRtt (ps)
    uint32_t m_hops{0};          //!< see GetHops
    bool m_collects{false};      //!< its congestion control uses telemetry
    bool m_pinned{false};        //!< data frames follow a pinned path
    bool m_answersPinned{false}; //!< answers follow a pinned path

  private:
    /// A message of several that has started.
    struct Message
    {
        uint32_t flow;  //!< its number
        uint64_t bytes; //!< payload
        uint64_t end;   //!< one past its last packet
    };

    std::size_t FindMessage(uint64_t psn) const;
    uint32_t FindPayload(uint64_t psn) const;
    std::vector<Message> m_messages; //!< by place; empty: it carries one, or none has started
    uint32_t m_awaited{0};           //!< of several messages, those that have not started
    uint64_t m_mostBytes{0};         //!< payload of its largest message; 0: it is endless
    uint32_t m_src{0};               //!< number of the sender
    uint32_t m_dst{0};               //!< number of the receiver
    uint16_t m_sourcePort{0};        //!< see GetSourcePort
    uint8_t m_ackClass{0};           //!< of ACKs and NACKs
    uint8_t m_cnpClass{0};           //!< see GetCnpClass
    uint8_t m_ackDscp{lossless::Frame::NO_DSCP}; //!< of ACKs and NACKs
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_CONNECTION_H */
