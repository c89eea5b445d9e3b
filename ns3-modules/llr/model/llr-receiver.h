/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LLR_RECEIVER_H
#define LLR_RECEIVER_H

#include "llr-sequence.h"

namespace ns3
{
namespace llr
{

/**
 * @ingroup llr
 * @brief The receiving end of a direction of a link: which frames it accepts, and what it has to
 * say.
 *
 * A frame with wrong bits, or a number beyond the expected one, is answered by one NACK with the
 * number of the last frame accepted; then nothing is said until the expected one arrives, or one
 * that was accepted before: that is answered by an ACK, since an answer was lost (ours).
 */
class Receiver
{
  public:
    /// States, named as in SAI.
    enum class State : uint8_t
    {
        OFF,       ///< not initialised
        SEND_ACKS, ///< all is well
        SEND_NACK, ///< a NACK waits to be sent
        NACK_SENT, ///< the expected frame is awaited
    };

    /// What it sees in a frame.
    enum class Verdict : uint8_t
    {
        EXPECTED,  ///< the next one: it is accepted
        WRONG,     ///< it has wrong bits
        MISSING,   ///< frames before it are missing
        DUPLICATE, ///< it was accepted before
    };

    /// Start anew.
    /// @param sequence number of the next frame.
    void Start(uint32_t sequence);
    /// Stop: accept nothing.
    void Stop();
    /// A frame has arrived. Precondition: not OFF.
    /// @param sequence its number. @param wrong whether it has wrong bits. @return what it is.
    Verdict Receive(uint32_t sequence, bool wrong);

    /// @return true if there is something to say.
    bool HasNews() const
    {
        return m_state == State::SEND_NACK || (m_state == State::SEND_ACKS && m_ackDue);
    }

    /// Say it. Precondition: HasNews.
    /// @return true: a NACK; false: an ACK; both with the number GetLast.
    bool TakeNews();

    /// @return number of the last frame accepted.
    uint32_t GetLast() const
    {
        return Advance(m_expected, SEQUENCES - 1);
    }

    /// @return number of the frame that is expected.
    uint32_t GetExpected() const
    {
        return m_expected;
    }

    /// @return its state.
    State GetState() const
    {
        return m_state;
    }

  private:
    State m_state{State::OFF}; //!< state
    bool m_ackDue{false};      //!< something was accepted since the last ACK
    uint32_t m_expected{0};    //!< number
};

} // namespace llr
} // namespace ns3

#endif /* LLR_RECEIVER_H */
