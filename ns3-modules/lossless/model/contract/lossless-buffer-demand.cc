/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-buffer-demand.h"

#include <algorithm>
#include <utility>

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

/// The frame that takes the largest share of a buffer for its bytes on the wire: the shortest one,
/// or one a byte above a number of cells.
/// @param cell bytes of a cell. @param overhead of a frame on the wire (B).
/// @return bytes that it takes, and bytes on the wire.
std::pair<int64_t, int64_t>
WorstFrame(int64_t cell, int64_t overhead)
{
    std::pair<int64_t, int64_t> worst{1, 1}; // long frames of tiny cells stay below that
    for (int64_t cells = 0; (cells - 1) * cell < MIN_FRAME_BYTES; ++cells) // then less and less
    {
        const int64_t size = std::max<int64_t>(cells * cell + 1, MIN_FRAME_BYTES);
        const std::pair one{(size + cell - 1) / cell * cell, size + overhead};
        if (one.first * worst.second > worst.first * one.second)
        {
            worst = one;
        }
    }
    return worst;
}

void
FillPart(BufferDemand::Part& part, int64_t cell, int64_t overhead)
{
    const auto [taken, wire] = WorstFrame(cell, overhead);
    for (int64_t& bytes : part.bytes)
    {
        // A frame more: of the last one no overhead was counted.
        const Int128 most = ((static_cast<Int128>(bytes) + overhead) * taken + wire - 1) / wire;
        bytes = bytes > 0 ? static_cast<int64_t>(std::min<Int128>(most, NEVER)) : bytes;
    }
    if (part.Most() > 0)
    {
        part.formula += ", which frames of any size make " + std::to_string(part.Most()) +
                        " B in cells of " + std::to_string(cell) + " B";
    }
}

} // namespace

void
BufferDemand::FillCells(int64_t cell, int64_t overhead)
{
    FillPart(beyondStop, cell, overhead);
    FillPart(promised, cell, 0); // credits count bytes of frames
}

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
