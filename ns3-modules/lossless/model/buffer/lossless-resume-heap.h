/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_RESUME_HEAP_H
#define LOSSLESS_RESUME_HEAP_H

#include "ns3/lossless-constants.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Heap of OFF members of a buffer; on top the one that may resume at the highest use of the
 * pool.
 *
 * A release then checks one queue instead of all. Members are numbers below the size.
 */
class ResumeHeap
{
  public:
    static constexpr int64_t ALWAYS = NEVER; //!< may resume at any use of the pool
    static constexpr int64_t NOT_NOW = -1;   //!< must first release bytes of its own

    /// Clear the heap.
    /// @param size number of possible members.
    void Reset(std::size_t size)
    {
        m_heap.clear();
        m_heap.reserve(size);
        m_level.assign(size, NOT_NOW);
        m_at.assign(size, 0);
    }

    /// Add a member that is not in the heap.
    /// @param member its number.
    /// @param level the largest use of the pool at which it resumes (B), or a constant.
    void Push(uint32_t member, int64_t level)
    {
        m_level[member] = level;
        m_heap.push_back(member);
        Up(m_heap.size() - 1);
    }

    /// Change the level of a member.
    /// @param member its number. @param level as for Push.
    void Update(uint32_t member, int64_t level)
    {
        const int64_t before = std::exchange(m_level[member], level);
        if (level > before)
        {
            Up(m_at[member]);
        }
        else if (level < before)
        {
            Down(m_at[member]);
        }
    }

    /// Remove a member that may resume.
    /// @param pool use of the pool (B). @param member its number. @return false if there is none.
    bool Pop(int64_t pool, uint32_t& member)
    {
        if (m_heap.empty() || m_level[m_heap.front()] < pool)
        {
            return false;
        }
        member = m_heap.front();
        const uint32_t last = m_heap.back();
        m_heap.pop_back();
        if (!m_heap.empty())
        {
            Place(0, last);
            Down(0);
        }
        return true;
    }

  private:
    void Place(std::size_t at, uint32_t member)
    {
        m_heap[at] = member;
        m_at[member] = static_cast<uint32_t>(at);
    }

    void Up(std::size_t at)
    {
        const uint32_t member = m_heap[at];
        while (at > 0)
        {
            const std::size_t parent = (at - 1) / 2;
            if (m_level[m_heap[parent]] >= m_level[member])
            {
                break;
            }
            Place(at, m_heap[parent]);
            at = parent;
        }
        Place(at, member);
    }

    void Down(std::size_t at)
    {
        const uint32_t member = m_heap[at];
        for (;;)
        {
            std::size_t child = 2 * at + 1;
            if (child >= m_heap.size())
            {
                break;
            }
            if (child + 1 < m_heap.size() && m_level[m_heap[child + 1]] > m_level[m_heap[child]])
            {
                ++child;
            }
            if (m_level[m_heap[child]] <= m_level[member])
            {
                break;
            }
            Place(at, m_heap[child]);
            at = child;
        }
        Place(at, member);
    }

    std::vector<uint32_t> m_heap; //!< members
    std::vector<int64_t> m_level; //!< by member
    std::vector<uint32_t> m_at;   //!< by member: its index in the heap
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_RESUME_HEAP_H */
