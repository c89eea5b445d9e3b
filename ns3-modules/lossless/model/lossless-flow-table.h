/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FLOW_TABLE_H
#define LOSSLESS_FLOW_TABLE_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief State of each flow, by key, in one block of memory.
 *
 * Flows come and go with almost every frame, so that a table with one heap allocation each would be
 * slow. Open addressing with linear probing; a removal moves later entries back, so that there are
 * no tombstones; the block doubles when it is three quarters full and never shrinks.
 *
 * @tparam T type of the state; entries are copied when they move, so that a pointer to one is valid
 * only until the next Add or Remove.
 */
template <class T>
class FlowTable
{
  public:
    /// Find an entry.
    /// @param key its key. @return the entry, or nullptr.
    T* Find(uint64_t key)
    {
        const std::size_t at = Locate(key);
        return at < m_slots.size() && m_slots[at].used ? &m_slots[at].value : nullptr;
    }

    /// Find an entry.
    /// @param key its key. @return the entry, or nullptr.
    const T* Find(uint64_t key) const
    {
        const std::size_t at = Locate(key);
        return at < m_slots.size() && m_slots[at].used ? &m_slots[at].value : nullptr;
    }

    /// Find an entry, or create one with default values.
    /// @param key its key. @return the entry.
    T& Add(uint64_t key)
    {
        if (4 * (m_entries + 1) > 3 * m_slots.size())
        {
            Grow();
        }
        Slot& slot = m_slots[Locate(key)];
        if (!slot.used)
        {
            slot = Slot{key, T{}, true};
            ++m_entries;
        }
        return slot.value;
    }

    /// Remove an entry.
    /// @param key its key. @return false if there is none.
    bool Remove(uint64_t key)
    {
        std::size_t hole = Locate(key);
        if (hole >= m_slots.size() || !m_slots[hole].used)
        {
            return false;
        }
        const std::size_t mask = m_slots.size() - 1;
        for (std::size_t at = (hole + 1) & mask; m_slots[at].used; at = (at + 1) & mask)
        {
            // An entry may fill the hole if the hole is on its probe sequence.
            const std::size_t home = Home(m_slots[at].key);
            if (((at - home) & mask) >= ((at - hole) & mask))
            {
                m_slots[hole] = m_slots[at];
                hole = at;
            }
        }
        m_slots[hole].used = false;
        --m_entries;
        return true;
    }

    /// Remove all entries.
    void Clear()
    {
        for (Slot& slot : m_slots)
        {
            slot.used = false;
        }
        m_entries = 0;
    }

    /**
     * @brief Visit every entry, in arbitrary order that is the same in every run.
     *
     * @tparam F type of function.
     * @param function called with key and entry; must not add or remove entries.
     */
    template <class F>
    void ForEach(F function)
    {
        for (Slot& slot : m_slots)
        {
            if (slot.used)
            {
                function(slot.key, slot.value);
            }
        }
    }

    /// Number of entries. @return count.
    std::size_t GetEntries() const
    {
        return m_entries;
    }

    /// Memory allocated. @return bytes.
    std::size_t GetBytes() const
    {
        return m_slots.size() * sizeof(Slot);
    }

  private:
    /// Slot of one entry.
    struct Slot
    {
        uint64_t key{0};  //!< key of the entry
        T value{};        //!< the entry
        bool used{false}; //!< the slot is in use
    };

    std::size_t Home(uint64_t key) const
    {
        // Fibonacci hashing: the high bits of the product are well mixed.
        return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ULL >> 32) & (m_slots.size() - 1);
    }

    /// The slot where an entry is, or would be.
    /// @param key its key. @return slot; the number of slots if the table is empty.
    std::size_t Locate(uint64_t key) const
    {
        if (m_slots.empty())
        {
            return 0;
        }
        std::size_t at = Home(key);
        while (m_slots[at].used && m_slots[at].key != key)
        {
            at = (at + 1) & (m_slots.size() - 1);
        }
        return at;
    }

    void Grow()
    {
        std::vector<Slot> old(m_slots.empty() ? 8 : 2 * m_slots.size());
        std::swap(old, m_slots);
        for (const Slot& slot : old)
        {
            if (slot.used)
            {
                m_slots[Locate(slot.key)] = slot;
            }
        }
    }

    std::vector<Slot> m_slots; //!< a power of two of slots, or none
    std::size_t m_entries{0};  //!< slots in use
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FLOW_TABLE_H */
