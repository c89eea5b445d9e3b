/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-link-retry.h"

namespace ns3
{
namespace lossless
{

LinkRetry::~LinkRetry() = default;

Frame*
LinkRetry::MakeDamaged(uint16_t bytes, uint32_t sequence, bool wrong)
{
    Frame* frame = FramePool::Take();
    frame->kind = FrameKind::MAC; // which nothing counts
    frame->bytes = bytes;
    frame->linkSequence = sequence;
    frame->lost = true;
    frame->corrupted = wrong;
    return frame;
}

bool
LinkRetry::IsDamaged(const Frame& frame)
{
    return frame.kind == FrameKind::MAC && !frame.control;
}

} // namespace lossless
} // namespace ns3
