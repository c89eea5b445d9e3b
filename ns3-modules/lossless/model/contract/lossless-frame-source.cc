/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-frame-source.h"

namespace ns3
{
namespace lossless
{

void
FrameSource::Reopen(uint16_t /* queue */)
{
}

void
SourceRing::Add(FrameSource* source, uint32_t ready)
{
    m_members.push_back(Member{source, ready});
}

bool
SourceRing::SetReady(const FrameSource* source, uint8_t cls, bool ready)
{
    uint32_t any = 0;
    for (Member& member : m_members)
    {
        if (member.source == source)
        {
            const uint32_t bit = 1U << cls;
            member.ready = ready ? member.ready | bit : member.ready & ~bit;
        }
        any |= member.ready;
    }
    return (any >> cls) & 1U;
}

Frame*
SourceRing::Pull(uint8_t cls)
{
    for (std::size_t i = 0; i < m_members.size(); ++i)
    {
        const std::size_t at = (m_turn[cls] + i) % m_members.size();
        if (!((m_members[at].ready >> cls) & 1U))
        {
            continue;
        }
        if (Frame* frame = m_members[at].source->Pull(cls))
        {
            m_turn[cls] = at + 1;
            return frame;
        }
    }
    return nullptr;
}

void
SourceRing::Reopen(uint16_t queue)
{
    for (const Member& member : m_members)
    {
        member.source->Reopen(queue);
    }
}

} // namespace lossless
} // namespace ns3
