/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-scale-up.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-rate.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

using lossless::NEVER;
using lossless::NowPs;

namespace
{

/// A saturating sum of two times.
/// @param a ps. @param b ps. @return ps.
int64_t
Later(int64_t a, int64_t b)
{
    return b > NEVER - a ? NEVER : a + b;
}

} // namespace

ScaleUp::ScaleUp(uint64_t rate, int64_t delay)
    : m_rate(rate),
      m_delay(delay)
{
}

int64_t
ScaleUp::GetTransmission(uint64_t bytes) const
{
    // for a whole message the product may overflow
    const auto bits = static_cast<lossless::Uint128>(bytes) * 8U * 1'000'000'000'000ULL;
    const auto time = (bits + m_rate / 2) / m_rate;
    return time > static_cast<lossless::Uint128>(NEVER) ? NEVER : static_cast<int64_t>(time);
}

int64_t
ScaleUp::GetTime(uint64_t bytes) const
{
    return Later(m_delay, GetTransmission(bytes));
}

void
ScaleUp::Carry(uint32_t from, uint32_t to, uint64_t bytes, Callback<void> done)
{
    const int64_t now = NowPs();
    int64_t& free = m_outward[from];
    const int64_t begin = std::max(now, free);
    free = Later(begin, GetTransmission(bytes));
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(Later(begin - now, m_delay))),
                        &ScaleUp::Arrive,
                        this,
                        to,
                        bytes,
                        done);
}

void
ScaleUp::Arrive(uint32_t to, uint64_t bytes, Callback<void> done)
{
    const int64_t now = NowPs();
    int64_t& free = m_inward[to];
    free = Later(std::max(now, free), GetTransmission(bytes));
    Simulator::Schedule(TimeStep(static_cast<uint64_t>(free - now)), [done] { done(); });
}

} // namespace rdma
} // namespace ns3
