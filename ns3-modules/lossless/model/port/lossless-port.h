/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PORT_H
#define LOSSLESS_PORT_H

#include "lossless-class-maps.h"
#include "lossless-control-queue.h"
#include "lossless-egress.h"
#include "lossless-flow-control-chain.h"
#include "lossless-link-end.h"
#include "lossless-link-errors.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-frame.h"
#include "ns3/lossless-link-retry.h"
#include "ns3/traced-callback.h"

#include <array>
#include <memory>
#include <string>

namespace ns3
{
namespace lossless
{

class PortOwner;

/**
 * @ingroup lossless
 * @brief One end of a full-duplex link: sends the frames that its Egress chooses, receives, and
 * passes control frames to its chain of flow controls.
 *
 * MAC control frames are sent first, then the control queue, which is never paused, then the frames
 * chosen by the Egress. A transmission is never interrupted. A frame's last bit leaves at the end
 * of its wire time, which includes Overhead; it arrives a link delay later.
 *
 * Not modelled: auto-negotiation, cut-through.
 */
class Port : public LinkEnd
{
  public:
    /// Scheduling within a class.
    enum class QueueService
    {
        FIFO,        ///< first in, first out
        ROUND_ROBIN, ///< one frame from each ingress port in turn
    };

    /// When the bytes of a frame leave the shared buffer.
    enum class ReleaseAt
    {
        END,   ///< when its last bit has been sent
        START, ///< when its transmission starts
    };

    /// Totals over the life of a port.
    struct Counters
    {
        uint64_t dataIn{0};     //!< DATA frames received
        uint64_t controlOut{0}; //!< MAC control frames sent, including ideal ones
        uint64_t pausesSent{0}; //!< times it paused a class of its peer
        std::array<int64_t, N_CLASSES + 1> wireIn{}; //!< wire bytes received, by class
        std::array<int64_t, N_CLASSES + 1>
            wireOut{}; //!< wire bytes whose transmission has started, by class
    };

    /// What happens to a state message that waits for the wire when there is a newer one.
    enum class States
    {
        LATEST, ///< the newer one replaces it
        ALL,    ///< both are sent, in order
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Port();
    ~Port() override;

    /// Connect the port.
    /// @param node the node it belongs to. @param index its index there. @param peer the other end.
    /// @param rate bit/s. @param delay ps.
    void Attach(PortOwner* node, uint16_t index, Port* peer, uint64_t rate, int64_t delay);
    /// Draw losses on the link from a random stream, if it has any. Before the start.
    /// @param stream number of a stream for this port alone.
    void SetErrorStream(int64_t stream);
    /// Let the fates of frames on the link be chosen otherwise. After SetErrorStream.
    /// @param errors what chooses them.
    void SetErrors(std::unique_ptr<LinkErrors> errors);
    /// Tell its events where they belong. Precondition: attached.
    /// @param cell of its node, see eventloop::CellLoop.
    void SetCell(uint16_t cell);
    /// Say whether the peer is in a cell that another thread runs, so that what is sent goes
    /// through mailboxes. Between windows, see eventloop::CellThreads. Precondition: SetCell was
    /// called.
    /// @param apart true if it is.
    void SetApart(bool apart);

    /// Append a flow control to the chain, before the port has started.
    /// @param flowControl a new instance; its roles are registered here.
    void AddFlowControl(Ptr<FlowControl> flowControl);

    /// @return its flow controls.
    FlowControlChain& GetChain()
    {
        return m_chain;
    }

    /// @return its flow controls.
    const FlowControlChain& GetChain() const
    {
        return m_chain;
    }

    /// @return the transmit side.
    Egress& GetEgress()
    {
        return m_egress;
    }

    /// @return the transmit side.
    const Egress& GetEgress() const
    {
        return m_egress;
    }

    /// Create queues and start flow controls; the node's ports all exist.
    void Start();

    /// A frame joins an egress queue; the class of the control queue is CONTROL_CLASS.
    /// @param frame the frame.
    void Enqueue(Frame* frame)
    {
        frame->cls < N_CLASSES ? m_egress.Push(frame) : m_controlQueue.Push(frame);
        Kick();
    }

    /// Send a MAC control frame to the peer.
    /// @param frame the frame; the port takes ownership.
    /// @param ideal true: it uses no bandwidth and does not wait, as the concept of a scheme may
    /// assume.
    void SendControl(Frame* frame, bool ideal = false);
    /**
     * @brief Send a MAC control frame whose words are the current state of the classes it
     * addresses, so that only the latest one matters.
     *
     * If a frame of the same opcode still waits, it takes over the words: so no scheme has more
     * than one such frame waiting, however many classes change. With the attribute States set to
     * All both are sent, in order.
     *
     * @param frame the frame; the port takes ownership.
     * @param first true: before all other waiting control frames, as required of a PAUSE for its
     * headroom to suffice.
     * @return true if it is sent as a separate frame, false if it was merged into a waiting one.
     */
    bool SendState(Frame* frame, bool first = false);

    /// Try to transmit: something that held a queue back has changed.
    void Kick()
    {
        if (!m_busy)
        {
            TransmitNext();
        }
    }

    /// Put a message of the physical layer between the blocks on the wire: it waits for nothing,
    /// and what is sent next ends later by its time, unless the wire is idle in between.
    /// @param bytes its size. @return true if it arrives undamaged.
    bool Insert(uint32_t bytes);

    /// Block a queue until Unblock; several flow controls may do so.
    /// @param queue egress queue.
    void Block(uint16_t queue);
    /// Undo one Block.
    /// @param queue egress queue.
    void Unblock(uint16_t queue);
    /// Block or unblock all queues of a class.
    /// @param cls class. @param block true to block.
    void BlockClass(uint8_t cls, bool block);
    /// Transmit from a queue regardless of flow controls.
    /// @param queue egress queue. @param ignore true to ignore them.
    void SetIgnorePause(uint16_t queue, bool ignore);
    /// The link goes down or comes up, at this end.
    /// @param up true: up.
    void SetUp(bool up);

    /// Is the link up? @return true if so.
    bool IsUp() const
    {
        return m_up;
    }

    /// A flow control has paused or resumed the peer.
    /// @param cls class. @param on whether it is paused.
    void NotePauseSent(uint8_t cls, bool on);
    /// A flow control of the port starts or ceases to obey a pause of the peer. Several may pause a
    /// class at the same time; traces and agents learn of the first start and the last end.
    /// @param cls class. @param on whether this flow control pauses it.
    void NotePaused(uint8_t cls, bool on);

    /// The answer of this port's flow controls to WouldHold or WaitsFor may have become true,
    /// although no frame joined a queue that is held back.
    void NoteModelChange() const;

    /// Bytes have entered its ingress accounting: notify the trace and the chain.
    /// @param frame charged frame. @param queueBytes bytes of its (port, class).
    void NotifyReceived(Frame& frame, int64_t queueBytes) const
    {
        if (IsIngressWatched())
        {
            TellReceived(frame, queueBytes);
        }
    }

    /// Bytes have left its ingress accounting: notify the trace and the chain.
    /// @param departure the frame that left. @param queueBytes bytes of the (port, class).
    void NotifyReleased(const Departure& departure, int64_t queueBytes) const
    {
        if (IsIngressWatched())
        {
            TellReleased(departure, queueBytes);
        }
    }

    /// @return the node it belongs to.
    PortOwner& GetNode() const
    {
        return *m_node;
    }

    /// @return number of its node.
    uint32_t GetNodeId() const;
    /// @return number of the neighbour.
    uint32_t GetPeerId() const;

    /// @return its maps of classes.
    ClassMaps GetMaps() const
    {
        return {m_dscpClasses, m_classGroups, m_classQueues, m_classMarks};
    }

    /// Name it in tables other than by its neighbour, to which several links lead.
    /// @param number the name, see Routes::FindEdge.
    void SetNeighbour(uint32_t number);
    /// @return the number that names the port among those of its node, see Routes::FindEdge: that
    /// of the neighbour, unless several links lead to it.
    uint32_t GetNeighbour() const;
    /// @return the name among the ports of its node: that of the neighbour, with #1, #2, ... if
    /// several links lead to it.
    std::string GetNeighbourName() const;

    /// @return the other end.
    Port& GetPeer() const
    {
        return *m_peer;
    }

    /// Can queues of this port, or of its peer, be held back by something without a DeadlockModel?
    /// @return true if there is a gate that is not a model, or queues are or were blocked although
    /// there is no model.
    bool IsUnjudged() const;

    /**
     * @brief Visit the MAC control frames on their way to this port: those waiting at the peer, to
     * be sent or repeated, on the wire, or not yet in effect.
     *
     * @tparam F takes a const Frame&.
     * @param look called with each.
     */
    template <class F>
    void ForEachControlFrame(F look) const
    {
        const auto lookAtControl = [&look](const Frame& frame) {
            if (frame.kind == FrameKind::MAC && !frame.lost)
            {
                look(frame);
            }
        };
        for (const Frame* frame = m_peer->m_macQueue.Head(); frame; frame = frame->next)
        {
            lookAtControl(*frame);
        }
        m_peer->ForEachKept(lookAtControl);
        m_inbound.ForEach(lookAtControl);
        m_pending.ForEach(lookAtControl);
        m_ideal.ForEach(lookAtControl);
    }

    /// Bytes in the ingress accounting of a class.
    /// @param cls class. @return bytes.
    int64_t GetIngressBytes(uint8_t cls) const;

    /// @return egress queue q at index q.
    const std::vector<EgressQueue>& GetQueues() const
    {
        return m_egress.GetQueues();
    }

    /// Queue length of a class.
    /// @param cls class. @return bytes; the frame in transmission is not counted.
    int64_t GetEgressBytes(uint8_t cls) const
    {
        return m_egress.GetBytes(cls);
    }

    /// @return totals of this port.
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /**
     * @brief The classes of a control frame from the peer that this port obeys: those that its node
     * treats as lossless. As in IEEE 802.1Q, a priority that no flow control protects cannot be
     * held back by one. A frame that addresses other classes, too, is counted as ignored.
     *
     * @param classes classes that the frame addresses: bit c is set for class c.
     * @return those to obey.
     */
    uint32_t KeepLossless(uint32_t classes);

    /// Total time, summed over classes, for which they were paused until now. @return ps.
    int64_t GetPausedTime() const
    {
        return m_egress.GetHolds().GetPausedTime(NowPs());
    }

    /// Total time, summed over classes, for which the line was idle although frames waited that
    /// nothing but a rate of a flow control kept. @return ps.
    int64_t GetWithheldTime() const
    {
        return m_egress.GetHolds().GetWithheldTime(NowPs());
    }

    /// Total time for which a class was paused until now.
    /// @param cls class. @return ps.
    int64_t GetPausedTime(uint8_t cls) const
    {
        return m_egress.GetHolds().GetPausedTime(cls, NowPs());
    }

    /// Is a class paused by the peer?
    /// @param cls class. @return true if so.
    bool IsPaused(uint8_t cls) const
    {
        return m_egress.GetHolds().IsPaused(cls);
    }

    /// Frames in its queues, kept to be repeated, and on the wire towards it, MAC frames not
    /// counted. @return count.
    uint64_t CountHeld() const;

    /// Frames that wait to be sent, MAC frames not counted. @return count.
    uint64_t CountWaiting() const;

    /// Visit the state. @param visitor visitor.
    void Visit(StateVisitor& visitor);

    /// @return where frames arrive.
    eventloop::Place GetArrivalPlace() const;

    /// @return where transmissions end.
    eventloop::Place GetEndPlace() const;

    /// TracedCallback signature of pauses.
    /// @param port the port. @param cls class. @param on whether it is paused.
    typedef void (*PauseCallback)(const Port& port, uint8_t cls, bool on);
    /// TracedCallback signature of frames.
    /// @param port the port. @param frame the frame.
    typedef void (*FrameCallback)(const Port& port, const Frame& frame);
    /// TracedCallback signature of ingress bytes.
    /// @param port the port. @param cls class.
    /// @param bytes its bytes in the ingress accounting of the port.
    typedef void (*BytesCallback)(const Port& port, uint8_t cls, int64_t bytes);
    /// TracedCallback signature of egress queues.
    /// @param port the port. @param cls class; see GetEgressBytes for the queue length.
    typedef void (*EgressCallback)(const Port& port, uint8_t cls);

  protected:
    void DoDispose() override;

  private:
    /// How a control frame is sent.
    enum class Way : uint8_t
    {
        LAST,  ///< after waiting ones
        FIRST, ///< before waiting ones
        IDEAL, ///< without using the wire
    };

    /// How attributes let its queues be served; throws if they contradict each other or the link.
    Egress::Service GetService() const;
    /// For paths of ns3::Config: the length of FlowControlList.
    std::size_t GetNFlowControls() const;
    /// For paths of ns3::Config: an element of FlowControlList.
    Ptr<FlowControl> GetFlowControl(std::size_t place) const;
    /// Send a control frame; a link that is down takes none.
    void Launch(Frame* frame, Way way);
    /// Send what comes next: a repeat, a MAC frame, one of the control queue, one of the egress.
    /// Precondition: not busy.
    void TransmitNext();
    /// Start a transmission, of a frame that is in no queue any more.
    void Transmit(Frame* frame);
    /// Start to repeat a frame: its bytes have left the buffer before.
    void Repeat(LinkRetry::Repeat next);
    /// The wire is busy for a time; null: nothing arrives.
    void PutOnWire(Frame* frame, int64_t time);
    /// What the link does to a frame.
    LinkErrors::Fate DrawFate(uint32_t bytes) const;
    /// The time of bytes on the wire, and of the messages inserted before them.
    int64_t TakeTimeOf(int64_t wire);
    /// The last bit has left: release the frame, send the next one.
    void TransmitEnd();
    /// The last bit has arrived.
    void Arrive(Frame* frame);
    /// A time has come for which a queue waited.
    void Wake();
    /// The bytes of the frame in transmission leave the buffer, once.
    void ReleaseDeparture();
    /// A control frame takes effect, ControlDelay after it has arrived.
    void Obey(Frame* frame);
    /// Add this hop to the telemetry of a frame that has left its queue.
    void WriteTelemetry(const Frame& frame, int64_t queueBytes, int64_t now) const;
    /// NotifyReceived, where somebody listens.
    void TellReceived(Frame& frame, int64_t queueBytes) const;
    /// NotifyReleased, where somebody listens.
    void TellReleased(const Departure& departure, int64_t queueBytes) const;

    /// Call a function with each frame that is kept to be repeated.
    template <class F>
    void ForEachKept(F look) const
    {
        for (const Frame* frame = m_retry ? m_retry->GetKept().Head() : nullptr; frame;
             frame = frame->next)
        {
            look(*frame);
        }
    }

    using Wire = EventStream<Port, Frame, &Port::Arrive>;
    using Outlet = EventOutlet<Port, Frame, &Port::Arrive>;
    using IdealWire = EventStream<Port, Frame, &Port::Obey>;
    using IdealOutlet = EventOutlet<Port, Frame, &Port::Obey>;

    /// Does anybody listen to the ingress accounting? Asked for each frame, before a call.
    bool IsIngressWatched() const
    {
        return m_chain.CountsBytes() || !m_ingressTrace.IsEmpty();
    }

    // Accessed for every transmitted frame, kept in few cache lines
    PortOwner* m_node{nullptr};           //!< owner
    Outlet m_outbound;                    //!< towards the other end
    Port* m_peer{nullptr};                //!< other end
    bool m_up{true};                      //!< link state
    bool m_busy{false};                   //!< transmitting
    bool m_releaseDue{false};             //!< m_departure has yet to be released
    ControlQueue m_macQueue;              //!< MAC control frames
    FrameFifo m_controlQueue;             //!< frames of CONTROL_CLASS
    Egress m_egress;                      //!< all other frames
    std::unique_ptr<LinkErrors> m_errors; //!< of what it sends; null if there are none
    LinkRetry* m_retry{nullptr};          //!< of the chain; null if there is none
    int64_t m_inserted{0};                //!< bytes put between blocks that have yet to take time
    ReleaseAt m_releaseAt;                //!< when bytes leave the buffer (attribute)
    States m_states;                      //!< handling of waiting state messages (attribute)
    Departure m_departure;                //!< the frame in transmission
    ReusableEvent<Port> m_transmitEnd;    //!< transmission ends
    TracedCallback<const Port&, const Frame&> m_transmitTrace; //!< Transmit
    TracedCallback<const Port&, uint8_t> m_egressTrace;        //!< Egress
    Counters m_counters;                                       //!< totals

    // Accessed for every received frame
    Wire m_inbound;                                               //!< towards this port
    TracedCallback<const Port&, const Frame&> m_receiveTrace;     //!< Receive
    TracedCallback<const Port&, uint8_t, int64_t> m_ingressTrace; //!< IngressBytes
    FlowControlChain m_chain;                                     //!< of flow controls

    // Control frames and pauses
    IdealWire m_pending;         //!< received, not yet in effect
    IdealWire m_ideal;           //!< ideal ones in flight
    IdealOutlet m_idealOutbound; //!< towards the other end
    int64_t m_controlDelayPs{0}; //!< GetControlDelay
    ReusableEvent<Port> m_wake;  //!< a queue may be sent from now
    int64_t m_wakeAt{NEVER};     //!< earliest pending wake-up (ps)

    // Constants
    uint32_t m_neighbour{ALL_NODES}; //!< GetNeighbour, if SetNeighbour was called
    ClassService m_classService;     //!< between classes
    QueueService m_queueService;     //!< within a class
    uint32_t m_quantum;              //!< bytes per round and weight
    std::string m_weights;           //!< by class
    std::string m_minRates;          //!< by class
    std::string m_maxRates;          //!< by class
    std::string m_dscpClasses;       //!< classes by code point
    std::string m_classGroups;       //!< by class
    std::string m_classQueues;       //!< by class
    std::string m_classMarks;        //!< code points by class

    // Pauses
    TracedCallback<const Port&, uint8_t, bool> m_pauseSentTrace; //!< PauseSent
    TracedCallback<const Port&, uint8_t, bool> m_pausedTrace;    //!< Paused
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PORT_H */
