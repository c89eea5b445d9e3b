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
 * reaches FbuXoff is given one of the n paused egress queues (PEQs) of the upstream port: PAUSE
 * stops the PEQ, then MIGRATE sends the flow's further frames there. A PEQ resumes when none of its
 * flows is above FbuXon: RESUME, then MIGRATE-BACK of all its flows. PBU, the bytes of a PEQ's
 * flows or of the port, can ask for more before a pause and before a resume.
 *
 * *Sender's side*: frames join the default egress queue (DEQ) of their class, or the PEQ of their
 * flow. Frames of a flow never overtake each other:
 *
 * - MIGRATE marks what it leaves behind, in the DEQ or in another PEQ; the new PEQ waits until that
 * has gone. A frame that joined the PEQ before the mark waits only for what is older than itself.
 * - After RESUME the PEQ is served, behind the mark, until what waited in it has gone, then the
 * DEQ; what has joined it since takes turns with the DEQ in order of arrival.
 * - MIGRATE-BACK sends a flow's frames to the DEQ as soon as none of its frames is left in a PEQ,
 * so that no frame of the DEQ ever has to wait for a PEQ that is paused again.
 *
 * Every frame carries a sequence number of its class; one that was overtaken is ignored, as if
 * lost. PAUSE and RESUME carry the state of all PEQs. All that holds is said again every Refresh,
 * and what was not said for three of them is forgotten, so that lost frames do no lasting harm.
 *
 * It demands nothing of the buffer: what it stops is a flow, with a headroom of its own
 * (GetFlowHeadroom), and a class may have any number of them. PFC behind it bounds the class.
 */
class Pffc : public lossless::FlowControl,
             public lossless::ByteObserver,
             public lossless::Gate,
             public lossless::QueueSelector,
             public lossless::DeadlockModel,
             public lossless::OrderModel
{
  public:
    /// What PBU counts.
    enum class PbuScope
    {
        PER_PEQ,          ///< bytes of the flows in the PEQ
        PER_INGRESS_PORT, ///< bytes of the class that came in by the port
    };

    /// Which PEQ a flow gets.
    enum class Assignment
    {
        FEWEST_FLOWS, ///< the one with the fewest flows; among them the one that is longest without
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
    void NotifyReceived(const lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override;
    uint16_t GetOwnQueues() const override;
    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const override;
    void NotifyJoined(uint16_t queue, const lossless::Frame& frame) override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, const lossless::Frame& frame, int64_t now) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief Most that one flow can hold here beyond FbuXoff, without what waits of it upstream.
     *
     * The frame that reaches FbuXoff; then what the link brings while PAUSE and MIGRATE wait for a
     * frame, are sent, travel and are obeyed; then the frame that was begun upstream, and what was
     * on the wire; a frame more if the peer is a host, which makes one ahead. What waits of the
     * flow in the DEQ of an upstream switch, or in a PEQ it is moved from, comes on top.
     *
     * @return bytes.
     */
    int64_t GetFlowHeadroom() const;

    /// TracedCallback signature of migrations.
    /// @param port port upstream of which the flow moves. @param cls class. @param flow flow.
    /// @param peq PEQ; 0: back to the DEQ.
    typedef void (*MigrateCallback)(const lossless::Port& port,
                                    uint8_t cls,
                                    uint32_t flow,
                                    uint8_t peq);

  private:
    /// What the receiver's side knows of a flow.
    struct Usage
    {
        int64_t bytes{0};  //!< FBU
        uint8_t peq{0};    //!< upstream PEQ; 0: none
        bool above{false}; //!< it has reached Xoff and not yet fallen below Xon
    };

    /// What the receiver's side knows of a PEQ upstream.
    struct Peq
    {
        std::vector<uint32_t> flows; //!< that were sent there
        uint32_t above{0};           //!< of them, those above
        int64_t bytes{0};            //!< their FBU added up
        int64_t since{0};            //!< when it last lost its flows (ps)
    };

    /// Bytes that have left but are not yet subtracted.
    struct Pending
    {
        int64_t due;    //!< ps
        uint32_t flow;  //!< flow
        uint32_t bytes; //!< size
        uint8_t cls;    //!< class
    };

    /// What all instances of a node share.
    struct NodeState
    {
        lossless::FlowTable<Usage> flows;   //!< by port, class, flow
        std::vector<const Pffc*> instances; //!< one a port
        std::size_t peakFlows{0};           //!< most entries ever
    };

    uint64_t UsageKey(uint8_t cls, uint32_t flow) const;
    Peq& PeqOf(uint8_t cls, uint32_t peq);
    const Peq& PeqOf(uint8_t cls, uint32_t peq) const;

    void Subtract(uint8_t cls, uint32_t flow, uint32_t bytes);
    void SubtractDue();
    uint8_t Assign(uint8_t cls, uint32_t flow);
    void PauseIfDue(uint8_t cls, uint8_t peq);
    void ResumeIfDue(uint8_t cls, uint8_t peq);
    void Disband(uint8_t cls, uint8_t peq);
    void SendState(uint8_t cls);
    void SendFlows(uint16_t opcode, uint8_t cls, uint8_t peq, const uint32_t* flows, std::size_t n);
    void Send(Message& message);
    void Refresh();
    void StartRefresh();

    // Attributes
    uint32_t m_nPeqs;        //!< n
    int64_t m_fbuXoff;       //!< B
    int64_t m_fbuXon;        //!< B
    int64_t m_pbuXoff;       //!< B; 0: no condition
    int64_t m_pbuXon;        //!< B; 0: no condition
    PbuScope m_pbuScope;     //!< what PBU counts
    Assignment m_assignment; //!< which PEQ a flow gets
    Time m_recirculation;    //!< lateness of the decrement
    Time m_refresh;          //!< between repeats; 0: none

    // Receiver's side
    std::shared_ptr<NodeState> m_node;                      //!< shared with the node's other ports
    std::vector<Peq> m_peqs;                                //!< by class and PEQ
    std::array<int64_t, lossless::N_CLASSES> m_bytes{};     //!< of the class
    std::array<uint8_t, lossless::N_CLASSES> m_paused{};    //!< bit p: PEQ p is paused
    std::array<uint8_t, lossless::N_CLASSES> m_used{};      //!< bit p: PEQ p has flows
    std::array<uint8_t, lossless::N_CLASSES> m_again{};     //!< repeats that are left when idle
    std::array<uint16_t, lossless::N_CLASSES> m_sequence{}; //!< of the last frame sent
    std::vector<Pending> m_pending;                         //!< in the order of their times
    std::size_t m_firstPending{0};                          //!< first of them not yet subtracted
    bool m_refreshing{false};   //!< an occurrence of m_tick is scheduled
    bool m_recirculates{false}; //!< it is the port of a switch

    PausedQueues m_sender; //!< sender's side

    // Counters
    uint64_t m_pauses{0};        //!< PEQs paused
    uint64_t m_resumes{0};       //!< PEQs resumed
    uint64_t m_migrated{0};      //!< flows sent to a PEQ
    uint64_t m_shared{0};        //!< of them, to one that had others
    uint64_t m_frames{0};        //!< control frames sent
    uint64_t m_refreshFrames{0}; //!< of them, repeats
    int64_t m_peakFbu{0};        //!< B
    int64_t m_recirculated{0};   //!< B

    lossless::ReusableEvent<Pffc> m_tick;     //!< say it again
    lossless::ReusableEvent<Pffc> m_subtract; //!< a clone has come round
    TracedCallback<const lossless::Port&, uint8_t, uint32_t, uint8_t> m_migrateTrace; //!< Migrate
};

} // namespace pffc
} // namespace ns3

#endif /* PFFC_FLOW_CONTROL_H */
