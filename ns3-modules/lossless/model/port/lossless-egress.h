/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_EGRESS_H
#define LOSSLESS_EGRESS_H

#include "lossless-class-rates.h"
#include "lossless-class-scheduler.h"
#include "lossless-egress-queue.h"
#include "lossless-hold-book.h"
#include "lossless-ready-set.h"

#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-frame-source.h"
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
 * @brief The transmit side of a port: its egress queues, what holds them back, and which frame is
 * sent next.
 *
 * Queue c (0..7) belongs to class c; a QueueSelector may add any number of queues, c + 8, c + 16,
 * ... A ClassScheduler chooses the class; within a class its own queue is served first, then the
 * added ones by their QueueScheduler.
 */
class Egress
{
  public:
    /// How queues are created and served.
    struct Service
    {
        ClassService classes;          //!< scheduling of classes
        ClassScheduler::Quanta quanta; //!< bytes per round (DWRR)
        uint32_t strict;               //!< bit c: class c precedes weighted ones (DWRR)
        ClassRates::Rates least;       //!< minimum rates (bit/s); 0: none
        ClassRates::Rates most;        //!< maximum rates (bit/s); 0: none
        uint32_t overhead;             //!< of a frame on the wire (B)
        uint16_t lanes;                //!< lanes of a class queue; see EgressQueue
    };

    /// Constructor, without queues.
    /// @param port owner, passed to callbacks.
    /// @param trace fired with port and class when the queue length of a class has changed.
    Egress(Port& port, const TracedCallback<const Port&, uint8_t>& trace);
    ~Egress();

    /// Set the location of the port.
    /// @param node its node. @param index its index there.
    void Attach(PortOwner* node, uint16_t index);
    /// Register the sender's roles of a flow control, before Start.
    /// @param member member of the port's chain.
    void AddRoles(FlowControl* member);
    /// Create the queues.
    /// @param service how.
    void Start(const Service& service);
    /// Release the flow controls.
    void Clear();

    /// Add a source of frames. Of several sources with frames of a class, each provides one in
    /// turn.
    /// @param source the source.
    void AddSource(FrameSource* source);

    /// A source has frames of a class that may be sent now, or no longer has any.
    /// @param source the source. @param cls class. @param ready whether it has frames.
    void SetReady(const FrameSource* source, uint8_t cls, bool ready)
    {
        if (m_ring)
        {
            ready = m_ring->SetReady(source, cls, ready);
        }
        const uint32_t bit = 1U << cls;
        m_offered = ready ? m_offered | bit : m_offered & ~bit;
    }

    /// @return true if Refill would obtain a frame.
    bool WantsRefill() const
    {
        return m_source && Wanted();
    }

    /// Let the sources create frames: one in advance per class, so that flow controls and
    /// schedulers see a head, and no more, so that queue pairs share the port frame by frame. If
    /// flow controls select queues, it is one per queue: the source holds back frames that would
    /// join a queue that is not empty.
    void Refill();

    /// @return true if flow controls select the queue that a frame joins.
    bool HasSelectors() const
    {
        return !m_selectors.empty();
    }

    /// The queue that a frame would join now.
    /// @param frame the frame, possibly not created yet; its class is below CONTROL_CLASS.
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

    /// Sources may retry flows that they held back for a queue.
    /// @param queue one that has become empty; ANY_QUEUE: flows may join other queues than before.
    void Reopen(uint16_t queue = ANY_QUEUE) const
    {
        if (m_source && HasSelectors())
        {
            m_source->Reopen(queue);
        }
    }

    /// A frame joins its queue.
    /// @param frame the frame, of a class below CONTROL_CLASS.
    void Push(Frame* frame);

    /// @return true if a queue holds frames and is not blocked; a gate may still hold it back.
    bool HasEligible() const
    {
        return m_ready.Get() != 0;
    }

    /// Choose the queue to send from.
    /// @param now ps. @return the queue, or -1 if none may send; GetWakeTime is when to retry.
    int Select(int64_t now);
    /// Remove the head of the queue that Select returned.
    /// @param queue the queue. @param now ps. @return the frame, which starts transmission.
    Frame* Pop(uint16_t queue, int64_t now);

    /// @return when a gate opens that the last Select found closed (ps); NEVER: none.
    int64_t GetWakeTime() const
    {
        return m_wakeTime;
    }

    /// Block a queue until Unblock; several flow controls may do so.
    /// @param queue egress queue.
    void Block(uint16_t queue);
    /// Undo one Block.
    /// @param queue egress queue. @return true if it is no longer blocked by any.
    bool Unblock(uint16_t queue);
    /// Block or unblock all queues of a class.
    /// @param cls class. @param block true to block.
    void BlockClass(uint8_t cls, bool block);
    /// Send from a queue regardless of flow controls.
    /// @param queue egress queue. @param ignore true to ignore them.
    void SetIgnorePause(uint16_t queue, bool ignore);
    /// A flow control starts or ends its pause of a class.
    /// @param cls class. @param on whether it starts.
    /// @return true if the class is paused from now on, or no longer is.
    bool Pause(uint8_t cls, bool on);

    /// A class is held back until a time, as by a pause.
    /// @param cls class. @param until ps.
    void NoteHeldUntil(uint8_t cls, int64_t until);

    /// A frame starts transmission: no rate keeps the line idle.
    void NoteBusy()
    {
        if (m_holds.IsWithheld())
        {
            EndWithheld();
        }
    }

    /// @return who holds back its classes.
    const HoldBook& GetHolds() const
    {
        return m_holds;
    }

    /// Is a queue held back by something other than its turn or a time?
    /// @param queue its number.
    /// @return true if it is blocked, its head lacks something, or it waits for another queue of
    /// the port; false if it is empty.
    bool IsHeld(uint16_t queue) const;
    /// The same, except for queues that only wait for another queue of the port.
    /// @param queue its number. @return true if it is blocked or its head lacks something.
    bool IsHeldByPeer(uint16_t queue) const;

    /// Drop all frames of a queue.
    /// @param queue egress queue. @param cause cause. @return number of frames dropped.
    uint32_t DropQueue(uint16_t queue, DropCause cause);
    /**
     * @brief Remove frames from a queue; the others keep their order.
     *
     * Their bytes stay charged: pass each to FabricNode::Discard, Redirect or Reclass.
     *
     * @param queue egress queue.
     * @param choose called for each frame in order; returns whether to remove it.
     * @return the removed frames in order.
     */
    std::vector<Frame*> TakeFrames(uint16_t queue, const std::function<bool(const Frame&)>& choose);

    /// @return queue q at index q.
    const std::vector<EgressQueue>& GetQueues() const
    {
        return m_queues;
    }

    /// @return the members of the chain that define which of its queues waits for which.
    const std::vector<OrderModel*>& GetOrderModels() const
    {
        return m_orderModels;
    }

    /// @return number of frames that have joined so far: Frame::order of the next.
    uint64_t GetFramesJoined() const
    {
        return m_joined;
    }

    /// Queue length of a class.
    /// @param cls class. @return bytes; the frame in transmission is not counted.
    int64_t GetBytes(uint8_t cls) const;
    /// @return number of frames in all queues.
    uint64_t CountFrames() const;
    /// Visit the state. @param visitor visitor.
    void Visit(StateVisitor& visitor);

  private:
    class OwnQueues;

    /// The classes of which a source should create a frame.
    uint32_t Wanted() const
    {
        return HasSelectors() ? m_offered : m_offered & ~m_ready.GetFilled();
    }

    /// The queue length of a class has changed.
    void TellTrace(uint8_t cls) const
    {
        if (!m_trace.IsEmpty())
        {
            m_trace(m_port, cls);
        }
    }

    /// The line is no longer idle, whoever kept it so.
    void EndWithheld();
    /// Do all gates let the head of a queue pass? If not, m_wakeTime learns when.
    bool MayGo(uint16_t queue, int64_t now);
    /// The queue of a class that may send, or -1.
    int SelectOf(uint8_t cls, uint32_t mask, int64_t now);
    /// The queue of the class that lacks its minimum first, or -1.
    template <class F>
    int SelectAssured(uint32_t classes, F selectOf) const;
    /// The member of the chain with queues of its own, or null.
    QueueSelector* FindOwner() const;
    /// The own queues of a queue's class. Precondition: it has some.
    OwnQueues& OwnOf(uint16_t queue) const;
    /// The length of a queue has changed.
    void NoteFrames(uint16_t queue, int64_t bytes);
    /// Notify the scheduler of an own queue that has become active, or no longer is.
    void Reschedule(uint16_t queue, bool changed);
    /// Count the first block of a queue, or the end of the last one.
    void NoteBlock(uint16_t queue, bool on);
    /// Notify the observer that a class is held, or no longer is.
    void TellHeld(uint8_t cls, bool wasHeld) const;
    /// Tell the observer that what is held back may be so for other reasons.
    void NotifyChange() const;

    // Accessed for every transmitted frame, kept in few cache lines
    PortOwner* m_node{nullptr};        //!< node of the port
    Port& m_port;                      //!< the port, passed to callbacks
    FrameSource* m_source{nullptr};    //!< source of a host; m_ring if there are several
    uint32_t m_offered{0};             //!< bit c: the source has frames of class c
    ReadySet m_ready;                  //!< queues that may be asked
    uint64_t m_joined{0};              //!< number of frames that have joined
    std::vector<EgressQueue> m_queues; //!< class queues, then own ones
    std::vector<std::unique_ptr<OwnQueues>> m_own;       //!< by class; empty if there are none
    std::vector<Gate*> m_gates;                          //!< of the chain
    std::vector<SentListener*> m_sentListeners;          //!< of the chain
    std::vector<QueueSelector*> m_selectors;             //!< of the chain
    const TracedCallback<const Port&, uint8_t>& m_trace; //!< Egress
    int64_t m_wakeTime{NEVER};                           //!< see GetWakeTime
    std::unique_ptr<ClassRates> m_rates;                 //!< null if no class has a rate
    ClassScheduler m_scheduler;                          //!< chooses the class

    // Pauses, and constants
    HoldBook m_holds;                       //!< of its classes
    uint16_t m_index{0};                    //!< of the port
    uint32_t m_overhead{0};                 //!< of a frame on the wire (B)
    std::vector<OrderModel*> m_orderModels; //!< of the chain
    std::vector<Gate*> m_firmGates;         //!< those that are not an OrderModel
    std::unique_ptr<SourceRing> m_ring;     //!< if there are several sources; else null
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_EGRESS_H */
