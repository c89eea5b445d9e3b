/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FABRIC_AUDIT_H
#define LOSSLESS_FABRIC_AUDIT_H

#include "ns3/lossless-fabric-node.h"

#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

class Switch;

/**
 * @ingroup lossless
 * @brief What is to be said of the nodes of a fabric that is built: what makes a run impossible,
 * what was lost in it, and its numbers. It changes nothing.
 */
class FabricAudit
{
  public:
    /// Look at nodes.
    /// @param nodes all of a fabric; they outlive this.
    explicit FabricAudit(const std::vector<Ptr<FabricNode>>& nodes);
    /// What makes a run impossible.
    /// @param allowLoss frames of lossless classes may be lost.
    /// @return one problem a line; empty if none.
    std::string Check(bool allowLoss) const;
    /// What lies outside a sufficient bound. @return one warning a line; empty if none.
    std::string Warn() const;
    /// Are frames conserved at the end of a run, and was nothing lossless lost?
    /// @param allowLoss frames of lossless classes may be lost.
    /// @return one problem a line; empty if none.
    std::string CheckEnd(bool allowLoss) const;
    /// Add the numbers of nodes, ports and what is on them.
    /// @param summary where to.
    void Report(Summary& summary) const;

  private:
    static std::string CheckDemand(const Port& port);
    std::vector<const Switch*> GetSwitches() const;

    const std::vector<Ptr<FabricNode>>& m_nodes; //!< all
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_AUDIT_H */
