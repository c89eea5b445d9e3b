/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-flow-schedule.h"

#include "facade-path-times.h"

#include "ns3/simulator.h"

#include <algorithm>

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

void
FlowSchedule::Wait(uint32_t flow, uint32_t after, int64_t delay)
{
    m_waiting.resize(m_queuePairs.size());
    m_followers.resize(m_queuePairs.size());
    ++m_waiting[flow].left;
    m_followers[after].push_back({flow, delay});
}

void
FlowSchedule::Begin()
{
    if (!m_waiting.empty())
    {
        m_waiting.resize(m_queuePairs.size());
        m_followers.resize(m_queuePairs.size());
    }
    for (uint32_t flow = 0; flow < m_queuePairs.size(); ++flow)
    {
        if (m_waiting.empty() || !m_waiting[flow].left)
        {
            m_byStart.push_back(flow);
        }
    }
    std::stable_sort(m_byStart.begin(), m_byStart.end(), [this](uint32_t a, uint32_t b) {
        return m_queuePairs[a]->GetDemand().start < m_queuePairs[b]->GetDemand().start;
    });
    if (!m_byStart.empty())
    {
        m_start.Schedule(m_queuePairs[m_byStart.front()]->GetDemand().start);
    }
}

void
FlowSchedule::StartFlows()
{
    const int64_t now = NowPs();
    while (m_nextStart < m_byStart.size() &&
           m_queuePairs[m_byStart[m_nextStart]]->GetDemand().start <= now)
    {
        m_queuePairs[m_byStart[m_nextStart++]]->Start();
    }
    if (m_nextStart < m_byStart.size())
    {
        m_start.Schedule(m_queuePairs[m_byStart[m_nextStart]]->GetDemand().start - now);
    }
}

void
FlowSchedule::StartFlow(uint32_t flow)
{
    m_queuePairs[flow]->Start();
}

void
FlowSchedule::NotifyFinished(uint32_t flow)
{
    const int64_t now = NowPs();
    for (const auto& [follower, delay] : m_followers[flow])
    {
        Waiting& wait = m_waiting[follower];
        wait.earliest = std::max(wait.earliest, Later(now, delay));
        if (--wait.left == 0)
        {
            const int64_t begin =
                std::max(wait.earliest, m_queuePairs[follower]->GetDemand().start);
            // as an event of its own, for the receiver is still at work on the last packet
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(begin - now)),
                                &FlowSchedule::StartFlow,
                                this,
                                follower);
        }
    }
}

std::string
FlowSchedule::Check() const
{
    std::vector<uint32_t> left;
    std::vector<uint32_t> free;
    for (uint32_t flow = 0; flow < m_waiting.size(); ++flow)
    {
        left.push_back(m_waiting[flow].left);
        if (left.back() == 0)
        {
            free.push_back(flow);
        }
    }
    std::size_t startable = 0;
    for (; startable < free.size(); ++startable)
    {
        for (const Follower& follower : m_followers[free[startable]])
        {
            if (--left[follower.flow] == 0)
            {
                free.push_back(follower.flow);
            }
        }
    }
    if (startable == m_waiting.size())
    {
        return {};
    }
    const auto first = std::find_if(left.begin(), left.end(), [](uint32_t n) { return n > 0; });
    return "flow " + std::to_string(first - left.begin()) + " and " +
           std::to_string(m_waiting.size() - startable - 1) +
           " more can never start: they wait for each other in a circle\n";
}

} // namespace rdma
} // namespace ns3
