/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef MISBEHAVE_H
#define MISBEHAVE_H

#include "ns3/lossless-forwarding-policy.h"

/**
 * @defgroup misbehave Misbehave
 *
 * A forwarding policy that does what no module may do.
 */

namespace ns3
{
namespace misbehave
{

/**
 * @ingroup misbehave
 * @brief Forwards as ECMP does, until it does what Deed says.
 */
class Misbehave : public lossless::ForwardingPolicy
{
  public:
    /// Deeds of a module. \todo none of them is good.
    enum Deed
    {
        NOTHING,
        LOOP,
        SLEEP,
        LIVELOCK,
        EXIT_0,
        EXIT_3,
        QUICK_EXIT_0,
        ABORT,
        FATAL,
        THROW_TEXT,
        THROW_NUMBER,
        NULL_POINTER,
        RECURSE,
        KILL,
        TERMINATE,
        INTERRUPT,
        KILL_PARENT,
        CLOSE_FILES,
        NO_MEMORY,
        ESCAPES,
        FLOOD,
        STOP,
    };

    /// When the deed is done.
    enum Moment
    {
        START,
        FRAME,
        REPORT,
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    std::size_t Choose(const lossless::Frame& frame, lossless::NextHops hops) override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// Do the deed if this is its moment. @param moment what happens.
    void Do(Moment moment) const;

    Deed m_deed;                //!< attribute
    Moment m_moment;            //!< attribute
    uint32_t m_after;           //!< attribute: frames
    mutable uint32_t m_seen{0}; //!< frames so far
};

} // namespace misbehave
} // namespace ns3

#endif /* MISBEHAVE_H */
