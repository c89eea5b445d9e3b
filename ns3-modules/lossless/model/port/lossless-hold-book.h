/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_HOLD_BOOK_H
#define LOSSLESS_HOLD_BOOK_H

#include "ns3/abort.h"
#include "ns3/lossless-constants.h"
#include "ns3/lossless-state-visitor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Who holds back the classes of a port, since when, and for how long they were.
 *
 * A class is *paused* from the first pause of a flow control until none is left, and *held* while
 * any of its queues is blocked or, at a port with gates, while it is paused: a gate does not block,
 * and reports by a pause that it may hold back single frames. Several flow controls of a chain may
 * hold a class back at the same time; only here are they counted, so that whoever needs to know
 * (traces, agents, the deadlock oracle) is told of starts and ends that alternate.
 */
class HoldBook
{
  public:
    /// The port has gates.
    void SetGated()
    {
        m_gated = true;
    }

    /// A flow control starts or ends its pause of a class.
    /// @param cls class. @param on whether it starts. @param now ps.
    /// @return true if the class is paused from now on, or no longer is.
    bool Pause(uint8_t cls, bool on, int64_t now)
    {
        Holds& holds = m_holds[cls];
        NS_ABORT_MSG_IF(!on && holds.pauses == 0,
                        "a flow control ended a pause that had not begun");
        holds.pauses += on ? 1 : -1;
        if (holds.pauses != (on ? 1 : 0))
        {
            return false;
        }
        EndWithheld(1U << cls, now);
        if (!on)
        {
            holds.time += now - holds.since;
            NoteHeldUntil(cls, now);
        }
        holds.since = now;
        Update(cls);
        return true;
    }

    /// A queue of a class starts or ceases to be blocked.
    /// @param cls class. @param on whether it starts. @param now ps.
    void Block(uint8_t cls, bool on, int64_t now)
    {
        m_wasBlocked = true;
        m_holds[cls].blocked += on ? 1 : -1;
        EndWithheld(1U << cls, now);
        if (!on)
        {
            NoteHeldUntil(cls, now);
        }
        Update(cls);
    }

    /// A class is held back until a time, as by a pause.
    /// @param cls class. @param until ps.
    void NoteHeldUntil(uint8_t cls, int64_t until)
    {
        m_holds[cls].until = std::max(m_holds[cls].until, until);
    }

    /// @return true if the port has gates.
    bool IsGated() const
    {
        return m_gated;
    }

    /// The line falls idle although a gate's rate alone keeps a class's frames: it is neither
    /// paused nor held back to a known time. Counts until EndWithheld.
    /// @param cls class. @param now ps.
    void Withhold(uint8_t cls, int64_t now)
    {
        const uint32_t bit = 1U << cls;
        if (!(m_withheld & bit) && !IsPaused(cls) && m_holds[cls].until <= now)
        {
            m_withheld |= bit;
            m_holds[cls].withheldSince = now;
        }
    }

    /// @return true if a class is withheld; tested for every frame.
    bool IsWithheld() const
    {
        return m_withheld != 0;
    }

    /// Classes are no longer withheld: the line is busy, or something else holds them back.
    /// @param classes bit c: class c. @param now ps.
    void EndWithheld(uint32_t classes, int64_t now)
    {
        for (uint32_t left = m_withheld & classes; left; left &= left - 1)
        {
            m_withheldTime += now - m_holds[std::countr_zero(left)].withheldSince;
        }
        m_withheld &= ~classes;
    }

    /// Total time, summed over classes, for which the line was idle although frames waited that
    /// nothing but a rate kept. @param now ps. @return ps.
    int64_t GetWithheldTime(int64_t now) const
    {
        int64_t time = m_withheldTime;
        for (uint32_t left = m_withheld; left; left &= left - 1)
        {
            time += now - m_holds[std::countr_zero(left)].withheldSince;
        }
        return time;
    }

    /// @param cls class. @return true if it is paused.
    bool IsPaused(uint8_t cls) const
    {
        return m_holds[cls].pauses > 0;
    }

    /// @param cls class. @return true if it is held.
    bool IsHeld(uint8_t cls) const
    {
        return (m_held >> cls) & 1U;
    }

    /// @return true if queues are or have been blocked.
    bool WasBlocked() const
    {
        return m_wasBlocked;
    }

    /// When a class was last held back: paused, blocked, or without credit. A frame that has waited
    /// longer has waited for its turn since.
    /// @param cls class.
    /// @return ps; 0: never. Later than now while it is held back up to a known time.
    int64_t GetHeldUntil(uint8_t cls) const
    {
        return m_holds[cls].until;
    }

    /// Total pause time of a class.
    /// @param cls class. @param now ps. @return ps.
    int64_t GetPausedTime(uint8_t cls, int64_t now) const
    {
        const Holds& holds = m_holds[cls];
        return holds.time + (holds.pauses > 0 ? now - holds.since : 0);
    }

    /// The same, summed over classes.
    /// @param now ps. @return ps.
    int64_t GetPausedTime(int64_t now) const
    {
        int64_t time = 0;
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            time += GetPausedTime(cls, now);
        }
        return time;
    }

    /// Visit the state: nothing is held back, and what was before stays. @param visitor visitor.
    void Visit(StateVisitor& visitor) const
    {
        visitor.Inside(*this);
        visitor.Require(m_held == 0 && m_withheld == 0, "a pause is in force");
        visitor.Same(m_withheldTime, m_wasBlocked); // constant: m_gated
        for (const Holds& holds : m_holds)
        {
            const auto& [pauses, blocked, since, time, until, withheldSince] = holds;
            visitor.Require(pauses == 0, "a pause is in force");
            visitor.Same(blocked, since, time, until, withheldSince);
        }
    }

  private:
    /// What holds a class back.
    struct Holds
    {
        uint32_t pauses{0};       //!< flow controls that pause it
        uint32_t blocked{0};      //!< queues of it that are blocked
        int64_t since{0};         //!< when pauses was last 0 or became 0 (ps)
        int64_t time{0};          //!< total of pauses that have ended (ps)
        int64_t until{0};         //!< see GetHeldUntil (ps)
        int64_t withheldSince{0}; //!< see Withhold (ps)
    };

    /// Derive the bit of a class.
    void Update(uint8_t cls)
    {
        const Holds& holds = m_holds[cls];
        const bool held = holds.blocked > 0 || (m_gated && holds.pauses > 0);
        m_held = held ? m_held | 1U << cls : m_held & ~(1U << cls);
    }

    uint32_t m_held{0};                     //!< bit c: class c is held; tested for every frame
    uint32_t m_withheld{0};                 //!< bit c: class c is withheld
    int64_t m_withheldTime{0};              //!< total that has ended (ps)
    bool m_gated{false};                    //!< the port has gates
    bool m_wasBlocked{false};               //!< see WasBlocked
    std::array<Holds, N_CLASSES> m_holds{}; //!< by class
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_HOLD_BOOK_H */
