/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-buffer-demand.h"

#include <algorithm>

namespace ns3
{
namespace lossless
{

namespace
{

void
JoinPart(BufferDemand::Part& part, const BufferDemand::Part& other)
{
    if (other.Most() > part.Most())
    {
        part.formula = other.formula;
    }
    for (std::size_t cls = 0; cls < N_CLASSES; ++cls)
    {
        part.bytes[cls] = std::max(part.bytes[cls], other.bytes[cls]);
    }
}

} // namespace

int64_t
BufferDemand::Part::Most() const
{
    return *std::max_element(bytes.begin(), bytes.end());
}

BufferDemand::Part
BufferDemand::ForEachClass(int64_t bytes, const std::string& formula)
{
    Part part;
    part.bytes.fill(bytes);
    part.formula = formula;
    return part;
}

void
BufferDemand::Join(const BufferDemand& other)
{
    JoinPart(beyondStop, other.beyondStop);
    JoinPart(promised, other.promised);
}

} // namespace lossless
} // namespace ns3
