/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "sfc-test-network.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-port.h"
#include "ns3/rdma-host.h"
#include "ns3/sfc-congestion-point.h"
#include "ns3/sfc-reaction-point.h"

namespace ns3
{
namespace sfc
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::NowPs;

NS_OBJECT_ENSURE_REGISTERED(Witness);

Log Witness::g_seen;
std::function<bool(Frame&)> Witness::g_lose;
std::function<void(Frame&)> Witness::g_tamper;
std::function<void(lossless::FabricNode&)> Witness::g_start;

TypeId
Witness::GetTypeId()
{
    static TypeId tid = TypeId("ns3::sfc::tests::Witness")
                            .SetParent<lossless::SwitchAgent>()
                            .SetGroupName("tests")
                            .AddConstructor<Witness>();
    return tid;
}

void
Witness::Start()
{
    for (const auto& agent : m_node->GetAgents())
    {
        agent->TraceConnectWithoutContext("Message", MakeCallback(&Witness::NoteMessage, this));
        agent->TraceConnectWithoutContext("Pause", MakeCallback(&Witness::NotePause, this));
    }
    if (g_start)
    {
        g_start(*m_node);
    }
}

void
Witness::NotifyEnqueue(lossless::Port& egress, uint16_t /* queue */, Frame& frame)
{
    if (frame.kind == FrameKind::DATA)
    {
        g_seen.moved.push_back({NowPs(), m_node->GetId(), egress.GetIndex(), frame, true});
    }
}

void
Witness::NotifyDequeue(lossless::Port& egress, uint16_t /* queue */, Frame& frame)
{
    if (frame.kind == FrameKind::DATA)
    {
        g_seen.moved.push_back({NowPs(), m_node->GetId(), egress.GetIndex(), frame, false});
    }
    else if (frame.kind == FrameKind::SIGNAL && g_lose && g_lose(frame))
    {
        frame.lost = true;
    }
}

bool
Witness::NotifyTransit(Frame* frame, lossless::Port& /* ingress */)
{
    Message message;
    if (dynamic_cast<rdma::Host*>(m_node) && Read(*frame, message))
    {
        if (g_tamper)
        {
            g_tamper(*frame);
        }
        Read(*frame, message);
        g_seen.arrived.push_back(
            {NowPs(), m_node->GetId(), frame->dst, frame->flow, message, 0, 0, 0});
    }
    return false;
}

void
Witness::NotifyControl(lossless::Port& /* port */, const lossless::ControlFrame& control)
{
    g_seen.told.push_back({NowPs(), m_node->GetId(), control});
}

void
Witness::NoteMessage(const Message& message, uint32_t source, int64_t octets)
{
    g_seen.made.push_back({NowPs(), m_node->GetId(), source, 0, message, 0, 0, octets});
}

void
Witness::NotePause(const Message& message, uint32_t flow, int64_t from, int64_t until)
{
    g_seen.paused.push_back(
        {NowPs(), m_node->GetId(), m_node->GetId(), flow, message, from, until, 0});
}

Network::Network(bool plain)
    : sim(1)
{
    Witness::g_seen = Log{};
    Witness::g_lose = nullptr;
    Witness::g_tamper = nullptr;
    Witness::g_start = nullptr;
    // The witness comes first, so that it sees messages before they are taken.
    for (const char* agent : {"ns3::sfc::tests::Witness", "ns3::sfc::SfcCongestionPoint"})
    {
        sim.AddAgent(agent);
        sim.AddHostAgent(agent);
    }
    if (plain)
    {
        sim.AddAgent("ns3::sfc::SfcProxy");
    }
    else
    {
        sim.AddHostAgent("ns3::sfc::SfcReactionPoint");
    }
}

void
Network::SetPoint(const std::string& name, const std::string& value)
{
    sim.SetAttribute("ns3::sfc::SfcCongestionPoint", name, value);
}

void
Network::Nodes(uint32_t hosts, uint32_t switches)
{
    std::vector<uint8_t> kinds(hosts, 0);
    kinds.insert(kinds.end(), switches, 1);
    std::string names;
    for (std::size_t i = 0; i < kinds.size(); ++i)
    {
        names.append(kinds[i] ? "s" : "h").append(std::to_string(i)).append("\n");
    }
    sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
}

void
Network::Link(uint32_t a, uint32_t b, uint64_t rate, int64_t delay)
{
    sim.AddLinks(&a, &b, &rate, &delay, 1);
}

void
Network::Star(uint32_t hosts, uint64_t rate, int64_t delay)
{
    Nodes(hosts, 1);
    for (uint32_t host = 0; host < hosts; ++host)
    {
        Link(host, hosts, rate, delay);
    }
}

uint32_t
Network::Flow(uint32_t src, uint32_t dst, uint64_t bytes, int64_t start, uint8_t cls, uint64_t rate)
{
    const int64_t never = -1;
    const uint64_t none = 0;
    return sim.AddFlows(&src, &dst, &bytes, &start, &never, &cls, &rate, &none, 1);
}

std::string
Network::Run(int64_t until)
{
    sim.Build();
    std::string problems = sim.Check();
    if (!problems.empty())
    {
        return problems;
    }
    if (!m_egress.empty())
    {
        const int64_t peer = m_egress[1];
        sim.Trace("egress", m_egress.data(), &peer, 1, 1U << 3, 0);
    }
    sim.Run(until);
    problems = sim.Finish();
    for (const auto& [name, value] : sim.GetSummary())
    {
        m_summary[name] = value;
    }
    return problems;
}

double
Network::Number(const std::string& name)
{
    return m_summary.contains(name) ? m_summary[name] : -1;
}

} // namespace tests
} // namespace sfc
} // namespace ns3
