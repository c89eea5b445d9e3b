/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef BFC_ACTIVE_SCHEDULER_H
#define BFC_ACTIVE_SCHEDULER_H

#include "ns3/lossless-queue-scheduler.h"

namespace ns3
{
namespace bfc
{

/**
 * @ingroup bfc
 * @brief Deficit round robin that counts the active queues, those that hold frames and are not
 * paused: N_active of the pause threshold.
 */
class ActiveScheduler : public lossless::DrrScheduler
{
  public:
    using lossless::DrrScheduler::DrrScheduler;

    void Activate(uint32_t place) override
    {
        ++m_count;
        DrrScheduler::Activate(place);
    }

    void Deactivate(uint32_t place) override
    {
        --m_count;
        DrrScheduler::Deactivate(place);
    }

    /// @return the number of active queues.
    uint32_t Count() const
    {
        return m_count;
    }

  private:
    uint32_t m_count{0}; //!< active queues
};

} // namespace bfc
} // namespace ns3

#endif /* BFC_ACTIVE_SCHEDULER_H */
