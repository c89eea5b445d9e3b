/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_SWITCH_AGENT_H
#define LOSSLESS_SWITCH_AGENT_H

#include "lossless-flow-control.h"

#include "ns3/lossless-frame.h"
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
 * @brief An extension of a whole node; it declares the events that it handles by deriving from any
 * number of the roles below. Roles it does not have cost nothing.
 *
 * A node, switch or host, may have any number of agents. They act through the node and its ports:
 * FabricNode::Inject, Port::SendControl, Port::DropQueue, Port::TakeFrames, Port::SetIgnorePause.
 */
class SwitchAgent : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Attach to a node; called once.
    /// @param node the node, which owns this object.
    void SetNode(FabricNode* node);
    /// All ports exist and none has started: the time to add flow controls to them.
    virtual void SetUp();
    /// All ports are complete. Called once, before the first frame.
    virtual void Start();

    /// Errors that make this configuration impossible on this node.
    /// @return one problem per line; empty if none.
    virtual std::string Check() const;
    /// Settings on this node that are possible but hardly intended. @return one warning per line;
    /// empty if none.
    virtual std::string Warn() const;
    /// Add this node's numbers to the run's summary.
    /// @param summary the summary.
    virtual void Report(Summary& summary) const;

  protected:
    FabricNode* m_node{nullptr}; //!< node it belongs to
};

/**
 * @ingroup lossless
 * @brief Role of an agent that watches the egress queues of classes 0..7.
 */
class QueueAgent
{
  public:
    virtual ~QueueAgent() = default;
    /// A frame has joined an egress queue.
    /// @param egress port. @param queue queue. @param frame the frame; may be marked.
    virtual void NotifyEnqueue(Port& egress, uint16_t queue, Frame& frame);
    /// A frame starts transmission.
    /// @param egress port. @param queue queue it left. @param frame the frame; may be marked.
    virtual void NotifyDequeue(Port& egress, uint16_t queue, Frame& frame);
};

/**
 * @ingroup lossless
 * @brief Role of an agent that does nothing while few bytes wait. A network with an agent without
 * this role skips nothing of what repeats.
 */
class RestingAgent
{
  public:
    virtual ~RestingAgent() = default;
    /// Up to how many bytes in each egress queue of a port it does nothing, and changes nothing of
    /// its own.
    /// @param port index. @return bytes.
    virtual int64_t GetRestingDepth(uint16_t port) const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent that is notified of pauses.
 */
class PauseAgent
{
  public:
    virtual ~PauseAgent() = default;
    /// This node has paused, or resumed, a peer.
    /// @param port port to the peer. @param cls class. @param on whether it is paused.
    virtual void NotifyPauseSent(Port& port, uint8_t cls, bool on);
    /// A peer has paused, or resumed, this node.
    /// @param port port to the peer. @param cls class. @param on whether it is paused.
    virtual void NotifyPaused(Port& port, uint8_t cls, bool on);
};

/**
 * @ingroup lossless
 * @brief Role of an agent that inspects SIGNAL frames in transit.
 */
class TransitAgent
{
  public:
    virtual ~TransitAgent() = default;
    /// A SIGNAL frame has arrived.
    /// @param frame the frame. @param ingress port. @return true: consumed, the agent frees it.
    virtual bool NotifyTransit(Frame* frame, Port& ingress) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent that sees outgoing and incoming MAC control frames.
 */
class ControlAgent
{
  public:
    virtual ~ControlAgent() = default;
    /// A MAC control frame is about to be queued: append bytes, or change its words.
    /// @param port port to the peer. @param control the frame.
    virtual void Decorate(Port& port, ControlFrame& control);
    /// A MAC control frame takes effect.
    /// @param port port by which it arrived. @param control the frame.
    virtual void NotifyControl(Port& port, const ControlFrame& control);
};

/**
 * @ingroup lossless
 * @brief Role of an agent that decides whether arriving frames are kept.
 */
class ArrivalAgent
{
  public:
    virtual ~ArrivalAgent() = default;
    /// A frame of classes 0..7 has arrived at a switch and has its egress; it is not charged yet.
    /// @param frame the frame; its class may be changed. @param ingress port.
    /// @return false: drop it, as an intended loss.
    virtual bool NotifyArrival(Frame& frame, Port& ingress) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of the agent that is asked before a switch drops a frame of a lossy class that its
 * buffer does not admit; at most one per switch, and not beside a TagAgent.
 *
 * It may truncate the frame (Frame::truncated), which then ends in its agreed size and possibly
 * another lossy class, or make room for it. Frames of lossless classes are never offered.
 */
class AdmissionAgent
{
  public:
    virtual ~AdmissionAgent() = default;
    /// The buffer does not admit a frame of a lossy class.
    /// @param frame the frame, with its egress; not charged. @param ingress port.
    /// @return true: ask the buffer again, with the frame as it is now; false: drop it.
    virtual bool NotifyRefused(Frame& frame, Port& ingress) = 0;
    /// Size of a truncated frame. @return bytes.
    virtual uint32_t GetTruncatedSize() const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of the agent that sets the class in which a frame leaves a switch; at most one per
 * switch.
 *
 * Until it has been sent, the frame is charged to the class in which it arrived, or to that which
 * an ArrivalAgent has given it: a pause of the upstream names that class. Its egress queue, and its
 * priority on the next link, are those of the new class. If it is an ArrivalAgent, it is the first.
 */
class TagAgent
{
  public:
    virtual ~TagAgent() = default;
    /// The class in which a frame of classes 0..7 leaves. It may be called more than once for a
    /// frame, and must return the same result.
    /// @param frame the frame, in its ingress class, with its egress. @param ingress port.
    /// @return class 0..7.
    virtual uint8_t GetEgressClass(const Frame& frame, const Port& ingress) const = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent of a host that drains data more slowly than its line.
 */
class ReceiveAgent
{
  public:
    virtual ~ReceiveAgent() = default;
    /// A data frame has joined the FIFO of the receiver.
    /// @param frame the frame.
    /// @param bytes frame bytes in the FIFO, including this one and the one being drained.
    /// @param rate drain rate in bit/s of frame bytes.
    virtual void NotifyReceive(const Frame& frame, int64_t bytes, uint64_t rate) = 0;
};

/**
 * @ingroup lossless
 * @brief Role of an agent that reads FabricNode::GetFeeds, which is only maintained for such
 * agents.
 */
class FeedReader
{
  public:
    virtual ~FeedReader() = default;
};

/**
 * @ingroup lossless
 * @brief Role of an agent that acts on other nodes than its own, or reads their state, while the
 * network runs.
 *
 * Others, and all flow controls, keep to their node: only so can cells (eventloop::CellLoop) run on
 * their own. With such an agent the network is one cell.
 */
class NetworkAgent
{
  public:
    virtual ~NetworkAgent() = default;
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SWITCH_AGENT_H */
