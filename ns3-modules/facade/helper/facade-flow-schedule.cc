/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-flow-schedule.h"

#include "facade-path-times.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace rdma
{

using lossless::NowPs;

FlowSchedule::FlowSchedule(const std::vector<Ptr<QueuePair>>& queuePairs)
    : m_queuePairs(queuePairs),
      m_start(this, &FlowSchedule::StartFlows)
{
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
FlowSchedule::Begin()
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
    for (uint32_t flow = 0; flow < m_flows.size(); ++flow)
    {
        Step& step = m_flows[flow];
        if (!step.left)
        {
            step.earliest = std::max(step.earliest, m_queuePairs[flow]->GetDemand().start);
            m_byStart.push_back(flow);
        }
    }
    std::stable_sort(m_byStart.begin(), m_byStart.end(), [this](uint32_t a, uint32_t b) {
        return m_flows[a].earliest < m_flows[b].earliest;
    });
    if (!m_byStart.empty())
    {
        m_start.Schedule(m_flows[m_byStart.front()].earliest);
    }
}

void
FlowSchedule::StartFlows()
{
    const int64_t now = NowPs();
    while (m_nextStart < m_byStart.size() && m_flows[m_byStart[m_nextStart]].earliest <= now)
    {
        m_queuePairs[m_byStart[m_nextStart++]]->Start();
    }
    if (m_nextStart < m_byStart.size())
    {
        m_start.Schedule(m_flows[m_byStart[m_nextStart]].earliest - now);
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
    m_reached.push_back({flow, now});
    for (const uint32_t next : Release(m_reached))
    {
        const int64_t begin =
            std::max(m_flows[next].earliest, m_queuePairs[next]->GetDemand().start);
        // as a separate event, since the receiver is still processing the last packet
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(begin - now)),
                            &FlowSchedule::StartFlow,
                            this,
                            next);
    }
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

} // namespace rdma
} // namespace ns3
