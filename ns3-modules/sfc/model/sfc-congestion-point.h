/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_CONGESTION_POINT_H
#define SFC_CONGESTION_POINT_H

#include "sfc-drain-rate.h"
#include "sfc-message.h"
#include "sfc-two-hash-filter.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace sfc
{

class SfcProxy;

/**
 * @ingroup sfc
 * @brief Monitors the egress queues of a switch, or the FIFO of a host that drains more slowly than
 * its line, and sends the source of every data frame above the threshold a message with a pause
 * interval.
 */
class SfcCongestionPoint : public lossless::SwitchAgent,
                           public lossless::QueueAgent,
                           public lossless::ReceiveAgent
{
  public:
    /// Correction for the time that messages and data are in flight.
    enum class Correction
    {
        NONE,       ///< none: the pause is too long by that time
        TIME_STAMP, ///< the source measures it and subtracts it
        RESERVE,    ///< the pause ends while a reserve is still in the queue
    };

    /// Which frames above the threshold cause a message.
    enum class Filter
    {
        NONE,             ///< all frames
        FIRST,            ///< the first of each key, until the queue falls to the threshold again
        FIRST_AND_LAST,   ///< the first, and the last
        FIRST_AND_EXPIRY, ///< the first, and one when the pause of the previous message has expired
        TWO_HASH,         ///< the first in each epoch of a TwoHashFilter
    };

    /// Which messages a filter (other than TWO_HASH) treats as duplicates.
    enum class Key
    {
        HOSTS, ///< source, destination, queue
        FLOW,  ///< flow, queue
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    SfcCongestionPoint();
    ~SfcCongestionPoint() override;

    void Start() override;
    std::string Check() const override;
    std::string Warn() const override;
    void NotifyEnqueue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void NotifyDequeue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void NotifyReceive(const lossless::Frame& frame, int64_t bytes, uint64_t rate) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of messages.
    /// @param message the message. @param source destination host. @param octets wire bytes queued.
    typedef void (*MessageCallback)(const Message& message, uint32_t source, int64_t octets);

  protected:
    void DoDispose() override;

  private:
    /// State of a monitored queue.
    struct Queue
    {
        DrainRate rate;      //!< its bandwidth
        uint64_t episode{0}; //!< number of times it rose above the threshold
        bool above{false};   //!< it is above the threshold
    };

    /// Key of messages that are duplicates.
    struct KeyOf
    {
        uint32_t queue; //!< number of the queue in this node
        uint32_t src;   //!< source, or flow
        uint32_t dst;   //!< destination; 0 if keyed by flow

        bool operator==(const KeyOf&) const = default;
    };

    /// Hash of a key.
    struct KeyHash
    {
        /// @param key the key. @return hash.
        /// @param key it. @return hash.
        std::size_t operator()(const KeyOf& key) const
        {
            const uint64_t ends = static_cast<uint64_t>(key.src) << 32 | key.dst;
            return (ends ^ static_cast<uint64_t>(key.queue) << 20) * UINT64_C(0x9e3779b97f4a7c15) >>
                   16;
        }
    };

    /// Messages sent for a key.
    struct Told
    {
        uint64_t episode{0}; //!< episode of the last message; 0: none yet
        int64_t expires{0};  //!< end of its interval, counted from when it was sent (ps)
        int64_t last{-1};    //!< time of the last suppressed frame; -1: none since a message (ps)
        bool waiting{false}; //!< it is in m_awaited
        Message message;     //!< message for that frame
        lossless::Frame to;  //!< addresses of that frame
    };

    /// A message in the pipeline of this node.
    struct Outgoing
    {
        Message message;      //!< the message
        lossless::Frame data; //!< addresses of the frame that caused it
    };

    /// A frame has joined a queue above the threshold: notify its source, if the filter lets it.
    void Congested(Queue& queue,
                   uint32_t number,
                   const lossless::Frame& frame,
                   int64_t octets,
                   uint64_t rate);
    /// Does the filter let a message pass? One of FirstAndLast may be sent later.
    bool Passes(Queue& queue,
                Told& told,
                const lossless::Frame& frame,
                const Message& message,
                int64_t now);
    /// Send a message, after the latency of this node.
    void Send(Told& told,
              uint64_t episode,
              const Message& message,
              const lossless::Frame& data,
              int64_t octets,
              int64_t now);
    /// Let a message leave, in a frame to the source or through the proxy of this node.
    void Launch(const Message& message, const lossless::Frame& data);
    /// The first message of the pipeline leaves.
    void LeavePipeline();
    /// Has a source sent nothing more for LAST_GAP? Then send what was kept back of it.
    void LookForLast();
    /// The state of an egress queue.
    Queue& QueueOf(const lossless::Port& egress, uint16_t queue);

    // Attributes
    uint32_t m_threshold;    //!< B
    uint32_t m_classes;      //!< mask
    uint32_t m_messageSize;  //!< B
    uint32_t m_messageClass; //!< class of messages
    Time m_latency;          //!< time to generate a message
    Time m_window;           //!< measures the bandwidth; 0: line rate
    double m_lowest;         //!< share of line rate
    Correction m_correction; //!< correction for TTS + TFS
    double m_reserveShare;   //!< of m_buffer
    uint64_t m_buffer;       //!< B; 0: not given
    Time m_resolution;       //!< unit of the interval
    Time m_longest;          //!< longest interval
    Filter m_filter;         //!< which frames cause a message
    Key m_key;               //!< which messages are duplicates
    uint32_t m_hashBits;     //!< bits of an index into the filter
    Time m_epoch;            //!< epoch of the filter

    // State
    bool m_atHost{false};                            //!< the node is a destination NIC
    int64_t m_reserve{0};                            //!< B
    SfcProxy* m_proxy{nullptr};                      //!< proxy of this switch, or null
    std::vector<Queue> m_queues;                     //!< queues of all ports
    std::vector<uint32_t> m_firstQueue;              //!< number of a port's queue 0
    std::unordered_map<KeyOf, Told, KeyHash> m_told; //!< by key
    TwoHashFilter m_twoHash;                         //!< TWO_HASH
    std::deque<std::pair<int64_t, Told*>>
        m_awaited;                   //!< keys that wait for their last frame, by time
    std::deque<Outgoing> m_pipeline; //!< messages being generated
    lossless::ReusableEvent<SfcCongestionPoint> m_leave; //!< sends the next message of the pipeline
    lossless::ReusableEvent<SfcCongestionPoint> m_look;  //!< checks m_awaited

    // Counters
    uint64_t m_above{0};       //!< frames above the threshold
    uint64_t m_sent{0};        //!< messages sent
    uint64_t m_suppressed{0};  //!< messages suppressed by the filter
    uint64_t m_empty{0};       //!< messages with an interval of 0
    uint64_t m_capped{0};      //!< intervals cut to the maximum
    uint64_t m_afterExpiry{0}; //!< frames above the threshold after the last message's interval
    int64_t m_peakInterval{0}; //!< longest interval (ps)
    int64_t m_peakQueue{0};    //!< longest queue (B)
    TracedCallback<const Message&, uint32_t, int64_t> m_messageTrace; //!< Message
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_CONGESTION_POINT_H */
