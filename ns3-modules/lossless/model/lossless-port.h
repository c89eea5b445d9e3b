/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_PORT_H
#define LOSSLESS_PORT_H

#include "lossless-egress-queue.h"
#include "lossless-event.h"
#include "lossless-flow-control.h"
#include "lossless-frame.h"

#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace ns3
{
namespace lossless
{

class FabricNode;

/**
 * @ingroup lossless
 * @brief Where a port gets frames that are made only when they can go: the queue pairs of a host.
 */
class FrameSource
{
  public:
    virtual ~FrameSource() = default;
    /**
     * @brief Make the next frame of a class. Called only while the class is ready. Where flow
     * controls choose queues (Port::HasSelectors), it passes over flows whose frames would join
     * a queue that is not empty, until Reopen says that they may be tried again.
     *
     * @param cls class.
     * @return it, or nullptr.
     */
    virtual Frame* Pull(uint8_t cls) = 0;
    /**
     * @brief Flows that were passed over because their frames would have had to wait may be tried
     * again: the first of them, or all.
     *
     * @param queue egress queue that has run empty, or ANY_QUEUE: flows may join other queues now.
     */
    virtual void Reopen(uint16_t queue);
};

/**
 * @ingroup lossless
 * @brief One end of a full-duplex link: egress queues, transmitter, receiver, and a chain of flow
 * controls.
 *
 * Egress queue c (0..7) belongs to class c; a QueueSelector may add any number, c + 8, c + 16, ...
 * MAC control frames go first, then the control queue, which is never paused, then the classes as
 * ClassService and QueueService say: of a class its own queue, then the added ones as their
 * QueueScheduler says. A frame in transmission completes. A frame's last bit leaves at the end of
 * its wire time, which includes Overhead; it arrives a link delay later.
 *
 * Not modelled: bit errors, auto-negotiation, cut-through.
 */
class Port : public Object
{
  public:
    /// Which class goes next.
    enum class ClassService
    {
        STRICT, ///< the highest that may
        DWRR,   ///< deficit weighted round robin, in bytes
        FIFO,   ///< the frame that has waited longest
    };

    /// Which frame of a class goes next.
    enum class QueueService
    {
        FIFO,        ///< the first
        ROUND_ROBIN, ///< one frame of each ingress port in turn
    };

    /// When the bytes of a frame leave the shared buffer.
    enum class ReleaseAt
    {
        END,   ///< its last bit has gone
        START, ///< its first bit goes
    };

    /// What becomes of a state that waits for the wire when there is a newer one.
    enum class States
    {
        LATEST, ///< the newer one takes its place
        ALL,    ///< both go, one after the other
    };

    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    Port();
    ~Port() override;

    /**
     * @brief Connect it.
     * @param node the node it belongs to.
     * @param index its index there.
     * @param peer the other end.
     * @param rate bit/s.
     * @param delay ps.
     */
    void Attach(FabricNode* node, uint16_t index, Port* peer, uint64_t rate, int64_t delay);
    /**
     * @brief Append a flow control to its chain, before the port has started.
     *
     * @param flowControl a new instance; its roles are found here.
     */
    void AddFlowControl(Ptr<FlowControl> flowControl);
    /**
     * @brief Its chain.
     *
     * @return flow controls in order.
     */
    const std::vector<Ptr<FlowControl>>& GetFlowControls() const;
    /**
     * @brief Take frames from a source too. Of several sources that have frames of a class, each
     * gives one in turn.
     *
     * @param source the source.
     */
    void AddSource(FrameSource* source);
    /// Make queues and start flow controls; the node's ports are all there.
    void Start();

    /**
     * @brief A frame joins an egress queue; the class of the control queue is CONTROL_CLASS.
     *
     * @param frame it.
     */
    void Enqueue(Frame* frame);
    /**
     * @brief A source has, or has no more, frames of a class that may go now.
     *
     * @param source the source.
     * @param cls class.
     * @param ready has.
     */
    void SetReady(const FrameSource* source, uint8_t cls, bool ready);

    /**
     * @brief Do flow controls choose the queue that a frame joins?
     *
     * @return true if one does.
     */
    bool HasSelectors() const
    {
        return !m_selectors.empty();
    }

    /**
     * @brief The egress queue that a frame would join now.
     *
     * @param frame it, or one that is not made yet; its class is below CONTROL_CLASS.
     * @return queue.
     */
    uint16_t QueueOf(const Frame& frame) const;
    /// Flows may join other queues than before: let the source try again those it holds back.
    void Reopen();
    /**
     * @brief Send a MAC control frame to the peer.
     * @param frame it; taken over.
     * @param ideal true: it takes no bandwidth and waits for nothing, as a scheme's concept may
     * assume.
     */
    void SendControl(Frame* frame, bool ideal = false);
    /**
     * @brief Send a MAC control frame whose words are the present state of the classes it
     * addresses, so that the latest is all that matters.
     *
     * Where a frame of the same opcode still waits, that one takes over the words: so no scheme
     * has more than one such frame waiting, however many classes change. With the attribute States
     * All both go, in their order.
     *
     * @param frame it; taken over.
     * @param first true: before all other control frames that wait, as a PAUSE has to be for its
     * headroom to suffice.
     * @return true when it goes as a frame of its own, false when one that waited takes it along.
     */
    bool SendState(Frame* frame, bool first = false);
    /// Try to transmit: something that held a queue back has changed.
    void Kick();
    /**
     * @brief Hold a queue back until Unblock; several flow controls may.
     *
     * @param queue egress queue.
     */
    void Block(uint16_t queue);
    /**
     * @brief Undo one Block.
     *
     * @param queue egress queue.
     */
    void Unblock(uint16_t queue);
    /**
     * @brief Block all queues of a class, or undo that.
     *
     * @param cls class.
     * @param block true to.
     */
    void BlockClass(uint8_t cls, bool block);
    /**
     * @brief Transmit a queue whatever the flow controls say.
     *
     * @param queue egress queue.
     * @param ignore true to.
     */
    void SetIgnorePause(uint16_t queue, bool ignore);
    /**
     * @brief Drop all frames of a queue.
     *
     * @param queue egress queue.
     * @param cause why.
     * @return how many.
     */
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
    /**
     * @brief The link goes down or comes up, at this end.
     *
     * @param up true: up.
     */
    void SetUp(bool up);

    /**
     * @brief Is the link up?
     *
     * @return true if so.
     */
    bool IsUp() const
    {
        return m_up;
    }

    /**
     * @brief A flow control has paused or resumed the peer.
     *
     * @param cls class.
     * @param on paused.
     */
    void NotePauseSent(uint8_t cls, bool on);
    /**
     * @brief A flow control obeys or ends a pause of the peer.
     *
     * @param cls class.
     * @param on paused.
     */
    void NotePaused(uint8_t cls, bool on);

    /**
     * @brief A flow control holds a class back up to a time, as a pause does; for one that uses
     * neither Block nor NotePaused.
     *
     * @param cls class.
     * @param until ps.
     */
    void NoteHeldUntil(uint8_t cls, int64_t until);

    /**
     * @brief When a class was held back last: paused, blocked, or without credit. A frame that
     * waited longer has waited for its turn since.
     *
     * @param cls class.
     * @return ps; 0: never. Later than now while it is held back up to a known time.
     */
    int64_t GetHeldUntil(uint8_t cls) const
    {
        return m_heldUntil[cls];
    }

    /// What a flow control of this port answers to WouldHold or WaitsFor may have become yes,
    /// though no frame joined a queue that is held back.
    void NoteFirmer();

    /**
     * @brief Does a flow control of this port count the bytes that come and go?
     *
     * @return true if one does.
     */
    bool CountsBytes() const
    {
        return !m_byteObservers.empty();
    }

    /**
     * @brief To the chain.
     *
     * @param frame charged frame.
     * @param queueBytes bytes of its (port, class).
     */
    void NotifyReceived(const Frame& frame, int64_t queueBytes);
    /**
     * @brief To the chain.
     *
     * @param departure whose bytes.
     * @param queueBytes bytes of the (port, class).
     */
    void NotifyReleased(const Departure& departure, int64_t queueBytes);
    /**
     * @brief There is a reason more, or less, for the upstream to be silent: the buffer, a faulty
     * host. The chain is told of the first, and when none is left.
     *
     * @param cls class.
     * @param xoff true: one more.
     */
    void NotifyXoff(uint8_t cls, bool xoff);

    /**
     * @brief The node it belongs to.
     *
     * @return the node.
     */
    FabricNode& GetNode() const;
    /**
     * @brief Number of its node.
     *
     * @return number.
     */
    uint32_t GetNodeId() const;
    /**
     * @brief Number of the neighbour.
     *
     * @return number.
     */
    uint32_t GetPeerId() const;
    /**
     * @brief The other end.
     *
     * @return the port.
     */
    Port& GetPeer() const;

    /**
     * @brief Does a flow control of this port pause its peer when the shared buffer asks for it?
     *
     * @return true if one does.
     */
    bool HasXoffListeners() const
    {
        return !m_xoffListeners.empty();
    }

    /**
     * @brief Who answers when deadlocks are judged.
     *
     * @return those of the chain.
     */
    const std::vector<DeadlockModel*>& GetDeadlockModels() const
    {
        return m_deadlockModels;
    }

    /**
     * @brief Who says which of its queues waits for which.
     *
     * @return those of the chain.
     */
    const std::vector<OrderModel*>& GetOrderModels() const
    {
        return m_orderModels;
    }

    /**
     * @brief Can something hold queues of this port, or its peer, back that no DeadlockModel of it
     * answers for?
     *
     * @return true if a gate does without being a model, or queues are or were blocked though no
     * model is there.
     */
    bool IsUnjudged() const
    {
        return m_unjudged;
    }

    /**
     * @brief Is a queue held back until further notice, and is no such notice under way?
     *
     * @param queue its number; it holds a frame.
     * @return true if its head cannot go before the peer sends a control frame that it has not sent
     * yet. False for a queue that only waits for its turn or for a time.
     */
    bool IsHeldForGood(uint16_t queue) const;
    /**
     * @brief Does something hold a queue back, other than its turn or a time?
     *
     * @param queue its number.
     * @return true if it is blocked, lacks what lets its head go, or waits for another queue of the
     * port; false if it is empty.
     */
    bool IsHeld(uint16_t queue) const;
    /**
     * @brief Its index in its node.
     *
     * @return index.
     */
    uint16_t GetIndex() const;
    /**
     * @brief Link rate.
     *
     * @return bit/s.
     */
    uint64_t GetRate() const;
    /**
     * @brief Link delay.
     *
     * @return ps.
     */
    int64_t GetDelay() const;
    /**
     * @brief Wire bytes a frame takes beyond its own.
     *
     * @return bytes.
     */
    uint32_t GetOverhead() const;
    /**
     * @brief Size of a MAC control frame.
     *
     * @return bytes.
     */
    uint32_t GetControlFrameSize() const;
    /**
     * @brief Time a received control frame takes to have effect here.
     *
     * @return ps.
     */
    int64_t GetControlDelay() const;
    /**
     * @brief Tell it how large frames get in this fabric.
     *
     * @param bytes bytes.
     */
    void SetLargestFrame(uint32_t bytes);
    /**
     * @brief Largest frame in this fabric.
     *
     * @return bytes.
     */
    uint32_t GetLargestFrame() const;
    /**
     * @brief When the bytes of a sent frame leave the shared buffer.
     *
     * @return end or start of its transmission.
     */
    ReleaseAt GetReleaseAt() const;
    /**
     * @brief Egress queues.
     *
     * @return queue q at index q.
     */
    const std::vector<EgressQueue>& GetQueues() const;
    /**
     * @brief Frames that have joined egress queues, the control queue not counted: the Frame::order
     * of the next.
     *
     * @return count.
     */
    uint64_t GetFramesJoined() const;
    /**
     * @brief Bytes in the ingress accounting of a class.
     *
     * @param cls class.
     * @return bytes.
     */
    int64_t GetIngressBytes(uint8_t cls) const;
    /**
     * @brief Bytes that wait in the egress queues of a class.
     *
     * @param cls class.
     * @return bytes; the frame in transmission is not counted.
     */
    int64_t GetEgressBytes(uint8_t cls) const;
    /**
     * @brief Wire bytes received so far.
     *
     * @param cls class.
     * @return bytes.
     */
    int64_t GetWireBytesIn(uint8_t cls) const;
    /**
     * @brief Wire bytes whose transmission has begun so far.
     *
     * @param cls class or CONTROL_CLASS.
     * @return bytes.
     */
    int64_t GetWireBytesOut(uint8_t cls) const;
    /**
     * @brief DATA frames received.
     *
     * @return count.
     */
    uint64_t GetDataFramesIn() const;
    /**
     * @brief MAC control frames sent, ideal ones too.
     *
     * @return count.
     */
    uint64_t GetControlFramesOut() const;
    /**
     * @brief Times it paused a class of its peer.
     *
     * @return count.
     */
    uint64_t GetPausesSent() const;
    /**
     * @brief Time in which classes of it were paused, summed over classes, until now.
     *
     * @return ps.
     */
    int64_t GetPausedTime() const;
    /**
     * @brief Is a class paused by the peer?
     *
     * @param cls class.
     * @return true if so.
     */
    bool IsPaused(uint8_t cls) const;
    /**
     * @brief Frames in its queues and on the wire towards it, MAC frames not counted.
     *
     * @return count.
     */
    uint64_t CountHeld() const;
    /**
     * @brief TracedCallback signature of pauses.
     *
     * @param port the port.
     * @param cls class.
     * @param on paused.
     */
    typedef void (*PauseCallback)(const Port& port, uint8_t cls, bool on);
    /**
     * @brief TracedCallback signature of frames.
     *
     * @param port the port.
     * @param frame the frame.
     */
    typedef void (*FrameCallback)(const Port& port, const Frame& frame);
    /**
     * @brief TracedCallback signature of ingress bytes.
     *
     * @param port the port.
     * @param cls class.
     * @param bytes of it in the ingress accounting of the port.
     */
    typedef void (*BytesCallback)(const Port& port, uint8_t cls, int64_t bytes);
    /**
     * @brief TracedCallback signature of egress queues.
     *
     * @param port the port.
     * @param cls class; GetEgressBytes says what waits.
     */
    typedef void (*EgressCallback)(const Port& port, uint8_t cls);

  protected:
    void DoDispose() override;

  private:
    class SourceRing;
    class OwnQueues;

    /// How a control frame goes.
    enum class Way : uint8_t
    {
        LAST,  ///< behind those that wait
        FIRST, ///< before them
        IDEAL, ///< beside the wire
    };

    Frame* FindState(uint16_t opcode) const;
    void Launch(Frame* frame, Way way);
    void TransmitNext();
    void Transmit(Frame* frame);
    void TransmitEnd();
    void Arrive(Frame* frame);
    void Wake();
    void ReleaseDeparture();
    void Obey(Frame* frame);
    void UpdateHeld(uint8_t cls);
    void Refill();
    void ReopenSource(uint16_t queue);
    void WriteTelemetry(const Frame& frame, int64_t queueBytes, int64_t now) const;

    void TellEgress(uint8_t cls) const
    {
        if (!m_egressTrace.IsEmpty())
        {
            m_egressTrace(*this, cls);
        }
    }

    Frame* SelectData();
    /**
     * @brief From when the head of a queue may go.
     *
     * @param queue queue.
     * @param now ps.
     * @return ps, or NEVER.
     */
    int64_t Earliest(uint16_t queue, int64_t now) const;
    /**
     * @brief May the head of a queue go now? Remembers when to wake otherwise.
     *
     * @param queue queue.
     * @param now ps.
     * @return true.
     */
    bool MayGo(uint16_t queue, int64_t now);
    Frame* PopQueue(uint16_t queue, int64_t now);
    int SelectStrict(uint32_t mask, int64_t now);
    int SelectFifo(uint32_t mask, int64_t now);
    int SelectDwrr(uint32_t mask, int64_t now);
    int SelectOf(uint8_t cls, uint32_t mask, int64_t now);
    OwnQueues& OwnOf(uint16_t queue) const;
    bool IsIgnored(uint16_t queue) const;
    bool IsBlocked(uint16_t queue) const;
    void AddBlock(uint16_t queue);
    void TakeBlock(uint16_t queue);
    void NoteFrames(uint16_t queue, int64_t bytes);

    uint32_t Eligible() const
    {
        return m_nonempty & ~(m_blocked & ~m_ignore);
    }

    // What a frame that goes touches, together in few cache lines
    FabricNode* m_node{nullptr};    //!< owner
    Port* m_peer{nullptr};          //!< other end
    FrameSource* m_source{nullptr}; //!< of a host; m_ring where it has several
    uint16_t m_index{0};            //!< in the node
    bool m_up{true};                //!< link state
    bool m_busy{false};             //!< transmitting
    uint32_t m_ready{0};            //!< bit c: the source has frames of class c
    uint32_t m_overhead;            //!< wire bytes beside a frame (attribute)
    uint32_t m_nonempty{0};   //!< bit c: the queue of class c holds frames; bit 8 + c: one of its
                              //!< own queues does and is not blocked
    uint32_t m_blocked{0};    //!< bit c: the queue of class c is held back; bit 8 + c: its own
                              //!< queues are, all at once
    uint32_t m_held{0};       //!< bit c: the observer watches the held class c
    uint32_t m_ignore{0};     //!< bits as in m_blocked: goes whatever holds it back
    uint64_t m_joined{0};     //!< frames that have joined egress queues
    FrameFifo m_macQueue;     //!< MAC control frames
    FrameFifo m_controlQueue; //!< frames of CONTROL_CLASS
    std::vector<EgressQueue> m_queues;             //!< class queues, then those of a flow control
    std::vector<std::unique_ptr<OwnQueues>> m_own; //!< by class; empty if there are none
    int64_t m_psPerByte{0};                        //!< exact time of a byte; 0: not a whole number
    int64_t m_delay{0};                            //!< ps
    ClassService m_classService;                   //!< between classes (attribute)
    ReleaseAt m_releaseAt;                         //!< when bytes leave the buffer (attribute)
    States m_states;                               //!< that wait for the wire (attribute)
    bool m_releaseDue{false};                      //!< m_departure is to be released
    Departure m_departure;                         //!< the frame in transmission
    std::vector<Gate*> m_gates;                    //!< of the chain
    std::vector<QueueSelector*> m_selectors;       //!< of the chain
    std::vector<ByteObserver*> m_byteObservers;    //!< of the chain
    ReusableEvent<Port> m_transmitEnd;             //!< transmission ends
    TracedCallback<const Port&, const Frame&> m_transmitTrace; //!< Transmit
    TracedCallback<const Port&, uint8_t> m_egressTrace;        //!< Egress
    std::array<int64_t, N_CLASSES + 1> m_wireOut{};            //!< wire bytes

    // What a frame that comes touches
    EventStream<Port, Frame, &Port::Arrive> m_inbound;            //!< on the wire towards this port
    TracedCallback<const Port&, const Frame&> m_receiveTrace;     //!< Receive
    TracedCallback<const Port&, uint8_t, int64_t> m_ingressTrace; //!< IngressBytes
    uint64_t m_dataIn{0};                                         //!< DATA frames
    std::array<int64_t, N_CLASSES + 1> m_wireIn{};                //!< wire bytes

    // Control frames and pauses
    EventStream<Port, Frame, &Port::Obey> m_pending; //!< received, without effect yet
    EventStream<Port, Frame, &Port::Obey> m_ideal;   //!< ideal ones on their way
    int64_t m_controlDelayPs{0};                     //!< m_controlDelay
    std::vector<uint8_t> m_blockCount;               //!< flow controls that hold a queue back
    std::array<uint32_t, N_CLASSES> m_reasons{};     //!< for the upstream to be silent, by class
    ReusableEvent<Port> m_wake;                      //!< a queue may go now
    int64_t m_wakeAt{NEVER};                         //!< earliest pending wake-up (ps)
    int64_t m_wakeWanted{NEVER};                     //!< earliest time found while selecting (ps)

    // Deficit round robin
    std::array<int64_t, N_CLASSES> m_deficit{}; //!< bytes a class may still send in its turn
    uint8_t m_turn{0};                          //!< class whose turn it is
    bool m_fresh{true};                         //!< it has not got its quantum for this turn
    uint32_t m_quantum;                         //!< bytes a turn (attribute)

    // Set once
    std::unique_ptr<SourceRing> m_ring;           //!< of several sources; else null
    Time m_controlDelay;                          //!< receive processing of control frames
    uint32_t m_controlFrameSize;                  //!< bytes
    QueueService m_queueService;                  //!< within a class
    uint64_t m_rate{0};                           //!< bit/s
    uint32_t m_largestFrame{0};                   //!< bytes
    std::vector<Ptr<FlowControl>> m_flowControls; //!< the chain
    std::vector<XoffListener*> m_xoffListeners;   //!< of the chain
    std::vector<OrderModel*> m_orderModels;       //!< of the chain
    std::vector<Gate*> m_firmGates;               //!< those that are no OrderModel
    std::vector<DeadlockModel*> m_deadlockModels; //!< of the chain
    bool m_unjudged{false};                       //!< see IsUnjudged
    bool m_started{false};                        //!< the chain is closed

    // Counters and traces
    uint64_t m_controlOut{0};                     //!< MAC frames
    uint64_t m_pausesSent{0};                     //!< count
    int64_t m_pausedTime{0};                      //!< closed intervals (ps)
    std::array<int64_t, N_CLASSES> m_pausedSince; //!< start of the open interval, or -1
    std::array<int64_t, N_CLASSES> m_heldUntil{}; //!< see GetHeldUntil
    TracedCallback<const Port&, uint8_t, bool> m_pauseSentTrace; //!< PauseSent
    TracedCallback<const Port&, uint8_t, bool> m_pausedTrace;    //!< Paused
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PORT_H */
