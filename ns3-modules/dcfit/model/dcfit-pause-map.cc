/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dcfit-pause-map.h"

#include <utility>

namespace ns3
{
namespace dcfit
{

using lossless::N_CLASSES;
using lossless::NO_PORT;

void
PauseMap::Start(const lossless::FabricNode& node,
                uint16_t number,
                std::vector<bool> hasDcfit,
                const Rules& rules)
{
    m_node = &node;
    m_number = number;
    m_ports = node.GetNPorts();
    m_rules = rules;
    m_hasDcfit = std::move(hasDcfit);
    m_state.assign(static_cast<std::size_t>(N_CLASSES) * m_ports, State{});
    for (State& state : m_state)
    {
        state.info.node = (1U << SWITCH_BITS) - 1; // reserved: no switch
    }
}

bool
PauseMap::Feeds(uint16_t egress, uint16_t ingress, uint8_t cls) const
{
    const lossless::FeedMap& feeds = *m_node->GetFeeds();
    return m_rules.clearing == Clearing::COUNTERS ? feeds.GetBytes(egress, ingress, cls) > 0
                                                  : feeds.HasFed(egress, ingress, cls);
}

bool
PauseMap::IsMiddle(uint16_t port, uint8_t cls, const Message& message) const
{
    for (uint16_t other = 0; other < m_node->GetNPorts(); ++other)
    {
        const State& state = At(other, cls);
        if (other != port && state.known && state.info.HasInitiatorOf(message))
        {
            return true;
        }
    }
    return false;
}

bool
PauseMap::WaitsForPaused(uint16_t ingress, uint8_t cls) const
{
    for (uint16_t egress = 0; egress < m_node->GetNPorts(); ++egress)
    {
        if (At(egress, cls).paused && Feeds(egress, ingress, cls))
        {
            return true;
        }
    }
    return false;
}

bool
PauseMap::FeedsRecentMessage(uint16_t ingress, uint8_t cls) const
{
    for (uint16_t egress = 0; egress < m_node->GetNPorts(); ++egress)
    {
        const State& state = At(egress, cls);
        if (state.known && state.fresh > 0 && Feeds(egress, ingress, cls))
        {
            return true;
        }
    }
    return false;
}

bool
PauseMap::StaysOff(uint16_t ingress, uint8_t cls, const Message& message) const
{
    if (m_rules.evidence == Evidence::MAP)
    {
        return true;
    }
    const lossless::FeedMap& feeds = *m_node->GetFeeds();
    const lossless::BufferPolicy& buffer = m_node->GetBuffer();
    std::vector<lossless::BufferPolicy::Rest> rests;
    for (uint8_t other = 0; other < N_CLASSES; ++other)
    {
        for (uint16_t port = 0; buffer.IsLossless(other) && port < m_node->GetNPorts(); ++port)
        {
            int64_t rest = 0;
            for (uint16_t egress = 0; egress < m_node->GetNPorts(); ++egress)
            {
                const State& state = At(egress, other);
                const bool waits = state.known && state.info.HasEpisodeOf(message);
                rest += waits ? feeds.GetBytes(egress, port, other) : 0;
            }
            rests.push_back({port, other, rest});
        }
    }
    return buffer.StaysOff(ingress, cls, rests);
}

uint16_t
PauseMap::FindInfo(uint16_t ingress, uint8_t cls) const
{
    if (m_rules.conflict == Conflict::NEWEST)
    {
        const uint16_t cause = At(ingress, cls).cause;
        return At(cause, cls).known ? cause : NO_PORT;
    }
    uint16_t best = NO_PORT;
    for (uint16_t egress = 0; egress < m_node->GetNPorts(); ++egress)
    {
        const State& state = At(egress, cls);
        if (state.known && Feeds(egress, ingress, cls) &&
            (best == NO_PORT || state.info.Precedes(At(best, cls).info)))
        {
            best = egress;
        }
    }
    return best;
}

bool
PauseMap::FindTag(uint16_t ingress, uint8_t cls, Message& message) const
{
    const State& state = At(ingress, cls);
    if (state.own)
    {
        message = Message{m_number, static_cast<uint8_t>(ingress), state.sequence, state.rank, 0};
        return true;
    }
    const uint16_t egress = FindInfo(ingress, cls);
    if (egress != NO_PORT)
    {
        message = At(egress, cls).info;
    }
    return egress != NO_PORT;
}

uint8_t
PauseMap::NextRank(const Message& message) const
{
    return m_rules.conflict == Conflict::HIGHEST && message.rank < MAX_RANK
               ? static_cast<uint8_t>(message.rank + 1)
               : message.rank;
}

uint8_t
PauseMap::RankAbove(uint16_t ingress, uint8_t cls) const
{
    const uint16_t egress =
        m_rules.conflict == Conflict::HIGHEST ? FindInfo(ingress, cls) : NO_PORT;
    return egress == NO_PORT ? uint8_t{0} : NextRank(At(egress, cls).info);
}

uint16_t
PauseMap::FindLoop(uint16_t ingress, uint8_t cls, const Message& message) const
{
    for (uint16_t egress = 0; egress < m_node->GetNPorts(); ++egress)
    {
        const State& state = At(egress, cls);
        if (state.known && state.info.HasEpisodeOf(message) && Feeds(egress, ingress, cls))
        {
            return egress;
        }
    }
    return NO_PORT;
}

bool
PauseMap::Remember(uint16_t port, uint8_t cls, const Message& message, bool fresh)
{
    State& state = At(port, cls);
    const bool same = state.info.HasEpisodeOf(message);
    if (!fresh && state.known &&
        (same || (m_rules.conflict == Conflict::HIGHEST && state.fresh > 0 &&
                  !state.info.HasInitiatorOf(message) && state.info.Precedes(message))))
    {
        return false;
    }
    if (!same)
    {
        // A new episode. Within an episode, a port that has resumed stays resumed, whether or not
        // it was paused again (Lemma 3.2, case 3).
        state.resumed = false;
        state.checked = 0;
        state.noticed = false;
        state.fresh = 2;
    }
    state.info = message;
    state.known = true;
    return true;
}

void
PauseMap::Age()
{
    for (State& state : m_state)
    {
        state.fresh -= state.fresh > 0;
    }
}

} // namespace dcfit
} // namespace ns3
