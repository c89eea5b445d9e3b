/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef GFC_PARAMETERS_H
#define GFC_PARAMETERS_H

#include "ns3/gfc-multi-stage.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace gfc
{

/**
 * @ingroup gfc
 * @brief From a link to the parameters of GFC: feedback latency, bounds, stages, largest overhead.
 *
 * Theorem 4.1 and section 4.2 of the paper give the bounds; its 10 Gb/s example has tau = 7.4 us
 * and 64 B a message. The formula tau = 2 MTU / C + 2 t_w + t_r is unverified: it is not in the
 * excerpt at hand, but 1500 B, t_w = 1 us and t_r = 3 us give exactly 7.4 us. pyorch/gfc.py
 * computes the same.
 */
struct Parameters
{
    uint64_t rate{10'000'000'000}; //!< of the link, C (bit/s)
    int64_t delay{1'000'000};      //!< of the link, one way, t_w (ps)
    int64_t mtu{1500};             //!< largest frame (B)
    int64_t overhead{0};           //!< wire bytes beside a frame, none in the paper (B)
    int64_t processing{3'000'000}; //!< until a message has effect, t_r (ps)
    int64_t message{64};           //!< size of a message, m (B)
    int64_t minGap{0};             //!< between messages of a class (ps)

    /// tau by the unverified formula: 2 frames, 2 wires, the processing. @return ps.
    int64_t GetFormulaLatency() const;

    /// tau as this module reckons and warns by: the formula, the message's own transmission and the
    /// gap it may have to wait for.
    /// @return ps.
    int64_t GetLatency() const;

    /// Largest B0 of conceptual GFC that Theorem 4.1 vouches for: Bm - 4 C tau.
    /// @param bm queue length at which the rate reaches 0 (B). @param tau feedback latency (ps).
    /// @return bytes; negative when no B0 does.
    int64_t GetLargestB0(int64_t bm, int64_t tau) const;

    /// Largest B1 of multi-stage GFC that section 4.2 vouches for: Bm - 2 C tau.
    /// @param bm end of the mapping (B). @param tau feedback latency (ps).
    /// @return bytes; negative when no B1 does.
    int64_t GetLargestB1(int64_t bm, int64_t tau) const;

    /// Largest B0 of time-based GFC with which the credits do not run out: Buffer - C (T + tau).
    /// Derived; see TimeBasedGfc.
    /// @param buffer promised to a class (B). @param period between credit messages, T (ps).
    /// @param tau feedback latency (ps). @return bytes; negative when no B0 does.
    int64_t GetLargestTimeBasedB0(int64_t buffer, int64_t period, int64_t tau) const;

    /// The period of credit messages that the paper's simulations have: 65,535 B at C (unverified).
    /// @return ps.
    int64_t GetCreditPeriod() const;

    /**
     * @brief Bandwidth of messages in the worst case: m / tau, one message every tau (section 4.2).
     *
     * Holds only with a MinGap of tau: a queue that hovers at the start of a stage changes stage
     * with every frame.
     *
     * @param tau feedback latency (ps).
     * @return bit/s.
     */
    uint64_t GetWorstOverhead(int64_t tau) const;

    /// Bandwidth of messages in the steady state, at worst: m / (8 tau) (section 4.2).
    /// @param tau feedback latency (ps). @return bit/s.
    uint64_t GetSteadyOverhead(int64_t tau) const;

    /// The stages of multi-stage GFC on this link, with R_k = C / 2^k.
    /// @param b1 start of stage 1 (B). @param bm end of the mapping (B), above b1.
    /// @param floor no rate is below it (bit/s). @return the stages, 0 first.
    std::vector<Stage> GetStages(int64_t b1, int64_t bm, uint64_t floor = 8000) const;
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_PARAMETERS_H */
