/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_ANALYZER_H
#define DEADLOCK_ANALYZER_H

#include "ns3/lossless-buffer-policy.h"
#include "ns3/ptr.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @defgroup deadlock Judging deadlocks
 *
 * Which queues can never send again, since when, and why.
 */

namespace ns3
{
namespace lossless
{

class FabricNode;
struct Frame;

/**
 * @ingroup deadlock
 * @brief Finds the egress queues that can never send again, with a view of the whole network.
 *
 * A queue is stuck if it would still be held back when all sources had stopped and everything that
 * can move had gone. So the greatest such set is sought: start with the queues that are held back
 * now; take out one whose peer would let it go if, of the peer's ingress, only the frames in the
 * remaining queues were there; repeat until none is left to take out. What can move is taken to
 * vanish, and a queue whose release is under way is not held back: so a queue reported as stuck is
 * stuck for certain, until a frame is dropped, a link fails or somebody ignores a pause. Frames
 * still on a link, and pauses not yet obeyed, are seen when they have arrived.
 *
 * What is stuck is of two kinds. *Cyclic*: it would be so even if every host took what comes. That
 * part contains a cycle: each queue waits for frames in other stuck queues of the next switch.
 * *Host-rooted*: it waits, directly or through others, for a host that pauses without an end
 * (FabricNode::IsPausingForever).
 *
 * Nothing is kept from one call to the next: the cost of a call is a look at the queues named and a
 * walk over the frames in those that are held back. DeadlockOracle knows when a call is worth it.
 */
class DeadlockAnalyzer
{
  public:
    /// An egress queue.
    struct Queue
    {
        uint32_t node;  //!< node it is in
        uint16_t port;  //!< egress port
        uint16_t queue; //!< number at the port; its class is that modulo 8

        /// Compare.
        /// @param other another. @return whether they are the same queue.
        bool operator==(const Queue& other) const = default;
    };

    /// The queues of a class at an egress port.
    struct Side
    {
        uint32_t node; //!< node it is in
        uint16_t port; //!< egress port
        uint8_t cls;   //!< class
    };

    /// Watch a network. Precondition: its nodes are built.
    /// @param nodes all of its nodes, by number.
    explicit DeadlockAnalyzer(std::vector<Ptr<FabricNode>> nodes);

    /// Look for stuck queues now, everywhere. @return whether there is any.
    bool Find();
    /// Look for stuck queues now.
    /// @param sides where the queues are that are held back; no other can be stuck.
    /// @return whether there is any.
    bool Find(const std::vector<Side>& sides);

    /// The queues that the last Find found.
    /// @return them, those of the cyclic part first, each part by node, port and queue if Find
    /// looked everywhere, else in the order of the sides.
    const std::vector<Queue>& GetStuck() const;
    /// How many of them are stuck whatever hosts do. @return count: the first of GetStuck.
    std::size_t CountCyclic() const;

    /// A cycle among them: each holds frames that came from the one before it.
    /// @return its queues in the order of the frames' way; empty if nothing is stuck but by hosts.
    std::vector<Queue> GetCycle() const;

    /// Queues that wait for each other, and would if nothing else of the network were left.
    struct Core
    {
        std::vector<Queue> queues; //!< of which each waits, directly or not, for every other
        std::vector<Queue> cycle;  //!< a cycle among them, in the order of the frames' way
        std::vector<Queue> behind; //!< those of the cyclic part that wait for them and are none
    };

    /**
     * @brief Divide the cyclic part that the last Find found into deadlocks of their own.
     *
     * Who waits for whom is a graph; a core is a strongly connected set of it that would stay stuck
     * if all frames outside it had gone. Queues that only a pool of the shared buffer ties together
     * make one core.
     *
     * @return disjoint cores, at least one if there is a cyclic part.
     */
    std::vector<Core> FindCores();

    /// The place of an ingress or egress in a list of all, by port and class.
    /// @param node node. @param port its port. @param cls class. @return number below CountPlaces.
    std::size_t PlaceOf(uint32_t node, uint16_t port, uint8_t cls) const;
    /// How many places there are. @return 8 a port.
    std::size_t CountPlaces() const;

  private:
    /// A queue that may be stuck.
    struct Candidate
    {
        Queue queue;       //!< which
        std::size_t waits; //!< slot of its peer's ingress
        bool byPeer;       //!< its peer holds it back; else perhaps another queue of the port
        bool stuck{true};  //!< not yet taken out
    };

    /// An ingress that candidates hold frames of, or wait for.
    struct Slot
    {
        std::size_t place;                //!< of the ingress
        uint32_t node;                    //!< its node
        uint16_t port;                    //!< its port
        uint8_t cls;                      //!< its class
        int64_t bytes{0};                 //!< of frames
        std::vector<const Frame*> frames; //!< those in queues that are left
        std::vector<std::size_t> holders; //!< by frame: the candidate that it is in
    };

    std::size_t SlotOf(uint32_t node, uint16_t port, uint8_t cls);
    void Collect(const Side& side);
    bool MayBeFed(const Slot& slot) const;
    bool MayStayOffEmpty(const Slot& slot) const;
    void TakeOutUnfed();
    void CollectFeeds();
    bool HoldsWith(const Candidate& candidate,
                   bool off,
                   int64_t bytes,
                   const std::vector<const Frame*>& frames) const;
    bool IsHeldByPeer(const Candidate& candidate, bool roots) const;
    bool WaitsFor(const Candidate& candidate, const Candidate& other) const;
    bool WaitsBehind(const Candidate& candidate) const;
    std::vector<std::size_t> WaitsOf(std::size_t number) const;
    std::vector<std::size_t> Restrict(const std::vector<std::size_t>& members);
    void Divide(const std::vector<std::size_t>& members,
                std::vector<std::vector<std::size_t>>& cores);
    std::vector<Queue> QueuesOf(const std::vector<std::size_t>& members) const;
    std::size_t NextOf(std::size_t number) const;
    bool IsOff(const Slot& slot) const;
    void Reduce(bool roots);
    void Forget();

    std::vector<Ptr<FabricNode>> m_nodes;            //!< the network
    std::vector<std::size_t> m_firstPort;            //!< by node: ports the nodes before it have
    std::size_t m_places{0};                         //!< CountPlaces
    std::vector<Candidate> m_candidates;             //!< of the last Find
    std::vector<Slot> m_slots;                       //!< of the last Find
    std::vector<std::size_t> m_slotAt;               //!< by place: slot + 1, or 0
    std::vector<Queue> m_stuck;                      //!< what was found
    std::size_t m_cyclic{0};                         //!< CountCyclic
    std::vector<std::vector<std::size_t>> m_by;      //!< by node: slots of it
    std::vector<std::vector<std::size_t>> m_heldAt;  //!< by node: candidates in it
    mutable std::vector<BufferPolicy::Rest> m_rests; //!< for one question to a buffer
};

} // namespace lossless
} // namespace ns3

#endif /* DEADLOCK_ANALYZER_H */
