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
 * frame here for twice HRTT + Interval gets a new queue: one that is empty and not paused, or, if
 * there is none, one by hash.
 *
 * *Marks.* A frame that joins a queue of more than
 *
 *   Th = (HRTT + Interval) mu / N_active
 *
 * bytes, and is not its flow's only one here, is marked; mu is the rate of the port, N_active the
 * number of its queues that hold frames and are not paused. As long as marked frames wait, the
 * queue they came from upstream is paused (Names: Queues), or their flow (Flows).
 *
 * *Pauses.* Each port keeps what it wants paused in a NameFilter and sends the segments that have
 * changed: when a name goes, at once; when one comes, with the next Interval. All bits that are set
 * are said again every Refresh, and those that were not heard for three of them are forgotten, so
 * that lost frames do no lasting harm.
 *
 * It demands nothing of the buffer: what it stops is a queue or a flow, and the first frame of a
 * flow is never marked. PFC behind it bounds the class. What waits in a host, for a slow receiver,
 * is in no egress queue and pauses nobody.
 */
class Bfc : public lossless::FlowControl,
            public lossless::Gate,
            public lossless::QueueSelector,
            public lossless::DeadlockModel
{
  public:
    /// What is named in a pause.
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
    std::unique_ptr<lossless::QueueScheduler> MakeScheduler() const override;
    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const override;
    void NotifyJoined(uint16_t queue, const lossless::Frame& frame) override;
    void NotifyTaken(uint16_t queue, const lossless::Frame& frame) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, const lossless::Frame& frame, int64_t now) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// What is known of a flow at an egress port.
    struct Entry
    {
        uint32_t frames{0}; //!< of it that wait here
        uint16_t queue{0};  //!< its queue, place + 1; 0: none
        int64_t last{0};    //!< when a frame joined or left last (ps)
    };

    /// A resume that has to wait for its turn.
    struct Resume
    {
        Bfc* ingress;  //!< where it is to be said
        uint32_t name; //!< of what
        uint8_t cls;   //!< class
    };

    /// Resumes of a queue.
    struct Lane
    {
        uint32_t resumed{0};        //!< in the present HRTT
        std::deque<Resume> waiting; //!< for a later one
    };

    /// What a port says and hears of a class.
    struct ClassState
    {
        NameFilter said;              //!< what the peer is to pause; only ports of switches
        NameFilter heard;             //!< what the peer wants paused
        uint32_t dirty{0};            //!< segments said otherwise than the peer knows
        std::vector<int64_t> heardAt; //!< by segment: when it was heard last (ps)
    };

    /// What all instances of a node share.
    struct NodeState
    {
        std::vector<Bfc*> instances; //!< by port
    };

    /// Bytes of a frame, from m_bytes on: where it comes from, and what it pauses there; 0:
    /// nothing.
    static constexpr uint32_t FROM = 0;
    static constexpr uint32_t MARK = 2; //!< second of them

    uint16_t ReadBytes(const lossless::SchemeBytes& bytes, uint32_t at) const;
    void WriteBytes(const lossless::Frame& frame, uint32_t at, uint16_t value) const;
    uint64_t KeyOf(uint8_t cls, uint32_t flow) const;
    bool IsAssigned(const Entry& entry) const;
    uint16_t PickQueue(uint8_t cls, uint64_t key) const;
    int64_t GetThreshold(uint16_t ingress);
    uint32_t NameOf(uint16_t place, uint32_t flow) const;
    NameFilter& FilterFor(NameFilter& filter, bool counts) const;

    void Mark(const lossless::Frame& frame, int64_t queueBytes);
    void Leave(uint16_t queue, const lossless::Frame& frame);
    void Unmark(Bfc& ingress, uint8_t cls, uint32_t name, uint16_t queue);
    void Clear(uint8_t cls, uint32_t name);
    void ResumeWaiting();
    void Note(uint8_t cls, uint32_t segments, bool urgent);
    void SendSoon();
    void SendAtInterval();
    void SendDirty();
    void Send(uint8_t cls, uint32_t segment);
    void StartRefresh();
    void Refresh();
    void Forget(uint8_t cls);
    void UpdateHeld(uint8_t cls);
    void UpdateHeld(uint8_t cls, uint16_t place);
    void Kick();

    // Attributes
    uint32_t m_switchQueues;   //!< of a class at a switch
    uint32_t m_hostQueues;     //!< of a class at a host
    Time m_hrttTime;           //!< of the link; 0: as the link says
    Time m_interval;           //!< of pauses
    uint32_t m_flowEntries;    //!< flows that a port of a switch can tell apart
    Names m_names;             //!< what is named
    uint32_t m_filterBits;     //!< of a class
    uint32_t m_stages;         //!< hashes of a flow
    uint32_t m_resumesPerHrtt; //!< of a queue; 0: any number
    bool m_firstFirst;         //!< first frames go before all queues
    Time m_refresh;            //!< between repeats; 0: none

    // Egress side
    lossless::FlowTable<Entry> m_flows;              //!< by class and flow
    mutable std::vector<ActiveScheduler*> m_serving; //!< by class; made by MakeScheduler
    std::vector<int64_t> m_thresholds; //!< by ingress port: Th of one active queue (B); 0: unknown
    std::vector<bool> m_held;          //!< by queue: the peer has paused it
    std::vector<uint64_t> m_left;      //!< by queue: key of the flow whose frame left it last
    std::vector<Lane> m_lanes;         //!< by queue; empty without a limit of resumes

    // Both
    std::shared_ptr<NodeState> m_node;                     //!< shared with the node's other ports
    std::array<ClassState, lossless::N_CLASSES> m_classes; //!< by class
    int64_t m_hrtt{0};                                     //!< of the link (ps)
    uint32_t m_bytes{0};                                   //!< first byte of frames that is its own
    uint16_t m_queues{0};                                  //!< own queues of a class here
    bool m_isSwitch{false};                                //!< of a switch

    bool m_soonDue{false};                     //!< m_soon is pending
    bool m_intervalDue{false};                 //!< m_atInterval is pending
    bool m_refreshing{false};                  //!< m_tick is pending
    bool m_resuming{false};                    //!< m_resume is pending
    lossless::ReusableEvent<Bfc> m_soon;       //!< what has changed is sent, once the event is over
    lossless::ReusableEvent<Bfc> m_atInterval; //!< what has changed is sent
    lossless::ReusableEvent<Bfc> m_tick;       //!< what holds is said again
    lossless::ReusableEvent<Bfc> m_resume;     //!< an HRTT is over
    lossless::ReusableEvent<Bfc> m_kick;       //!< a queue may go, as its first frame was taken

    uint64_t m_marked{0};        //!< frames
    uint64_t m_frames{0};        //!< control frames sent
    uint64_t m_refreshFrames{0}; //!< of them, repeats
    uint64_t m_forgotten{0};     //!< segments not heard any more
    uint64_t m_pauses{0};        //!< names that came to be paused
    uint64_t m_assigned{0};      //!< queues given to flows
    uint64_t m_shared{0};        //!< of them, queues that another flow held or kept
    uint64_t m_postponed{0};     //!< resumes that had to wait
    uint32_t m_peakActive{0};    //!< most active queues
};

} // namespace bfc
} // namespace ns3

#endif /* BFC_FLOW_CONTROL_H */
