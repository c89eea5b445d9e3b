/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_BUFFER_DEMAND_H
#define LOSSLESS_BUFFER_DEMAND_H

#include "lossless-constants.h"

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
    /// Bytes for each class, and how they come about.
    struct Part
    {
        std::array<int64_t, N_CLASSES> bytes{}; //!< by class (B); counts for lossless ones
        std::string formula;                    //!< scheme, formula, value; empty if none

        /// The most of any class. @return bytes.
        int64_t Most() const;
    };

    Part beyondStop; //!< must find room after the upstream was told to stop (PFC: eta')
    Part promised;   //!< the upstream may have here in all, untold (CBFC: its credits)

    /// The same for all classes.
    /// @param bytes of each class. @param formula how they come about. @return a part.
    static Part ForEachClass(int64_t bytes, const std::string& formula);

    /// Put that of another member of the chain beside it: the upstream obeys both, so of each part
    /// the larger one counts.
    /// @param other that of the other.
    void Join(const BufferDemand& other);
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_BUFFER_DEMAND_H */
