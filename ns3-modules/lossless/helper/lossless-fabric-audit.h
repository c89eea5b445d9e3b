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
 * @brief Checks of a fabric after it was built and at the end of a run: configuration errors,
 * losses, and the summary. It changes nothing.
 */
class FabricAudit
{
  public:
    /// Constructor.
    /// @param nodes all nodes of a fabric; they outlive this object.
    explicit FabricAudit(const std::vector<Ptr<FabricNode>>& nodes);
    /// Errors that make a run impossible.
    /// @param allowLoss whether frames of lossless classes may be lost.
    /// @return one problem per line; empty if none.
    std::string Check(bool allowLoss) const;
    /// Violations of sufficient bounds. @return one warning per line; empty if none.
    std::string Warn() const;
    /// Check at the end of a run that frames are conserved and that no lossless frame was lost.
    /// @param allowLoss whether frames of lossless classes may be lost.
    /// @return one problem per line; empty if none.
    std::string CheckEnd(bool allowLoss) const;
    /// Add the totals of nodes, ports and flow controls.
    /// @param summary the summary.
    void Report(Summary& summary) const;

  private:
    static std::string CheckDemand(const Port& port);
    static std::string CheckEnds(const Port& port);   // maps, and MTU of a link
    static std::string CheckRoom(const Switch& node); // one problem at most
    std::vector<const Switch*> GetSwitches() const;

    const std::vector<Ptr<FabricNode>>& m_nodes; //!< all
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_AUDIT_H */
