/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FABRIC_NODE_H
#define LOSSLESS_FABRIC_NODE_H

#include "ns3/lossless-feed-map.h"
#include "ns3/lossless-packet-receiver.h"
#include "ns3/lossless-port-owner.h"
#include "ns3/lossless-port.h"
#include "ns3/traced-callback.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class Routes;

/**
 * @ingroup lossless
 * @brief A node of the fabric, switch or host: ports, a buffer, agents, and counters of the frames
 * it accepts and drops.
 */
class FabricNode : public PortOwner
{
  public:
    /// Totals over the life of a node. MAC control frames are not counted.
    struct Counters
    {
        uint64_t made{0};            //!< frames created here
        uint64_t taken{0};           //!< frames that ended here
        uint64_t dropped{0};         //!< frames dropped here
        uint64_t droppedLossless{0}; //!< of these, frames of lossless classes not
                                     //!< dropped on purpose by a scheme
        uint64_t onPurposeBytes{0};  //!< of these, bytes dropped on purpose by a scheme
        std::array<uint64_t, N_DROP_CAUSES> byCause{}; //!< dropped, by cause
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    FabricNode();
    ~FabricNode() override;

    /// The node of a port: all port owners are of this type.
    /// @param port the port. @return its node.
    static FabricNode& Of(const Port& port)
    {
        return static_cast<FabricNode&>(port.GetNode());
    }

    /// Add a port.
    /// @param port the port. @return its index.
    uint16_t AddPort(Ptr<Port> port);

    Port& GetPort(uint16_t index) const final
    {
        return *PeekPointer(m_ports[index]);
    }

    uint16_t GetNPorts() const final
    {
        return static_cast<uint16_t>(m_ports.size());
    }

    /// Add an agent, before the node has started.
    /// @param agent the agent; its roles are registered here.
    void AddAgent(Ptr<SwitchAgent> agent);
    /// Set the routes.
    /// @param routes the routes.
    void SetRoutes(const Routes* routes);

    /// Set the receiver of packets that arrive here.
    /// @param receiver the receiver, which must outlive the run; nullptr: none.
    void SetPacketReceiver(PacketReceiver* receiver)
    {
        m_packetReceiver = receiver;
    }

    /// @return the receiver of packets, or nullptr.
    PacketReceiver* GetPacketReceiver() const
    {
        return m_packetReceiver;
    }

    /// Pause a peer as if the buffer required it, whatever it holds: a fault.
    /// @param port its index. @param cls class. @param on start, else end.
    /// @param endless whether it never ends, or was said not to.
    void SetPauseStorm(uint16_t port, uint8_t cls, bool on, bool endless);

    /// Does a port pause its peer regardless of what its node holds, and forever?
    /// @param port its index. @param cls class. @return true if so.
    bool IsPausingForever(uint16_t port, uint8_t cls) const
    {
        return port < m_silencing.size() && (m_silencing[port] >> cls) & 1U;
    }

    /// Tell its events, and those of its ports, where they belong.
    /// @param cell see eventloop::CellLoop.
    virtual void SetCell(uint16_t cell);

    /// @return its cell; 0: the event loop has none.
    uint16_t GetCell() const
    {
        return m_cell;
    }

    /// All links exist: configure the buffer, start flow controls and agents.
    void Start();
    /// Time from a frame's arrival until it joins an egress queue. @return ps.
    virtual int64_t GetPipelineLatency() const = 0;
    /// Send a frame created here.
    /// @param frame the frame.
    virtual void Inject(Frame* frame) = 0;
    /// Number of frames inside the node but in no port. @return count.
    virtual uint64_t CountHeld() const;
    /// The link of a port went down or came up; notifies the packet receiver.
    /// @param port the port. @param up true: up.
    virtual void NotifyLink(Port& port, bool up);
    /// Deliver an arrived PACKET to the packet receiver; a broadcast without a receiver counts as
    /// taken.
    /// @param frame the frame.
    void HandOver(Frame* frame);

    /// Count a frame created here.
    /// @param frame the frame.
    void CountMade(const Frame* frame)
    {
        m_counters.made += frame->kind != FrameKind::MAC;
    }

    /// Charge a frame to the buffer, in its ingress class, notify the flow controls, and drop it if
    /// it is refused.
    /// @param frame the frame. @param ingress port by which it arrived.
    /// @param egress index of the port by which it will leave. @return false if it was dropped.
    bool Charge(Frame* frame, Port& ingress, uint16_t egress);

    /// Notify the observer why a class of the peer is about to be paused.
    /// @param ingress the port that pauses its peer.
    /// @param egress egress of the frame that caused it; NO_PORT: this node is the cause.
    /// @param cls class. @param egressClass class in which that frame will leave.
    void NotePressure(const Port& ingress, uint16_t egress, uint8_t cls, uint8_t egressClass) const;

    void Release(const Departure& departure) final;
    /// Charge and release a frame that a host consumes at once: a flow control that counts bytes
    /// (credits) has to see them come and go.
    /// @param frame the frame. @param ingress port by which it arrived. @return false if it was
    /// dropped.
    bool PassThrough(Frame* frame, Port& ingress);
    /// Release a frame that was charged to egress 0, because it stays in this host.
    /// @param frame the frame; its node consumes it next.
    void ReleaseHere(Frame* frame);

    void Discard(Frame* frame, DropCause cause) final;
    /// Send a frame that was removed from an egress queue by another port. It no longer follows the
    /// path of its flow.
    /// @param frame the frame, of a lossless class. @param egress index of the port.
    void Redirect(Frame* frame, uint16_t egress);
    /// Move a frame that was removed from an egress queue to another class; it is dropped, as an
    /// intended loss, if the buffer of that class does not admit it.
    /// @param frame the frame. @param cls a lossy class.
    void Reclass(Frame* frame, uint8_t cls);

    void Drop(Frame* frame, DropCause cause) final;
    /// Count a frame that ended here and free it.
    /// @param frame the frame.
    void Take(Frame* frame);

    /// Keep the map of which ingress feeds which egress, or not, for something else than an agent.
    /// Precondition: nothing is charged.
    /// @param kept whether to keep it; agents that need it have it in any case.
    void KeepFeeds(bool kept);
    /// Which ingress feeds which egress. @return the map, or nullptr if nothing needs it.
    const FeedMap* GetFeeds() const;

    /// The routes of the fabric. @return routes.
    const Routes& GetRoutes() const;

    /// Visit the state. @param visitor visitor.
    virtual void Visit(StateVisitor& visitor);
    /// Up to how many bytes in each egress queue of a port the agents do nothing.
    /// @param port index. @return bytes; NEVER: there are no agents; negative: they always may.
    int64_t GetRestingDepth(uint16_t port) const;

    /// Totals of this node. @return counters.
    const Counters& GetCounters() const;
    /// TracedCallback signature of drops.
    /// @param node name. @param frame frame. @param cause cause.
    typedef void (*DropCallback)(const std::string& node, const Frame& frame, DropCause cause);

  protected:
    void DoDispose() override;

    /// A place for an event of the node, that belongs to none of its ports.
    /// @param kind distinct among these. @return place.
    eventloop::Place PlaceOf(uint16_t kind) const
    {
        return {m_cell, m_id, NO_PORT, kind};
    }

    std::vector<Ptr<Port>> m_ports;            //!< ports
    std::unique_ptr<FeedMap> m_feeds;          //!< or null
    const Routes* m_routes{nullptr};           //!< the routes
    PacketReceiver* m_packetReceiver{nullptr}; //!< or null
    bool m_started{false};                     //!< all agents have started
    uint16_t m_cell{0};                        //!< its cell; 0: none
    Counters m_counters;                       //!< totals
    std::vector<uint8_t> m_silencing;          //!< by port, bit c: pauses class c forever
    TracedCallback<const std::string&, const Frame&, DropCause> m_dropTrace; //!< drops

  private:
    /// Ask the agent about a frame of a lossy class that the buffer refused, and the buffer again.
    /// @param frame the frame. @param ingress port. @param egress index.
    /// @return true if it is charged now.
    uint32_t CountCells(const Frame& frame) const;
    bool AdmitAgain(Frame* frame, Port& ingress, uint16_t egress);
    /// Report to the flow controls which queues the buffer has turned OFF.
    /// @param egress egress of the frame that caused it. @param egressClass its class there.
    void TellTurnedOff(uint16_t egress, uint8_t egressClass);
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_NODE_H */
