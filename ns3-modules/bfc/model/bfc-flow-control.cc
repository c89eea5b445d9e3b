/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "bfc-flow-control.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-hash.h"
#include "ns3/lossless-link-agreement.h"
#include "ns3/lossless-port-owner.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

namespace ns3
{
namespace bfc
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::N_CLASSES;
using lossless::NowPs;

namespace
{

/// Refresh periods after which state that was not refreshed is discarded.
constexpr int64_t ROUNDS_TO_FORGET = 3;

} // namespace

NS_OBJECT_ENSURE_REGISTERED(Bfc);

TypeId
Bfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::bfc::Bfc")
            .SetParent<lossless::FlowControl>()
            .SetGroupName("bfc")
            .AddConstructor<Bfc>()
            .AddAttribute("Queues",
                          "Number of physical queues per class at a switch port.",
                          UintegerValue(32),
                          MakeUintegerAccessor(&Bfc::m_switchQueues),
                          MakeUintegerChecker<uint32_t>(1, lossless::MAX_OWN_QUEUES))
            .AddAttribute("HostQueues",
                          "Number of queues per class at a host; at least one per flow of it.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&Bfc::m_hostQueues),
                          MakeUintegerChecker<uint32_t>(1, lossless::MAX_OWN_QUEUES))
            .AddAttribute("Hrtt",
                          "Round-trip time of a hop, from a pause to its effect; 0: twice the link "
                          "delay plus the peer's ControlDelay.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&Bfc::m_hrttTime),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Interval",
                          "New pauses are sent at multiples of this interval, or earlier along "
                          "with a resume; 0: immediately.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&Bfc::m_interval),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("FlowEntries",
                          "Size of the flow table per class at a switch port; flows with the same "
                          "hash are treated as one. A host distinguishes all its flows.",
                          UintegerValue(7200),
                          MakeUintegerAccessor(&Bfc::m_flowEntries),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24))
            .AddAttribute("Names",
                          "What a pause names: Queues of the upstream port, one bit each, or "
                          "Flows, in a Bloom filter.",
                          EnumValue(Names::QUEUES),
                          MakeEnumAccessor<Names>(&Bfc::m_names),
                          MakeEnumChecker(Names::QUEUES, "Queues", Names::FLOWS, "Flows"))
            .AddAttribute(
                "FilterBits",
                "Size of the filter of a class in bits, a multiple of 128.",
                UintegerValue(1024),
                MakeUintegerAccessor(&Bfc::m_filterBits),
                MakeUintegerChecker<uint32_t>(NameFilter::SEGMENT_BITS,
                                              NameFilter::SEGMENT_BITS * NameFilter::MOST_SEGMENTS))
            .AddAttribute("Stages",
                          "Number of hash functions, each with an equal part of the filter.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&Bfc::m_stages),
                          MakeUintegerChecker<uint32_t>(1, 8))
            .AddAttribute("ResumesPerHrtt",
                          "Maximum number of names that a queue may resume per HRTT; 0: no limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Bfc::m_resumesPerHrtt),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("FirstFrameFirst",
                          "Whether the first frame of a flow without a queue is sent before all "
                          "queues.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Bfc::m_firstFirst),
                          MakeBooleanChecker())
            .AddAttribute("Refresh",
                          "Period at which segments with bits set are sent again; 0: never.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&Bfc::m_refresh),
                          lossless::MakePicosecondsChecker());
    return tid;
}

Bfc::Bfc()
    : m_soon(this, &Bfc::SendUnsent),
      m_atInterval(this, &Bfc::SendUnsent),
      m_tick(this, &Bfc::Refresh),
      m_resume(this, &Bfc::ResumeWaiting),
      m_kick(this, &Bfc::Kick)
{
}

void
Bfc::Start()
{
    lossless::PortOwner& node = m_port->GetNode();
    m_isSwitch = node.IsSwitch();
    m_lossless = node.GetBuffer().GetLosslessClasses();
    m_queues = GetOwnQueues();
    m_hrtt = m_hrttTime.IsZero() ? 2 * m_port->GetDelay() + m_port->GetPeer().GetControlDelay()
                                 : m_hrttTime.GetTimeStep();
    m_bytes = FramePool::ReserveSchemeBytes("bfc", 4);
    m_thresholds.assign(node.GetNPorts(), 0);
    const std::size_t queues = static_cast<std::size_t>(N_CLASSES) * (m_queues + 1U);
    m_held.assign(queues, false);
    m_left.assign(queues, UINT64_MAX);
    m_lanes.resize(m_resumesPerHrtt > 0 ? queues : 0);
    m_node = node.GetShared<NodeState>();
    m_node->instances.resize(node.GetNPorts(), nullptr);
    m_node->instances[m_port->GetIndex()] = this;
}

std::string
Bfc::Check() const
{
    std::ostringstream problems;
    if (m_filterBits % NameFilter::SEGMENT_BITS != 0)
    {
        problems << "Bfc: FilterBits " << m_filterBits
                 << " must be a multiple of 128, the bits of a control frame\n";
    }
    if (m_names == Names::FLOWS && m_filterBits % m_stages != 0)
    {
        problems << "Bfc: FilterBits " << m_filterBits << " must be a multiple of Stages "
                 << m_stages << "; all stages have equal parts\n";
    }
    if (m_port)
    {
        problems << lossless::FindDifferences(*this,
                                              *m_port,
                                              {"Names", "FilterBits", "Stages", "Refresh"});
    }
    return problems.str();
}

// ---- Contents of frames and filters

uint16_t
Bfc::ReadBytes(const lossless::SchemeBytes& bytes, uint32_t at) const
{
    return static_cast<uint16_t>(bytes[m_bytes + at] | bytes[m_bytes + at + 1] << 8);
}

void
Bfc::WriteBytes(Frame& frame, uint32_t at, uint16_t value) const
{
    frame.scheme[m_bytes + at] = static_cast<uint8_t>(value);
    frame.scheme[m_bytes + at + 1] = static_cast<uint8_t>(value >> 8);
}

uint32_t
Bfc::NameOf(uint16_t place, uint32_t flow) const
{
    return m_names == Names::QUEUES ? place - 1U : flow;
}

NameFilter&
Bfc::FilterFor(NameFilter& filter, bool counts) const
{
    if (!filter.IsConfigured())
    {
        filter.Configure(m_filterBits, m_names == Names::QUEUES ? 0 : m_stages, counts);
    }
    return filter;
}

uint64_t
Bfc::KeyOf(uint8_t cls, uint32_t flow) const
{
    const uint64_t id = m_isSwitch ? lossless::Mix(flow) % m_flowEntries : flow;
    return static_cast<uint64_t>(cls) << 32 | id;
}

// ---- Queues

uint16_t
Bfc::GetOwnQueues() const
{
    return static_cast<uint16_t>(m_port->GetNode().IsSwitch() ? m_switchQueues : m_hostQueues);
}

std::unique_ptr<lossless::QueueScheduler>
Bfc::MakeScheduler()
{
    auto scheduler = std::make_unique<ActiveScheduler>(m_port->GetLargestFrame());
    m_serving.push_back(scheduler.get());
    return scheduler;
}

bool
Bfc::IsAssigned(const Entry& entry) const
{
    return entry.queue > 0 &&
           (entry.frames > 0 || NowPs() - entry.last <= 2 * (m_hrtt + m_interval.GetTimeStep()));
}

uint16_t
Bfc::PickQueue(uint8_t cls, uint64_t key) const
{
    const std::vector<lossless::EgressQueue>& queues = m_port->GetQueues();
    const auto first = static_cast<uint32_t>(lossless::Mix(key ^ m_port->GetIndex()) % m_queues);
    for (uint32_t looked = 0; looked < m_queues; ++looked)
    {
        const uint32_t place =
            first + looked < m_queues ? first + looked : first + looked - m_queues;
        const auto queue = static_cast<uint16_t>(cls + N_CLASSES * (place + 1));
        if (queues[queue].GetFrames() == 0 && !m_held[queue])
        {
            return queue;
        }
    }
    return static_cast<uint16_t>(cls + N_CLASSES * (first + 1));
}

uint16_t
Bfc::SelectQueue(const Frame& frame, uint16_t queue) const
{
    if (queue >= N_CLASSES || !((m_lossless >> frame.cls) & 1U))
    {
        return queue;
    }
    const uint64_t key = KeyOf(frame.cls, frame.flow);
    const Entry* entry = m_flows.Find(key);
    if (entry && IsAssigned(*entry))
    {
        return static_cast<uint16_t>(frame.cls + N_CLASSES * entry->queue);
    }
    return m_firstFirst && (!entry || entry->frames == 0) ? queue : PickQueue(frame.cls, key);
}

void
Bfc::NotifyJoined(uint16_t queue, Frame& frame)
{
    Entry& entry = m_flows.Add(KeyOf(frame.cls, frame.flow));
    const auto place = static_cast<uint16_t>(queue / N_CLASSES);
    const lossless::EgressQueue& joined = m_port->GetQueues()[queue];
    if (place > 0 && !(IsAssigned(entry) && entry.queue == place))
    {
        const Entry* last = m_flows.Find(m_left[queue]);
        ++m_assigned;
        m_shared += joined.GetFrames() > 1 || (last && last->queue == place && IsAssigned(*last));
    }
    entry.queue = place;
    ++entry.frames;
    entry.last = NowPs();
    if (m_names == Names::FLOWS && place > 0 && joined.GetFrames() == 1)
    {
        UpdateHeld(frame.cls, place);
    }
    if (place > 0 && entry.frames > 1)
    {
        Mark(frame, joined.GetBytes());
    }
}

void
Bfc::NotifySent(uint16_t queue, Frame& frame, int64_t /* now */)
{
    const auto place = static_cast<uint16_t>(queue / N_CLASSES);
    Leave(queue, frame);
    WriteBytes(frame, FROM, place);
    if (m_names == Names::FLOWS && place > 0)
    {
        UpdateHeld(frame.cls, place);
    }
}

void
Bfc::NotifyTaken(uint16_t queue, Frame& frame)
{
    Leave(queue, frame);
    if (m_names == Names::FLOWS && queue >= N_CLASSES)
    {
        const bool held = m_held[queue];
        UpdateHeld(frame.cls, static_cast<uint16_t>(queue / N_CLASSES));
        if (held && !m_held[queue])
        {
            m_kick.Schedule(0); // deferred: more frames may be taken
        }
    }
}

// ---- Marking

int64_t
Bfc::GetThreshold(uint16_t ingress)
{
    int64_t& threshold = m_thresholds[ingress];
    if (threshold == 0)
    {
        const int64_t time = m_node->instances[ingress]->m_hrtt + m_interval.GetTimeStep();
        threshold = lossless::BytesInTime(m_port->GetRate(), time);
    }
    return threshold;
}

void
Bfc::Mark(Frame& frame, int64_t queueBytes)
{
    Bfc* ingress = frame.ingress == lossless::NO_PORT ? nullptr : m_node->instances[frame.ingress];
    const uint16_t from = ReadBytes(frame.scheme, FROM);
    if (!ingress || from == 0) // generated here, or sent before all queues, which cannot be paused
    {
        return;
    }
    const uint32_t active = std::max<uint32_t>(m_serving[frame.cls]->Count(), 1);
    m_peakActive = std::max(m_peakActive, active);
    if (queueBytes * active <= GetThreshold(frame.ingress))
    {
        return;
    }
    ++m_marked;
    WriteBytes(frame, MARK, from);
    ClassState& state = ingress->m_classes[frame.ingressClass];
    const uint32_t changed = FilterFor(state.asked, true).Insert(NameOf(from, frame.flow));
    ingress->m_pauses += changed != 0;
    ingress->Note(frame.ingressClass, changed, false);
}

void
Bfc::Leave(uint16_t queue, Frame& frame)
{
    m_left[queue] = KeyOf(frame.cls, frame.flow);
    Entry* entry = m_flows.Find(m_left[queue]);
    if (entry && entry->frames > 0)
    {
        --entry->frames;
        entry->last = NowPs();
    }
    const uint16_t mark = ReadBytes(frame.scheme, MARK);
    if (mark > 0)
    {
        WriteBytes(frame, MARK, 0);
        Bfc& ingress = *m_node->instances[frame.ingress];
        Unmark(ingress, frame.ingressClass, NameOf(mark, frame.flow), queue);
    }
}

void
Bfc::Unmark(Bfc& ingress, uint8_t cls, uint32_t name, uint16_t queue)
{
    if (m_resumesPerHrtt > 0 && ingress.m_classes[cls].asked.WouldClear(name))
    {
        Lane& lane = m_lanes[queue];
        m_resume.Schedule(m_hrtt);
        if (lane.resumed == m_resumesPerHrtt)
        {
            ++m_postponed;
            lane.waiting.push_back(Resume{&ingress, name, cls});
            return;
        }
        ++lane.resumed;
    }
    ingress.Clear(cls, name);
}

void
Bfc::Clear(uint8_t cls, uint32_t name)
{
    Note(cls, m_classes[cls].asked.Remove(name), true);
}

void
Bfc::ResumeWaiting()
{
    bool resumed = false;
    for (Lane& lane : m_lanes)
    {
        lane.resumed = 0;
        while (!lane.waiting.empty() && lane.resumed < m_resumesPerHrtt)
        {
            const Resume next = lane.waiting.front();
            lane.waiting.pop_front();
            // a name that was marked again stays paused and uses no resume
            lane.resumed += next.ingress->m_classes[next.cls].asked.WouldClear(next.name);
            next.ingress->Clear(next.cls, next.name);
        }
        resumed = resumed || lane.resumed > 0;
    }
    if (resumed)
    {
        m_resume.Schedule(m_hrtt);
    }
}

// ---- Sending

void
Bfc::Note(uint8_t cls, uint32_t segments, bool urgent)
{
    if (segments == 0)
    {
        return;
    }
    m_classes[cls].unsent |= segments;
    const int64_t interval = m_interval.GetTimeStep();
    if (urgent || interval == 0)
    {
        m_soon.Schedule(0); // deferred: this port may be choosing its next frame
    }
    else
    {
        m_atInterval.Schedule(interval - NowPs() % interval);
    }
}

void
Bfc::SendUnsent()
{
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (uint32_t left = std::exchange(m_classes[cls].unsent, 0); left; left &= left - 1)
        {
            Send(cls, static_cast<uint32_t>(std::countr_zero(left)));
        }
    }
    StartRefresh();
}

void
Bfc::Send(uint8_t cls, uint32_t segment)
{
    Frame* frame = FramePool::TakeControl();
    Write({cls, segment, m_classes[cls].asked.Get(segment)}, *frame->control);
    ++m_frames;
    m_port->SendControl(frame);
}

void
Bfc::StartRefresh()
{
    if (!m_refresh.IsZero())
    {
        m_tick.Schedule(m_refresh.GetTimeStep());
    }
}

void
Bfc::Refresh()
{
    bool again = false;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        const uint32_t asked = m_classes[cls].asked.GetNonempty();
        for (uint32_t left = asked; left; left &= left - 1)
        {
            ++m_refreshFrames;
            Send(cls, static_cast<uint32_t>(std::countr_zero(left)));
        }
        Forget(cls);
        again = again || asked != 0 || m_classes[cls].paused.GetNonempty() != 0;
    }
    if (again)
    {
        StartRefresh();
    }
}

// ---- Receiving

bool
Bfc::ReceiveControl(const ControlFrame& control)
{
    Message message;
    if (!Read(control, message))
    {
        return false;
    }
    if (m_port->KeepLossless(1U << message.cls) == 0)
    {
        return true;
    }
    ClassState& state = m_classes[message.cls];
    NameFilter& paused = FilterFor(state.paused, false);
    if (message.segment < paused.GetSegments())
    {
        state.receivedAt.resize(paused.GetSegments());
        state.receivedAt[message.segment] = NowPs();
        paused.Set(message.segment, message.bits);
        UpdateHeld(message.cls);
        StartRefresh();
    }
    return true;
}

void
Bfc::Forget(uint8_t cls)
{
    ClassState& state = m_classes[cls];
    const int64_t limit = NowPs() - ROUNDS_TO_FORGET * m_refresh.GetTimeStep();
    const uint64_t before = m_forgotten;
    for (uint32_t left = state.paused.GetNonempty(); left; left &= left - 1)
    {
        const auto segment = static_cast<uint32_t>(std::countr_zero(left));
        if (state.receivedAt[segment] <= limit)
        {
            ++m_forgotten;
            state.paused.Set(segment, {});
        }
    }
    if (m_forgotten > before)
    {
        UpdateHeld(cls);
    }
}

void
Bfc::UpdateHeld(uint8_t cls)
{
    for (uint16_t place = 1; place <= m_queues; ++place)
    {
        UpdateHeld(cls, place);
    }
    m_port->Kick();
}

void
Bfc::UpdateHeld(uint8_t cls, uint16_t place)
{
    const auto queue = static_cast<uint16_t>(cls + N_CLASSES * place);
    const NameFilter& paused = m_classes[cls].paused;
    bool held = paused.IsConfigured();
    if (held)
    {
        const Frame* head = m_port->GetQueues()[queue].Head();
        held = (m_names == Names::QUEUES || head) &&
               paused.Contains(NameOf(place, head ? head->flow : 0));
    }
    if (held == m_held[queue])
    {
        return;
    }
    m_held[queue] = held;
    // The egress, not the port: whoever asked transmits next, or is about to.
    if (held)
    {
        m_port->GetEgress().Block(queue);
    }
    else
    {
        m_port->GetEgress().Unblock(queue);
    }
}

void
Bfc::Kick()
{
    m_port->Kick();
}

// ---- Deadlock model

bool
Bfc::WouldHold(uint16_t queue, const Frame& head, const Rest& rest) const
{
    const auto place = static_cast<uint16_t>(queue / N_CLASSES);
    const NameFilter& asked = m_classes[queue % N_CLASSES].asked;
    if (place == 0 || !asked.IsConfigured())
    {
        return false;
    }
    std::vector<uint32_t> names;
    for (const Frame* frame : rest.frames)
    {
        const uint16_t mark = ReadBytes(frame->scheme, MARK);
        if (mark > 0)
        {
            names.push_back(NameOf(mark, frame->flow));
        }
    }
    return asked.IsCoveredBy(NameOf(place, head.flow), names);
}

bool
Bfc::WouldRelease(uint16_t queue, const Frame& head, const ControlFrame& control) const
{
    const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
    const auto place = static_cast<uint16_t>(queue / N_CLASSES);
    Message message;
    if (!Read(control, message) || message.cls != cls || place == 0)
    {
        return false;
    }
    NameFilter then = m_classes[cls].paused;
    if (message.segment >= then.GetSegments()) // otherwise it has received nothing
    {
        return false;
    }
    then.Set(message.segment, message.bits);
    return !then.Contains(NameOf(place, head.flow));
}

// ---- Both sides

void
Bfc::NotifyLink(bool up)
{
    if (!up)
    {
        // The port has dropped its frames. Those that came in by it and wait elsewhere stay marked.
        m_flows.Clear();
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            m_classes[cls].paused = NameFilter{};
            UpdateHeld(cls);
        }
        m_port->GetEgress().Reopen();
        return;
    }
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        Note(cls, m_classes[cls].asked.GetNonempty(), true);
    }
}

void
Bfc::Report(lossless::Summary& summary) const
{
    summary["bfc_frames_marked"] += static_cast<double>(m_marked);
    summary["bfc_pauses_sent"] += static_cast<double>(m_pauses);
    summary["bfc_frames_sent"] += static_cast<double>(m_frames);
    summary["bfc_refresh_frames_sent"] += static_cast<double>(m_refreshFrames);
    summary["bfc_segments_forgotten"] += static_cast<double>(m_forgotten);
    summary["bfc_queues_assigned"] += static_cast<double>(m_assigned);
    summary["bfc_queues_shared"] += static_cast<double>(m_shared);
    summary["bfc_resumes_postponed"] += static_cast<double>(m_postponed);
    double& active = summary["bfc_peak_active_queues"];
    active = std::max(active, static_cast<double>(m_peakActive));
}

} // namespace bfc
} // namespace ns3
