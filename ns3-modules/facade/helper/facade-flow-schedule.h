/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_FLOW_SCHEDULE_H
#define FACADE_FLOW_SCHEDULE_H

#include "ns3/lossless-event.h"
#include "ns3/rdma-queue-pair.h"

#include <string>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup facade
 * @brief Starts flows at their times, or some time after others have finished.
 */
class FlowSchedule
{
  public:
    /// Start flows of a list.
    /// @param queuePairs by flow; outlives this.
    explicit FlowSchedule(const std::vector<Ptr<QueuePair>>& queuePairs);
    /// Let a flow wait for another.
    /// @param flow its number. @param after the other's.
    /// @param delay from the end of the other (ps).
    void Wait(uint32_t flow, uint32_t after, int64_t delay);
    /// All flows are connected: start each at its time.
    void Begin();
    /// Start what waits for a flow.
    /// @param flow it has finished.
    void NotifyFinished(uint32_t flow);
    /// What keeps flows from ever starting. @return a line; empty if nothing does.
    std::string Check() const;

  private:
    /// What keeps a flow from starting.
    struct Waiting
    {
        uint32_t left{0};    //!< flows that must finish before
        int64_t earliest{0}; //!< the latest time that those finished so far allow (ps)
    };

    /// A flow that waits for another.
    struct Follower
    {
        uint32_t flow; //!< its number
        int64_t delay; //!< from the end of the other (ps)
    };

    void StartFlows();
    void StartFlow(uint32_t flow);

    const std::vector<Ptr<QueuePair>>& m_queuePairs; //!< by flow
    std::vector<uint32_t> m_byStart;                 //!< flows in the order of their starts
    std::size_t m_nextStart{0};                      //!< next of them
    std::vector<Waiting> m_waiting;                  //!< by flow; empty: no flow waits for another
    std::vector<std::vector<Follower>> m_followers;  //!< by flow; empty: none
    lossless::ReusableEvent<FlowSchedule> m_start;   //!< starts the next one
};

} // namespace rdma
} // namespace ns3

#endif /* FACADE_FLOW_SCHEDULE_H */
