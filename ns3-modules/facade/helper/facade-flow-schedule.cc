/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-flow-schedule.h"

#include "facade-path-times.h"

#include "ns3/rdma-queue-pair-owner.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace facade
{

using lossless::NowPs;

FlowSchedule::FlowSchedule(const std::vector<Ptr<rdma::QueuePair>>& queuePairs)
    : m_queuePairs(queuePairs)
{
}

FlowSchedule::Starts::Starts(FlowSchedule& schedule)
    : m_schedule(schedule),
      m_event(this, &Starts::StartDue)
{
}

void
FlowSchedule::Starts::Add(uint32_t flow)
{
    m_flows.push_back(flow);
}

uint16_t
FlowSchedule::Starts::GetCell() const
{
    return m_schedule.m_queuePairs[m_flows.front()]->GetSource()->GetCell();
}

void
FlowSchedule::Starts::Begin()
{
    m_event.Schedule(m_schedule.m_flows[m_flows.front()].earliest);
}

void
FlowSchedule::Starts::StartDue()
{
    const int64_t now = NowPs();
    const auto earliest = [this]() { return m_schedule.m_flows[m_flows[m_next]].earliest; };
    while (m_next < m_flows.size() && earliest() <= now)
    {
        m_schedule.StartFlow(m_flows[m_next++]);
    }
    if (m_next < m_flows.size())
    {
        m_event.Schedule(earliest() - now);
    }
}

FlowSchedule::LateStart::LateStart(FlowSchedule& schedule)
    : m_schedule(schedule),
      m_event(this, &LateStart::Happen)
{
}

void
FlowSchedule::LateStart::Schedule(uint32_t flow, int64_t delay)
{
    m_flow = flow;
    const uint16_t cell = m_schedule.m_queuePairs[flow]->GetSource()->GetCell();
    m_event.SetPlace(eventloop::Place(cell, eventloop::Place::LATE + flow));
    m_event.Schedule(delay);
}

void
FlowSchedule::LateStart::Happen()
{
    const uint32_t flow = m_flow;
    {
        const std::scoped_lock lock(m_schedule.m_mutex);
        m_schedule.m_idle.push_back(this); // it may be scheduled again at once
    }
    m_schedule.StartFlow(flow);
}

FlowSchedule::Step&
FlowSchedule::GetStep(uint32_t number)
{
    return number & POINT ? m_points[number & ~POINT] : m_flows[number];
}

void
FlowSchedule::Wait(uint32_t waiter, uint32_t after, int64_t delay)
{
    m_flows.resize(m_queuePairs.size());
    for (const uint32_t number : {waiter, after})
    {
        if (number & POINT)
        {
            m_points.resize(std::max<std::size_t>(m_points.size(), (number & ~POINT) + 1));
        }
    }
    ++GetStep(waiter).left;
    GetStep(after).followers.push_back({waiter, delay});
}

void
FlowSchedule::Begin(const std::vector<uint32_t>& origins)
{
    m_flows.resize(m_queuePairs.size());
    std::vector<Reached> reached;
    for (uint32_t point = 0; point < m_points.size(); ++point)
    {
        if (!m_points[point].left)
        {
            reached.push_back({POINT | point, m_points[point].earliest});
        }
    }
    Release(reached);
    std::vector<uint32_t> byStart;
    for (uint32_t flow = 0; flow < m_flows.size(); ++flow)
    {
        Step& step = m_flows[flow];
        if (!step.left && !m_queuePairs[flow]->IsShare()) // which starts with its message
        {
            step.earliest = std::max(step.earliest, m_queuePairs[flow]->GetDemand().start);
            byStart.push_back(flow);
        }
    }
    std::stable_sort(byStart.begin(), byStart.end(), [this](uint32_t a, uint32_t b) {
        return m_flows[a].earliest < m_flows[b].earliest;
    });
    const bool byHost = eventloop::CellLoop::Peek(); // a start belongs to the cell of its host
    m_crosses = byHost && CrossesCells();
    if (m_crosses)
    {
        PrepareBounds();
    }
    for (const uint32_t flow : byStart)
    {
        const uint32_t host = byHost ? origins[flow] : 0;
        m_starts.try_emplace(host, *this).first->second.Add(flow);
    }
    for (auto& [host, starts] : m_starts)
    {
        const eventloop::CellLoop::Adoption adoption(starts.GetCell());
        starts.Begin();
    }
}

void
FlowSchedule::StartFlow(uint32_t flow)
{
    m_queuePairs[flow]->Start();
}

const std::vector<uint32_t>&
FlowSchedule::Release(std::vector<Reached>& reached)
{
    m_released.clear();
    for (std::size_t i = 0; i < reached.size(); ++i)
    {
        const auto [number, time] = reached[i];
        for (const Follower& follower : GetStep(number).followers)
        {
            Step& step = GetStep(follower.number);
            step.earliest = std::max(step.earliest, Later(time, follower.delay));
            if (--step.left > 0)
            {
                continue;
            }
            if (follower.number & POINT)
            {
                reached.push_back({follower.number, step.earliest});
            }
            else
            {
                m_released.push_back(follower.number);
            }
        }
    }
    reached.clear();
    return m_released;
}

void
FlowSchedule::NotifyFinished(uint32_t flow)
{
    const int64_t now = NowPs();
    const std::scoped_lock lock(m_mutex);
    m_reached.push_back({flow, now});
    for (const uint32_t next : Release(m_reached))
    {
        if (m_crosses)
        {
            NoteReady(next);
        }
        const int64_t begin =
            std::max(m_flows[next].earliest, m_queuePairs[next]->GetDemand().start);
        // as a separate event, since the receiver is still processing the last packet
        if (m_idle.empty())
        {
            m_idle.push_back(&m_lateStarts.emplace_back(*this));
        }
        LateStart* start = m_idle.back();
        m_idle.pop_back();
        start->Schedule(next, begin - now);
    }
}

// Bounds

/// Note what each flow and point waits for, and which flows are under way.
void
FlowSchedule::PrepareBounds()
{
    const auto note = [this](uint32_t number) {
        for (const Follower& follower : GetStep(number).followers)
        {
            Step& step = GetStep(follower.number);
            if (step.left > 0)
            {
                step.unmet.push_back({number, follower.delay});
                ++step.unready;
            }
        }
    };
    for (uint32_t flow = 0; flow < m_flows.size(); ++flow)
    {
        note(flow);
    }
    for (uint32_t point = 0; point < m_points.size(); ++point)
    {
        if (m_points[point].left > 0)
        {
            note(POINT | point);
        }
    }
    for (uint32_t flow = 0; flow < m_flows.size(); ++flow)
    {
        if (m_flows[flow].left == 0)
        {
            NoteReady(flow);
        }
    }
}

/// A flow has been released: flows that wait only for such ones may be released from now on.
/// @param number its number.
void
FlowSchedule::NoteReady(uint32_t number)
{
    m_ready.assign(1, number);
    while (!m_ready.empty())
    {
        const Step& step = GetStep(m_ready.back());
        m_ready.pop_back();
        for (const Follower& follower : step.followers)
        {
            Step& next = GetStep(follower.number);
            if (next.left == 0 || --next.unready > 0)
            {
                continue;
            }
            if (follower.number & POINT)
            {
                m_ready.push_back(follower.number);
            }
            else
            {
                m_waiting.push_back({0, follower.number});
                std::push_heap(m_waiting.begin(), m_waiting.end());
                m_nextLook = 0;
            }
        }
    }
}

/// Has a flow arrived, or a point been reached?
/// @param number its number. @return true if so.
bool
FlowSchedule::IsMet(uint32_t number) const
{
    return number & POINT ? m_points[number & ~POINT].left == 0
                          : m_queuePairs[number]->GetOutcome().finish >= 0;
}

/// When the last dependency of a flow or point may be met at the earliest.
/// @param step the flow or point; all that it waits for is under way. @return ps.
int64_t
FlowSchedule::BoundOf(Step& step)
{
    std::erase_if(step.unmet, [this](const Follower& after) { return IsMet(after.number); });
    int64_t bound = std::max(NowPs(), step.earliest);
    for (const auto& [number, delay] : step.unmet)
    {
        const int64_t met =
            number & POINT ? BoundOf(GetStep(number)) : m_queuePairs[number]->GetEarliestFinish();
        bound = std::max(bound, Later(met, delay));
    }
    return bound;
}

int64_t
FlowSchedule::GetEarliestRelease()
{
    if (!m_crosses)
    {
        return lossless::NEVER;
    }
    const int64_t window = eventloop::CellLoop::Peek()->GetWindow();
    const int64_t now = NowPs();
    const auto remove = [this]() {
        std::pop_heap(m_waiting.begin(), m_waiting.end());
        const uint32_t flow = m_waiting.back().flow;
        m_waiting.pop_back();
        return flow;
    };
    // What was a bound remains one; so compute those anew that are near, and not at every instant.
    const bool look = now >= m_nextLook;
    while (!m_waiting.empty())
    {
        const auto [bound, flow] = m_waiting.front();
        Step& step = m_flows[flow];
        if (step.left == 0)
        {
            remove();
            continue;
        }
        if (bound - now > window || !look)
        {
            return bound;
        }
        m_nextLook = now + window / 4;
        const int64_t later = BoundOf(step);
        if (later <= bound)
        {
            return bound;
        }
        remove();
        m_waiting.push_back({later, flow});
        std::push_heap(m_waiting.begin(), m_waiting.end());
    }
    return lossless::NEVER;
}

/// Does a flow wait for one that ends in another cell? Precondition: flows are connected.
/// @return true if so.
bool
FlowSchedule::CrossesCells() const
{
    std::vector<uint16_t> cellOf(m_points.size(), 0); // where a point is reached; 0: not yet found
    std::vector<const Step*> reached;
    for (uint32_t flow = 0; flow < m_flows.size(); ++flow)
    {
        const uint16_t cell = m_queuePairs[flow]->GetDestination()->GetCell();
        reached.assign(1, &m_flows[flow]);
        while (!reached.empty())
        {
            const Step& step = *reached.back();
            reached.pop_back();
            for (const Follower& follower : step.followers)
            {
                const bool isPoint = follower.number & POINT;
                const uint32_t number = follower.number & ~POINT;
                const uint16_t other =
                    isPoint ? cellOf[number] : m_queuePairs[number]->GetSource()->GetCell();
                if (isPoint && other == 0)
                {
                    cellOf[number] = cell;
                    reached.push_back(&m_points[number]);
                }
                else if (other != cell)
                {
                    return true;
                }
            }
        }
    }
    return false;
}

std::string
FlowSchedule::Check() const
{
    std::vector<const Step*> steps; // flows, then points
    for (const auto* list : {&m_flows, &m_points})
    {
        std::transform(list->begin(), list->end(), std::back_inserter(steps), [](const Step& step) {
            return &step;
        });
    }
    const auto place = [this](uint32_t number) {
        return number & POINT ? m_flows.size() + (number & ~POINT) : number;
    };
    std::vector<uint32_t> left;
    std::vector<std::size_t> free;
    std::size_t stuck = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
    {
        left.push_back(steps[i]->left);
        stuck += left.back() > 0;
        if (left.back() == 0 &&
            i < m_flows.size()) // followers of points have already been released
        {
            free.push_back(i);
        }
    }
    for (std::size_t i = 0; i < free.size(); ++i)
    {
        for (const Follower& follower : steps[free[i]]->followers)
        {
            const std::size_t next = place(follower.number);
            if (--left[next] == 0)
            {
                --stuck;
                free.push_back(next);
            }
        }
    }
    if (stuck == 0)
    {
        return {};
    }
    const std::size_t first =
        std::find_if(left.begin(), left.end(), [](uint32_t n) { return n > 0; }) - left.begin();
    const bool flow = first < m_flows.size();
    return (flow ? "flow " : "point ") + std::to_string(flow ? first : first - m_flows.size()) +
           " and " + std::to_string(stuck - 1) +
           " more can never start: they wait for each other in a cycle\n";
}

} // namespace facade
} // namespace ns3
