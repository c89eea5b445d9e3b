/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFC_TAGGER_H
#define PFC_TAGGER_H

#include "ns3/lossless-class-maps.h"
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
 * @brief A switch's maps, and Tagger's rules among them: in which class a frame is, to which group
 * it is charged, and in which queue and with which code point it leaves.
 *
 * 1. The class, by the map of its input port (lossless::ClassMaps); without one that on the wire.
 * 2. Rules change it by input and output port, so that no class has a cyclic buffer dependency.
 * 3. The group, by the map of the input port, of the class before step 2 (see Charge).
 * 4. The queue and the code point, by the maps of the output port, of the class after it.
 *
 * A frame that matches no rule keeps its class. Without maps the tag is the class on the wire, as
 * in Tagger the DSCP selects the priority.
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

    /// @return the maps of each port; empty: none has any.
    std::vector<lossless::ClassMaps> ReadMaps() const;

    /// Parse the rules.
    /// @param table by ingress and egress port; empty if there are no rules.
    /// @return one problem per line; empty if none.
    std::string Read(std::vector<Classes>& table) const;
    /// Apply the rules.
    /// @param frame with its egress. @param ingress port. @param cls class. @return its new class.
    uint8_t Look(const lossless::Frame& frame, const lossless::Port& ingress, uint8_t cls) const;
    /// Set code point and queue of a frame.
    /// @param frame with its egress. @param before its class. @param after that by the rules.
    void Mark(lossless::Frame& frame, uint8_t before, uint8_t after) const;

    std::string m_rules;          //!< attribute
    Charge m_charge;              //!< attribute
    std::vector<Classes> m_table; //!< by ingress and egress port; empty: no class changes
    std::vector<lossless::ClassMaps> m_maps; //!< by port; empty: none
    uint64_t m_changed{0};                   //!< frames whose class rules changed
};

} // namespace pfc
} // namespace ns3

#endif /* PFC_TAGGER_H */
