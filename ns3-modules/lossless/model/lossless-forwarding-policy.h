/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FORWARDING_POLICY_H
#define LOSSLESS_FORWARDING_POLICY_H

#include "lossless-flow-control.h"
#include "lossless-frame.h"
#include "lossless-routes.h"

#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <string>

namespace ns3
{
namespace lossless
{

class FabricNode;

/**
 * @ingroup lossless
 * @brief Chooses the egress of a frame among the equal next hops of its switch; one a switch.
 *
 * Routes knows the ways, a policy chooses between those that are equally short; so no policy can
 * send a frame in a loop. It is asked about payload (DATA and PACKET) that has a choice: a frame on
 * a pinned or diverted path has none, nor has one for a host of this switch. Answers (ACK, NACK,
 * CNP) and routed messages go by the hash, so that those of a flow stay in order, unless Answers is
 * set.
 */
class ForwardingPolicy : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Tie it to its switch; called once.
    /// @param node the switch, which owns this object.
    void SetSwitch(FabricNode* node);
    /// All ports are complete. Called once, before any frame.
    virtual void Start();
    /// Choose for a frame that has arrived. Called once a frame: what is drawn or counted here, is
    /// so for this frame.
    /// @param frame it.
    /// @param hops the ports it may leave by, two at least, in order; those over links that the
    /// switch knows to be down are left out. @return which of them, from 0.
    virtual std::size_t Choose(const Frame& frame, NextHops hops) = 0;
    /// Draw random numbers from fixed streams; a fabric gives each switch its own.
    /// @param stream the first of them. @return how many there are.
    virtual int64_t AssignStreams(int64_t stream);
    /// What makes this configuration impossible. @return one problem a line; empty if none.
    virtual std::string Check() const;
    /// Add this switch's numbers to the run's summary.
    /// @param summary where to add.
    virtual void Report(Summary& summary) const;

    /// Is it asked about answers and routed messages, too? @return Answers.
    bool ChoosesAnswers() const
    {
        return m_answers;
    }

  protected:
    ForwardingPolicy();
    ~ForwardingPolicy() override;

    /// Draw a next hop, each as likely as any other, from the run's seed.
    /// @param count how many there are, from 1. @return one of them, from 0.
    std::size_t Draw(std::size_t count)
    {
        return m_random->GetInteger(0, static_cast<uint32_t>(count - 1));
    }

    FabricNode* m_switch{nullptr}; //!< the switch it belongs to

  private:
    bool m_answers;                      //!< attribute
    Ptr<UniformRandomVariable> m_random; //!< for Draw
};

/**
 * @ingroup lossless
 * @brief Equal-cost multipath: a hash of the 5-tuple and of a salt of the switch, so that a flow
 * stays on one path.
 */
class Ecmp : public ForwardingPolicy
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::size_t Choose(const Frame& frame, NextHops hops) override;
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FORWARDING_POLICY_H */
