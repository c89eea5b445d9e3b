/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-trigger-cure.h"

#include "ns3/log.h"
#include "ns3/lossless-port.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace dcfit
{

NS_LOG_COMPONENT_DEFINE("DcfitTriggerCure");

using lossless::Frame;
using lossless::N_CLASSES;
using lossless::NowPs;
using lossless::Port;

namespace
{

constexpr int64_t PS_PER_S = 1'000'000'000'000;

} // namespace

TriggerCure::TriggerCure()
    : m_restore(this, &TriggerCure::Restore)
{
}

void
TriggerCure::Start(lossless::FabricNode& node, const PauseMap& map, const Rules& rules)
{
    m_node = &node;
    m_map = &map;
    m_rules = rules;
    m_heavy.assign(node.GetNPorts(), HeavyHitters(rules.heavyEntries));
    m_servers.assign(static_cast<std::size_t>(N_CLASSES) * node.GetNPorts(), Server{});
}

TriggerCure::Server&
TriggerCure::At(uint16_t port, uint8_t cls)
{
    return m_servers[static_cast<std::size_t>(cls) * m_node->GetNPorts() + port];
}

void
TriggerCure::TreatServer(uint16_t port, uint8_t cls)
{
    Server& server = At(port, cls);
    server.since = NowPs();
    if (std::exchange(server.treated, true))
    {
        return;
    }
    ++m_handled;
    NS_LOG_INFO(m_node->GetName() << " acts on the server at port " << port << ", class " << +cls);
    AwaitRestoration();
    Port& egress = m_node->GetPort(port);
    for (uint16_t queue = cls; queue < egress.GetQueues().size(); queue += N_CLASSES)
    {
        if (m_rules.serverCure == ServerCure::IGNORE)
        {
            egress.SetIgnorePause(queue, true);
            continue;
        }
        for (Frame* frame : egress.GetEgress().TakeFrames(queue, [](const Frame&) { return true; }))
        {
            m_node->Reclass(frame, m_rules.lossyClass);
        }
    }
}

void
TriggerCure::SpareServer(uint16_t port, uint8_t cls)
{
    At(port, cls).treated = false;
    ++m_restored;
    Port& egress = m_node->GetPort(port);
    for (uint16_t queue = cls; queue < egress.GetQueues().size(); queue += N_CLASSES)
    {
        if (m_rules.serverCure == ServerCure::IGNORE)
        {
            egress.SetIgnorePause(queue, false);
        }
    }
}

void
TriggerCure::AwaitRestoration()
{
    if (!m_restorePending && m_rules.restoration > 0)
    {
        m_restorePending = true;
        m_restore.Schedule(m_rules.restoration);
    }
}

void
TriggerCure::Restore()
{
    m_restorePending = false;
    const int64_t until = NowPs() - m_rules.restoration;
    bool any = false;
    for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
    {
        for (uint16_t port = 0; port < m_node->GetNPorts(); ++port)
        {
            const Server& server = At(port, cls);
            const PauseMap::State& state = m_map->At(port, cls);
            if (server.treated && !state.paused && std::max(server.since, state.pausedAt) <= until)
            {
                SpareServer(port, cls);
            }
            any = any || server.treated;
        }
    }
    m_restored +=
        std::erase_if(m_limits, [until](const Limit& limit) { return limit.dropped <= until; });
    if (any || !m_limits.empty())
    {
        AwaitRestoration();
    }
}

void
TriggerCure::TreatFlows(uint16_t port)
{
    const HeavyHitters::Entry* heaviest = m_heavy[port].FindHeaviest();
    if (!heaviest || std::any_of(m_limits.begin(), m_limits.end(), [&](const Limit& limit) {
            return limit.flow == heaviest->flow;
        }))
    {
        return;
    }
    if (m_limits.size() == m_rules.mostLimits)
    {
        m_limits.erase(
            std::min_element(m_limits.begin(), m_limits.end(), [](const Limit& a, const Limit& b) {
                return a.dropped < b.dropped;
            }));
        ++m_restored;
    }
    ++m_handled;
    m_limits.push_back({heaviest->flow, 0, NowPs(), NowPs()});
    AwaitRestoration();
}

bool
TriggerCure::Admit(Frame& frame)
{
    m_heavy[frame.egress].Add(frame.flow, frame.bytes);
    if (m_rules.serverCure == ServerCure::LOSSY && At(frame.egress, frame.cls).treated)
    {
        frame.cls = m_rules.lossyClass;
    }
    return KeepsLimit(frame);
}

bool
TriggerCure::KeepsLimit(const Frame& frame)
{
    for (Limit& limit : m_limits)
    {
        if (limit.flow != frame.flow)
        {
            continue;
        }
        // A token bucket in units of bytes x 1e12 / 8, to avoid rounding.
        const auto rate = static_cast<lossless::Int128>(m_rules.limitRate);
        const auto full = static_cast<lossless::Int128>(m_rules.limitBurst) * 8 * PS_PER_S;
        const auto now = NowPs();
        const auto tokens = std::min(full, limit.tokens + rate * (now - limit.updated));
        const auto cost = static_cast<lossless::Int128>(frame.bytes) * 8 * PS_PER_S;
        limit.updated = now;
        const bool passes = tokens >= cost;
        limit.tokens = static_cast<int64_t>(passes ? tokens - cost : tokens);
        limit.dropped = passes ? limit.dropped : now;
        return passes;
    }
    return true;
}

} // namespace dcfit
} // namespace ns3
