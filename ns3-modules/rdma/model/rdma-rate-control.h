/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_RATE_CONTROL_H
#define RDMA_RATE_CONTROL_H

#include "rdma-congestion-control.h"

#include "ns3/data-rate.h"

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief A congestion control whose sender is paced between MinRate and the rate of its link.
 */
class RateControl : public CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(Sender& sender, uint64_t lineRate) override;

  protected:
    /// The link has a rate, another one after a move. @param rate bit/s.
    void SetLine(uint64_t rate);
    /// A step of the rate that is given for a line rate.
    /// @param step the step. @param reference that line rate; 0: any.
    /// @return bit/s, in proportion to the link's rate.
    uint64_t Scale(const DataRate& step, const DataRate& reference) const;

    uint64_t m_line{0};  //!< rate of the link (bit/s)
    uint64_t m_least{0}; //!< MinRate, or m_line if that is less (bit/s)

  private:
    DataRate m_minRate; //!< attribute
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_RATE_CONTROL_H */
