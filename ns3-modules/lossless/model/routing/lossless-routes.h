/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_ROUTES_H
#define LOSSLESS_ROUTES_H

#include "ns3/lossless-frame.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{

/// Ports of a switch by which a frame may leave, in order.
using NextHops = std::span<const uint16_t>;

/**
 * @ingroup lossless
 * @brief The routes of the fabric: shortest paths, kept per destination switch, and pinned paths of
 * flows.
 *
 * A switch's ForwardingPolicy chooses among equal-cost next hops; this class provides the hash of
 * ECMP, of the 5-tuple and a salt of the switch, so that choices at different switches are
 * independent.
 */
class Routes
{
  public:
    /// A link end: a port of a node and its peer.
    struct Edge
    {
        uint16_t port;     //!< port of this node
        uint32_t peer;     //!< node at the other end
        uint16_t peerPort; //!< port there
        bool up;           //!< usable
        uint32_t farEnd;   //!< number of the other end: 2 link, + 1 at the link's second node
    };

    /// A path as the egress ports of the switches in order.
    using Path = std::vector<uint16_t>;

    /// Add a node; nodes are numbered in order.
    /// @param isSwitch whether it forwards frames.
    void AddNode(bool isSwitch);
    /// Add a link.
    /// @param a node. @param portA its port. @param b node. @param portB its port.
    void AddLink(uint32_t a, uint16_t portA, uint32_t b, uint16_t portB);
    /// Set the state of a link.
    /// @param a node. @param port its port to the link. @param up usable.
    void SetLink(uint32_t a, uint16_t port, bool up);
    /// Set the salt of a switch's ECMP hash.
    /// @param node the switch. @param salt any number.
    void SetSalt(uint32_t node, uint32_t salt);
    /// Compute all shortest paths over the links that are up; all switches use them at once.
    void Compute();

    /// Forwarding table of a switch.
    struct Table
    {
        std::vector<uint32_t> start; //!< by group: start of its set
        std::vector<uint16_t>
            sets; //!< each a count, followed by as many ports; groups share equal sets
    };

    /// Forwarding tables by node.
    using Tables = std::vector<Table>;
    /// Compute all shortest paths over the links that are up, without updating the switches.
    /// Disconnected hosts are known at once.
    /// @return the new forwarding tables.
    Tables Find();
    /// Update the forwarding table of a switch.
    /// @param node the switch. @param table its new table.
    void Adopt(uint32_t node, Table table);
    /// Make a switch send frames for a host by a given port, regardless of shortest paths. Flows on
    /// pinned paths are not affected.
    /// @param node the switch. @param dst host. @param port egress port.
    void Divert(uint32_t node, uint32_t dst, uint16_t port);
    /// Does a switch divert frames for a host from the shortest paths?
    /// @param dst host. @return true if one does.
    bool IsDiverted(uint32_t dst) const;
    /// Undo Divert.
    /// @param node the switch. @param dst host.
    void Restore(uint32_t node, uint32_t dst);

    /// Pin a flow to a path; its answers take the reverse path.
    /// @param flow its number.
    /// @param nodes all nodes from source to destination, two at least; switches between them. Each
    /// is named as in FindEdge from the one before it.
    /// @return empty, or the problem of the path; then nothing is pinned.
    std::string Pin(uint32_t flow, const std::vector<uint32_t>& nodes);
    /// Pin the answers of a flow (ACK, NACK, CNP) to a path of their own.
    /// @param flow its number.
    /// @param nodes all nodes from the flow's destination to its source, as in Pin.
    /// @return empty, or the problem of the path; then nothing is pinned.
    std::string PinAnswers(uint32_t flow, const std::vector<uint32_t>& nodes);
    /// Route the answers of a flow by ECMP, whatever the path of its data frames.
    /// @param flow its number.
    void FreeAnswers(uint32_t flow);
    /// Are the data frames of a flow pinned?
    /// @param flow its number. @return true if so.
    bool IsPinned(uint32_t flow) const;
    /// Are the answers to a flow pinned?
    /// @param flow its number. @return true if so.
    bool AreAnswersPinned(uint32_t flow) const;

    /// Ports of a node on the spanning tree for broadcast frames. As in IEEE 802.1D, paths to the
    /// root are shortest and the root is the switch with the lowest number, here in each connected
    /// part of the network. All nodes know a new tree at once.
    /// @param node its number. @return port indices, in order.
    const std::vector<uint16_t>& GetTree(uint32_t node) const;

    /// The ports by which a switch may send a frame: the next one of its pinned path, the one it is
    /// diverted to, or those of all shortest paths known to the switch.
    /// @param node the switch. @param frame the frame.
    /// @return ports, valid until routes change; empty if there is no route.
    NextHops GetNextHops(uint32_t node, const Frame& frame) const;
    /// The next hop by ECMP.
    /// @param node the switch. @param frame the frame. @return its port, or NO_PORT.
    uint16_t Next(uint32_t node, const Frame& frame) const;
    /// The choice of ECMP among several next hops.
    /// @param node the switch. @param frame the frame. @param count number of next hops, at least
    /// 1.
    /// @return index of one of them.
    std::size_t HashTo(uint32_t node, const Frame& frame, std::size_t count) const;

    /// The ports by which a switch can send a frame to its destination without the frame coming
    /// back: its loop-free alternates.
    /// @param node the switch. @param header the frame; its pinned path, if any, is ignored.
    /// @return ports over links that are up, in order.
    std::vector<uint16_t> FindDetours(uint32_t node, const Frame& header) const;

    /// The links on a frame's path.
    /// @param src source host. @param header a frame with dst, hash, flow and pinned set.
    /// @return (node, port) of each transmission; empty if there is no path.
    std::vector<std::pair<uint32_t, uint16_t>> Trace(uint32_t src, const Frame& header) const;

    /// The link that leads from a node to a neighbour.
    /// @param node its number.
    /// @param neighbour the neighbour's number; where two nodes have several links, the number of
    /// nodes + Edge::farEnd names one of them, and the neighbour's number the first.
    /// @param up true: only links that are up.
    /// @return the link end, or nullptr.
    const Edge* FindEdge(uint32_t node, uint32_t neighbour, bool up = false) const;

    /// Links of a node.
    /// @param node its number. @return link ends.
    const std::vector<Edge>& GetEdges(uint32_t node) const;
    /// Is a node a switch?
    /// @param node its number. @return true if so.
    bool IsSwitch(uint32_t node) const;
    /// Mix a 5-tuple into a hash.
    /// @param src node. @param dst node. @param flow flow. @return hash.
    static uint32_t Hash(uint32_t src, uint32_t dst, uint32_t flow);

  private:
    /// Pinned paths of a flow, in one or both directions.
    struct Pinned
    {
        uint32_t dst{0};     //!< destination host
        Path forward;        //!< of DATA
        Path backward;       //!< of answers
        bool data{false};    //!< DATA is pinned
        bool answers{false}; //!< answers are pinned
    };

    /// A path in both directions, and its validity.
    struct Walk
    {
        Path forward;        //!< egress ports of the switches in order
        Path backward;       //!< egress ports of the reverse path
        std::string problem; //!< error; empty: none
    };

    Walk Follow(uint32_t flow, const std::vector<uint32_t>& nodes) const;
    void FindTree();

    std::vector<std::vector<Edge>> m_edges;    //!< per node
    uint32_t m_links{0};                       //!< number of links
    std::vector<std::vector<uint16_t>> m_tree; //!< per node: ports of the spanning tree
    std::vector<bool> m_isSwitch;              //!< per node
    std::vector<uint32_t> m_salt;              //!< per node
    std::vector<uint32_t>
        m_group; //!< per node: destinations with the same last switch share a group
    std::vector<uint32_t> m_lastSwitch; //!< per group
    std::vector<uint16_t> m_lastPort;   //!< per node: port of the last switch that leads to it
    Tables m_tables;                    //!< by node: its forwarding table
    std::unordered_map<uint64_t, uint16_t> m_diverted; //!< port by (switch, host)
    std::unordered_map<uint32_t, Pinned> m_pinned;     //!< per pinned flow
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_ROUTES_H */
