/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "powertcp-response.h"

#include <algorithm>

namespace ns3
{
namespace powertcp
{

void
Response::Start(double gamma, double step, double reference)
{
    m_gamma = gamma;
    m_step = step;
    m_reference = reference;
}

void
Response::Rescale(double factor)
{
    m_step *= factor;
    m_reference *= factor;
}

double
Response::Follow(double power, double elapsed)
{
    const double weight = std::min(elapsed, 1.0);
    m_power = (1 - weight) * m_power + weight * power;
    return m_gamma * (m_reference / m_power + m_step) + (1 - m_gamma) * m_reference;
}

} // namespace powertcp
} // namespace ns3
