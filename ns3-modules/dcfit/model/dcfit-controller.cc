/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-controller.h"

#include "ns3/log.h"
#include "ns3/lossless-attribute.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace dcfit
{

NS_LOG_COMPONENT_DEFINE("DeadlockController");

using lossless::FabricNode;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::Port;
using lossless::Summary;

NS_OBJECT_ENSURE_REGISTERED(DeadlockController);

namespace
{

/// Bytes of a reply per port and lossless class.
constexpr int64_t RECORD_BYTES = 32;

/// The controller's agent on a node.
/// @param node the node
/// @return the agent, or nullptr
DeadlockController*
AgentOf(const FabricNode& node)
{
    for (const auto& agent : node.GetAgents())
    {
        if (auto* controller = dynamic_cast<DeadlockController*>(PeekPointer(agent)))
        {
            return controller;
        }
    }
    return nullptr;
}

} // namespace

TypeId
DeadlockController::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::dcfit::DeadlockController")
            .SetParent<Breaker>()
            .SetGroupName("dcfit")
            .AddConstructor<DeadlockController>()
            .AddAttribute("Period",
                          "Time between the starts of two polls; longer if a poll and its "
                          "consequences take longer.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&DeadlockController::m_period),
                          lossless::MakePicosecondsChecker(1'000))
            .AddAttribute("Delay",
                          "One-way delay of a message between a switch and the controller, "
                          "software on both sides included.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&DeadlockController::m_delay),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Spacing",
                          "Time between the requests to two switches.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&DeadlockController::m_spacing),
                          lossless::MakePicosecondsChecker());
    return tid;
}

DeadlockController::DeadlockController()
    : m_pollEvent(this, &DeadlockController::Poll),
      m_readEvent(this, &DeadlockController::ReadNext),
      m_decideEvent(this, &DeadlockController::Decide),
      m_actEvent(this, &DeadlockController::Act)
{
}

void
DeadlockController::FindSwitches()
{
    std::map<uint32_t, DeadlockController*> found{{m_node->GetId(), this}};
    std::vector<FabricNode*> toDo{m_node};
    while (!toDo.empty())
    {
        FabricNode& node = *toDo.back();
        toDo.pop_back();
        for (uint16_t port = 0; port < node.GetNPorts(); ++port)
        {
            FabricNode& peer = FabricNode::Of(node.GetPort(port).GetPeer());
            DeadlockController* agent = AgentOf(peer);
            if (agent && found.emplace(peer.GetId(), agent).second)
            {
                toDo.push_back(&peer);
            }
        }
    }
    for (const auto& [id, agent] : found)
    {
        m_switches.push_back(agent);
    }
}

void
DeadlockController::Start()
{
    FindSwitches();
    if (m_switches.front() != this)
    {
        m_switches.clear();
        return;
    }
    std::map<const FabricNode*, std::size_t> places;
    for (DeadlockController* agent : m_switches)
    {
        places.emplace(agent->m_node, places.size());
        m_firstView.push_back(m_views.size());
        for (uint16_t port = 0; port < agent->m_node->GetNPorts(); ++port)
        {
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                if (agent->m_node->GetBuffer().IsLossless(cls))
                {
                    View view;
                    view.agent = agent;
                    view.port = port;
                    view.cls = cls;
                    view.feeds.resize(agent->m_node->GetNPorts());
                    m_views.push_back(view);
                }
            }
        }
    }
    m_firstView.push_back(m_views.size());
    for (View& view : m_views)
    {
        const Port& peer = view.agent->m_node->GetPort(view.port).GetPeer();
        const auto place = places.find(&FabricNode::Of(peer));
        if (place != places.end())
        {
            view.ahead = m_firstView[place->second];
            view.aheadEnd = m_firstView[place->second + 1];
            view.peerPort = peer.GetIndex();
        }
    }
    m_pollEvent.Schedule(m_period.GetTimeStep());
}

void
DeadlockController::Poll()
{
    ++m_polls;
    m_began = NowPs();
    m_next = 0;
    m_readEvent.Schedule(m_delay.GetTimeStep());
}

void
DeadlockController::ReadNext()
{
    constexpr uint64_t QUESTION = 64; // the smallest frame (B)
    m_bytes += QUESTION;
    for (std::size_t i = m_firstView[m_next]; i < m_firstView[m_next + 1]; ++i)
    {
        View& view = m_views[i];
        const Port& port = view.agent->m_node->GetPort(view.port);
        bool waits = false;
        for (std::size_t queue = view.cls; queue < port.GetQueues().size(); queue += N_CLASSES)
        {
            waits = waits || port.GetQueues()[queue].GetFrames() > 0;
        }
        const int64_t sent = port.GetCounters().wireOut[view.cls];
        view.suspect = waits && view.waited && sent == view.sent;
        view.waited = waits;
        view.sent = sent;
        for (uint16_t ingress = 0; ingress < view.feeds.size(); ++ingress)
        {
            view.feeds[ingress] =
                view.agent->m_node->GetFeeds()->GetBytes(view.port, ingress, view.cls) > 0;
        }
        m_bytes += RECORD_BYTES;
    }
    if (++m_next < m_switches.size())
    {
        m_readEvent.Schedule(m_spacing.GetTimeStep());
        return;
    }
    m_decideEvent.Schedule(m_delay.GetTimeStep());
}

std::vector<std::size_t>
DeadlockController::FindCycle() const
{
    // Depth-first search; a View that is met again on the current path closes a cycle.
    enum : uint8_t
    {
        NEW,
        ON_WAY,
        DONE
    };

    std::vector<uint8_t> state(m_views.size(), NEW);
    const auto waitsFor = [this](const View& view, const View& next) {
        return next.suspect && next.cls == view.cls && next.feeds[view.peerPort];
    };
    for (std::size_t root = 0; root < m_views.size(); ++root)
    {
        if (!m_views[root].suspect || state[root] != NEW)
        {
            continue;
        }
        std::vector<std::pair<std::size_t, std::size_t>> way{{root, m_views[root].ahead}};
        state[root] = ON_WAY;
        while (!way.empty())
        {
            auto& [at, next] = way.back();
            if (next == m_views[at].aheadEnd)
            {
                state[at] = DONE;
                way.pop_back();
                continue;
            }
            const std::size_t to = next++;
            if (!waitsFor(m_views[at], m_views[to]) || state[to] == DONE)
            {
                continue;
            }
            if (state[to] == ON_WAY)
            {
                std::vector<std::size_t> cycle;
                auto from = std::find_if(way.begin(), way.end(), [to](const auto& step) {
                    return step.first == to;
                });
                for (; from != way.end(); ++from)
                {
                    cycle.push_back(from->first);
                }
                return cycle;
            }
            state[to] = ON_WAY;
            way.emplace_back(to, m_views[to].ahead);
        }
    }
    return {};
}

void
DeadlockController::Decide()
{
    m_cycle = FindCycle();
    if (!m_cycle.empty())
    {
        const View& view = m_views[m_cycle.front()];
        ++m_found;
        NS_LOG_INFO("a cycle of " << m_cycle.size() << " egress queues is suspected");
        m_firstAt = m_firstAt < 0 ? NowPs() : m_firstAt;
        m_detectionTrace(view.agent->m_node->GetPort(view.port),
                         {view.cls, deadlock::Detection::CONTROLLER, m_began, NowPs()});
        m_bytes += Cures() ? 64 : 0;
        m_actEvent.Schedule(m_delay.GetTimeStep());
        return;
    }
    m_pollEvent.Schedule(std::max<int64_t>(0, m_began + m_period.GetTimeStep() - NowPs()));
}

void
DeadlockController::Act()
{
    // The first of the cycle holds frames that arrived over the link of the last.
    const View& view = m_views[m_cycle.front()];
    const View& before = m_views[m_cycle.back()];
    FabricNode& node = *view.agent->m_node;
    view.agent->Break(node.GetPort(view.port), node.GetPort(before.peerPort), view.cls);
    for (View& any : m_views)
    {
        any.waited = false; // earlier observations no longer count
    }
    m_pollEvent.Schedule(std::max<int64_t>(0, m_began + m_period.GetTimeStep() - NowPs()));
}

void
DeadlockController::Report(Summary& summary) const
{
    Breaker::Report(summary);
    summary["controller_polls"] += static_cast<double>(m_polls);
    summary["controller_message_bytes"] += static_cast<double>(m_bytes);
    summary["controller_detections"] += static_cast<double>(m_found);
    if (m_firstAt >= 0)
    {
        summary["controller_first_detection_ps"] = static_cast<double>(m_firstAt);
    }
}

} // namespace dcfit
} // namespace ns3
