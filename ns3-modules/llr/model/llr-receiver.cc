/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "llr-receiver.h"

namespace ns3
{
namespace llr
{

void
Receiver::Start(uint32_t sequence)
{
    m_state = State::SEND_ACKS;
    m_ackDue = false;
    m_expected = sequence % SEQUENCES;
}

void
Receiver::Stop()
{
    m_state = State::OFF;
}

Receiver::Verdict
Receiver::Receive(uint32_t sequence, bool wrong)
{
    const uint32_t ahead = DistanceOf(m_expected, sequence);
    if (!wrong && ahead == 0)
    {
        m_expected = Advance(m_expected, 1);
        m_state = State::SEND_ACKS;
        m_ackDue = true;
        return Verdict::EXPECTED;
    }
    if (!wrong && ahead >= MOST_FRAMES)
    {
        // A replay began before the expected frame, so that the NACK was not heard. If it was about
        // another frame sent twice, the expected one may never come: it must not be awaited.
        m_state = m_state == State::NACK_SENT ? State::SEND_ACKS : m_state;
        m_ackDue = true;
        return Verdict::DUPLICATE;
    }
    if (m_state == State::SEND_ACKS)
    {
        m_state = State::SEND_NACK;
    }
    return wrong ? Verdict::WRONG : Verdict::MISSING;
}

bool
Receiver::TakeNews()
{
    const bool nack = m_state == State::SEND_NACK;
    m_state = nack ? State::NACK_SENT : m_state;
    m_ackDue = false;
    return nack;
}

} // namespace llr
} // namespace ns3
