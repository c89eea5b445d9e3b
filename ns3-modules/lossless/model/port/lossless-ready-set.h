/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_READY_SET_H
#define LOSSLESS_READY_SET_H

#include "ns3/abort.h"
#include "ns3/lossless-constants.h"
#include "ns3/lossless-state-visitor.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Which egress queues of a port hold frames and may be asked for one.
 *
 * Queue c (0..7) is that of class c; c + 8, c + 16, ... are queues that a flow control added to the
 * class, here called its own. A queue may be *filled* (it holds frames), *blocked* by any number of
 * flow controls, and *ignored* (sent regardless of blocks). A class can also be blocked as a whole:
 * that blocks its class queue, and all of its own ones without a change to any of them, so that
 * their scheduler keeps turns and deficits for the time after.
 *
 * A queue is *active* if it is filled, and not blocked by itself or ignored: these are the queues
 * that a QueueScheduler knows of. Only this class writes the masks, and after each call
 *
 *   bit c of Get():     queue c is active;
 *   bit c + 8 of Get(): an own queue of c is active and, if the class is blocked, ignored.
 *
 * So the mask is 0 exactly if no queue may be asked, apart from gates, of which it knows nothing.
 */
class ReadySet
{
  public:
    /// Create the queues: empty, not blocked.
    /// @param queues number of queues, a multiple of N_CLASSES.
    void Start(std::size_t queues)
    {
        m_queues.assign(queues, Queue{});
    }

    /// @return bit c: the queue of class c may be asked; bit c + 8: one of its own queues may.
    uint32_t Get() const
    {
        return m_active & m_open;
    }

    /// @return bit c: the queue of class c holds frames.
    uint32_t GetFilled() const
    {
        return m_active & 0xff;
    }

    /// A queue holds frames, or is empty.
    /// @param queue egress queue. @param filled whether it holds any.
    /// @return true for an own queue that has become active, or no longer is.
    bool SetFilled(uint16_t queue, bool filled)
    {
        if (queue < N_CLASSES)
        {
            SetBit(m_active, queue, filled);
            return false;
        }
        m_queues[queue].filled = filled;
        return UpdateOwn(queue);
    }

    /// Send from a queue regardless of blocks, or no longer.
    /// @param queue egress queue. @param ignored whether blocks are ignored.
    /// @return as of SetFilled.
    bool SetIgnored(uint16_t queue, bool ignored)
    {
        Queue& state = m_queues[queue];
        Own& own = m_own[queue % N_CLASSES];
        if (state.active && state.ignored != ignored)
        {
            own.exempt += ignored ? 1 : -1;
        }
        state.ignored = ignored;
        return Update(queue);
    }

    /// A flow control blocks a queue, besides others that do.
    /// @param queue egress queue. @return as of SetFilled.
    bool Block(uint16_t queue)
    {
        ++m_queues[queue].blocks;
        return Update(queue);
    }

    /// Undo one Block.
    /// @param queue egress queue. @return as of SetFilled.
    bool Unblock(uint16_t queue)
    {
        NS_ABORT_MSG_IF(m_queues[queue].blocks == 0,
                        "a flow control unblocked a queue that it had not blocked");
        --m_queues[queue].blocks;
        return Update(queue);
    }

    /// A flow control blocks a class as a whole, besides others that do.
    /// @param cls class.
    void BlockClass(uint8_t cls)
    {
        ++m_own[cls].blocks;
        Block(cls);
        UpdateOwnBits(cls);
    }

    /// Undo one BlockClass.
    /// @param cls class.
    void UnblockClass(uint8_t cls)
    {
        Unblock(cls);
        --m_own[cls].blocks;
        UpdateOwnBits(cls);
    }

    /// Number of flow controls that block a queue by itself; those of its class count for the class
    /// queue only.
    /// @param queue egress queue. @return count.
    uint32_t GetBlocks(uint16_t queue) const
    {
        return m_queues[queue].blocks;
    }

    /// @param queue egress queue. @return true if it is sent regardless of blocks.
    bool IsIgnored(uint16_t queue) const
    {
        return m_queues[queue].ignored;
    }

    /// @param queue egress queue. @return true if it is blocked, by itself or with its class.
    bool IsBlocked(uint16_t queue) const
    {
        return m_queues[queue].blocks > 0 ||
               (queue >= N_CLASSES && m_own[queue % N_CLASSES].blocks > 0);
    }

    /// @param queue own queue. @return true if it is active.
    bool IsActive(uint16_t queue) const
    {
        return m_queues[queue].active;
    }

    /// May an active own queue be asked?
    /// @param queue own queue. @return false if its class is blocked, and it is not ignored.
    bool MayAsk(uint16_t queue) const
    {
        return m_own[queue % N_CLASSES].blocks == 0 || m_queues[queue].ignored;
    }

    /// Visit the state. @param visitor visitor.
    void Visit(StateVisitor& visitor) const
    {
        visitor.Inside(*this, m_queues);
        visitor.Same(m_active, m_open);
        for (const Queue& queue : m_queues)
        {
            visitor.Same(queue.blocks, queue.ignored, queue.filled, queue.active);
        }
        for (const Own& own : m_own)
        {
            visitor.Same(own.active, own.exempt, own.blocks);
        }
    }

  private:
    /// A queue.
    struct Queue
    {
        uint32_t blocks{0};  //!< flow controls that block it
        bool ignored{false}; //!< sent regardless of them
        bool filled{false};  //!< own queues: it holds frames
        bool active{false};  //!< own queues: see above
    };

    /// The own queues of a class.
    struct Own
    {
        uint32_t active{0}; //!< active ones
        uint32_t exempt{0}; //!< of these, ignored ones
        uint32_t blocks{0}; //!< flow controls that block the class
    };

    /// Set or clear a bit.
    static void SetBit(uint32_t& mask, uint32_t bit, bool on)
    {
        mask = on ? mask | 1U << bit : mask & ~(1U << bit);
    }

    /// The blocks of a queue have changed.
    bool Update(uint16_t queue)
    {
        if (queue >= N_CLASSES)
        {
            return UpdateOwn(queue);
        }
        const Queue& state = m_queues[queue];
        SetBit(m_open, queue, state.blocks == 0 || state.ignored);
        return false;
    }

    /// An own queue may have become active, or no longer be.
    bool UpdateOwn(uint16_t queue)
    {
        Queue& state = m_queues[queue];
        const auto cls = static_cast<uint8_t>(queue % N_CLASSES);
        const bool active = state.filled && (state.blocks == 0 || state.ignored);
        const bool changed = active != state.active;
        if (changed)
        {
            state.active = active;
            m_own[cls].active += active ? 1 : -1;
            m_own[cls].exempt += state.ignored ? (active ? 1 : -1) : 0;
        }
        UpdateOwnBits(cls);
        return changed;
    }

    /// Derive the bits of a class's own queues from their counts.
    void UpdateOwnBits(uint8_t cls)
    {
        const Own& own = m_own[cls];
        SetBit(m_active, N_CLASSES + cls, own.active > 0);
        SetBit(m_open, N_CLASSES + cls, own.blocks == 0 || own.exempt > 0);
    }

    uint32_t m_active{0};               //!< bit c: queue c is filled; bit c + 8: an own queue of c
                                        //!< is active
    uint32_t m_open{0xffff};            //!< bit c: queue c is not blocked, or ignored; bit c + 8:
                                        //!< class c is not blocked, or an active own queue ignored
    std::vector<Queue> m_queues;        //!< by number
    std::array<Own, N_CLASSES> m_own{}; //!< by class
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_READY_SET_H */
