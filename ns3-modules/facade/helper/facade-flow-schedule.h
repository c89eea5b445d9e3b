/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_FLOW_SCHEDULE_H
#define FACADE_FLOW_SCHEDULE_H

#include "ns3/lossless-event.h"
#include "ns3/rdma-queue-pair.h"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Starts flows at their times, or some time after other flows have finished.
 *
 * A point is an instant that several flows wait for, such as the start of a computation: it has no
 * flow, costs no event, and can wait and be waited for like a flow. Thus n flows that wait for m
 * others take n + m dependencies instead of n m.
 */
class FlowSchedule
{
  public:
    static constexpr uint32_t POINT = 1U << 31; //!< numbers of points start here

    /// Schedule the flows of a list.
    /// @param queuePairs by flow; outlives this.
    explicit FlowSchedule(const std::vector<Ptr<rdma::QueuePair>>& queuePairs);

    /// @return the number of points.
    std::size_t CountPoints() const
    {
        return m_points.size();
    }

    /// Make a flow or point wait for another one.
    /// @param waiter its number. @param after number of the other one.
    /// @param delay after the end of the other one (ps).
    void Wait(uint32_t waiter, uint32_t after, int64_t delay);

    /// All flows are connected: start each at its time.
    /// @param origins by flow: the host where its message is at first.
    void Begin(const std::vector<uint32_t>& origins);
    /// Start the flows that wait for a flow.
    /// @param flow a flow that has finished.
    void NotifyFinished(uint32_t flow);
    /// A flow that waits for one which ends in another cell starts there at once: before that time
    /// cells may run on their own. For eventloop::CellLoop; flows never start earlier than that.
    /// @return the earliest time at which such a flow may be released (ps); NEVER: there is none.
    int64_t GetEarliestRelease();
    /// Flows that can never start. After Begin. @return one line; empty if there are none.
    std::string Check() const;

  private:
    /// A flow or point that waits for another one.
    struct Follower
    {
        uint32_t number; //!< its number
        int64_t delay;   //!< after the end of the other one (ps)
    };

    /// Dependencies of a flow or point, in both directions.
    struct Step
    {
        uint32_t left{0};                //!< number of dependencies that are not yet met
        int64_t earliest{0};             //!< earliest start allowed by those that are met (ps)
        std::vector<Follower> followers; //!< flows and points that wait for it
        std::vector<Follower> unmet;     //!< what it may still wait for, if something crosses cells
        uint32_t unready{0};             //!< of these, flows not yet released, and their points
    };

    /// A waiting flow of which all dependencies are under way.
    struct Waiting
    {
        int64_t bound; //!< it is not released before (ps)
        uint32_t flow; //!< number of the flow

        /// For a heap with the earliest one first.
        bool operator<(const Waiting& other) const
        {
            return bound > other.bound;
        }
    };

    /// A flow or point that has been reached, and when.
    struct Reached
    {
        uint32_t number; //!< its number
        int64_t time;    //!< ps
    };

    /// Flows that one event starts, one after the other.
    class Starts
    {
      public:
        /// Constructor.
        /// @param schedule of the flows.
        explicit Starts(FlowSchedule& schedule);
        /// Add a flow, which starts after those added before.
        /// @param flow its number.
        void Add(uint32_t flow);
        /// Where they start. @return cell of their host.
        uint16_t GetCell() const;
        /// Schedule the first one.
        void Begin();

      private:
        void StartDue();

        FlowSchedule& m_schedule;                //!< of the flows
        std::vector<uint32_t> m_flows;           //!< in the order of their start times
        std::size_t m_next{0};                   //!< index of the next one to start
        lossless::ReusableEvent<Starts> m_event; //!< starts the next one
    };

    /// The start of a flow that waited for others. It comes after all else that happens at its
    /// time, and before those of higher numbers: whatever ends a flow at that time has ended it.
    class LateStart
    {
      public:
        /// Constructor.
        /// @param schedule of the flows.
        explicit LateStart(FlowSchedule& schedule);
        /// Schedule it. Precondition: it is idle.
        /// @param flow number of the flow. @param delay ps from now.
        void Schedule(uint32_t flow, int64_t delay);

      private:
        void Happen();

        FlowSchedule& m_schedule;                   //!< of the flows
        uint32_t m_flow{0};                         //!< number of the flow
        lossless::ReusableEvent<LateStart> m_event; //!< the start
    };

    Step& GetStep(uint32_t number);
    /// Follow the dependencies from reached flows and points to the flows that are now ready.
    /// @param reached flows and points; consumed. @return the flows; valid until the next call.
    const std::vector<uint32_t>& Release(std::vector<Reached>& reached);
    void StartFlow(uint32_t flow);
    bool CrossesCells() const;
    void PrepareBounds();
    void NoteReady(uint32_t number);
    bool IsMet(uint32_t number) const;
    int64_t BoundOf(Step& step);

    const std::vector<Ptr<rdma::QueuePair>>& m_queuePairs; //!< by flow
    std::map<uint32_t, Starts> m_starts; //!< by host, where cells run on their own; else one
    std::mutex m_mutex; //!< flows end in cells that several threads may run: of all that follows
    std::deque<LateStart> m_lateStarts; //!< pending and idle ones
    std::vector<LateStart*> m_idle;     //!< of these, those that are not pending
    std::vector<Step> m_flows;          //!< by flow
    std::vector<Step> m_points;         //!< by point
    std::vector<Reached> m_reached;     //!< scratch memory of NotifyFinished
    std::vector<uint32_t> m_released;   //!< last result of Release
    bool m_crosses{false};              //!< CrossesCells, under eventloop::CellLoop
    std::vector<uint32_t> m_ready;      //!< scratch memory of NoteReady
    std::vector<Waiting> m_waiting;     //!< a heap
    int64_t m_nextLook{0};              //!< when to compute its bounds anew (ps)
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_FLOW_SCHEDULE_H */
