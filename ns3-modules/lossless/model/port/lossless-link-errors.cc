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
    m_bits = Trials{bitErrorRate, DrawAhead(bitErrorRate)};
    m_frames = Trials{lossRate, DrawAhead(lossRate)};
}

LinkErrors::~LinkErrors() = default;

LinkErrors::Fate
LinkErrors::Draw(uint32_t bytes)
{
    const bool wrong = Damages(bytes);
    const bool lost = Fails(m_frames, 1);
    return lost ? Fate::LOST : wrong ? Fate::WRONG : Fate::GOOD;
}

bool
LinkErrors::Damages(uint32_t bytes)
{
    return Fails(m_bits, 8.0 * bytes);
}

bool
LinkErrors::Fails(Trials& trials, double count)
{
    trials.ahead -= count;
    if (trials.ahead >= 0)
    {
        return false;
    }
    trials.ahead = DrawAhead(trials.rate); // independent trials: those behind the frame start anew
    return true;
}

double
LinkErrors::DrawAhead(double rate)
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
