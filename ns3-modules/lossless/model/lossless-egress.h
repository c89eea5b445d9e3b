/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_EGRESS_H
#define LOSSLESS_EGRESS_H

#include "lossless-class-scheduler.h"
#include "lossless-egress-queue.h"
#include "lossless-flow-control.h"
#include "lossless-frame-source.h"

#include "ns3/traced-callback.h"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace ns3
{
namespace lossless
{

class PortOwner;

/**
 * @ingroup lossless
 * @brief What a port has to send: its egress queues, what holds them back, and which frame goes
 * next.
 *
 * Queue c (0..7) belongs to class c; a QueueSelector may add any number, c + 8, c + 16, ... A
 * ClassScheduler chooses the class; of a class its own queue goes first, then the added ones as
 * their QueueScheduler says.
 */
class Egress
{
  public:
    /// How queues are made and served.
    struct Service
    {
        ClassService classes; //!< which class goes next
        uint32_t quantum;     //!< bytes a class may send a turn (DWRR)
        uint16_t lanes;       //!< of a class queue; see EgressQueue
    };

    /// Make it, without queues.
    /// @param port whose, for those who are told.
    /// @param trace told of a port and a class whose waiting bytes have changed.
    Egress(Port& port, const TracedCallback<const Port&, uint8_t>& trace);
    ~Egress();

    /// Say where the port is.
    /// @param node its node. @param index its index there.
    void Attach(PortOwner* node, uint16_t index);
    /// Find the sender's roles of a flow control, before Start.
    /// @param member of the port's chain.
    void AddRoles(FlowControl* member);
    /// Make the queues.
    /// @param service how.
    void Start(const Service& service);
    /// Forget the flow controls.
    void Clear();

    /// Take frames from a source too. Of several sources that have frames of a class, each gives
    /// one in turn.
    /// @param source the source.
    void AddSource(FrameSource* source);

    /// A source has, or has no more, frames of a class that may go now.
    /// @param source the source. @param cls class. @param ready has.
    void SetReady(const FrameSource* source, uint8_t cls, bool ready)
    {
        if (m_ring)
        {
            ready = m_ring->SetReady(source, cls, ready);
        }
        const uint32_t bit = 1U << cls;
        m_ready = ready ? m_ready | bit : m_ready & ~bit;
    }

    /// @return true if Refill would find a frame.
    bool WantsRefill() const
    {
        return m_source && Wanted();
    }

    /// Let the sources make frames: one ahead of each class, so that flow controls and schedulers
    /// see a head, and no more, so that queue pairs share the port frame by frame. Where flow
    /// controls choose queues it is one of a queue: the source holds back what would join one that
    /// is not empty.
    void Refill();

    /// @return true if flow controls choose the queue that a frame joins.
    bool HasSelectors() const
    {
        return !m_selectors.empty();
    }

    /// The queue that a frame would join now.
    /// @param frame it, or one that is not made yet; its class is below CONTROL_CLASS.
    /// @return queue.
    uint16_t QueueOf(const Frame& frame) const
    {
        uint16_t queue = frame.cls;
        for (const QueueSelector* selector : m_selectors)
        {
            queue = selector->SelectQueue(frame, queue);
        }
        return queue;
    }

    /// Sources may try flows again that they held back for a queue.
    /// @param queue one that has run empty; ANY_QUEUE: flows may join other queues than before.
    void Reopen(uint16_t queue = ANY_QUEUE) const
    {
        if (m_source && HasSelectors())
        {
            m_source->Reopen(queue);
        }
    }

    /// A frame joins its queue.
    /// @param frame it, of a class below CONTROL_CLASS.
    void Push(Frame* frame);

    /// @return true if a queue holds frames that nothing blocks; a gate may.
    bool HasEligible() const
    {
        return Eligible() != 0;
    }

    /// Choose the queue that sends next.
    /// @param now ps. @return it, or -1: none may; GetWakeTime says when to ask again.
    int Select(int64_t now);
    /// Take the head of the queue that Select named.
    /// @param queue it. @param now ps. @return the frame, which begins to go.
    Frame* Pop(uint16_t queue, int64_t now);

    /// @return when a gate lets a queue go that the last Select found closed (ps); NEVER: none.
    int64_t GetWakeTime() const
    {
        return m_wakeTime;
    }

    /// Hold a queue back until Unblock; several flow controls may.
    /// @param queue egress queue.
    void Block(uint16_t queue);
    /// Undo one Block.
    /// @param queue egress queue. @return true if nobody blocks it any more.
    bool Unblock(uint16_t queue);
    /// Block all queues of a class, or undo that.
    /// @param cls class. @param block true to.
    void BlockClass(uint8_t cls, bool block);
    /// Send a queue whatever the flow controls say.
    /// @param queue egress queue. @param ignore true to.
    void SetIgnorePause(uint16_t queue, bool ignore);
    /// A flow control obeys or ends a pause of a class.
    /// @param cls class. @param on paused.
    void SetPaused(uint8_t cls, bool on);
    /// A class is held back up to a time, as by a pause.
    /// @param cls class. @param until ps.
    void NoteHeldUntil(uint8_t cls, int64_t until);

    /// When a class was held back last: paused, blocked, or without credit. A frame that waited
    /// longer has waited for its turn since.
    /// @param cls class.
    /// @return ps; 0: never. Later than now while it is held back up to a known time.
    int64_t GetHeldUntil(uint8_t cls) const
    {
        return m_heldUntil[cls];
    }

    /// @return true if queues are or were blocked.
    bool WasBlocked() const
    {
        return m_wasBlocked;
    }

    /// Does something hold a queue back, other than its turn or a time?
    /// @param queue its number.
    /// @return true if it is blocked, lacks what lets its head go, or waits for another queue of
    /// the port; false if it is empty.
    bool IsHeld(uint16_t queue) const;
    /// The same, but for what only waits for another queue of the port.
    /// @param queue its number. @return true if it is blocked or lacks what lets its head go.
    bool IsHeldByPeer(uint16_t queue) const;

    /// Drop all frames of a queue.
    /// @param queue egress queue. @param cause why. @return how many.
    uint32_t DropQueue(uint16_t queue, DropCause cause);
    /**
     * @brief Take frames out of a queue; the others keep their order.
     *
     * Their bytes stay charged: give each to FabricNode::Discard, Redirect or Reclass.
     *
     * @param queue egress queue.
     * @param choose says of each frame, in the order in which they would go, whether to take it.
     * @return them in that order.
     */
    std::vector<Frame*> TakeFrames(uint16_t queue, const std::function<bool(const Frame&)>& choose);

    /// @return queue q at index q.
    const std::vector<EgressQueue>& GetQueues() const
    {
        return m_queues;
    }

    /// @return which of its queues waits for which, say these of the chain.
    const std::vector<OrderModel*>& GetOrderModels() const
    {
        return m_orderModels;
    }

    /// @return frames that have joined so far: the Frame::order of the next.
    uint64_t GetFramesJoined() const
    {
        return m_joined;
    }

    /// Bytes that wait.
    /// @param cls class. @return bytes; the frame in transmission is not counted.
    int64_t GetBytes(uint8_t cls) const;
    /// @return frames in all queues.
    uint64_t CountFrames() const;

  private:
    class OwnQueues;

    uint32_t Wanted() const
    {
        const auto waiting = static_cast<uint32_t>(m_nonempty & 0xff);
        return HasSelectors() ? m_ready : m_ready & ~waiting;
    }

    uint32_t Eligible() const
    {
        return m_nonempty & ~(m_blocked & ~m_ignored);
    }

    void TellTrace(uint8_t cls) const
    {
        if (!m_trace.IsEmpty())
        {
            m_trace(m_port, cls);
        }
    }

    bool MayGo(uint16_t queue, int64_t now);
    int SelectOf(uint8_t cls, uint32_t mask, int64_t now);
    const QueueSelector* FindOwner() const;
    OwnQueues& OwnOf(uint16_t queue) const;
    bool IsIgnored(uint16_t queue) const;
    bool IsBlocked(uint16_t queue) const;
    void AddBlock(uint16_t queue);
    void TakeBlock(uint16_t queue);
    void NoteFrames(uint16_t queue, int64_t bytes);
    void UpdateHeld(uint8_t cls);
    void NotifyChange() const;

    // What a frame that goes touches, together in few cache lines
    PortOwner* m_node{nullptr};     //!< of the port
    Port& m_port;                   //!< for those who are told
    FrameSource* m_source{nullptr}; //!< of a host; m_ring where it has several
    uint32_t m_ready{0};            //!< bit c: the source has frames of class c
    uint32_t m_nonempty{0};         //!< bit c: the queue of class c holds frames; bit 8 + c: one of
                                    //!< its own queues does and is not blocked
    uint32_t m_blocked{0}; //!< bit c: the queue of class c is held back; bit 8 + c: its own
                           //!< queues are, all at once
    uint32_t m_ignored{0}; //!< bits as in m_blocked: goes whatever holds it back
    uint32_t m_held{0};    //!< bit c: the observer watches the held class c
    uint32_t m_paused{0};  //!< bit c: a pause of class c is obeyed
    uint64_t m_joined{0};  //!< frames that have joined
    std::vector<EgressQueue> m_queues;                   //!< class queues, then own ones
    std::vector<std::unique_ptr<OwnQueues>> m_own;       //!< by class; empty if there are none
    std::vector<Gate*> m_gates;                          //!< of the chain
    std::vector<QueueSelector*> m_selectors;             //!< of the chain
    const TracedCallback<const Port&, uint8_t>& m_trace; //!< of waiting bytes
    int64_t m_wakeTime{NEVER};                           //!< see GetWakeTime
    ClassScheduler m_scheduler;                          //!< chooses the class

    // Pauses, and what is set once
    uint16_t m_index{0};                          //!< of the port
    bool m_wasBlocked{false};                     //!< see WasBlocked
    std::vector<uint8_t> m_blockCount;            //!< flow controls that hold a queue back
    std::array<int64_t, N_CLASSES> m_heldUntil{}; //!< see GetHeldUntil
    std::vector<OrderModel*> m_orderModels;       //!< of the chain
    std::vector<Gate*> m_firmGates;               //!< those that are no OrderModel
    std::unique_ptr<SourceRing> m_ring;           //!< of several sources; else null
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_EGRESS_H */
