/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-agent-roles.h"

#include "lossless-refusal.h"

#include <algorithm>

namespace ns3
{
namespace lossless
{

void
AgentRoles::Add(SwitchAgent* agent)
{
    EnterRole(m_queue, agent);
    EnterRole(m_pause, agent);
    EnterRole(m_transit, agent);
    EnterRole(m_control, agent);
    EnterRole(m_receive, agent);
    EnterRole(m_arrival, agent);
    if (const auto* tagger = dynamic_cast<TagAgent*>(agent))
    {
        if (m_tagger)
        {
            Refuse("two agents of a switch change the class of frames; only one may");
        }
        m_tagger = tagger;
        if (dynamic_cast<ArrivalAgent*>(agent))
        {
            std::rotate(m_arrival.begin(), m_arrival.end() - 1, m_arrival.end()); // others ask it
        }
    }
    if (auto* admission = dynamic_cast<AdmissionAgent*>(agent))
    {
        if (m_admission)
        {
            Refuse("two agents of a switch ask for frames that its buffer refuses; only one may");
        }
        m_admission = admission;
    }
    if (m_tagger && m_admission)
    {
        Refuse("one agent of a switch changes the class of all frames, another one truncates those "
               "that its buffer refuses, which have a class of their own; use one of them");
    }
    m_asksAtArrival = m_tagger || !m_arrival.empty();
    m_hasFeedReaders = m_hasFeedReaders || dynamic_cast<FeedReader*>(agent);
}

void
AgentRoles::TellQueue(Port& egress, uint16_t queue, Frame& frame, bool joined) const
{
    for (QueueAgent* agent : m_queue)
    {
        joined ? agent->NotifyEnqueue(egress, queue, frame)
               : agent->NotifyDequeue(egress, queue, frame);
    }
}

void
AgentRoles::TellPause(Port& port, uint8_t cls, bool on, bool sent) const
{
    for (PauseAgent* agent : m_pause)
    {
        sent ? agent->NotifyPauseSent(port, cls, on) : agent->NotifyPaused(port, cls, on);
    }
}

void
AgentRoles::TellDecorate(Port& port, ControlFrame& control) const
{
    for (ControlAgent* agent : m_control)
    {
        agent->Decorate(port, control);
    }
}

void
AgentRoles::TellControl(Port& port, const ControlFrame& control) const
{
    for (ControlAgent* agent : m_control)
    {
        agent->NotifyControl(port, control);
    }
}

void
AgentRoles::TellReceive(const Frame& frame, int64_t bytes, uint64_t rate) const
{
    for (ReceiveAgent* agent : m_receive)
    {
        agent->NotifyReceive(frame, bytes, rate);
    }
}

bool
AgentRoles::OfferTransit(Frame* frame, Port& ingress) const
{
    return std::any_of(m_transit.begin(), m_transit.end(), [&](TransitAgent* agent) {
        return agent->NotifyTransit(frame, ingress);
    });
}

bool
AgentRoles::OfferArrival(Frame& frame, Port& ingress) const
{
    return std::all_of(m_arrival.begin(), m_arrival.end(), [&](ArrivalAgent* agent) {
        return agent->NotifyArrival(frame, ingress);
    });
}

} // namespace lossless
} // namespace ns3
