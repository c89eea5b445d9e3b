/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FORWARDING_POLICY_H
#define LOSSLESS_FORWARDING_POLICY_H

#include "lossless-flow-control.h"

#include "ns3/lossless-frame.h"
#include "ns3/lossless-routes.h"
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
 * @brief Chooses the egress of a frame among the equal-cost next hops of its switch; one per
 * switch.
 *
 * Routes provides the shortest paths, a policy chooses among those of equal length; so no policy
 * can create a forwarding loop. It is called for payload (DATA and PACKET) with more than one next
 * hop: not for frames on a pinned or diverted path, nor for those to a host of this switch. Answers
 * (ACK, NACK, CNP) and routed messages use the hash, so that those of a flow stay in order, unless
 * Answers is set.
 */
class ForwardingPolicy : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    /// Attach to a switch; called once.
    /// @param node the switch, which owns this object.
    void SetSwitch(FabricNode* node);
    /// All ports are complete. Called once, before the first frame.
    virtual void Start();
    /// Choose for a frame that has arrived. Called exactly once per frame, so it may draw random
    /// numbers and count.
    /// @param frame the frame.
    /// @param hops the ports by which it may leave, at least two, in order, without those of links
    /// that the switch knows to be down. @return index of one of them.
    virtual std::size_t Choose(const Frame& frame, NextHops hops) = 0;
    /// Use fixed random streams; a fabric gives each switch its own.
    /// @param stream the first one. @return number of streams used.
    virtual int64_t AssignStreams(int64_t stream);
    /// Errors of the configuration. @return one problem per line; empty if none.
    virtual std::string Check() const;
    /// Add this switch's numbers to the run's summary.
    /// @param summary the summary.
    virtual void Report(Summary& summary) const;

    /// Does the policy apply to answers and routed messages? @return Answers.
    bool ChoosesAnswers() const
    {
        return m_answers;
    }

  protected:
    ForwardingPolicy();
    ~ForwardingPolicy() override;

    /// Draw a next hop uniformly at random, from the run's seed.
    /// @param count number of next hops, at least 1. @return index of one of them.
    std::size_t Draw(std::size_t count)
    {
        return m_random->GetInteger(0, static_cast<uint32_t>(count - 1));
    }

    FabricNode* m_switch{nullptr}; //!< switch it belongs to

  private:
    bool m_answers;                      //!< attribute
    Ptr<UniformRandomVariable> m_random; //!< for Draw
};

/**
 * @ingroup lossless
 * @brief Equal-cost multipath: a hash of the 5-tuple and a salt of the switch, so that a flow stays
 * on one path.
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
