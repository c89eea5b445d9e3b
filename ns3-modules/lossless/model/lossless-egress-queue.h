/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_EGRESS_QUEUE_H
#define LOSSLESS_EGRESS_QUEUE_H

#include "lossless-frame.h"

#include <limits>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Frames of one class that wait for a port: first in first out, or one frame from each
 * ingress port in turn.
 */
class EgressQueue
{
  public:
    /**
     * @brief Set it up.
     * @param cls its class.
     * @param lanes 1: FIFO; else the number of ingress ports + 1, served round-robin (the last is
     * for frames made here).
     */
    EgressQueue(uint8_t cls, uint16_t lanes)
        : m_lanes(lanes),
          m_turn(lanes, 0),
          m_cls(cls)
    {
    }

    /**
     * @brief Add a frame.
     *
     * @param frame the frame.
     */
    void Push(Frame* frame)
    {
        const uint16_t lane = LaneOf(frame);
        if (m_lanes[lane].IsEmpty())
        {
            AppendTurn(lane);
        }
        m_lanes[lane].Push(frame);
        m_bytes += frame->bytes;
        ++m_frames;
    }

    /**
     * @brief Next to go.
     *
     * @return the frame, or nullptr.
     */
    Frame* Head() const
    {
        return m_active == 0 ? nullptr : m_lanes[m_turn[m_first]].Head();
    }

    /**
     * @brief Take the next. Precondition: not empty.
     *
     * @return the frame.
     */
    Frame* Pop()
    {
        const uint16_t lane = m_turn[m_first];
        Frame* frame = m_lanes[lane].Pop();
        m_first = m_first + 1U == m_turn.size() ? 0 : m_first + 1;
        --m_active;
        if (!m_lanes[lane].IsEmpty())
        {
            AppendTurn(lane);
        }
        m_bytes -= frame->bytes;
        --m_frames;
        return frame;
    }

    /**
     * @brief Bytes waiting.
     *
     * @return bytes.
     */
    int64_t GetBytes() const
    {
        return m_bytes;
    }

    /**
     * @brief Frames waiting.
     *
     * @return count.
     */
    uint32_t GetFrames() const
    {
        return m_frames;
    }

    /**
     * @brief Look at every frame, lane by lane, from the head on.
     *
     * @tparam F takes a const Frame&.
     * @param look called with each.
     */
    template <class F>
    void ForEach(F look) const
    {
        for (const FrameFifo& lane : m_lanes)
        {
            for (const Frame* frame = lane.Head(); frame; frame = frame->next)
            {
                look(*frame);
            }
        }
    }

    /**
     * @brief Frame::order of the frame that has waited longest; it is not always the next to go.
     *
     * @return order; the largest number if the queue is empty.
     */
    uint64_t GetOldest() const
    {
        uint64_t oldest = std::numeric_limits<uint64_t>::max();
        for (std::size_t i = 0; i < m_active; ++i)
        {
            std::size_t at = m_first + i;
            at -= at >= m_turn.size() ? m_turn.size() : 0;
            const uint64_t order = m_lanes[m_turn[at]].Head()->order;
            oldest = order < oldest ? order : oldest;
        }
        return oldest;
    }

    /**
     * @brief Its class.
     *
     * @return 0..7 or CONTROL_CLASS.
     */
    uint8_t GetClass() const
    {
        return m_cls;
    }

  private:
    void AppendTurn(uint16_t lane)
    {
        std::size_t at = m_first + m_active;
        if (at >= m_turn.size())
        {
            at -= m_turn.size();
        }
        m_turn[at] = lane;
        ++m_active;
    }

    uint16_t LaneOf(const Frame* frame) const
    {
        const auto last = static_cast<uint16_t>(m_lanes.size() - 1);
        return frame->ingress < last ? frame->ingress : last;
    }

    std::vector<FrameFifo> m_lanes; //!< one, or one an ingress port
    std::vector<uint16_t> m_turn;   //!< ring of lanes that hold frames, in the order of their turns
    std::size_t m_first{0};         //!< whose turn it is
    std::size_t m_active{0};        //!< lanes in the ring
    int64_t m_bytes{0};             //!< bytes waiting
    uint32_t m_frames{0};           //!< frames waiting
    uint8_t m_cls;                  //!< class
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_EGRESS_QUEUE_H */
