/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_EGRESS_QUEUE_H
#define LOSSLESS_EGRESS_QUEUE_H

#include "ns3/lossless-frame.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Frames of one class that wait at a port: first in, first out, or round-robin over ingress
 * ports.
 */
class EgressQueue
{
  public:
    /// Initialise.
    /// @param cls its class.
    /// @param lanes 1: FIFO; else the number of ingress ports + 1, served round-robin (the last
    /// lane is for frames created here).
    EgressQueue(uint8_t cls, uint16_t lanes)
        : m_cls(cls)
    {
        if (lanes > 1)
        {
            m_lanes = std::make_unique<Lanes>(lanes);
        }
    }

    /// Add a frame.
    /// @param frame the frame.
    void Push(Frame* frame)
    {
        m_ingresses |= BitOf(*frame);
        m_lanes ? m_lanes->Push(frame) : m_fifo.Push(frame);
    }

    /// The head of the queue. @return the frame, or nullptr.
    Frame* Head() const
    {
        return m_lanes ? m_lanes->Head() : m_fifo.Head();
    }

    /// Remove the head. Precondition: not empty. @return the frame.
    Frame* Pop()
    {
        return m_lanes ? m_lanes->Pop() : m_fifo.Pop();
    }

    /// Queue length. @return bytes.
    int64_t GetBytes() const
    {
        return m_lanes ? m_lanes->bytes : m_fifo.GetBytes();
    }

    /// Queue length in frames. @return count.
    uint32_t GetFrames() const
    {
        return m_lanes ? m_lanes->frames : m_fifo.GetFrames();
    }

    /**
     * @brief Visit every frame, lane by lane, from the head on.
     *
     * @tparam F takes a const Frame&.
     * @param look called with each.
     */
    template <class F>
    void ForEach(F look) const
    {
        const auto lookAt = [&look](const FrameFifo& fifo) {
            for (const Frame* frame = fifo.Head(); frame; frame = frame->next)
            {
                look(*frame);
            }
        };
        if (!m_lanes)
        {
            lookAt(m_fifo);
            return;
        }
        std::for_each(m_lanes->lanes.begin(), m_lanes->lanes.end(), lookAt);
    }

    /// Frame::order of the frame that has waited longest, which is not always the head.
    /// @return order; the largest value if the queue is empty.
    uint64_t GetOldest() const
    {
        if (m_lanes)
        {
            return m_lanes->GetOldest();
        }
        return m_fifo.IsEmpty() ? std::numeric_limits<uint64_t>::max() : m_fifo.Head()->order;
    }

    /**
     * @brief The ports by which its frames may have arrived.
     *
     * Updated by every frame that joins. It is recounted only once all frames that were here at the
     * last count have left, so that a frame is visited at most once, however often this is called;
     * until then it may include ports of frames that have left.
     *
     * @return bit i: ports i, i + 64, ...; frames created here set none.
     */
    uint64_t GetIngresses() const
    {
        if (GetFrames() == 0)
        {
            m_ingresses = 0;
        }
        else if (GetOldest() > m_counted)
        {
            m_ingresses = 0;
            ForEach([this](const Frame& frame) {
                m_ingresses |= BitOf(frame);
                m_counted = std::max(m_counted, frame.order);
            });
        }
        return m_ingresses;
    }

    /// Visit the state. @param visitor visitor. @param joined see Visit of a frame.
    void Visit(StateVisitor& visitor, const Joined& joined);

    /// Its class. @return 0..7 or CONTROL_CLASS.
    uint8_t GetClass() const
    {
        return m_cls;
    }

  private:
    static uint64_t BitOf(const Frame& frame)
    {
        return frame.ingress == NO_PORT ? 0 : 1ULL << frame.ingress % 64;
    }

    /// Round robin over ingress ports.
    struct Lanes
    {
        /// Initialise.
        /// @param n number of lanes.
        explicit Lanes(uint16_t n)
            : lanes(n),
              turn(n, 0)
        {
        }

        void Push(Frame* frame)
        {
            const auto last = static_cast<uint16_t>(lanes.size() - 1);
            const uint16_t lane = frame->ingress < last ? frame->ingress : last;
            if (lanes[lane].IsEmpty())
            {
                AppendTurn(lane);
            }
            lanes[lane].Push(frame);
            bytes += frame->bytes;
            ++frames;
        }

        Frame* Head() const
        {
            return active == 0 ? nullptr : lanes[turn[first]].Head();
        }

        Frame* Pop()
        {
            const uint16_t lane = turn[first];
            Frame* frame = lanes[lane].Pop();
            first = first + 1U == turn.size() ? 0 : first + 1;
            --active;
            if (!lanes[lane].IsEmpty())
            {
                AppendTurn(lane);
            }
            bytes -= frame->bytes;
            --frames;
            return frame;
        }

        uint64_t GetOldest() const
        {
            uint64_t oldest = std::numeric_limits<uint64_t>::max();
            for (const FrameFifo& lane : lanes)
            {
                if (!lane.IsEmpty())
                {
                    oldest = std::min(oldest, lane.Head()->order);
                }
            }
            return oldest;
        }

        void AppendTurn(uint16_t lane)
        {
            std::size_t at = first + active;
            if (at >= turn.size())
            {
                at -= turn.size();
            }
            turn[at] = lane;
            ++active;
        }

        std::vector<FrameFifo> lanes; //!< one per ingress port, and one for frames created here
        std::vector<uint16_t> turn;   //!< ring of non-empty lanes, in service order
        std::size_t first{0};         //!< index in the ring of the next lane
        std::size_t active{0};        //!< number of lanes in the ring
        int64_t bytes{0};             //!< bytes waiting
        uint32_t frames{0};           //!< frames waiting
    };

    FrameFifo m_fifo;                //!< the frames, unless there are lanes
    std::unique_ptr<Lanes> m_lanes;  //!< round robin; null: FIFO
    uint8_t m_cls;                   //!< class
    mutable uint64_t m_ingresses{0}; //!< see GetIngresses
    mutable uint64_t m_counted{0};   //!< Frame::order of the last frame at the last count
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_EGRESS_QUEUE_H */
