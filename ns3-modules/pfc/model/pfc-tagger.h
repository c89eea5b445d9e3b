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
namespace lossless
{

/**
 * @ingroup pfc
 * @brief Tagger's rules at a switch: frames change class by the ports that they come and leave by,
 * so that no class has a cycle of dependencies.
 *
 * A frame that no rule names keeps its class. The tag is the class itself, as in Tagger the DSCP
 * decides the priority.
 */
class Tagger : public SwitchAgent, public TagAgent, public ArrivalAgent
{
  public:
    /// To which class a frame is charged whose class changes.
    enum class Charge
    {
        OLD, ///< that in which it came: pauses name what the upstream sends
        NEW, ///< that in which it leaves: pauses name a class in which the upstream holds others
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Tagger();

    std::string Check() const override;
    void Start() override;
    void Report(Summary& summary) const override;
    bool NotifyArrival(Frame& frame, Port& ingress) override;
    uint8_t GetEgressClass(const Frame& frame, const Port& ingress) const override;

  private:
    /// Classes in which frames leave, by the class in which they come.
    using Classes = std::array<uint8_t, N_CLASSES>;

    /// Read the rules.
    /// @param table by ingress and egress port; empty if there is no rule.
    /// @return one problem a line; empty if none.
    std::string Read(std::vector<Classes>& table) const;
    /// What the rules say of a frame in the class in which it came.
    uint8_t Look(const Frame& frame, const Port& ingress) const;

    std::string m_rules;          //!< attribute
    Charge m_charge;              //!< attribute
    std::vector<Classes> m_table; //!< by ingress and egress port; empty: nothing changes
    uint64_t m_changed{0};        //!< frames whose class changed
};

} // namespace lossless
} // namespace ns3

#endif /* PFC_TAGGER_H */
