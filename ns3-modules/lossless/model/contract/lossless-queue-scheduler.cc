/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-queue-scheduler.h"

#include "ns3/abort.h"

#include <bit>

namespace ns3
{
namespace lossless
{

static_assert(MAX_OWN_QUEUES <= 64 * 64, "a summary word has a bit for 64 words");

void
QueueScheduler::NotifySent(uint32_t /* place */, uint32_t /* bytes */)
{
}

void
StrictScheduler::Configure(uint32_t queues)
{
    m_words.assign((queues + 63) / 64, 0);
}

void
StrictScheduler::Activate(uint32_t place)
{
    m_words[place / 64] |= 1ULL << place % 64;
    m_summary |= 1ULL << place / 64;
}

void
StrictScheduler::Deactivate(uint32_t place)
{
    uint64_t& word = m_words[place / 64];
    word &= ~(1ULL << place % 64);
    m_summary &= word ? UINT64_MAX : ~(1ULL << place / 64);
}

uint32_t
StrictScheduler::Select(Heads& heads)
{
    for (uint64_t words = m_summary; words; words &= words - 1)
    {
        const auto at = static_cast<uint32_t>(std::countr_zero(words));
        for (uint64_t queues = m_words[at]; queues; queues &= queues - 1)
        {
            const uint32_t place = at * 64 + static_cast<uint32_t>(std::countr_zero(queues));
            if (heads.MayGo(place))
            {
                return place;
            }
        }
    }
    return NONE;
}

void
RoundRobinScheduler::Configure(uint32_t queues)
{
    m_links.assign(queues, Links{NONE, NONE});
}

void
RoundRobinScheduler::Activate(uint32_t place)
{
    // last in the ring, which is before the first
    if (m_active++ == 0)
    {
        m_first = place;
        m_links[place] = Links{place, place};
        return;
    }
    const uint32_t last = m_links[m_first].last;
    m_links[place] = Links{m_first, last};
    m_links[last].next = place;
    m_links[m_first].last = place;
}

void
RoundRobinScheduler::Deactivate(uint32_t place)
{
    const Links links = m_links[place];
    if (m_first == place)
    {
        m_first = links.next;
    }
    m_links[links.last].next = links.next;
    m_links[links.next].last = links.last;
    if (--m_active == 0)
    {
        m_first = NONE;
    }
}

uint32_t
RoundRobinScheduler::Select(Heads& heads)
{
    uint32_t place = m_first;
    for (uint32_t looked = 0; looked < m_active; ++looked)
    {
        if (heads.MayGo(place))
        {
            return place;
        }
        place = m_links[place].next;
    }
    return NONE;
}

void
RoundRobinScheduler::NotifySent(uint32_t place, uint32_t /* bytes */)
{
    if (place == m_first)
    {
        Rotate();
        return;
    }
    // It overtook queues held back by gates: those keep their turn, it moves to the end.
    RoundRobinScheduler::Deactivate(place);
    RoundRobinScheduler::Activate(place);
}

DrrScheduler::DrrScheduler(uint32_t quantum)
    : m_quantum(quantum)
{
    NS_ABORT_MSG_IF(quantum == 0, "deficit round robin needs a quantum above 0 bytes");
}

void
DrrScheduler::Configure(uint32_t queues)
{
    RoundRobinScheduler::Configure(queues);
    m_deficit.assign(queues, 0);
}

void
DrrScheduler::Deactivate(uint32_t place)
{
    m_deficit[place] = 0;
    m_granted = m_granted && place != m_first;
    RoundRobinScheduler::Deactivate(place);
}

uint32_t
DrrScheduler::Select(Heads& heads)
{
    for (uint32_t held = 0; held < m_active;)
    {
        const uint32_t place = m_first;
        if (heads.MayGo(place))
        {
            held = 0;
            m_deficit[place] += m_granted ? 0 : m_quantum;
            m_granted = true;
            if (heads.GetBytes(place) <= m_deficit[place])
            {
                return place;
            }
        }
        else
        {
            ++held;
            m_deficit[place] = 0;
        }
        m_granted = false;
        Rotate();
    }
    return NONE;
}

void
DrrScheduler::NotifySent(uint32_t place, uint32_t bytes)
{
    m_deficit[place] -= bytes;
}

} // namespace lossless
} // namespace ns3
