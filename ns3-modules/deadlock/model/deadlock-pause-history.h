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
namespace deadlock
{

/**
 * @ingroup deadlock
 * @brief Pauses and the pauses that caused them, reference-counted.
 *
 * A pause is identified by its index, which is valid until the last reference is dropped.
 */
class PauseHistory
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX; //!< no pause

    /// Why a port paused its peer although its egress was not held back.
    enum class Reason : uint8_t
    {
        EARLIER,   ///< the egress was held back: the cause is an earlier pause
        CONGESTED, ///< the arrival rate exceeded the egress's rate
        HOST,      ///< the node is a host
    };

    /// A pause of a causal chain.
    struct Pause
    {
        int64_t time;    //!< when it was triggered: its queue reached the threshold (ps)
        uint32_t node;   //!< node that paused
        uint16_t port;   //!< its port towards the paused peer
        uint16_t egress; //!< egress port for which it held most bytes, or NO_PORT
        uint8_t cls;     //!< class
        Reason reason;   //!< reason
    };

    /// Add a pause without references.
    /// @param pause the pause. @param parent the one that caused it, or NONE. @return its index.
    uint32_t Add(const Pause& pause, uint32_t parent);
    /// Add a reference to a pause.
    /// @param pause its index; NONE does nothing.
    void Use(uint32_t pause);
    /// Drop a reference to a pause; one without references is deleted.
    /// @param pause its index; NONE does nothing.
    void Drop(uint32_t pause);

    /// A pause.
    /// @param pause its index. @return the pause.
    const Pause& Get(uint32_t pause) const
    {
        return m_links[pause].pause;
    }

    /// The first pause of the chain that led to one.
    /// @param pause its index. @return that one, or the pause itself.
    const Pause& GetRoot(uint32_t pause) const
    {
        return m_links[pause].root;
    }

    /// The number of pauses that led to one.
    /// @param pause its index. @return count.
    uint32_t GetDepth(uint32_t pause) const
    {
        return m_links[pause].depth;
    }

    /// A pause and its whole causal chain.
    /// @param pause its index, or NONE. @return the chain, the first pause first.
    std::vector<Pause> GetChain(uint32_t pause) const;

  private:
    /// A pause and its causes.
    struct Link
    {
        Pause pause;     //!< the pause
        Pause root;      //!< first pause of its chain
        uint32_t depth;  //!< number of pauses before it
        uint32_t parent; //!< its direct cause, or NONE
        uint32_t users;  //!< number of references
    };

    std::vector<Link> m_links;    //!< by index
    std::vector<uint32_t> m_free; //!< free indices
};

} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_PAUSE_HISTORY_H */
