/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-monitor.h"

#include "ns3/log.h"
#include "ns3/lossless-refusal.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace deadlock
{

using lossless::Port;

NS_LOG_COMPONENT_DEFINE("DeadlockMonitor");

DeadlockMonitor::DeadlockMonitor(const lossless::Fabric& fabric)
    : m_fabric(fabric),
      m_test(this, &DeadlockMonitor::Test)
{
}

DeadlockMonitor&
DeadlockMonitor::Of(const lossless::Fabric& fabric)
{
    auto* monitor = fabric.FindObserver<DeadlockMonitor>();
    if (!monitor)
    {
        lossless::RefuseNow(
            "this fabric has no DeadlockMonitor, so its deadlocks are not judged: add one by "
            "Fabric::AddObserver before Build");
    }
    return *monitor;
}

void
DeadlockMonitor::SetTest(Time period, bool stop)
{
    m_fabric.RequireOpen("SetDeadlockTest");
    if (period.IsStrictlyNegative())
    {
        lossless::Refuse("the deadlock test cannot have a period of ",
                         period.GetTimeStep(),
                         " ps; 0: only at the end");
    }
    m_period = period.GetTimeStep();
    m_stop = stop;
}

void
DeadlockMonitor::SwitchOff()
{
    m_fabric.RequireOpen("SwitchOffOracle");
    m_off = true;
}

void
DeadlockMonitor::NotifyBuilt()
{
    if (m_off)
    {
        return;
    }
    std::vector<Ptr<lossless::FabricNode>> nodes;
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        nodes.emplace_back(&m_fabric.GetNode(node));
    }
    m_oracle = std::make_unique<DeadlockOracle>(nodes);
    if (m_period > 0)
    {
        m_test.Schedule(m_period);
    }
}

void
DeadlockMonitor::Rest()
{
    if (m_oracle)
    {
        m_oracle->Rest();
    }
}

void
DeadlockMonitor::NotifyFinish()
{
    if (m_oracle)
    {
        m_oracle->Look();
        m_oracle->Finish();
    }
}

void
DeadlockMonitor::VisitTest(lossless::StateVisitor& visitor) const
{
    m_test.Visit(visitor);
}

uint64_t
DeadlockMonitor::GetTests() const
{
    return m_tests;
}

void
DeadlockMonitor::Test()
{
    ++m_tests;
    m_oracle->Look();
    if (IsStopped())
    {
        NS_LOG_INFO("stopping: " << Describe());
        Simulator::Stop();
        return;
    }
    m_test.Schedule(m_period);
}

void
DeadlockMonitor::RequireOracle() const
{
    if (m_off)
    {
        lossless::RefuseNow(
            "deadlocks are not recorded: the oracle of this fabric is switched off");
    }
}

DeadlockOracle&
DeadlockMonitor::GetOracle() const
{
    m_fabric.RequireBuilt("GetOracle");
    RequireOracle();
    return *m_oracle;
}

const DeadlockOracle::Episode*
DeadlockMonitor::FirstEpisode(DeadlockOracle::Kind kind) const
{
    const auto& episodes = m_oracle->GetEpisodes();
    const auto found = std::find_if(episodes.begin(), episodes.end(), [kind](const auto& episode) {
        return episode.kind == kind;
    });
    return found == episodes.end() ? nullptr : &*found;
}

bool
DeadlockMonitor::IsStopped() const
{
    if (!m_stop || !m_oracle)
    {
        return false;
    }
    const auto& episodes = m_oracle->GetEpisodes();
    return std::any_of(episodes.begin(), episodes.end(), [](const auto& episode) {
        return episode.kind == DeadlockOracle::Kind::CYCLIC && episode.seen >= 0;
    });
}

std::string
DeadlockMonitor::DescribeEpisode(const DeadlockOracle::Episode& episode) const
{
    std::ostringstream text;
    const bool cyclic = episode.kind == DeadlockOracle::Kind::CYCLIC;
    const auto cls = (cyclic ? episode.cycle : episode.stuck).front().queue % lossless::N_CLASSES;
    text << (cyclic ? "deadlock" : "blocked by a host") << ", formed at " << episode.formed
         << " ps in class " << cls;
    if (episode.dissolved >= 0)
    {
        text << " and dissolved at " << episode.dissolved << " ps";
    }
    text << ": ";
    for (const DeadlockAnalyzer::Queue& queue : episode.cycle)
    {
        text << m_fabric.GetPortName(queue.node, queue.port) << " waits for ";
    }
    if (cyclic)
    {
        text << m_fabric.GetPortName(episode.cycle.front().node, episode.cycle.front().port) << "; "
             << episode.stuck.size() - std::min(episode.stuck.size(), episode.cycle.size())
             << " other queues are stuck";
    }
    else
    {
        text << episode.stuck.size() << " queues wait for a host that pauses forever";
    }
    if (!episode.chain.empty())
    {
        const DeadlockOracle::Pause& first = episode.chain.front();
        text << "; first pause: " << m_fabric.GetPortName(first.node, first.port) << " at "
             << first.time << " ps, "
             << (first.reason == DeadlockOracle::Reason::HOST ? "a host"
                 : first.egress == lossless::NO_PORT
                     ? std::string("congested")
                     : "for frames to " + m_fabric.GetPortName(first.node, first.egress))
             << ", " << episode.chain.size() - 1 << " pauses before the last";
    }
    text << "\n";
    return text.str();
}

std::vector<const Port*>
DeadlockMonitor::FindUnjudged() const
{
    std::vector<const Port*> unjudged;
    for (uint32_t number = 0; number < m_fabric.GetNNodes(); ++number)
    {
        lossless::FabricNode& node = m_fabric.GetNode(number);
        for (uint16_t index = 0; index < node.GetNPorts(); ++index)
        {
            const Port& port = node.GetPort(index);
            if (port.IsUnjudged())
            {
                unjudged.push_back(&port);
            }
        }
    }
    return unjudged;
}

std::string
DeadlockMonitor::Describe() const
{
    m_fabric.RequireBuilt("Describe");
    if (!m_oracle)
    {
        return "";
    }
    constexpr std::size_t MOST_LINES = 20;
    const auto& episodes = m_oracle->GetEpisodes();
    std::ostringstream text;
    const auto unjudged = FindUnjudged();
    if (!unjudged.empty())
    {
        const Port& port = *unjudged.front();
        text << "deadlock: not judged: " << m_fabric.GetPortName(port.GetNodeId(), port.GetIndex());
        if (unjudged.size() > 1)
        {
            text << " and " << unjudged.size() - 1 << " other ports";
        }
        text << " may hold queues back without a DeadlockModel: let the flow control derive "
                "from that class (chain:";
        for (const auto& flowControl : port.GetChain().GetMembers())
        {
            text << " " << flowControl->GetInstanceTypeId().GetName();
        }
        text << ")\n";
    }
    for (std::size_t number = 0; number < std::min(episodes.size(), MOST_LINES); ++number)
    {
        text << DescribeEpisode(episodes[number]);
    }
    if (episodes.size() > MOST_LINES)
    {
        text << "and " << episodes.size() - MOST_LINES << " more\n";
    }
    return text.str();
}

void
DeadlockMonitor::Report(lossless::Summary& summary) const
{
    if (!m_oracle)
    {
        return;
    }
    using Kind = DeadlockOracle::Kind;
    const auto time = [](int64_t ps) { return static_cast<double>(ps); };
    const auto count = [](std::size_t n) { return static_cast<double>(n); };
    const DeadlockOracle::Episode none;
    const DeadlockOracle::Episode* first = FirstEpisode(Kind::CYCLIC);
    const DeadlockOracle::Episode& deadlock = first ? *first : none;
    const std::size_t unjudged = FindUnjudged().size();
    if (unjudged > 0)
    {
        summary["deadlock_not_judged_ports"] = count(unjudged);
    }
    if (first || unjudged == 0) // what was found is certain; that there is nothing more is not
    {
        summary["deadlocked"] = first ? 1 : 0;
        summary["deadlocked_at_end"] = m_oracle->IsActive(Kind::CYCLIC) ? 1 : 0;
    }
    summary["deadlock_formed_ps"] = time(deadlock.formed);
    summary["deadlock_seen_ps"] = time(deadlock.seen);
    summary["deadlock_dissolved_ps"] = time(deadlock.dissolved);
    summary["deadlock_cycle_queues"] = count(deadlock.cycle.size());
    summary["deadlock_stuck_queues"] = count(deadlock.stuck.size());
    summary["deadlock_chain_pauses"] = count(deadlock.chain.size());
    const bool hasChain = !deadlock.chain.empty();
    const DeadlockOracle::Pause* trigger = hasChain ? &deadlock.chain.front() : nullptr;
    summary["deadlock_trigger_ps"] = time(trigger ? trigger->time : -1);
    summary["deadlock_trigger_node"] = trigger ? trigger->node : -1;
    summary["deadlock_trigger_peer"] =
        trigger ? m_fabric.GetNode(trigger->node).GetPort(trigger->port).GetNeighbour() : -1.0;
    summary["deadlock_trigger_is_host"] =
        trigger && trigger->reason == DeadlockOracle::Reason::HOST ? 1 : 0;
    // on the cycle: the trigger paused one of the queues waiting for each other
    summary["deadlock_trigger_on_cycle"] =
        trigger && std::any_of(deadlock.cycle.begin(),
                               deadlock.cycle.end(),
                               [&](const DeadlockAnalyzer::Queue& queue) {
                                   const Port& peer =
                                       m_fabric.GetNode(queue.node).GetPort(queue.port).GetPeer();
                                   return peer.GetNodeId() == trigger->node &&
                                          peer.GetIndex() == trigger->port;
                               })
            ? 1
            : 0;
    const DeadlockOracle::Episode* host = FirstEpisode(Kind::HOST);
    summary["blocked_by_host"] = host ? 1 : 0;
    summary["blocked_by_host_formed_ps"] = time(host ? host->formed : -1);
    summary["blocked_by_host_queues"] = count(host ? host->stuck.size() : 0);
    const auto& episodes = m_oracle->GetEpisodes();
    summary["deadlock_episodes"] = count(static_cast<std::size_t>(
        std::count_if(episodes.begin(), episodes.end(), [](const auto& episode) {
            return episode.kind == Kind::CYCLIC;
        })));
    const auto last = std::find_if(episodes.rbegin(), episodes.rend(), [](const auto& episode) {
        return episode.kind == Kind::CYCLIC;
    });
    summary["deadlock_last_formed_ps"] = time(last == episodes.rend() ? -1 : last->formed);
    summary["deadlock_evaluations"] = count(m_oracle->CountEvaluations());
}

} // namespace deadlock
} // namespace ns3
