/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FLOW_CONTROL_H
#define LOSSLESS_FLOW_CONTROL_H

#include "lossless-buffer-demand.h"
#include "lossless-queue-scheduler.h"

#include "ns3/lossless-frame.h"
#include "ns3/object.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class Port;

/// Values for a run's summary, by name; names end in their unit. Values with equal names are added
/// up.
using Summary = std::map<std::string, double>;

/**
 * @ingroup lossless
 * @brief A hop-by-hop flow control: one instance per port, any number of schemes in a port's chain.
 *
 * Derive a class with a TypeId and attributes, and experiments can use it by name. The class
 * declares what it takes part in by deriving from any number of the roles below; roles it does not
 * have cost nothing. A frame may be sent when no member of the chain blocks its queue and the times
 * of all gates have come.
 *
 * *Receiver's side*: observe arriving and departing bytes (ByteObserver) and OFF and ON
 * (XoffListener), and respond with Port::SendControl. *Sender's side*: block and unblock queues
 * (Port::Block), set the earliest time at which the head of a queue may be sent (Gate), count what
 * was sent (SentListener), add egress queues (QueueSelector), and consume control frames of the
 * peer (ReceiveControl). A scheme that holds queues back should also be a DeadlockModel: without
 * one a run reports that deadlocks were not judged.
 */
class FlowControl : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Attach to a port; called once.
    /// @param port the port, which owns this object.
    void SetPort(Port* port);

    /**
     * @brief What this scheme needs of the port's ingress buffer to lose nothing. Called before
     * Start, when rate, delay, peer and frame sizes are known.
     *
     * The node's buffer reserves it, and rejects at the start what it cannot hold.
     *
     * @return the demand; by default nothing.
     */
    virtual BufferDemand GetBufferDemand() const;

    /// The port is complete (rate, peer, buffer): start timers, read the rate. Called once, before
    /// the first frame.
    virtual void Start();

    /// Errors that make this configuration impossible on this port.
    /// @return one problem per line; empty if none.
    virtual std::string Check() const;
    /// Violations of sufficient bounds, which may be intended.
    /// @return one warning per line; empty if none.
    virtual std::string Warn() const;

    /// A control frame from the peer takes effect. What it says of classes that are not lossless
    /// here has none; see Port::KeepLossless.
    /// @param control the frame. @return true if it belongs to this scheme.
    virtual bool ReceiveControl(const ControlFrame& control);

    /// The link went down or came up: discard the state agreed over it.
    /// @param up true: up.
    virtual void NotifyLink(bool up);

    /// Add this port's numbers to the run's summary.
    /// @param summary the summary.
    virtual void Report(Summary& summary) const;

  protected:
    Port* m_port{nullptr}; //!< port it belongs to
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that knows when it does nothing. A network whose flow controls all
 * are at rest may skip what repeats; one with a flow control without this role skips nothing.
 */
class Resting
{
  public:
    virtual ~Resting() = default;
    /// Is none of its pauses in force, on either side, and will nothing of its own happen until the
    /// buffer or a control frame causes it, whatever the time is then? @return true if so.
    virtual bool IsAtRest() const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that counts the bytes that arrive by its port and depart again.
 */
class ByteObserver
{
  public:
    virtual ~ByteObserver() = default;
    /// Bytes have entered the ingress accounting of this port.
    /// @param frame the frame, already charged. @param queueBytes current bytes of its (port,
    /// class).
    virtual void NotifyReceived(Frame& frame, int64_t queueBytes) = 0;
    /// Bytes have left the ingress accounting of this port.
    /// @param departure the frame that left. @param queueBytes current bytes of the (port, class).
    virtual void NotifyReleased(const Departure& departure, int64_t queueBytes) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that pauses the upstream when the node's buffer, or a faulty host,
 * requires it.
 */
class XoffListener
{
  public:
    virtual ~XoffListener() = default;
    /// The upstream of a class is to be paused or resumed; called on changes only.
    /// @param cls class. @param xoff true: XOFF, pause; false: XON.
    virtual void NotifyXoff(uint8_t cls, bool xoff) = 0;

    /// Tell the upstream of a class once that it may send, whatever its state: a fault.
    virtual void SendResume(uint8_t /* cls */)
    {
    }
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that sets the earliest time of queue heads: a rate, a credit.
 */
class Gate
{
  public:
    virtual ~Gate() = default;
    /// Earliest time at which the head of a queue may be sent.
    /// @param queue egress queue. @param head its first frame. At a host its `egress` is NO_PORT.
    /// @param now ps.
    /// @return ps; now if immediately, NEVER if it depends on another event (then call Port::Kick
    /// when that has happened).
    virtual int64_t GetEarliest(uint16_t queue, const Frame& head, int64_t now) const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that counts what its port sends, or writes into it.
 */
class SentListener
{
  public:
    virtual ~SentListener() = default;
    /// The head of a queue has started transmission.
    /// @param queue egress queue, which no longer contains it. @param frame the frame. @param now
    /// ps.
    virtual void NotifySent(uint16_t queue, Frame& frame, int64_t now) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a flow control with egress queues of its own.
 *
 * Queue c (0..7) is that of class c; the scheme's own queues have the numbers c + 8, c + 16, ...,
 * which a QueueScheduler addresses by index 0, 1, ...
 */
class QueueSelector
{
  public:
    virtual ~QueueSelector() = default;
    /// Number of egress queues needed per class besides the class queue; only one member of a chain
    /// may.
    /// @return count, at most MAX_OWN_QUEUES.
    virtual uint16_t GetOwnQueues() const = 0;
    /// The scheduler of a class's own queues, which are served once its class queue has nothing to
    /// send.
    /// @return a new one, called once per class; by default a StrictScheduler.
    virtual std::unique_ptr<QueueScheduler> MakeScheduler();
    /// Choose the egress queue a frame joins. A host also calls this before it creates the frame,
    /// so it must have no side effects; use NotifyJoined for these.
    /// @param frame the frame, possibly not created yet: flow, class and destination are set. At a
    /// host its `egress` is NO_PORT. @param queue the choice of the chain so far. @return queue.
    virtual uint16_t SelectQueue(const Frame& frame, uint16_t queue) const = 0;
    /// A frame has joined an egress queue, its own one or that of a class.
    /// @param queue egress queue. @param frame the frame.
    virtual void NotifyJoined(uint16_t queue, Frame& frame);
    /// A frame was removed from an egress queue without being sent: dropped, or to join another
    /// one. The queue no longer contains it.
    /// @param queue egress queue. @param frame the frame.
    virtual void NotifyTaken(uint16_t queue, Frame& frame);
};

/**
 * @ingroup lossless
 * @brief Role of a flow control that holds queues back: its answers to the deadlock analyzer.
 */
class DeadlockModel
{
  public:
    virtual ~DeadlockModel() = default;

    /// A (port, class) after everything that can move has left.
    struct Rest
    {
        int64_t bytes; //!< bytes that remain
        bool off;      //!< whether the shared buffer, or a host's fault, would still keep it OFF
        const std::vector<const Frame*>& frames; //!< frames that remain, in order within each flow
    };

    /// Would this port still keep its peer from sending if only a part of the bytes received by it
    /// remained?
    /// @param queue egress queue of the peer; its class is that modulo 8.
    /// @param head first frame in it.
    /// @param rest remaining bytes of the class in this port's ingress accounting.
    /// @return true if the frame could not be sent as long as no more bytes leave.
    virtual bool WouldHold(uint16_t queue, const Frame& head, const Rest& rest) const = 0;
    /// Would a control frame release a queue of this port that is currently held back? Called for
    /// frames in flight.
    /// @param queue egress queue of this port. @param head first frame in it.
    /// @param control the frame in flight. @return true if the head could be sent then.
    virtual bool WouldRelease(uint16_t queue,
                              const Frame& head,
                              const ControlFrame& control) const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of a DeadlockModel whose queues wait for each other: its Gate returns NEVER only to
 * keep an order, and it pauses queues with Port::Block.
 */
class OrderModel
{
  public:
    virtual ~OrderModel() = default;
    /// Must a queue of this port wait for frames in another queue of the port, although it is not
    /// paused?
    /// @param queue egress queue of this port. @param head first frame in it.
    /// @param other egress queue of this port that holds frames.
    /// @return true if the head cannot be sent as long as the other queue does not move.
    virtual bool WaitsFor(uint16_t queue, const Frame& head, uint16_t other) const = 0;
};

/**
 * @ingroup lossless
 * @brief Add a flow control or an agent to the list of a role, if it has that role.
 *
 * @tparam Role the role.
 * @tparam T static type of `member`.
 * @param list members with the role.
 * @param member candidate.
 * @return true if it has the role.
 */
template <class Role, class T>
bool
EnterRole(std::vector<Role*>& list, T* member)
{
    auto* role = dynamic_cast<Role*>(member);
    if (role)
    {
        list.push_back(role);
    }
    return role != nullptr;
}

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FLOW_CONTROL_H */
