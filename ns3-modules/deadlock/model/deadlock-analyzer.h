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
} // namespace lossless

namespace deadlock
{

/**
 * @ingroup deadlock
 * @brief Finds the egress queues that can never send again, with a global view of the network.
 *
 * A queue is stuck if it would still be held back after all sources had stopped and everything that
 * can move had left the network. This is a greatest fixed point: start with the queues that are
 * held back now; remove one whose peer would release it if only the frames in the remaining queues
 * were charged to the peer's ingress; repeat until none can be removed. Whatever can move is
 * assumed to leave, and a queue whose release is on its way does not count as held back: a queue
 * reported as stuck is therefore stuck for certain, until a frame is dropped, a link fails or a
 * pause is ignored. Frames on a link, and pauses that have not yet taken effect, are considered
 * once they have arrived.
 *
 * There are two kinds of stuck queues. *Cyclic*: stuck even if every host accepted all frames. This
 * part contains a cycle: each queue waits for frames in other stuck queues of the next switch.
 * *Host-rooted*: waiting, directly or through others, for a host that pauses forever
 * (FabricNode::IsPausingForever).
 *
 * The analyzer keeps no state between calls: a call inspects the given queues and walks over the
 * frames in those that are held back. DeadlockOracle decides when a call is needed.
 */
class DeadlockAnalyzer
{
  public:
    /// An egress queue.
    struct Queue
    {
        uint32_t node;  //!< its node
        uint16_t port;  //!< egress port
        uint16_t queue; //!< queue number at the port, modulo 8 its class

        /// Compare two queues.
        /// @param other the other one. @return whether they are the same queue.
        bool operator==(const Queue& other) const = default;
    };

    /// The queues of a class at an egress port.
    struct Side
    {
        uint32_t node; //!< their node
        uint16_t port; //!< egress port
        uint8_t cls;   //!< class
    };

    /// Analyse a network. Precondition: its nodes are built.
    /// @param nodes all of its nodes, by number.
    explicit DeadlockAnalyzer(std::vector<Ptr<lossless::FabricNode>> nodes);

    /// Search for stuck queues now, everywhere. @return whether there are any.
    bool Find();
    /// Search for stuck queues now.
    /// @param sides where queues are held back; no others can be stuck.
    /// @return whether there are any.
    bool Find(const std::vector<Side>& sides);

    /// The stuck queues of the last Find.
    /// @return the queues, those of the cyclic part first, each part by node, port and queue if
    /// Find searched everywhere, else in the order of the sides.
    const std::vector<Queue>& GetStuck() const;
    /// The size of the cyclic part. @return count: the first queues of GetStuck.
    std::size_t CountCyclic() const;

    /// A cycle among them: each holds frames that arrived from the previous one.
    /// @return its queues in the direction of the frames; empty if there are only host-rooted ones.
    std::vector<Queue> GetCycle() const;

    /// Queues that wait for each other, and would if nothing else were left in the network.
    struct Core
    {
        std::vector<Queue> queues; //!< each waits, directly or indirectly, for every other one
        std::vector<Queue> cycle;  //!< a cycle among them, in the direction of the frames
        std::vector<Queue> behind; //!< other queues of the cyclic part that wait for them
    };

    /**
     * @brief Divide the cyclic part of the last Find into separate deadlocks.
     *
     * Dependencies between queues form a graph; a core is a strongly connected component of it that
     * would remain stuck if all frames outside it were gone. Queues that are tied together only by
     * a pool of the shared buffer form one core.
     *
     * @return disjoint cores, at least one if there is a cyclic part.
     */
    std::vector<Core> FindCores();

    /// The index of an ingress or egress in a list of all, by port and class.
    /// @param node node. @param port its port. @param cls class. @return number below CountPlaces.
    std::size_t PlaceOf(uint32_t node, uint16_t port, uint8_t cls) const;
    /// The size of such a list. @return 8 per port.
    std::size_t CountPlaces() const;

  private:
    /// A queue that may be stuck.
    struct Candidate
    {
        Queue queue;       //!< the queue
        std::size_t waits; //!< slot of its peer's ingress
        bool byPeer;      //!< held back by its peer; otherwise perhaps by another queue of the port
        bool stuck{true}; //!< not yet removed
    };

    /// An ingress whose frames the candidates hold, or that they wait for.
    struct Slot
    {
        std::size_t place;                          //!< index of the ingress
        uint32_t node;                              //!< its node
        uint16_t port;                              //!< its port
        uint8_t cls;                                //!< its class
        int64_t bytes{0};                           //!< bytes of its frames
        std::vector<const lossless::Frame*> frames; //!< its frames in the remaining queues
        std::vector<std::size_t> holders; //!< by frame: the candidate that holds it, ascending
    };

    /// The slot of an ingress, made when first asked for.
    std::size_t SlotOf(uint32_t node, uint16_t port, uint8_t cls);
    /// Add the queues of a class that are held back to the candidates.
    void Collect(const Side& side);
    /// May remaining candidates hold frames of an ingress? False is certain.
    bool MayBeFed(const Slot& slot) const;
    /// May an ingress stay OFF without frames of its own, by a pool that others fill? False is
    /// certain.
    bool MayStayOffEmpty(const Slot& slot) const;
    /// Remove candidates that nothing keeps, as far as shows without their frames.
    void TakeOutUnfed();
    /// Fill the slots with the frames of the remaining candidates.
    void CollectFeeds();
    /// Would the peer hold a queue back if only some frames were charged to its ingress?
    bool HoldsWith(const Candidate& candidate,
                   bool off,
                   int64_t bytes,
                   const std::vector<const lossless::Frame*>& frames) const;
    /// The same of the frames of remaining candidates; roots: also hosts pause forever.
    bool IsHeldByPeer(const Candidate& candidate, bool roots) const;
    /// Does a queue wait for another one of its port, by an OrderModel?
    bool WaitsFor(const Candidate& candidate, const Candidate& other) const;
    /// Does it wait for any remaining one of its port?
    bool WaitsBehind(const Candidate& candidate) const;
    /// The remaining candidates for which one waits, directly.
    std::vector<std::size_t> WaitsOf(std::size_t number) const;
    /// Let only some candidates remain, then reduce. @return those that are left, in order.
    std::vector<std::size_t> Restrict(const std::vector<std::size_t>& members);
    /// Append the cores among some candidates.
    void Divide(const std::vector<std::size_t>& members,
                std::vector<std::vector<std::size_t>>& cores);
    /// The queues of some candidates.
    std::vector<Queue> QueuesOf(const std::vector<std::size_t>& members) const;
    /// Of the candidates for which one waits, that by which a cycle is shown.
    std::size_t NextOf(std::size_t number) const;
    /// Would an ingress stay OFF if there were no other frames than the slots hold?
    bool IsOff(const Slot& slot) const;
    /// Remove candidates that would be released, and their frames, until none would be.
    void Reduce(bool roots);
    /// Empty what belongs to the last Find.
    void Forget();

    std::vector<Ptr<lossless::FabricNode>> m_nodes; //!< the network
    std::vector<std::size_t> m_firstPort;       //!< by node: number of ports of the nodes before it
    std::size_t m_places{0};                    //!< CountPlaces
    std::vector<Candidate> m_candidates;        //!< of the last Find
    std::vector<Slot> m_slots;                  //!< of the last Find
    std::vector<std::size_t> m_slotAt;          //!< by index of the ingress: slot + 1, or 0
    std::vector<Queue> m_stuck;                 //!< result of the last Find
    std::size_t m_cyclic{0};                    //!< CountCyclic
    std::vector<std::vector<std::size_t>> m_by; //!< by node: its slots
    std::vector<std::vector<std::size_t>> m_heldAt; //!< by node: its candidates
    mutable std::vector<lossless::BufferPolicy::Rest>
        m_rests; //!< scratch memory of a query to a buffer
};

} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_ANALYZER_H */
