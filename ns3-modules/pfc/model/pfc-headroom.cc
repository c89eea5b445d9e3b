/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pfc-headroom.h"

#include "ns3/lossless-port.h"
#include "ns3/lossless-rate.h"

#include <algorithm>

namespace ns3
{
namespace pfc
{

using lossless::BytesInTime;
using lossless::Port;

int64_t
SufficientHeadroom(const Port& port)
{
    const Port& peer = port.GetPeer();
    const uint64_t rate = peer.GetRate(); // of what arrives
    const int64_t frame = port.GetLargestFrame();
    const int64_t wire = frame + port.GetOverhead();
    const int64_t response =
        std::max(lossless::RESPONSE_BYTES, BytesInTime(rate, peer.GetControlDelay()));
    const int64_t control = port.GetControlFrameSize() + static_cast<int64_t>(port.GetOverhead());
    return 2 * (BytesInTime(rate, port.GetDelay()) + wire) + response + control + frame;
}

int64_t
PublishedHeadroom(const Port& port)
{
    return 2 * (BytesInTime(port.GetRate(), port.GetDelay()) + port.GetLargestFrame()) +
           lossless::RESPONSE_BYTES;
}

} // namespace pfc
} // namespace ns3
