/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "sfc-message.h"

#include "ns3/lossless-rate.h"

#include <algorithm>

namespace ns3
{
namespace sfc
{

namespace
{

// word[0], from the top: 8 bits that mark the message, 3 unused, 1 stamped, 4 class, 48 interval
constexpr uint64_t MARK = UINT64_C(0x5f) << 56;
constexpr uint64_t MARK_MASK = UINT64_C(0xff) << 56;
constexpr uint64_t STAMPED = UINT64_C(1) << 52;
constexpr int CLASS_AT = 48;

} // namespace

void
Write(const Message& message, lossless::Frame& frame)
{
    frame.word[0] = MARK | (message.stamped ? STAMPED : 0) |
                    static_cast<uint64_t>(message.cls & 0xf) << CLASS_AT |
                    static_cast<uint64_t>(message.interval);
    frame.word[1] = static_cast<uint64_t>(message.stamp);
}

bool
Read(const lossless::Frame& frame, Message& message)
{
    if (frame.kind != lossless::FrameKind::SIGNAL || (frame.word[0] & MARK_MASK) != MARK)
    {
        return false;
    }
    message.interval = static_cast<int64_t>(frame.word[0] & static_cast<uint64_t>(MAX_INTERVAL));
    message.cls = static_cast<uint8_t>(frame.word[0] >> CLASS_AT & 0xf);
    message.stamped = (frame.word[0] & STAMPED) != 0;
    message.stamp = static_cast<int64_t>(frame.word[1]);
    return true;
}

int64_t
PauseInterval(int64_t octets, int64_t reserve, uint64_t rate, int64_t resolution, int64_t longest)
{
    const int64_t drain = std::max<int64_t>(0, octets - reserve);
    const int64_t time = lossless::TransmissionTime(drain, rate);
    const int64_t units = (time + resolution - 1) / resolution;
    return std::min(units, longest / resolution) * resolution;
}

int64_t
Remaining(const Message& message, int64_t now)
{
    const int64_t known = message.stamped ? 2 * (now - message.stamp) : 0;
    return std::max<int64_t>(0, message.interval - known);
}

uint32_t
Quanta(int64_t interval, uint64_t rate)
{
    constexpr lossless::Uint128 QUANTUM =
        static_cast<lossless::Uint128>(lossless::QUANTUM_BYTES) * 8U * 1'000'000'000'000ULL;
    const auto bits = static_cast<lossless::Uint128>(interval) * rate;
    const auto quanta = (bits + QUANTUM - 1) / QUANTUM;
    return static_cast<uint32_t>(std::min<lossless::Uint128>(quanta, lossless::MAX_QUANTA));
}

} // namespace sfc
} // namespace ns3
