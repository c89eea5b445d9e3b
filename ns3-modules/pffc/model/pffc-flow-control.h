/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFFC_FLOW_CONTROL_H
#define PFFC_FLOW_CONTROL_H

#include "pffc-message.h"
#include "pffc-paused-queues.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-flow-table.h"
#include "ns3/lossless-single-event.h"
#include "ns3/traced-callback.h"

#include <array>
#include <memory>
#include <vector>

/**
 * @defgroup pffc Per-hop per-flow flow control
 *
 * Wang, Chen, Hsieh, Lai, Lin: A Flow Control Scheme based on Per Hop and Per Flow in Commodity
 * Switches for Lossless Networks, IEEE Access 9, 2021.
 */

namespace ns3
{
namespace pffc
{

/**
 * @ingroup pffc
 * @brief Per-hop per-flow flow control (PFFC).
 *
 * *Receiver's side*: the switch counts the bytes it holds of each flow, FBU. A flow whose FBU
 * reaches FbuXoff is assigned one of the n paused egress queues (PEQs) of the upstream port: PAUSE
 * stops the PEQ, then MIGRATE moves the flow's further frames there. A PEQ resumes when none of its
 * flows is above FbuXon: RESUME, then MIGRATE-BACK of all its flows. Thresholds of PBU, the bytes
 * of a PEQ's flows or of the port, can be added as conditions for a pause and a resume.
 *
 * *Sender's side*: frames join the default egress queue (DEQ) of their class, or the PEQ of their
 * flow. Frames of a flow are never reordered:
 *
 * - MIGRATE marks the end of the queue that the flow leaves, the DEQ or another PEQ; the new PEQ
 *   waits until that mark has been sent. A frame that joined the PEQ before the mark waits only for
 *   older frames.
 * - After RESUME the PEQ is served, subject to the mark, until the frames that waited in it have
 *   been sent, then the DEQ; frames that have joined the PEQ since are served with the DEQ in order
 *   of arrival.
 * - MIGRATE-BACK sends a flow's frames to the DEQ as soon as none of its frames is left in a PEQ,
 *   so that no frame of the DEQ ever has to wait for a PEQ that is paused again.
 *
 * A flow at the receiver's side, and what that sends:
 *
 * @verbatim
 *            FBU reaches FbuXoff, and PBU PbuXoff
 *   in DEQ ---------------------------------------> in a PEQ that is paused
 *     ^        PAUSE if it is not, and MIGRATE         |
 *     |                                                | no flow of the PEQ is above FbuXon,
 *     +------------------------------------------------+ and PBU is below PbuXon:
 *                                                        RESUME, MIGRATE-BACK of all its flows
 * @endverbatim
 *
 * A flow at the sender's side, which has no state while it is in the DEQ:
 *
 * @verbatim
 *            MIGRATE                 MIGRATE-BACK, or no MIGRATE for three periods
 *   in DEQ ---------> in its PEQ <==============================> leaving its PEQ
 *     ^        mark: older frames first        MIGRATE                 |
 *     +----------------------------------------------------------------+ none of its frames is left
 * @endverbatim
 *
 * Every control frame carries a sequence number of its class; one that arrives out of order is
 * ignored, as if lost. PAUSE and RESUME carry the state of all PEQs. The current state is sent
 * again every Refresh, and state that was not received for three periods is discarded, so that lost
 * frames do no lasting harm.
 *
 * PFFC makes no demand on the buffer: each flow needs its own headroom (GetFlowHeadroom), and a
 * class may have any number of flows. PFC behind it in the chain bounds the class.
 */
class Pffc : public lossless::FlowControl,
             public lossless::ByteObserver,
             public lossless::Gate,
             public lossless::SentListener,
             public lossless::QueueSelector,
             public lossless::DeadlockModel,
             public lossless::OrderModel
{
  public:
    /// What PBU counts.
    enum class PbuScope
    {
        PER_PEQ,          ///< bytes of the flows in the PEQ
        PER_INGRESS_PORT, ///< bytes of the class that arrived by the port
    };

    /// How a flow is assigned to a PEQ.
    enum class Assignment
    {
        FEWEST_FLOWS, ///< the one with the fewest flows; among these the one that has been without
                      ///< flows longest
        HASH,         ///< by the flow's number
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Pffc();

    void Start() override;
    std::string Check() const override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    bool WaitsFor(uint16_t queue, const lossless::Frame& head, uint16_t other) const override;
    void NotifyReceived(lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override;
    uint16_t GetOwnQueues() const override;
    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const override;
    void NotifyJoined(uint16_t queue, lossless::Frame& frame) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t now) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief Maximum bytes of one flow here beyond FbuXoff, not counting its frames queued
     * upstream.
     *
     * The frame that reaches FbuXoff; then what the link delivers while PAUSE and MIGRATE wait for
     * a frame, are sent, propagate and take effect; then the frame in transmission upstream, and
     * those on the wire; one more frame if the peer is a host, which prepares one in advance.
     * Frames of the flow in the DEQ of an upstream switch, or in a PEQ it is moved from, come on
     * top.
     *
     * @return bytes.
     */
    int64_t GetFlowHeadroom() const;

    /// TracedCallback signature of migrations.
    /// @param port port whose upstream moves the flow. @param cls class. @param flow flow.
    /// @param peq PEQ; 0: back to the DEQ.
    typedef void (*MigrateCallback)(const lossless::Port& port,
                                    uint8_t cls,
                                    uint32_t flow,
                                    uint8_t peq);

  private:
    /// The receiver's side's state of a flow.
    struct Usage
    {
        int64_t bytes{0};  //!< FBU
        uint8_t peq{0};    //!< upstream PEQ; 0: none
        bool above{false}; //!< FBU has reached Xoff and has not fallen below Xon since
    };

    /// The receiver's side's state of a PEQ upstream.
    struct Peq
    {
        std::vector<uint32_t> flows; //!< flows that were moved there
        uint32_t above{0};           //!< of these, flows above Xon
        int64_t bytes{0};            //!< sum of their FBU
        int64_t since{0};            //!< when it last lost its flows (ps)
    };

    /// Bytes of a frame that has left that are not yet subtracted.
    struct Pending
    {
        int64_t due;    //!< ps
        uint32_t flow;  //!< flow
        uint32_t bytes; //!< size
        uint8_t cls;    //!< class
    };

    /// State shared by all instances of a node.
    struct NodeState
    {
        lossless::FlowTable<Usage> flows;   //!< by port, class, flow
        std::vector<const Pffc*> instances; //!< one per port
        std::size_t peakFlows{0};           //!< largest number of entries
    };

    /// The key of a flow in the node's table: with the port, so that each counts its own bytes.
    uint64_t UsageKey(uint8_t cls, uint32_t flow) const;
    /// The state of a PEQ upstream, from 1.
    Peq& PeqOf(uint8_t cls, uint32_t peq);
    /// Const overload.
    const Peq& PeqOf(uint8_t cls, uint32_t peq) const;

    /// Bytes of a flow have left: FBU and PBU fall, and PEQs that may be are resumed.
    void Subtract(uint8_t cls, uint32_t flow, uint32_t bytes);
    /// The oldest of m_pending is due; each has an occurrence of its own.
    void SubtractDue();
    /// Choose a PEQ for a flow, and note it. Of those with fewest flows the longest without any.
    uint8_t Assign(uint8_t cls, uint32_t flow);
    /// Pause a PEQ if one of its flows is above and PBU has reached Xoff.
    void PauseIfDue(uint8_t cls, uint8_t peq);
    /// Resume a PEQ if none of its flows is above and PBU is below Xon: they go back to the DEQ.
    void ResumeIfDue(uint8_t cls, uint8_t peq);
    /// A PEQ has no flows any more; those without bytes are forgotten.
    void Disband(uint8_t cls, uint8_t peq);
    /// Send which PEQs of a class are paused.
    void SendState(uint8_t cls);
    /// Send which flows move into a PEQ, or back, FLOWS_PER_FRAME a frame.
    void SendFlows(uint16_t opcode, uint8_t cls, uint8_t peq, const uint32_t* flows, std::size_t n);
    /// Number a message and send it: the peer takes none that was overtaken.
    void Send(Message& message);
    /// Repeat the state and the flows of each class in use, and REPEATS_WHEN_IDLE times after it.
    void Refresh();
    /// Let Refresh come, if it is not pending.
    void StartRefresh();

    // Attributes
    uint32_t m_nPeqs;        //!< n
    int64_t m_fbuXoff;       //!< B
    int64_t m_fbuXon;        //!< B
    int64_t m_pbuXoff;       //!< B; 0: no condition
    int64_t m_pbuXon;        //!< B; 0: no condition
    PbuScope m_pbuScope;     //!< what PBU counts
    Assignment m_assignment; //!< which PEQ a flow gets
    Time m_recirculation;    //!< delay of the decrement
    Time m_refresh;          //!< Refresh; 0: never

    // Receiver's side
    std::shared_ptr<NodeState> m_node;                  //!< shared with the other ports of the node
    std::vector<Peq> m_peqs;                            //!< by class and PEQ
    std::array<int64_t, lossless::N_CLASSES> m_bytes{}; //!< of the class
    std::array<uint8_t, lossless::N_CLASSES> m_paused{};    //!< bit p: PEQ p is paused
    std::array<uint8_t, lossless::N_CLASSES> m_used{};      //!< bit p: PEQ p has flows
    std::array<uint8_t, lossless::N_CLASSES> m_again{};     //!< remaining repeats when idle
    std::array<uint16_t, lossless::N_CLASSES> m_sequence{}; //!< of the last frame sent
    std::vector<Pending> m_pending;                         //!< in the order of their times
    std::size_t m_firstPending{0};                          //!< first entry not yet subtracted
    bool m_recirculates{false};                             //!< the port belongs to a switch

    PausedQueues m_sender; //!< sender's side

    // Counters
    uint64_t m_pauses{0};        //!< PEQs paused
    uint64_t m_resumes{0};       //!< PEQs resumed
    uint64_t m_migrated{0};      //!< flows moved to a PEQ
    uint64_t m_shared{0};        //!< of these, flows moved to a PEQ that had others
    uint64_t m_frames{0};        //!< control frames sent
    uint64_t m_refreshFrames{0}; //!< of these, repeats
    int64_t m_peakFbu{0};        //!< B
    int64_t m_recirculated{0};   //!< B

    lossless::SingleEvent<Pffc> m_tick;       //!< sends the state again
    lossless::ReusableEvent<Pffc> m_subtract; //!< a clone has recirculated
    TracedCallback<const lossless::Port&, uint8_t, uint32_t, uint8_t> m_migrateTrace; //!< Migrate
};

} // namespace pffc
} // namespace ns3

#endif /* PFFC_FLOW_CONTROL_H */
