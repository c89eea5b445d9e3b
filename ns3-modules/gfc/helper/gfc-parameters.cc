/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "gfc-parameters.h"

#include "ns3/lossless-rate.h"

namespace ns3
{
namespace gfc
{

using lossless::BytesInTime;
using lossless::TransmissionTime;

namespace
{

/// Bytes between two credit messages, as recalled of the paper.
constexpr int64_t CREDIT_PERIOD_BYTES = 65'535;

/// Rate of bytes that come once in a time.
/// @param bytes how many. @param time ps. @return bit/s, rounded down.
uint64_t
RateOf(int64_t bytes, int64_t time)
{
    constexpr lossless::Uint128 BIT_PS = 8'000'000'000'000ULL;
    return static_cast<uint64_t>(BIT_PS * static_cast<uint64_t>(bytes) /
                                 static_cast<uint64_t>(time));
}

} // namespace

int64_t
Parameters::GetFormulaLatency() const
{
    return TransmissionTime(2 * (mtu + overhead), rate) + 2 * delay + processing;
}

int64_t
Parameters::GetLatency() const
{
    return FeedbackLatency(rate, delay, mtu + overhead, message + overhead, processing) + minGap;
}

int64_t
Parameters::GetLargestB0(int64_t bm, int64_t tau) const
{
    return bm - 4 * BytesInTime(rate, tau);
}

int64_t
Parameters::GetLargestB1(int64_t bm, int64_t tau) const
{
    return bm - 2 * BytesInTime(rate, tau);
}

int64_t
Parameters::GetLargestTimeBasedB0(int64_t buffer, int64_t period, int64_t tau) const
{
    return buffer - BytesInTime(rate, period + tau);
}

int64_t
Parameters::GetCreditPeriod() const
{
    return TransmissionTime(CREDIT_PERIOD_BYTES, rate);
}

uint64_t
Parameters::GetWorstOverhead(int64_t tau) const
{
    return RateOf(message, tau);
}

uint64_t
Parameters::GetSteadyOverhead(int64_t tau) const
{
    return RateOf(message, 8 * tau);
}

std::vector<Stage>
Parameters::GetStages(int64_t b1, int64_t bm, uint64_t floor) const
{
    return MakeStages(b1, bm, 0.5, rate, floor);
}

} // namespace gfc
} // namespace ns3
