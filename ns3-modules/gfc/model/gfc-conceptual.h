/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef GFC_CONCEPTUAL_H
#define GFC_CONCEPTUAL_H

#include "gfc-gentle.h"

namespace ns3
{
namespace gfc
{

/// MAC control opcode of the conceptual feedback, whose words are queue lengths. [B] From the range
/// that IEEE has not assigned; the paper defines none, as it is a concept.
inline constexpr uint16_t QUEUE_LENGTH_OPCODE = 0x0fc0;

/**
 * @ingroup gfc
 * @brief Conceptual GFC (section 4.1, Figure 4): the sending rate is a continuous function of the
 * downstream queue length.
 *
 * R(q) = C for q <= B0, C (Bm - q) / (Bm - B0) for B0 < q < Bm, 0 from Bm on. Theorem 4.1: with B0
 * <= Bm - 4 C tau the queue never reaches Bm. The concept assumes that feedback is continuous and
 * free: a message after every change of the queue, which uses no bandwidth. Both can be changed
 * (Ideal, MinGap). Beyond Bm, a flow control behind it in the chain (PFC) or the buffer takes over.
 */
class ConceptualGfc : public Gentle
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    lossless::BufferDemand GetBufferDemand() const override;
    std::string Check() const override;
    std::string Warn() const override;
    uint64_t GetRate(uint32_t word) const override;

  protected:
    uint32_t GetWord(int64_t queueBytes, uint32_t last) const override;
    uint16_t GetOpcode() const override;

  private:
    int64_t m_bm; //!< queue length at which the rate reaches 0 (B)
    int64_t m_b0; //!< queue length up to which the peer sends at line rate (B)
};

/**
 * @ingroup gfc
 * @brief The linear mapping of section 4.1.
 *
 * @param queueBytes q.
 * @param b0 queue length up to which the peer sends at line rate, in bytes.
 * @param bm queue length at which the rate reaches 0, in bytes.
 * @param line C in bit/s.
 * @return R(q) in bit/s.
 */
uint64_t LinearRate(int64_t queueBytes, int64_t b0, int64_t bm, uint64_t line);

} // namespace gfc
} // namespace ns3

#endif /* GFC_CONCEPTUAL_H */
