/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_PAUSE_HISTORY_H
#define DEADLOCK_PAUSE_HISTORY_H

#include <cstdint>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup deadlock
 * @brief Pauses and the pauses that led to them, each kept as long as somebody refers to it.
 *
 * A pause is known by its place, which is its own until the last reference is dropped.
 */
class PauseHistory
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX; //!< no pause

    /// Why a port paused its peer though nothing it sends to was held back.
    enum class Reason : uint8_t
    {
        EARLIER,   ///< the egress was held back: another pause came before
        CONGESTED, ///< more came for the egress than it sends
        HOST,      ///< it is a host
    };

    /// A pause of a causal chain.
    struct Pause
    {
        int64_t time;    //!< when it was due: its queue was full (ps)
        uint32_t node;   //!< who paused
        uint16_t port;   //!< its port towards whom it paused
        uint16_t egress; //!< port that the frame which was too much was to leave by, or NO_PORT
        uint8_t cls;     //!< class
        Reason reason;   //!< why
    };

    /// Add a pause, to which nobody refers yet.
    /// @param pause it. @param parent the one that led to it, or NONE. @return its place.
    uint32_t Add(const Pause& pause, uint32_t parent);
    /// Refer to a pause.
    /// @param pause its place; NONE does nothing.
    void Use(uint32_t pause);
    /// Refer to a pause no longer; what nobody refers to is forgotten.
    /// @param pause its place; NONE does nothing.
    void Drop(uint32_t pause);

    /// A pause.
    /// @param pause its place. @return it.
    const Pause& Get(uint32_t pause) const
    {
        return m_links[pause].pause;
    }

    /// The first of the pauses that led to one.
    /// @param pause its place. @return that one, or the pause itself.
    const Pause& GetRoot(uint32_t pause) const
    {
        return m_links[pause].root;
    }

    /// How many pauses led to one.
    /// @param pause its place. @return count.
    uint32_t GetDepth(uint32_t pause) const
    {
        return m_links[pause].depth;
    }

    /// A pause and all that led to it.
    /// @param pause its place, or NONE. @return from the first on.
    std::vector<Pause> GetChain(uint32_t pause) const;

  private:
    /// A pause and what led to it.
    struct Link
    {
        Pause pause;     //!< it
        Pause root;      //!< the first that led to it
        uint32_t depth;  //!< how many lie before it
        uint32_t parent; //!< the one before, or NONE
        uint32_t users;  //!< references to it
    };

    std::vector<Link> m_links;    //!< by place
    std::vector<uint32_t> m_free; //!< places of none
};

} // namespace lossless
} // namespace ns3

#endif /* DEADLOCK_PAUSE_HISTORY_H */
