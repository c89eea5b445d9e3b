/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_DEADLOCK_H
#define LOSSLESS_DEADLOCK_H

#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace lossless
{

class FabricNode;

/**
 * @ingroup lossless
 * @brief Finds the egress queues that can never send again, with a view of the whole network.
 *
 * A queue is stuck if it would still be held back when all sources had stopped and everything that
 * can move had gone. So the greatest such set is sought: start with the queues that are held back
 * now; take out one whose peer would let it go if, of the peer's ingress, only the frames in the
 * remaining queues were there; repeat until none is left to take out. What can move is taken to
 * vanish, and a queue whose release is under way is not held back: so a queue reported as stuck is
 * stuck for certain. Frames still on a link, and pauses not yet obeyed, are seen when they have
 * arrived.
 *
 * A set that is not empty contains a cycle: each queue waits for frames in other stuck queues of
 * the next switch. Queues that only wait for a host that pauses without an end are not stuck in
 * this sense.
 *
 * Nothing is kept from one call to the next: the cost of a call is a look at every queue and, where
 * some are held back, a walk over the frames in them.
 */
class DeadlockTest
{
  public:
    /// An egress queue.
    struct Queue
    {
        uint32_t node;  //!< node it is in
        uint16_t port;  //!< egress port
        uint16_t queue; //!< number at the port; its class is that modulo 8

        /**
         * @brief Compare.
         *
         * @param other another.
         * @return whether they are the same queue.
         */
        bool operator==(const Queue& other) const = default;
    };

    /**
     * @brief Watch a network. Precondition: its nodes are built.
     *
     * @param nodes all of its nodes, by number.
     */
    explicit DeadlockTest(std::vector<Ptr<FabricNode>> nodes);

    /**
     * @brief Look for stuck queues now.
     *
     * @return whether there is any.
     */
    bool Find();

    /**
     * @brief The queues that the last Find found.
     *
     * @return them, by node, port and queue.
     */
    std::vector<Queue> GetStuck() const;

    /**
     * @brief A cycle among them: each holds frames that came from the one before it.
     *
     * @return its queues in the order of the frames' way; empty if nothing is stuck.
     */
    std::vector<Queue> GetCycle() const;

  private:
    /// Bytes of a candidate that came in by one port.
    struct Feed
    {
        std::size_t ingress; //!< index into m_rest
        int64_t bytes;       //!< in the candidate
    };

    /// A queue that may be stuck.
    struct Candidate
    {
        Queue queue;           //!< which
        std::size_t ingress;   //!< its peer's ingress, as an index into m_rest
        std::size_t firstFeed; //!< its part of m_feeds
        std::size_t endFeed;   //!< end of it
    };

    std::size_t RestIndex(uint32_t node, uint16_t port, uint8_t cls) const;
    bool IsHeld(const Queue& queue, int64_t rest, int64_t pool) const;
    void CollectHeld();
    void CountFeeds();
    bool Reduce();
    int64_t PoolOf(uint32_t node) const;

    std::vector<Ptr<FabricNode>> m_nodes; //!< the network
    std::vector<std::size_t> m_firstPort; //!< by node: how many ports the nodes before it have
    std::vector<Candidate> m_candidates;  //!< not yet taken out
    std::vector<Feed> m_feeds;            //!< of all candidates
    std::vector<int64_t> m_rest;          //!< by (port, class): bytes that candidates hold
    std::vector<int64_t> m_pool;          //!< by node: shared bytes that candidates hold
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_DEADLOCK_H */
