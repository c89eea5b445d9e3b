/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-repeat-tape.h"

#include "ns3/lossless-rate.h"

#include <algorithm>
#include <unordered_map>

namespace ns3
{
namespace facade
{

using lossless::CONTROL_CLASS;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::Port;

namespace
{

/// A frame that arrives for an egress.
struct Arrival
{
    const Frame* frame; //!< which one
    uint16_t egress;    //!< for which port
    uint16_t bytes;     //!< size
    uint8_t cls;        //!< class
    bool starts{false}; //!< it is sent at once
};

/// What happens at an egress.
struct Event
{
    uint16_t egress;        //!< which one
    int64_t time;           //!< ps
    const Arrival* arrives; //!< a frame joins; or null:
    bool ends;              //!< a transmission ends; else one starts,
    uint16_t bytes;         //!< of such a size
    uint8_t cls;            //!< and class
};

/// What happens at an egress at one time.
struct Moment
{
    std::vector<const Arrival*> arrivals; //!< frames that join
    bool ends{false};                     //!< a transmission ends
    bool starts{false};                   //!< a transmission starts
    uint16_t bytes{0};                    //!< size of what starts
    uint8_t cls{0};                       //!< class of what starts

    /// Add what happens then. @param event event.
    void Add(const Event& event)
    {
        if (event.arrives)
        {
            arrivals.push_back(event.arrives);
        }
        else if (event.ends)
        {
            ends = true;
        }
        else
        {
            starts = true;
            bytes = event.bytes;
            cls = event.cls;
        }
    }
};

/// Could another order of what happens at an egress at one time choose another frame?
/// @param moment what happens. @param waiting number of frames that have waited before.
/// @return true unless it is certain that it could not.
bool
Decides(const Moment& moment, uint64_t waiting)
{
    if (moment.arrivals.empty() || (moment.arrivals.size() == 1 && !moment.ends))
    {
        return false;
    }
    if (moment.arrivals.size() == 1)
    {
        const Arrival& arrival = *moment.arrivals.front();
        if (arrival.starts)
        {
            return waiting > 0; // else nothing could be sent before it
        }
        // It has come too late for what starts: before, it would have waited behind it.
        return !moment.starts || (moment.cls != CONTROL_CLASS && arrival.cls != moment.cls);
    }
    // Two frames join two queues of a port that goes on sending.
    return moment.arrivals.size() > 2 || moment.ends || moment.starts ||
           (moment.arrivals.front()->cls == CONTROL_CLASS) ==
               (moment.arrivals.back()->cls == CONTROL_CLASS);
}

} // namespace

RepeatTape::RepeatTape(lossless::Fabric& fabric)
    : m_received(Port::GetTypeId().LookupTraceSourceByName("Receive")),
      m_sent(Port::GetTypeId().LookupTraceSourceByName("Transmit"))
{
    for (uint32_t number = 0; number < fabric.GetNNodes(); ++number)
    {
        auto* node = dynamic_cast<lossless::Switch*>(&fabric.GetNode(number));
        m_siteOf.push_back(m_sites.size());
        if (node)
        {
            m_sites.emplace_back().node = node;
        }
    }
}

void
RepeatTape::NoteArrival(const Port& port, const Frame& frame)
{
    m_sites[m_siteOf[port.GetNodeId()]].notes.push_back(
        {NowPs(), &frame, port.GetIndex(), port.GetIndex(), frame.bytes, frame.cls, true});
}

void
RepeatTape::NoteStart(const Port& port, const Frame& frame)
{
    m_sites[m_siteOf[port.GetNodeId()]].notes.push_back(
        {NowPs(), &frame, port.GetIndex(), frame.ingress, frame.bytes, frame.cls, false});
}

void
RepeatTape::Connect(bool on)
{
    const auto arrival = MakeCallback(&RepeatTape::NoteArrival, this);
    const auto start = MakeCallback(&RepeatTape::NoteStart, this);
    for (const Site& site : m_sites)
    {
        for (uint16_t index = 0; index < site.node->GetNPorts(); ++index)
        {
            Port* port = &site.node->GetPort(index);
            on ? m_received->ConnectWithoutContext(port, arrival)
               : m_received->DisconnectWithoutContext(port, arrival);
            on ? m_sent->ConnectWithoutContext(port, start)
               : m_sent->DisconnectWithoutContext(port, start);
        }
    }
}

void
RepeatTape::Start()
{
    m_start = NowPs();
    for (Site& site : m_sites)
    {
        const lossless::BufferPolicy& buffer = site.node->GetBuffer();
        site.notes.clear();
        site.instants.clear();
        site.waiting.clear();
        site.depths.clear();
        site.queues.clear();
        site.used = buffer.GetUsed();
        for (uint16_t index = 0; index < site.node->GetNPorts(); ++index)
        {
            const Port& port = site.node->GetPort(index);
            site.waiting.push_back(port.CountWaiting());
            int64_t& depth = site.depths.emplace_back(0);
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                depth += port.GetEgressBytes(cls);
                site.queues.push_back(buffer.GetUsage(index, cls).Total());
            }
        }
    }
    Connect(true);
}

int64_t
RepeatTape::Stop()
{
    Connect(false);
    std::size_t noted = 0;
    for (const Site& site : m_sites)
    {
        noted += site.notes.size();
    }
    return static_cast<int64_t>(noted);
}

std::string
RepeatTape::FindTie(int64_t period)
{
    m_period = period;
    for (Site& site : m_sites)
    {
        std::string found = FindTieAt(site, period);
        found = found.empty() ? FindPeaksAt(site, period) : found;
        if (!found.empty())
        {
            return found;
        }
    }
    return {};
}

/// FindTie() at the egress ports of a switch.
std::string
RepeatTape::FindTieAt(Site& site, int64_t period) const
{
    std::vector<Arrival> arrivals;
    arrivals.reserve(site.notes.size()); // they do not move
    std::unordered_map<const Frame*, std::pair<Arrival*, int64_t>> inside;
    for (const Note& note : site.notes)
    {
        if (note.arrives)
        {
            arrivals.push_back({note.frame, 0, note.bytes, note.cls});
            inside[note.frame] = {&arrivals.back(), note.time};
        }
        else if (const auto found = inside.find(note.frame); found != inside.end())
        {
            const auto [arrival, time] = found->second;
            arrival->egress = note.port;
            arrival->starts = time == note.time;
            inside.erase(found);
        }
    }
    for (const auto& [frame, place] : inside)
    {
        place.first->egress = frame->egress; // it still waits
    }
    std::vector<Event> events;
    events.reserve(2 * site.notes.size());
    std::size_t next = 0;
    for (const Note& note : site.notes)
    {
        if (note.arrives)
        {
            const Arrival& arrival = arrivals[next++];
            events.push_back({arrival.egress, note.time, &arrival, false, 0, 0});
            continue;
        }
        events.push_back({note.port, note.time, nullptr, false, note.bytes, note.cls});
        const Port& port = site.node->GetPort(note.port);
        const int64_t end =
            note.time +
            lossless::TransmissionTime(note.bytes + int64_t{port.GetOverhead()}, port.GetRate());
        events.push_back({note.port, m_start + (end - m_start) % period, nullptr, true, 0, 0});
    }
    const auto momentOf = [](const Event& event) { return std::pair(event.egress, event.time); };
    std::ranges::stable_sort(events, {}, momentOf);
    std::vector<uint64_t> waiting = site.waiting;
    std::vector<int64_t> depths = site.depths;
    Moment moment;
    for (auto event = events.begin(); event != events.end();)
    {
        const auto where = momentOf(*event);
        moment.arrivals.clear(); // its memory is used again
        moment = Moment{std::move(moment.arrivals)};
        for (; event != events.end() && momentOf(*event) == where; ++event)
        {
            moment.Add(*event);
        }
        uint64_t& left = waiting[where.first];
        if (Decides(moment, left))
        {
            return "a tie at an egress could decide what is sent";
        }
        left += moment.arrivals.size() - (moment.starts ? 1 : 0);
        int64_t& depth = depths[where.first];
        for (const Arrival* arrival : moment.arrivals)
        {
            depth += arrival->cls < N_CLASSES ? arrival->bytes : 0;
        }
        if (depth > site.node->GetRestingDepth(where.first))
        {
            return "a queue could fill up to a mark";
        }
        depth -= moment.starts && moment.cls < N_CLASSES ? moment.bytes : 0;
    }
    return {};
}

/// FindTie() in the buffer of a switch.
std::string
RepeatTape::FindPeaksAt(Site& site, int64_t period) const
{
    const lossless::BufferPolicy& buffer = site.node->GetBuffer();
    std::vector<Change> changes;
    for (const Note& note : site.notes)
    {
        if (note.cls >= N_CLASSES)
        {
            continue;
        }
        if (!buffer.IsLossless(note.cls))
        {
            return "frames of a lossy class are sent";
        }
        const Port& port = site.node->GetPort(note.port);
        const int64_t bytes = buffer.InCells(note.bytes);
        const std::size_t queue = std::size_t{note.ingress} * N_CLASSES + note.cls;
        if (note.arrives)
        {
            changes.push_back({note.time, port.GetArrivalPlace(), bytes, queue});
            continue;
        }
        const int64_t end =
            note.time +
            lossless::TransmissionTime(note.bytes + int64_t{port.GetOverhead()}, port.GetRate());
        changes.push_back({m_start + (end - m_start) % period, port.GetEndPlace(), -bytes, queue});
    }
    std::ranges::stable_sort(changes, {}, &Change::time);
    int64_t used = site.used;
    std::vector<int64_t> queues = site.queues;
    const Peaks present{buffer.GetPeak(), buffer.GetPeakQueue()};
    Peaks most = present;
    for (auto first = changes.begin(); first != changes.end();)
    {
        const auto end = std::find_if(first, changes.end(), [&](const Change& change) {
            return change.time != first->time;
        });
        Peaks worst{used, 0};
        for (auto change = first; change != end; ++change)
        {
            if (change->bytes > 0)
            {
                worst = {worst.first + change->bytes,
                         std::max(worst.second, queues[change->queue] + change->bytes)};
            }
        }
        if (worst.first > present.first || worst.second > present.second)
        {
            Instant& instant = site.instants.emplace_back(used, std::vector(first, end));
            instant.most = worst;
            for (const Change& change : instant.changes)
            {
                const auto same = std::ranges::find(instant.changes, change.queue, &Change::queue);
                instant.sames.push_back(static_cast<uint32_t>(same - instant.changes.begin()));
                instant.queues.push_back(queues[change.queue]);
            }
        }
        most = {std::max(most.first, worst.first), std::max(most.second, worst.second)};
        for (; first != end; ++first)
        {
            used += first->bytes;
            queues[first->queue] += first->bytes;
        }
    }
    return buffer.StaysOn(most.first, most.second) ? "" : "a buffer could fill up to a pause";
}

/// Peaks of a buffer after an instant, with the order that it has at a time.
RepeatTape::Peaks
RepeatTape::PeaksOf(const Instant& instant, int64_t time)
{
    const uint64_t salt = eventloop::Place::SaltOf(time);
    const std::size_t count = instant.changes.size();
    m_order.clear();
    for (uint32_t i = 0; i < count; ++i)
    {
        m_order.emplace_back(instant.changes[i].place.GetRank(salt), i);
    }
    std::ranges::sort(m_order);
    m_queues.assign(instant.queues.begin(), instant.queues.end());
    Peaks peaks{instant.used, 0};
    int64_t used = instant.used;
    for (const auto& [rank, i] : m_order)
    {
        const Change& change = instant.changes[i];
        int64_t& queue = m_queues[instant.sames[i]];
        used += change.bytes;
        queue += change.bytes;
        if (change.bytes > 0)
        {
            peaks = {std::max(peaks.first, used), std::max(peaks.second, queue)};
        }
    }
    return peaks;
}

std::vector<RepeatTape::Peaks>
RepeatTape::PeaksAfter(int64_t periods)
{
    std::vector<Peaks> all;
    for (const Site& site : m_sites)
    {
        const lossless::BufferPolicy& buffer = site.node->GetBuffer();
        Peaks& peaks = all.emplace_back(buffer.GetPeak(), buffer.GetPeakQueue());
        const auto isOver = [&peaks](const Instant* instant) {
            return instant->most.first <= peaks.first && instant->most.second <= peaks.second;
        };
        std::vector<const Instant*> left;
        for (const Instant& instant : site.instants)
        {
            left.push_back(&instant);
        }
        for (int64_t period = 1; period <= periods && !left.empty(); ++period)
        {
            for (const Instant* instant : left)
            {
                const int64_t time = instant->changes.front().time + period * m_period;
                const auto [used, queue] = PeaksOf(*instant, time);
                peaks = {std::max(peaks.first, used), std::max(peaks.second, queue)};
            }
            std::erase_if(left, isOver);
        }
    }
    return all;
}

std::vector<RepeatTape::Peaks>
RepeatTape::GetPeaks() const
{
    std::vector<Peaks> peaks;
    for (const Site& site : m_sites)
    {
        const lossless::BufferPolicy& buffer = site.node->GetBuffer();
        peaks.emplace_back(buffer.GetPeak(), buffer.GetPeakQueue());
    }
    return peaks;
}

void
RepeatTape::RaisePeaks(const std::vector<Peaks>& peaks) const
{
    for (std::size_t i = 0; i < m_sites.size(); ++i)
    {
        m_sites[i].node->GetBuffer().RaisePeaks(peaks[i].first, peaks[i].second);
    }
}

} // namespace facade
} // namespace ns3
