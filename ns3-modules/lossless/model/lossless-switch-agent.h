/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_SWITCH_AGENT_H
#define LOSSLESS_SWITCH_AGENT_H

#include "lossless-flow-control.h"
#include "lossless-frame.h"

#include "ns3/object.h"

#include <string>

namespace ns3
{
namespace lossless
{

class FabricNode;
class Port;

/**
 * @ingroup lossless
 * @brief Something that acts on a whole node; what it sees there it says by the roles below, of
 * which it derives from any number. A role that it does not take costs nothing.
 *
 * Any number a node, switch or host. Act through the node and its ports: FabricNode::Inject,
 * Port::SendControl, Port::DropQueue, Port::TakeFrames, Port::SetIgnorePause.
 */
class SwitchAgent : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Tie it to its node; called once.
    /// @param node the node, which owns this object.
    void SetNode(FabricNode* node);
    /// All ports are there and none has started: the time to give them flow controls.
    virtual void SetUp();
    /// All ports are complete. Called once, before any frame.
    virtual void Start();

    /// What makes this configuration impossible on this node.
    /// @return one problem a line; empty if none.
    virtual std::string Check() const;
    /// What is possible on this node, but hardly wanted. @return one warning a line; empty if none.
    virtual std::string Warn() const;
    /// Add this node's numbers to the run's summary.
    /// @param summary where to add.
    virtual void Report(Summary& summary) const;

  protected:
    FabricNode* m_node{nullptr}; //!< the node it belongs to
};

/**
 * @ingroup lossless
 * @brief Role of an agent that watches the egress queues of the classes 0..7.
 */
class QueueAgent
{
  public:
    virtual ~QueueAgent() = default;
    /// A frame has joined an egress queue.
    /// @param egress port. @param queue queue. @param frame it; may be marked.
    virtual void NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame);
    /// A frame begins to go.
    /// @param egress port. @param queue queue it left. @param frame it; may be marked.
    virtual void NotifyDequeue(Port& egress, uint16_t queue, Frame& frame);
};

/**
 * @ingroup lossless
 * @brief Role of an agent that hears of pauses.
 */
class PauseAgent
{
  public:
    virtual ~PauseAgent() = default;
    /// This node has paused, or resumed, a peer.
    /// @param port towards it. @param cls class. @param on paused.
    virtual void NotifyPauseSent(Port& port, uint8_t cls, bool on);
    /// A peer has paused, or resumed, this node.
    /// @param port towards it. @param cls class. @param on paused.
    virtual void NotifyPaused(Port& port, uint8_t cls, bool on);
};

/**
 * @ingroup lossless
 * @brief Role of an agent that looks at SIGNAL frames in transit.
 */
class TransitAgent
{
  public:
    virtual ~TransitAgent() = default;
    /// A SIGNAL frame has arrived.
    /// @param frame it. @param ingress port. @return true: consumed, this object frees it.
    virtual bool NotifyTransit(Frame* frame, Port& ingress) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent that sees MAC control frames come and go.
 */
class ControlAgent
{
  public:
    virtual ~ControlAgent() = default;
    /// A MAC control frame is about to be queued: append bytes, or change its words.
    /// @param port towards the peer. @param control the frame.
    virtual void Decorate(Port& port, ControlFrame& control);
    /// A MAC control frame takes effect.
    /// @param port it came by. @param control the frame.
    virtual void NotifyControl(Port& port, const ControlFrame& control);
};

/**
 * @ingroup lossless
 * @brief Role of an agent that decides whether frames may stay.
 */
class ArrivalAgent
{
  public:
    virtual ~ArrivalAgent() = default;
    /// A frame of one of the classes 0..7 has arrived at a switch and knows its egress; it is not
    /// charged yet.
    /// @param frame it; its class may be changed. @param ingress port.
    /// @return false: it is to be dropped, as an intended loss.
    virtual bool NotifyArrival(Frame& frame, Port& ingress) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of the agent that says in which class a frame leaves a switch; a switch has one at
 * most.
 *
 * The frame stays charged to the class in which it came until it has gone: a pause of the upstream
 * names the class that the upstream sends. Its egress queue, and its priority on the next link, are
 * those of the new class.
 */
class TagAgent
{
  public:
    virtual ~TagAgent() = default;
    /// The class in which a frame of one of the classes 0..7 leaves. It may be asked more than once
    /// of a frame, and has to give the same answer.
    /// @param frame it, in the class in which it came, with its egress. @param ingress port.
    /// @return class 0..7.
    virtual uint8_t GetEgressClass(const Frame& frame, const Port& ingress) const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent of a host that takes data more slowly than its line.
 */
class ReceiveAgent
{
  public:
    virtual ~ReceiveAgent() = default;
    /// A data frame has joined the FIFO of the receiver.
    /// @param frame it.
    /// @param bytes frame bytes in the FIFO, this one and the one that is being taken included.
    /// @param rate bit/s of frame bytes at which the host takes them.
    virtual void NotifyReceive(const Frame& frame, int64_t bytes, uint64_t rate) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent that reads FabricNode::GetFeeds, which is kept only for such.
 */
class FeedReader
{
  public:
    virtual ~FeedReader() = default;
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SWITCH_AGENT_H */
