/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-link-errors.h"

#include <cmath>
#include <limits>

namespace ns3
{
namespace lossless
{

LinkErrors::LinkErrors(double bitErrorRate, double lossRate, int64_t stream)
    : m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
    m_bits = Trials{bitErrorRate, Draw(bitErrorRate)};
    m_frames = Trials{lossRate, Draw(lossRate)};
}

bool
LinkErrors::Loses(uint32_t bytes)
{
    const bool wrong = Fails(m_bits, 8.0 * bytes);
    const bool lost = Fails(m_frames, 1);
    return wrong || lost;
}

bool
LinkErrors::Fails(Trials& trials, double count)
{
    trials.ahead -= count;
    if (trials.ahead >= 0)
    {
        return false;
    }
    trials.ahead = Draw(trials.rate); // independent trials: those behind the frame start anew
    return true;
}

double
LinkErrors::Draw(double rate)
{
    if (rate == 0)
    {
        return std::numeric_limits<double>::infinity();
    }
    // inverse of the geometric distribution; 1 - u is above 0
    return rate == 1 ? 0 : std::floor(std::log(1 - m_random->GetValue()) / std::log1p(-rate));
}

} // namespace lossless
} // namespace ns3
