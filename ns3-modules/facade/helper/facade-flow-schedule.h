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
 *
 * A point is a moment that many wait for, such as the beginning of a computation: it has no flow,
 * costs no event, and may wait and be waited for as flows do. So n flows that wait for m others
 * take n + m waits instead of n m.
 */
class FlowSchedule
{
  public:
    static constexpr uint32_t POINT = 1U << 31; //!< numbers of points begin here

    /// Start flows of a list.
    /// @param queuePairs by flow; outlives this.
    explicit FlowSchedule(const std::vector<Ptr<QueuePair>>& queuePairs);

    /// @return how many points there are.
    std::size_t CountPoints() const
    {
        return m_points.size();
    }

    /// Let a flow or point wait for another.
    /// @param waiter its number. @param after the other's.
    /// @param delay from the end of the other (ps).
    void Wait(uint32_t waiter, uint32_t after, int64_t delay);
    /// All flows are connected: start each at its time.
    void Begin();
    /// Start what waits for a flow.
    /// @param flow it has finished.
    void NotifyFinished(uint32_t flow);
    /// What keeps flows from ever starting. After Begin. @return a line; empty if nothing does.
    std::string Check() const;

  private:
    /// A flow or point that waits for another.
    struct Follower
    {
        uint32_t number; //!< its number
        int64_t delay;   //!< from the end of the other (ps)
    };

    /// What a flow or point waits for, and what waits for it.
    struct Step
    {
        uint32_t left{0};                //!< how many must come before
        int64_t earliest{0};             //!< the latest time that those come so far allow (ps)
        std::vector<Follower> followers; //!< that wait for it
    };

    /// A flow or point, and when it came.
    struct Reached
    {
        uint32_t number; //!< its number
        int64_t time;    //!< ps
    };

    Step& GetStep(uint32_t number);
    /// Go along from what has come, through points, to the flows that wait for nothing more.
    /// @param reached what has come; used up. @return the flows; valid until the next call.
    const std::vector<uint32_t>& Release(std::vector<Reached>& reached);
    void StartFlows();
    void StartFlow(uint32_t flow);

    const std::vector<Ptr<QueuePair>>& m_queuePairs; //!< by flow
    std::vector<uint32_t> m_byStart;                 //!< flows in the order of their starts
    std::size_t m_nextStart{0};                      //!< next of them
    std::vector<Step> m_flows;                       //!< by flow
    std::vector<Step> m_points;                      //!< by point
    std::vector<Reached> m_reached;                  //!< used by NotifyFinished
    std::vector<uint32_t> m_released;                //!< what Release returned last
    lossless::ReusableEvent<FlowSchedule> m_start;   //!< starts the next one
};

} // namespace rdma
} // namespace ns3

#endif /* FACADE_FLOW_SCHEDULE_H */
