/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-pause-history.h"

#include <algorithm>

namespace ns3
{
namespace deadlock
{

uint32_t
PauseHistory::Add(const Pause& pause, uint32_t parent)
{
    auto place = static_cast<uint32_t>(m_links.size());
    if (m_free.empty())
    {
        m_links.emplace_back();
    }
    else
    {
        place = m_free.back();
        m_free.pop_back();
    }
    m_links[place] = parent == NONE
                         ? Link{pause, pause, 0, parent, 0}
                         : Link{pause, m_links[parent].root, m_links[parent].depth + 1, parent, 0};
    Use(parent);
    return place;
}

void
PauseHistory::Use(uint32_t pause)
{
    if (pause != NONE)
    {
        ++m_links[pause].users;
    }
}

void
PauseHistory::Drop(uint32_t pause)
{
    while (pause != NONE && --m_links[pause].users == 0)
    {
        m_free.push_back(pause);
        pause = m_links[pause].parent;
    }
}

std::vector<PauseHistory::Pause>
PauseHistory::GetChain(uint32_t pause) const
{
    std::vector<Pause> chain;
    for (; pause != NONE; pause = m_links[pause].parent)
    {
        chain.push_back(m_links[pause].pause);
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
}

} // namespace deadlock
} // namespace ns3
