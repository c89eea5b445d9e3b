/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFC_TAGGER_H
#define PFC_TAGGER_H

#include "ns3/lossless-fabric-node.h"

#include <array>
#include <string>
#include <vector>

namespace ns3
{
namespace pfc
{

/**
 * @ingroup pfc
 * @brief Tagger's rules at a switch: a frame changes its class by its input and output port, so
 * that no class has a cyclic buffer dependency.
 *
 * A frame that matches no rule keeps its class. The tag is the class itself, as in Tagger the DSCP
 * selects the priority.
 */
class Tagger : public lossless::SwitchAgent,
               public lossless::TagAgent,
               public lossless::ArrivalAgent
{
  public:
    /// The class to which a frame that changes its class is charged.
    enum class Charge
    {
        OLD, ///< the class in which it arrived: pauses name a class that the upstream sends
        NEW, ///< the class in which it leaves: pauses name a class in which the upstream holds
             ///< other frames
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Tagger();

    std::string Check() const override;
    void Start() override;
    void Report(lossless::Summary& summary) const override;
    bool NotifyArrival(lossless::Frame& frame, lossless::Port& ingress) override;
    uint8_t GetEgressClass(const lossless::Frame& frame,
                           const lossless::Port& ingress) const override;

  private:
    /// Egress class of frames, by their ingress class.
    using Classes = std::array<uint8_t, lossless::N_CLASSES>;

    /// Parse the rules.
    /// @param table by ingress and egress port; empty if there are no rules.
    /// @return one problem per line; empty if none.
    std::string Read(std::vector<Classes>& table) const;
    /// Apply the rules to a frame in its ingress class.
    uint8_t Look(const lossless::Frame& frame, const lossless::Port& ingress) const;

    std::string m_rules;          //!< attribute
    Charge m_charge;              //!< attribute
    std::vector<Classes> m_table; //!< by ingress and egress port; empty: no class changes
    uint64_t m_changed{0};        //!< frames whose class changed
};

} // namespace pfc
} // namespace ns3

#endif /* PFC_TAGGER_H */
