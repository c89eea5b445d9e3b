/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_ROUTES_H
#define LOSSLESS_ROUTES_H

#include "lossless-frame.h"

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
 * @brief The ways through the fabric: shortest paths, kept per destination switch, and paths pinned
 * to flows.
 *
 * Among equal next hops a switch's ForwardingPolicy chooses; here is the hash of ECMP, of the
 * 5-tuple and a salt of the switch, so that choices at different switches are independent.
 */
class Routes
{
  public:
    /// A link end: port of a node and what it leads to.
    struct Edge
    {
        uint16_t port;     //!< port of this node
        uint32_t peer;     //!< node at the other end
        uint16_t peerPort; //!< port there
        bool up;           //!< usable
    };

    /// A path as the egress ports of the switches in order.
    using Path = std::vector<uint16_t>;

    /// Add a node; nodes are numbered in order.
    /// @param isSwitch it forwards frames.
    void AddNode(bool isSwitch);
    /// Add a link.
    /// @param a node. @param portA its port. @param b node. @param portB its port.
    void AddLink(uint32_t a, uint16_t portA, uint32_t b, uint16_t portB);
    /// Mark a link.
    /// @param a node. @param port its port towards the link. @param up usable.
    void SetLink(uint32_t a, uint16_t port, bool up);
    /// Salt of a switch's ECMP hash.
    /// @param node the switch. @param salt any number.
    void SetSalt(uint32_t node, uint32_t salt);
    /// Find all shortest paths over the links that are up; every switch knows them at once.
    void Compute();

    /// What a switch forwards by.
    struct Table
    {
        std::vector<uint32_t> start; //!< per group: where its set begins
        std::vector<uint16_t> sets;  //!< a count, then so many ports; groups share what is the same
    };

    /// What switches forward by, by node.
    using Tables = std::vector<Table>;
    /// Find all shortest paths over the links that are up, without telling the switches. That a
    /// host is cut off is known at once.
    /// @return what they should forward by.
    Tables Find();
    /// A switch learns of its ways.
    /// @param node the switch. @param table what it forwards by from now on.
    void Adopt(uint32_t node, Table table);
    /// Let a switch send what goes to a host to a neighbour, whatever the shortest paths are. Flows
    /// on pinned paths keep theirs.
    /// @param node the switch. @param dst host. @param neighbour next node.
    /// @return false if no link joins the two.
    bool Divert(uint32_t node, uint32_t dst, uint32_t neighbour);
    /// Does a switch send what goes to a host elsewhere than the shortest paths lead?
    /// @param dst host. @return true if one does.
    bool IsDiverted(uint32_t dst) const;
    /// Undo Divert.
    /// @param node the switch. @param dst host.
    void Restore(uint32_t node, uint32_t dst);

    /// Pin a flow to a path; what answers it takes the same path backwards.
    /// @param flow its number.
    /// @param nodes all nodes from source to destination, two at least; switches between them.
    /// @return empty, or what is wrong with it; nothing is pinned then.
    std::string Pin(uint32_t flow, const std::vector<uint32_t>& nodes);
    /// Pin what answers a flow (ACK, NACK, CNP) to a path of its own.
    /// @param flow its number.
    /// @param nodes all nodes from the flow's destination to its source, two at least.
    /// @return empty, or what is wrong with it; nothing is pinned then.
    std::string PinAnswers(uint32_t flow, const std::vector<uint32_t>& nodes);
    /// Let what answers a flow go by ECMP, whatever its data frames do.
    /// @param flow its number.
    void FreeAnswers(uint32_t flow);
    /// Are the data frames of a flow pinned?
    /// @param flow its number. @return true if so.
    bool IsPinned(uint32_t flow) const;
    /// Are the answers to a flow pinned?
    /// @param flow its number. @return true if so.
    bool AreAnswersPinned(uint32_t flow) const;

    /// Ports of a node that lie on the spanning tree along which frames for all go. As with IEEE
    /// 802.1D, paths to the root are shortest and the root is the switch of the lowest number, here
    /// in each part of the network that hangs together. All nodes know a new tree at once.
    /// @param node its number. @return port indices, in order.
    const std::vector<uint16_t>& GetTree(uint32_t node) const;

    /// The ports by which a switch may send a frame: the next one of the path it is pinned to, the
    /// one it is diverted to, or those of all shortest paths that the switch knows.
    /// @param node the switch. @param frame the frame.
    /// @return ports, valid until routes change; none if there is no way.
    NextHops GetNextHops(uint32_t node, const Frame& frame) const;
    /// Where ECMP sends a frame.
    /// @param node the switch. @param frame the frame. @return its port, or NO_PORT.
    uint16_t Next(uint32_t node, const Frame& frame) const;
    /// Which of several next hops ECMP chooses.
    /// @param node the switch. @param frame the frame. @param count of next hops, from 1.
    /// @return its place among them, from 0.
    std::size_t HashTo(uint32_t node, const Frame& frame, std::size_t count) const;

    /// The ports by which a switch can send a frame to its destination without the frame coming
    /// back: its loop-free alternates.
    /// @param node the switch. @param header the frame; a path it is pinned to does not count.
    /// @return ports over links that are up, in order.
    std::vector<uint16_t> FindDetours(uint32_t node, const Frame& header) const;

    /// The links a frame would take.
    /// @param src source host. @param header a frame with dst, hash, flow and pinned set.
    /// @return (node, port) of each transmission, or empty when there is no way.
    std::vector<std::pair<uint32_t, uint16_t>> Trace(uint32_t src, const Frame& header) const;

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
    /// Both directions of a flow of which one at least is pinned.
    struct Pinned
    {
        uint32_t dst{0};     //!< destination host
        Path forward;        //!< of DATA
        Path backward;       //!< of what answers
        bool data{false};    //!< DATA is pinned
        bool answers{false}; //!< what answers is pinned
    };

    /// A walk along a path, in both directions.
    struct Walk
    {
        Path forward;        //!< egress ports of the switches in order
        Path backward;       //!< of the way back
        std::string problem; //!< what is wrong with it; empty: nothing
    };

    Walk Follow(uint32_t flow, const std::vector<uint32_t>& nodes) const;
    void FindTree();

    std::vector<std::vector<Edge>> m_edges;    //!< per node
    std::vector<std::vector<uint16_t>> m_tree; //!< per node: ports of the spanning tree
    std::vector<bool> m_isSwitch;              //!< per node
    std::vector<uint32_t> m_salt;              //!< per node
    std::vector<uint32_t>
        m_group; //!< per node: destinations with the same last switch share a group
    std::vector<uint32_t> m_lastSwitch; //!< per group
    std::vector<uint16_t> m_lastPort;   //!< per node: port of the last switch that leads to it
    Tables m_tables;                    //!< per node: what it forwards by
    std::unordered_map<uint64_t, uint16_t> m_diverted; //!< port by (switch, host)
    std::unordered_map<uint32_t, Pinned> m_pinned;     //!< per pinned flow
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_ROUTES_H */
