/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef BFC_FLOW_CONTROL_H
#define BFC_FLOW_CONTROL_H

#include "bfc-active-scheduler.h"
#include "bfc-message.h"
#include "bfc-name-filter.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-flow-table.h"
#include "ns3/lossless-single-event.h"

#include <array>
#include <deque>
#include <memory>
#include <vector>

/**
 * @defgroup bfc Backpressure Flow Control
 *
 * Goyal, Shah, Zhao, Nikolaidis, Alizadeh, Anderson: Backpressure Flow Control, NSDI 2022.
 */

namespace ns3
{
namespace bfc
{

/**
 * @ingroup bfc
 * @brief Backpressure Flow Control (BFC).
 *
 * *Queues.* A class has Queues egress queues, served by deficit round robin. A flow that has had no
 * frame here for twice HRTT + Interval is assigned a new queue: one that is empty and not paused
 * or, if there is none, one chosen by a hash.
 *
 * *Marks.* A frame is marked if the queue it joins, this frame included, holds more than
 *
 *   Th = (HRTT + Interval) mu / N_active
 *
 * bytes and its flow has another frame here; mu is the rate of the port, N_active the number of its
 * queues that hold frames and are not paused. As long as marked frames wait, their queue upstream
 * is paused (Names: Queues), or their flow (Flows).
 *
 * *Pauses.* Each port keeps the names it wants paused in a NameFilter and sends the segments that
 * have changed: at once when a bit is cleared, at the next Interval when one is set. Segments with
 * bits set are sent again every Refresh, and those not received for three refresh periods are
 * discarded, so that lost frames do no lasting harm.
 *
 * A name at the port that asks for its pause (said of the peer's port when the segment arrives):
 *
 * @verbatim
 *          first marked frame        Interval, all changed segments in a frame each
 *   served ------------------> asked ------------------> paused, sent again every Refresh
 *     ^  ^                       |                          |
 *     |  +-----------------------+ the last marked frame    | the last marked frame has been taken:
 *     |                            has been taken            | sent at once, or after other resumes
 * of
 *     +-----------------------------------------------------+ the queue (ResumesPerHrtt)
 *
 *   The peer: served <---> paused by each segment; served if none has come for three Refreshes.
 * @endverbatim
 *
 * BFC demands no headroom: it stops single queues or flows, and the first frame of a flow is never
 * marked. PFC behind it in the chain bounds the class. Frames that wait in a host for a slow
 * receiver are in no egress queue and cause no pauses.
 */
class Bfc : public lossless::FlowControl,
            public lossless::SentListener,
            public lossless::QueueSelector,
            public lossless::DeadlockModel
{
  public:
    /// What a pause names.
    enum class Names
    {
        QUEUES, ///< queues of the upstream port
        FLOWS,  ///< flows, in a Bloom filter
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Bfc();

    void Start() override;
    std::string Check() const override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    uint16_t GetOwnQueues() const override;
    std::unique_ptr<lossless::QueueScheduler> MakeScheduler() override;
    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const override;
    void NotifyJoined(uint16_t queue, lossless::Frame& frame) override;
    void NotifyTaken(uint16_t queue, lossless::Frame& frame) override;
    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t now) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// State of a flow at an egress port.
    struct Entry
    {
        uint32_t frames{0}; //!< its frames that wait here
        uint16_t queue{0};  //!< its queue, index + 1; 0: none
        int64_t last{0};    //!< when a frame last joined or left (ps)
    };

    /// A resume that is postponed by ResumesPerHrtt.
    struct Resume
    {
        Bfc* ingress;  //!< port to send it on
        uint32_t name; //!< name to resume
        uint8_t cls;   //!< class
    };

    /// Resumes of a queue.
    struct Lane
    {
        uint32_t resumed{0};        //!< sent in the current HRTT
        std::deque<Resume> waiting; //!< postponed to a later one
    };

    /// What a port has sent and received for a class.
    struct ClassState
    {
        NameFilter asked;                //!< names to be paused by the peer; switch ports only
        NameFilter paused;               //!< names the peer wants paused
        uint32_t unsent{0};              //!< bit s: segment s has changed since it was last sent
        std::vector<int64_t> receivedAt; //!< by segment: when last received (ps)
    };

    /// State shared by all instances of a node.
    struct NodeState
    {
        std::vector<Bfc*> instances; //!< by port
    };

    /// Bytes of a frame, from m_bytes on: the queue it comes from, and what it pauses there; 0:
    /// nothing.
    static constexpr uint32_t FROM = 0;
    static constexpr uint32_t MARK = 2; //!< offset of the second

    /// Read FROM or MARK of a frame.
    uint16_t ReadBytes(const lossless::SchemeBytes& bytes, uint32_t at) const;
    /// Write FROM or MARK of a frame, the low byte first.
    void WriteBytes(lossless::Frame& frame, uint32_t at, uint16_t value) const;
    /// What a flow is known by: a switch has FlowEntries entries a class, which flows may share.
    uint64_t KeyOf(uint8_t cls, uint32_t flow) const;
    /// Does a flow keep its queue? Also for 2 (Hrtt + Interval) after its last frame has left.
    bool IsAssigned(const Entry& entry) const;
    /// A queue for a flow: from a hashed one on, the first that is empty and not held back; else
    /// the hashed one, which it shares.
    uint16_t PickQueue(uint8_t cls, uint64_t key) const;
    /// Bytes that leave here in Hrtt of the ingress and Interval: a queue that holds its share of
    /// them has enough to send until its resume is obeyed.
    int64_t GetThreshold(uint16_t ingress);
    /// By what a message names what it pauses: the queue, from 0, or the flow.
    uint32_t NameOf(uint16_t place, uint32_t flow) const;
    /// A filter, made when first used; one that counts can remove single names.
    NameFilter& FilterFor(NameFilter& filter, bool counts) const;

    /// Pause upstream what a frame that has joined came from, if its queue holds too much.
    void Mark(lossless::Frame& frame, int64_t queueBytes);
    /// A frame has left a queue, sent or taken: its mark, if it has one, ends.
    void Leave(uint16_t queue, lossless::Frame& frame);
    /// A mark of a queue ends: resume, now or when ResumesPerHrtt allows.
    void Unmark(Bfc& ingress, uint8_t cls, uint32_t name, uint16_t queue);
    /// Take one mark of a name back; the last one resumes it.
    void Clear(uint8_t cls, uint32_t name);
    /// An Hrtt has passed: each queue may resume as many again.
    void ResumeWaiting();
    /// Segments of the filter have changed: send them, at once if urgent, else at Interval.
    void Note(uint8_t cls, uint32_t segments, bool urgent);
    /// Send the segments that have changed.
    void SendUnsent();
    /// Send a segment as it is now.
    void Send(uint8_t cls, uint32_t segment);
    /// Let Refresh come, if it is not pending.
    void StartRefresh();
    /// Repeat what pauses something, and forget what the peer has not repeated.
    void Refresh();
    /// End the pauses of segments not heard of for ROUNDS_TO_FORGET periods: a message was lost.
    void Forget(uint8_t cls);
    /// The peer's filter has changed: hold back the queues that it pauses, release the others.
    void UpdateHeld(uint8_t cls);
    /// The same for one queue; with Names Flows its head decides.
    void UpdateHeld(uint8_t cls, uint16_t place);
    /// Look for something to send, after the current event.
    void Kick();

    // Attributes
    uint32_t m_switchQueues;   //!< Queues
    uint32_t m_hostQueues;     //!< HostQueues
    Time m_hrttTime;           //!< Hrtt; 0: derived from the link
    Time m_interval;           //!< Interval
    uint32_t m_flowEntries;    //!< FlowEntries
    Names m_names;             //!< Names
    uint32_t m_filterBits;     //!< FilterBits
    uint32_t m_stages;         //!< Stages
    uint32_t m_resumesPerHrtt; //!< ResumesPerHrtt; 0: no limit
    bool m_firstFirst;         //!< FirstFrameFirst
    Time m_refresh;            //!< Refresh; 0: never

    // Egress side
    lossless::FlowTable<Entry> m_flows;      //!< by class and flow
    std::vector<ActiveScheduler*> m_serving; //!< by class; made by MakeScheduler
    std::vector<int64_t> m_thresholds; //!< by ingress port: Th of one active queue (B); 0: unknown
    std::vector<bool> m_held;          //!< by queue: the peer has paused it
    std::vector<uint64_t> m_left;      //!< by queue: key of the flow whose frame last left it
    std::vector<Lane> m_lanes;         //!< by queue; empty if resumes are not limited

    // Both
    std::shared_ptr<NodeState> m_node; //!< shared with the other ports of the node
    std::array<ClassState, lossless::N_CLASSES> m_classes; //!< by class
    int64_t m_hrtt{0};                                     //!< of the link (ps)
    uint32_t m_bytes{0};                                   //!< offset of its bytes in Frame::scheme
    uint16_t m_queues{0};                                  //!< own queues of a class at this port
    bool m_isSwitch{false};                                //!< the node is a switch
    uint32_t m_lossless{0}; //!< bit c: class c is lossless; others have no own queues or pauses

    lossless::SingleEvent<Bfc> m_soon;       //!< sends changed segments after the current event
    lossless::SingleEvent<Bfc> m_atInterval; //!< sends changed segments at the Interval
    lossless::SingleEvent<Bfc> m_tick;       //!< sends segments with bits set again
    lossless::SingleEvent<Bfc> m_resume;     //!< an HRTT has passed
    lossless::ReusableEvent<Bfc> m_kick; //!< a queue may be served, as its first frame was taken

    uint64_t m_marked{0};        //!< marked frames
    uint64_t m_frames{0};        //!< control frames sent
    uint64_t m_refreshFrames{0}; //!< of these, repeats
    uint64_t m_forgotten{0};     //!< segments discarded for lack of refreshes
    uint64_t m_pauses{0};        //!< names newly paused
    uint64_t m_assigned{0};      //!< queues assigned to flows
    uint64_t m_shared{0};        //!< of these, queues held or kept by another flow
    uint64_t m_postponed{0};     //!< postponed resumes
    uint32_t m_peakActive{0};    //!< largest number of active queues
};

} // namespace bfc
} // namespace ns3

#endif /* BFC_FLOW_CONTROL_H */
