/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef GFC_MULTI_STAGE_H
#define GFC_MULTI_STAGE_H

#include "gfc-gentle.h"

#include "ns3/data-rate.h"

#include <vector>

namespace ns3
{
namespace gfc
{

/**
 * @ingroup gfc
 * @brief One stage of the step mapping.
 */
struct Stage
{
    int64_t start; //!< queue length at which it starts, B_k (B)
    uint64_t rate; //!< rate in it, R_k (bit/s)
};

/**
 * @ingroup gfc
 * @brief The stage table of section 4.2.
 *
 * Stage 0 is everything below B1 at line rate. R_k = ratio^k C (equation 4 has ratio 1/2), and
 * equation 2 gives Bm - B_k = ratio^(k-1) (Bm - B1). The table ends with stage N, the first for
 * which B_N - B_(N-1) is at most a byte ("8b" in the paper): 16 stages for Bm = 300 KB and B1 = 281
 * KB. Queue lengths are whole bytes, so starts are rounded up.
 *
 * @param b1 start of stage 1 in bytes.
 * @param bm queue length at which the rate would reach 0, in bytes, above b1.
 * @param ratio R_k / R_(k-1), in (0, 1).
 * @param line C in bit/s.
 * @param floor lower bound of all rates, in bit/s.
 * @return the stages, 0 first.
 */
std::vector<Stage> MakeStages(int64_t b1, int64_t bm, double ratio, uint64_t line, uint64_t floor);

/**
 * @ingroup gfc
 * @brief Practical buffer-based GFC (sections 4.2 and 5): the rate is a step function of the queue
 * length, and each change of stage sends one message.
 *
 * The message is a MAC control frame of PFC's size and format whose 16-bit words are stage numbers;
 * it has its own opcode, so that a plain PFC receiver does not take a stage for a pause time. (That
 * the paper reuses PFC's own opcode is recalled, not read.) A queue that hovers at the start of a
 * stage changes stage with every frame: Hysteresis and MinGap limit the messages, which the summary
 * counts in any case.
 *
 * The rate never reaches 0. A queue above Bm is left to PFC behind it in the chain.
 */
class MultiStageGfc : public Gentle
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    lossless::BufferDemand GetBufferDemand() const override;
    void Start() override;
    std::string Check() const override;
    std::string Warn() const override;
    uint64_t GetRate(uint32_t word) const override;

    /// The table in use. Precondition: started. @return the stages, 0 first.
    const std::vector<Stage>& GetStages() const;

  protected:
    uint32_t GetWord(int64_t queueBytes, uint32_t last) const override;
    uint16_t GetOpcode() const override;

  private:
    int64_t m_bm;                //!< end of the mapping (B)
    int64_t m_b1;                //!< start of stage 1 (B)
    double m_ratio;              //!< R_k / R_(k-1)
    DataRate m_minRate;          //!< floor of all rates
    int64_t m_hysteresis;        //!< how far below its start a stage is left downwards (B)
    std::vector<Stage> m_stages; //!< the table
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_MULTI_STAGE_H */
