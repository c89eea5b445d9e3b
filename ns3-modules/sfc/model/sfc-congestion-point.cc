/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "sfc-congestion-point.h"

#include "sfc-proxy.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-routes.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace sfc
{

NS_LOG_COMPONENT_DEFINE("SfcCongestionPoint");

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(SfcCongestionPoint);

namespace
{

/// Idle time after which a frame is known to have been the last (FirstAndLast): 2 us, in ps.
constexpr int64_t LAST_GAP = 2'000'000;

} // namespace

TypeId
SfcCongestionPoint::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::sfc::SfcCongestionPoint")
            .SetParent<SwitchAgent>()
            .SetGroupName("sfc")
            .AddConstructor<SfcCongestionPoint>()
            .AddAttribute("Threshold",
                          "Queue length, including the arriving frame, above which every data "
                          "frame that joins causes a message. [B]",
                          UintegerValue(50'000),
                          MakeUintegerAccessor(&SfcCongestionPoint::m_threshold),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000'000))
            .AddAttribute("Classes",
                          "Bit mask: bit c set, the queues of class c are monitored.",
                          UintegerValue(0xff),
                          MakeUintegerAccessor(&SfcCongestionPoint::m_classes),
                          MakeUintegerChecker<uint32_t>(0, 0xff))
            .AddAttribute("MessageSize",
                          "Size of a message, FCS included: 128 in the slides; 64 in the public P4 "
                          "program. [B]",
                          UintegerValue(128),
                          MakeUintegerAccessor(&SfcCongestionPoint::m_messageSize),
                          MakeUintegerChecker<uint32_t>(lossless::MIN_FRAME_BYTES, 1500))
            .AddAttribute("MessageClass",
                          "Class of the messages; 8 is the control queue, which is never paused.",
                          UintegerValue(lossless::CONTROL_CLASS),
                          MakeUintegerAccessor(&SfcCongestionPoint::m_messageClass),
                          MakeUintegerChecker<uint32_t>(0, lossless::CONTROL_CLASS))
            .AddAttribute("Latency",
                          "Time from a frame joining above the threshold to its message joining "
                          "the queue towards the source.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&SfcCongestionPoint::m_latency),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("BandwidthWindow",
                          "Minimum time over which the bandwidth of a queue is measured; 0: it is "
                          "taken to be line rate.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&SfcCongestionPoint::m_window),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("LowestBandwidth",
                          "Lower bound of the measured bandwidth, as a share of line rate: a "
                          "paused queue would never drain.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&SfcCongestionPoint::m_lowest),
                          MakeDoubleChecker<double>(0.0001, 1))
            .AddAttribute("Correction",
                          "Correction for TTS + TFS: None, TimeStamp (the source measures TTS, "
                          "assumes TFS to be equal and subtracts both) or Reserve.",
                          EnumValue(Correction::NONE),
                          MakeEnumAccessor<Correction>(&SfcCongestionPoint::m_correction),
                          MakeEnumChecker(Correction::NONE,
                                          "None",
                                          Correction::TIME_STAMP,
                                          "TimeStamp",
                                          Correction::RESERVE,
                                          "Reserve"))
            .AddAttribute("Reserve",
                          "Share of Buffer that may still be queued when a pause ends (Correction "
                          "Reserve); 0.1 to 0.3 in the slides.",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&SfcCongestionPoint::m_reserveShare),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Buffer",
                          "Buffer of a queue, of which Reserve is a share; required by Correction "
                          "Reserve. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SfcCongestionPoint::m_buffer),
                          MakeUintegerChecker<uint64_t>(0, 1'000'000'000'000))
            .AddAttribute("Resolution",
                          "Unit of the interval in a message, which is rounded up. The public P4 "
                          "program has 1 us.",
                          TimeValue(NanoSeconds(1)),
                          MakeTimeAccessor(&SfcCongestionPoint::m_resolution),
                          lossless::MakePicosecondsChecker(1, 1'000'000'000'000))
            .AddAttribute("LongestInterval",
                          "Maximum interval in a message.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&SfcCongestionPoint::m_longest),
                          lossless::MakePicosecondsChecker(1, MAX_INTERVAL))
            .AddAttribute("Filter",
                          "Which frames above the threshold cause a message: None (all), First, "
                          "FirstAndLast, FirstAndExpiry or TwoHash.",
                          EnumValue(Filter::NONE),
                          MakeEnumAccessor<Filter>(&SfcCongestionPoint::m_filter),
                          MakeEnumChecker(Filter::NONE,
                                          "None",
                                          Filter::FIRST,
                                          "First",
                                          Filter::FIRST_AND_LAST,
                                          "FirstAndLast",
                                          Filter::FIRST_AND_EXPIRY,
                                          "FirstAndExpiry",
                                          Filter::TWO_HASH,
                                          "TwoHash"))
            .AddAttribute("Key",
                          "Which messages the filters treat as duplicates: same Hosts (source and "
                          "destination) or same Flow. TwoHash always uses source, destination, "
                          "class.",
                          EnumValue(Key::HOSTS),
                          MakeEnumAccessor<Key>(&SfcCongestionPoint::m_key),
                          MakeEnumChecker(Key::HOSTS, "Hosts", Key::FLOW, "Flow"))
            .AddAttribute("HashBits",
                          "Each array of the two-hash filter has 2^HashBits bits; 16 in the public "
                          "P4 program.",
                          UintegerValue(16),
                          MakeUintegerAccessor(&SfcCongestionPoint::m_hashBits),
                          MakeUintegerChecker<uint32_t>(1, 24))
            .AddAttribute("Epoch",
                          "Time after which the two-hash filter is cleared.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&SfcCongestionPoint::m_epoch),
                          lossless::MakePicosecondsChecker(1'000))
            .AddTraceSource("Message",
                            "A message is generated: the message, its destination host, the wire "
                            "bytes in the queue.",
                            MakeTraceSourceAccessor(&SfcCongestionPoint::m_messageTrace),
                            "ns3::sfc::SfcCongestionPoint::MessageCallback");
    return tid;
}

SfcCongestionPoint::SfcCongestionPoint()
    : m_leave(this, &SfcCongestionPoint::LeavePipeline),
      m_look(this, &SfcCongestionPoint::LookForLast)
{
}

SfcCongestionPoint::~SfcCongestionPoint() = default;

void
SfcCongestionPoint::DoDispose()
{
    m_proxy = nullptr;
    m_awaited.clear();
    m_told.clear();
    SwitchAgent::DoDispose();
}

void
SfcCongestionPoint::Start()
{
    m_atHost = !m_node->IsSwitch();
    m_reserve = m_correction == Correction::RESERVE
                    ? static_cast<int64_t>(m_reserveShare * static_cast<double>(m_buffer))
                    : 0;
    if (m_filter == Filter::TWO_HASH)
    {
        m_twoHash.Configure(m_hashBits, m_epoch.GetTimeStep());
    }
    for (const auto& agent : m_node->GetAgents())
    {
        if (auto* proxy = dynamic_cast<SfcProxy*>(PeekPointer(agent)))
        {
            m_proxy = proxy;
        }
    }
    uint32_t queues = 0;
    for (uint16_t port = 0; port < m_node->GetNPorts(); ++port)
    {
        m_firstQueue.push_back(queues);
        queues += static_cast<uint32_t>(m_node->GetPort(port).GetQueues().size());
    }
    m_queues.resize(queues);
}

std::string
SfcCongestionPoint::Check() const
{
    std::ostringstream problems;
    if (m_longest < m_resolution)
    {
        problems << m_node->GetName() << ": SfcCongestionPoint: LongestInterval ("
                 << m_longest.GetTimeStep() << " ps) is less than Resolution ("
                 << m_resolution.GetTimeStep() << " ps): every interval would be 0\n";
    }
    if (m_correction == Correction::RESERVE && m_buffer == 0)
    {
        problems << m_node->GetName()
                 << ": SfcCongestionPoint: Correction Reserve needs Buffer, of which Reserve ("
                 << m_reserveShare << ") is a share, such as 125KB\n";
    }
    return problems.str();
}

std::string
SfcCongestionPoint::Warn() const
{
    if (m_reserve == 0 || m_reserve < static_cast<int64_t>(m_threshold))
    {
        return {};
    }
    std::ostringstream warning;
    warning
        << "SfcCongestionPoint: the reserve of " << m_reserve << " B (" << m_reserveShare
        << " of a Buffer of " << m_buffer << " B) is not below the Threshold of " << m_threshold
        << " B: a queue length between the two causes no pause; lower Reserve or Buffer, or raise "
           "Threshold\n";
    return warning.str();
}

SfcCongestionPoint::Queue&
SfcCongestionPoint::QueueOf(const lossless::Port& egress, uint16_t queue)
{
    return m_queues[m_firstQueue[egress.GetIndex()] + queue];
}

void
SfcCongestionPoint::NotifyEnqueue(lossless::Port& egress, uint16_t queue, Frame& frame)
{
    if (m_atHost || !((m_classes >> frame.cls) & 1U))
    {
        return;
    }
    const lossless::EgressQueue& frames = egress.GetQueues()[queue];
    Queue& state = QueueOf(egress, queue);
    const uint64_t line = egress.GetRate();
    if (frames.GetFrames() == 1)
    {
        state.rate.Begin(NowPs(), line);
    }
    const int64_t bytes = frames.GetBytes();
    if (bytes <= static_cast<int64_t>(m_threshold))
    {
        state.above = false;
        return;
    }
    if (frame.kind != FrameKind::DATA)
    {
        return;
    }
    const int64_t octets = bytes + static_cast<int64_t>(frames.GetFrames()) * egress.GetOverhead();
    const int64_t window = m_window.GetTimeStep();
    const auto floor = static_cast<uint64_t>(m_lowest * static_cast<double>(line));
    const uint64_t rate = window ? state.rate.Get(NowPs(), line, window, floor) : line;
    m_peakQueue = std::max(m_peakQueue, bytes);
    Congested(state, m_firstQueue[egress.GetIndex()] + queue, frame, octets, rate);
}

void
SfcCongestionPoint::NotifyDequeue(lossless::Port& egress, uint16_t queue, Frame& frame)
{
    if (m_atHost || !((m_classes >> frame.cls) & 1U))
    {
        return;
    }
    Queue& state = QueueOf(egress, queue);
    if (egress.GetQueues()[queue].GetBytes() <= static_cast<int64_t>(m_threshold))
    {
        state.above = false;
    }
    if (!m_window.IsZero())
    {
        state.rate.NoteSent(frame.bytes + static_cast<int64_t>(egress.GetOverhead()),
                            NowPs(),
                            egress.GetRate(),
                            m_window.GetTimeStep());
    }
}

void
SfcCongestionPoint::NotifyReceive(const Frame& frame, int64_t bytes, uint64_t rate)
{
    if (!((m_classes >> frame.cls) & 1U))
    {
        return;
    }
    Queue& state = m_queues[frame.cls];
    if (bytes <= static_cast<int64_t>(m_threshold))
    {
        state.above = false;
        return;
    }
    m_peakQueue = std::max(m_peakQueue, bytes);
    Congested(state, frame.cls, frame, bytes, rate);
}

void
SfcCongestionPoint::Congested(Queue& queue,
                              uint32_t number,
                              const Frame& frame,
                              int64_t octets,
                              uint64_t rate)
{
    ++m_above;
    if (!queue.above)
    {
        queue.above = true;
        ++queue.episode;
    }
    const int64_t now = NowPs();
    const int64_t longest = m_longest.GetTimeStep();
    Message message;
    message.interval = PauseInterval(octets, m_reserve, rate, m_resolution.GetTimeStep(), longest);
    message.stamp = now;
    message.cls = frame.cls;
    message.stamped = m_correction == Correction::TIME_STAMP;
    const bool byFlow = m_key == Key::FLOW;
    Told& told = m_told[KeyOf{number, byFlow ? frame.flow : frame.src, byFlow ? 0 : frame.dst}];
    m_afterExpiry += told.episode == queue.episode && now > told.expires;
    if (message.interval == 0)
    {
        ++m_empty;
        return;
    }
    m_capped += message.interval + m_resolution.GetTimeStep() > longest;
    if (Passes(queue, told, frame, message, now))
    {
        Send(told, queue.episode, message, frame, octets, now);
        return;
    }
    ++m_suppressed;
}

bool
SfcCongestionPoint::Passes(Queue& queue,
                           Told& told,
                           const Frame& frame,
                           const Message& message,
                           int64_t now)
{
    switch (m_filter)
    {
    case Filter::NONE:
        return true;
    case Filter::TWO_HASH:
        return !m_twoHash.TestAndSet(frame.src, frame.dst, frame.cls, now);
    case Filter::FIRST:
        return told.episode != queue.episode;
    case Filter::FIRST_AND_EXPIRY:
        return told.episode != queue.episode || now > told.expires;
    case Filter::FIRST_AND_LAST:
        break;
    }
    if (told.episode != queue.episode)
    {
        return true;
    }
    told.last = now;
    told.message = message;
    told.to = frame;
    if (!told.waiting)
    {
        told.waiting = true;
        m_awaited.emplace_back(now, &told);
        m_look.Schedule(LAST_GAP);
    }
    return false;
}

void
SfcCongestionPoint::LookForLast()
{
    // References into an unordered_map stay valid when entries are added.
    const auto [since, told] = m_awaited.front();
    m_awaited.pop_front();
    const int64_t now = NowPs();
    if (told->last > since)
    {
        // More frames followed: wait until the gap has passed since the latest of them.
        const int64_t due = told->last + LAST_GAP;
        if (due > now)
        {
            const auto place = std::upper_bound(
                m_awaited.begin(),
                m_awaited.end(),
                told->last,
                [](int64_t time, const auto& entry) { return time < entry.first; });
            m_awaited.emplace(place, told->last, told);
            m_look.Schedule(due - now);
            return;
        }
    }
    told->waiting = false;
    if (told->last < 0)
    {
        return;
    }
    // Bytes that have drained since the frame joined need no further wait.
    Message message = told->message;
    message.interval -= now - told->last;
    message.stamp = now;
    if (message.interval > 0)
    {
        Send(*told, told->episode, message, told->to, 0, now);
    }
}

void
SfcCongestionPoint::Send(Told& told,
                         uint64_t episode,
                         const Message& message,
                         const Frame& data,
                         int64_t octets,
                         int64_t now)
{
    told.episode = episode;
    told.expires = now + message.interval;
    told.last = -1; // this message supersedes those suppressed before
    ++m_sent;
    m_peakInterval = std::max(m_peakInterval, message.interval);
    m_messageTrace(message, data.src, octets);
    if (m_latency.IsZero())
    {
        Launch(message, data);
        return;
    }
    m_pipeline.push_back(Outgoing{message, data});
    m_leave.Schedule(m_latency.GetTimeStep());
}

void
SfcCongestionPoint::LeavePipeline()
{
    const Outgoing outgoing = m_pipeline.front();
    m_pipeline.pop_front();
    Launch(outgoing.message, outgoing.data);
}

void
SfcCongestionPoint::Launch(const Message& message, const Frame& data)
{
    if (m_proxy && m_proxy->Take(message, data.src))
    {
        return;
    }
    Frame* frame = FramePool::Take();
    frame->kind = FrameKind::SIGNAL;
    frame->flow = data.flow;
    frame->src = m_node->GetId();
    frame->dst = data.src;
    frame->hash = lossless::Routes::Hash(frame->src, frame->dst, frame->flow);
    frame->bytes = static_cast<uint16_t>(m_messageSize);
    frame->cls = static_cast<uint8_t>(m_messageClass);
    Write(message, *frame);
    NS_LOG_LOGIC(m_node->GetName()
                 << " notifies node " << data.src << " of congestion by flow " << data.flow);
    m_node->Inject(frame);
}

void
SfcCongestionPoint::Report(lossless::Summary& summary) const
{
    summary["sfc_frames_above_threshold"] += static_cast<double>(m_above);
    summary["sfc_messages_sent"] += static_cast<double>(m_sent);
    summary["sfc_messages_suppressed"] += static_cast<double>(m_suppressed);
    summary["sfc_intervals_empty"] += static_cast<double>(m_empty);
    summary["sfc_intervals_capped"] += static_cast<double>(m_capped);
    summary["sfc_frames_after_expiry"] += static_cast<double>(m_afterExpiry);
    double& interval = summary["sfc_peak_interval_ps"];
    interval = std::max(interval, static_cast<double>(m_peakInterval));
    double& queue = summary["sfc_peak_queue_bytes"];
    queue = std::max(queue, static_cast<double>(m_peakQueue));
}

} // namespace sfc
} // namespace ns3
