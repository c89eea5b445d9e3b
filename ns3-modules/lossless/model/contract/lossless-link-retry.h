/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_LINK_RETRY_H
#define LOSSLESS_LINK_RETRY_H

#include "ns3/eventloop-cell-loop.h"
#include "ns3/lossless-frame.h"
#include "ns3/lossless-link-errors.h"

#include <cstdint>
#include <functional>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Role of a flow control that repeats what was damaged on the link, below all other members
 * of the chain: they see each frame once, in order, as if links had no errors. At most one member
 * of a chain has it.
 *
 * The port tells it the fate of each frame as it sends it, so that a frame which will not be
 * accepted at the other end stays here until it is repeated, and is never in two places. The
 * protocol must not use this knowledge: what it does follows from what arrives.
 */
class LinkRetry
{
  public:
    virtual ~LinkRetry();

    /// A frame that is to be repeated now.
    struct Repeat
    {
        uint16_t bytes; //!< its size; 0: there is none
        uint8_t cls;    //!< its class
    };

    /// Tell its events where they belong, before the start.
    /// @param next called for each: the place after those of the port.
    virtual void SetPlaces(const std::function<eventloop::Place()>& next) = 0;
    /// Say whether another thread runs the other end of the link: what this end puts into a stream
    /// there goes through an EventOutlet. After the start, between windows.
    /// @param apart true if so.
    virtual void SetApart(bool apart) = 0;
    /// Is a frame protected? Called as it starts transmission.
    /// @param frame the frame. @return false: it is sent as if there were no retry.
    virtual bool Protects(const Frame& frame) const = 0;
    /// The wire is free: which frame is to be repeated first? @return it, or that there is none.
    virtual Repeat GetRepeat() const = 0;
    /// Nothing is to be repeated: may a new frame be sent? Call Port::Kick when that has changed.
    /// @return true if so.
    virtual bool MaySend() const = 0;
    /// A protected frame starts transmission.
    /// @param frame the frame. @param fate what will become of it on the link.
    /// @param end when its last bit leaves (ps).
    /// @return what arrives at the other end: the frame, one of MakeDamaged, or nullptr.
    virtual Frame* NotifySent(Frame* frame, LinkErrors::Fate fate, int64_t end) = 0;
    /// The same for the frame that GetRepeat named.
    /// @param fate as above. @param end as above. @return as above.
    virtual Frame* NotifyRepeated(LinkErrors::Fate fate, int64_t end) = 0;
    /// A frame has arrived.
    /// @param frame the frame. @return the frame, if it is to be received; else nullptr, and it is
    /// freed.
    virtual Frame* NotifyArrival(Frame* frame) = 0;

    /// Frames that were sent, and will arrive once they have been repeated.
    /// @return these, in order.
    const FrameFifo& GetKept() const
    {
        return m_kept;
    }

  protected:
    /// What arrives when a frame is not to be accepted.
    /// @param frame size. @param sequence its number on the link. @param wrong whether it has wrong
    /// bits. @return a frame that counts nowhere.
    static Frame* MakeDamaged(uint16_t bytes, uint32_t sequence, bool wrong);
    /// Is a frame one of MakeDamaged?
    /// @param frame the frame. @return true if so.
    static bool IsDamaged(const Frame& frame);

    FrameFifo m_kept; //!< see GetKept
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_LINK_RETRY_H */
