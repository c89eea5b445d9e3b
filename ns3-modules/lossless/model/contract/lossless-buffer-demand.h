/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_BUFFER_DEMAND_H
#define LOSSLESS_BUFFER_DEMAND_H

#include "ns3/lossless-constants.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief What a flow control, or a chain of them, needs of the ingress buffer of its port to lose
 * nothing.
 */
struct BufferDemand
{
    /// Bytes for each class, and their derivation.
    struct Part
    {
        std::array<int64_t, N_CLASSES> bytes{}; //!< by class (B); lossless classes only
        std::string formula;                    //!< scheme, formula, value; empty if none

        /// The maximum over classes. @return bytes.
        int64_t Most() const;
    };

    Part beyondStop; //!< room needed after the upstream was paused (PFC: eta')
    Part promised;   //!< what the upstream may have here in total (CBFC: its credits)

    /// The same part for all classes.
    /// @param bytes of each class. @param formula derivation. @return a part.
    static Part ForEachClass(int64_t bytes, const std::string& formula);

    /// Grow to what the bytes take of a buffer of cells at most, whatever the frames' sizes.
    /// @param cell bytes of a cell. @param overhead preamble and gap of a frame (B).
    void FillCells(int64_t cell, int64_t overhead);

    /// Combine with the demand of another member of the chain: the upstream obeys both, so the
    /// larger value of each part counts.
    /// @param other demand of the other member.
    void Join(const BufferDemand& other);
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_BUFFER_DEMAND_H */
