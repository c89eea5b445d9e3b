/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-fabric-audit.h"

#include "ns3/lossless-switch.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>

namespace ns3
{
namespace lossless
{

namespace
{

const char* const CAUSE_NAMES[N_DROP_CAUSES] = {"headroom full",
                                                "lossy class over its threshold",
                                                "no route",
                                                "time to live",
                                                "link down",
                                                "dropped by a scheme",
                                                "corrupted on the link"};
const char* const CAUSE_KEYS[N_DROP_CAUSES] =
    {"headroom", "lossy", "no_route", "ttl", "link_down", "scheme", "corrupted"};

/// May a link of a node corrupt frames, of it or to it?
/// @param node the node. @return true if so.
bool
HasErrors(const FabricNode& node)
{
    for (uint16_t index = 0; index < node.GetNPorts(); ++index)
    {
        const Port& port = node.GetPort(index);
        for (const Port* sender : std::initializer_list<const Port*>{&port, &port.GetPeer()})
        {
            if (sender->GetBitErrorRate() > 0 || sender->GetLossRate() > 0)
            {
                return true;
            }
        }
    }
    return false;
}

/// What to do about frames that found the headroom of their lossless class full.
/// @param node the node. @return advice.
const char*
AdviseOnHeadroom(const FabricNode& node)
{
    for (uint16_t port = 0; port < node.GetNPorts(); ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if (node.GetBuffer().GetLosslessClasses() >> cls & 1 &&
                node.GetBuffer().GetHeadroom(port, cls) > 0)
            {
                return "more arrived than the headroom that its flow controls demand: they demand "
                       "too little, or react later; raise Headroom of the buffer (buffer.headroom)";
            }
        }
    }
    return "no flow control demands headroom, and none stopped senders below what the buffer "
           "grants a queue: lower its threshold, or raise the buffer's (Size, Xoff, Alpha)";
}

} // namespace

FabricAudit::FabricAudit(const std::vector<Ptr<FabricNode>>& nodes)
    : m_nodes(nodes)
{
}

std::vector<const Switch*>
FabricAudit::GetSwitches() const
{
    std::vector<const Switch*> switches;
    for (const auto& node : m_nodes)
    {
        if (const auto* one = dynamic_cast<const Switch*>(PeekPointer(node)))
        {
            switches.push_back(one);
        }
    }
    return switches;
}

std::string
FabricAudit::CheckDemand(const Port& port)
{
    const BufferPolicy& buffer = port.GetNode().GetBuffer();
    const BufferDemand& demand = buffer.GetDemand(port.GetIndex());
    std::ostringstream problems;
    const std::string where =
        port.GetNode().GetName() + " port to " + port.GetNeighbourName() + ": ";
    // One problem for all classes with the same deficiency.
    const auto lacking = [&buffer](const BufferDemand::Part& part, const auto& have) {
        uint8_t cls = 0;
        while (cls < N_CLASSES && (!buffer.IsLossless(cls) || have(cls) >= part.bytes[cls]))
        {
            ++cls;
        }
        return cls;
    };
    const auto headroom = [&](uint8_t cls) { return buffer.GetHeadroom(port.GetIndex(), cls); };
    if (const uint8_t cls = lacking(demand.beyondStop, headroom); cls < N_CLASSES)
    {
        problems << where << "Headroom " << headroom(cls) << " B is less than "
                 << demand.beyondStop.formula
                 << ", so frames could be lost; raise it, set it to 0 (with a HeadroomRatio of 1), "
                    "or allow loss\n";
    }
    const auto own = [&](uint8_t cls) { return buffer.GetOwn(port.GetIndex(), cls); };
    if (const uint8_t cls = lacking(demand.promised, own); cls < N_CLASSES)
    {
        problems << where << buffer.GetInstanceTypeId().GetName() << " reserves " << own(cls)
                 << " B for a queue, less than what is promised to the upstream, "
                 << demand.promised.formula
                 << ", so frames could be lost; use another buffer policy, or allow loss\n";
    }
    return problems.str();
}

std::string
FabricAudit::CheckEnds(const Port& port)
{
    std::ostringstream problems;
    const Port& peer = port.GetPeer();
    const std::string where = port.GetNode().GetName() + " port to " + port.GetNeighbourName();
    if (port.GetMtu() != peer.GetMtu() && port.GetNodeId() < peer.GetNodeId())
    {
        problems << where << ": Mtu " << port.GetMtu() << " B, but " << peer.GetMtu()
                 << " B at the other end; both ends of a link need the same (0: any)\n";
    }
    if (port.GetNode().IsSwitch() && !FabricNode::Of(port).GetRoles().ChangesClasses() &&
        !port.GetMaps().AreEmpty())
    {
        problems << where << ": maps of classes, but its node has no agent that applies them; add "
                 << "tagger to its agents\n";
    }
    return problems.str();
}

std::string
FabricAudit::CheckRoom(const Switch& node)
{
    const BufferPolicy& buffer = node.GetBuffer();
    if (buffer.GetSharedSize() < 0)
    {
        return {}; // over-committed, which its own check says
    }
    for (uint16_t index = 0; index < node.GetNPorts(); ++index)
    {
        const int64_t frame = buffer.InCells(node.GetPort(index).GetLargestFrame());
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            const int64_t room = buffer.GetRoom(index, cls);
            if (buffer.IsLossless(cls) && room < frame)
            {
                std::ostringstream problem;
                problem << node.GetName() << ": an empty buffer has room for " << room
                        << " B of lossless class " << +cls << ", less than a frame of " << frame
                        << " B, so that all are lost; raise Size, lower LossyPool, or allow loss\n";
                return problem.str();
            }
        }
    }
    return {};
}

std::string
FabricAudit::Check(bool allowLoss) const
{
    std::ostringstream problems;
    for (const auto& node : m_nodes)
    {
        std::istringstream lines(node->GetBuffer().Check());
        for (std::string line; std::getline(lines, line);)
        {
            problems << node->GetName() << ": " << line << "\n";
        }
        for (uint16_t index = 0; index < node->GetNPorts(); ++index)
        {
            const Port& port = node->GetPort(index);
            problems << CheckEnds(port);
            if (!allowLoss)
            {
                problems << CheckDemand(port);
            }
            for (const auto& flowControl : port.GetChain().GetMembers())
            {
                problems << flowControl->Check();
            }
        }
        for (const auto& agent : node->GetAgents())
        {
            problems << agent->Check();
        }
    }
    for (const Switch* node : GetSwitches())
    {
        problems << node->GetForwarding().Check();
        problems << (allowLoss ? "" : CheckRoom(*node));
    }
    return problems.str();
}

std::string
FabricAudit::Warn() const
{
    // The same text from many ports or nodes is one warning.
    std::vector<std::string> warnings;
    const auto add = [&warnings](const std::string& warning) {
        if (!warning.empty() &&
            std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        {
            warnings.push_back(warning);
        }
    };
    for (const auto& node : m_nodes)
    {
        for (uint16_t index = 0; index < node->GetNPorts(); ++index)
        {
            for (const auto& flowControl : node->GetPort(index).GetChain().GetMembers())
            {
                add(flowControl->Warn());
            }
        }
        for (const auto& agent : node->GetAgents())
        {
            add(agent->Warn());
        }
    }
    std::string all;
    for (const std::string& warning : warnings)
    {
        all += warning;
    }
    return all;
}

std::string
FabricAudit::CheckEnd(bool allowLoss) const
{
    std::ostringstream problems;
    uint64_t made = 0;
    uint64_t ended = 0;
    uint64_t held = 0;
    for (const auto& node : m_nodes)
    {
        const FabricNode::Counters& counters = node->GetCounters();
        made += counters.made;
        ended += counters.taken + counters.dropped;
        held += node->CountHeld();
        for (uint16_t index = 0; index < node->GetNPorts(); ++index)
        {
            held += node->GetPort(index).CountHeld();
        }
        if (!allowLoss && counters.droppedLossless > 0)
        {
            problems << node->GetName() << " dropped " << counters.droppedLossless
                     << " frames of lossless classes (";
            const char* separator = "";
            for (std::size_t cause = 0; cause < N_DROP_CAUSES; ++cause)
            {
                if (counters.byCause[cause] > 0 &&
                    static_cast<DropCause>(cause) != DropCause::LOSSY &&
                    static_cast<DropCause>(cause) != DropCause::SCHEME &&
                    static_cast<DropCause>(cause) != DropCause::CORRUPTED)
                {
                    problems << separator << CAUSE_NAMES[cause] << ": " << counters.byCause[cause];
                    separator = ", ";
                }
            }
            problems << "); ";
            if (counters.byCause[static_cast<std::size_t>(DropCause::HEADROOM)] > 0)
            {
                problems << AdviseOnHeadroom(*node) << "; ";
            }
            problems << "set allow_loss = true if loss is intended\n";
        }
    }
    if (made != ended + held)
    {
        problems << "frames are not conserved: " << made << " created, " << ended << " ended, "
                 << held << " in queues and on links\n";
    }
    return problems.str();
}

void
FabricAudit::Report(Summary& summary) const
{
    for (const auto& node : m_nodes)
    {
        const FabricNode::Counters& counters = node->GetCounters();
        summary["dropped_frames"] += static_cast<double>(counters.dropped);
        summary["dropped_scheme_bytes"] += static_cast<double>(counters.onPurposeBytes);
        summary["dropped_lossless_frames"] += static_cast<double>(counters.droppedLossless);
        for (std::size_t cause = 0; cause < N_DROP_CAUSES; ++cause)
        {
            if (static_cast<DropCause>(cause) == DropCause::CORRUPTED && !HasErrors(*node))
            {
                continue;
            }
            summary[std::string("dropped_") + CAUSE_KEYS[cause] + "_frames"] +=
                static_cast<double>(counters.byCause[cause]);
        }
        node->GetBuffer().Report(summary);
        for (uint16_t index = 0; index < node->GetNPorts(); ++index)
        {
            const Port& port = node->GetPort(index);
            summary["pauses_sent"] += static_cast<double>(port.GetCounters().pausesSent);
            summary["pause_time_ps"] += static_cast<double>(port.GetPausedTime());
            if (port.GetEgress().GetHolds().IsGated())
            {
                summary["withheld_time_ps"] += static_cast<double>(port.GetWithheldTime());
            }
            summary["control_frames_sent"] += static_cast<double>(port.GetCounters().controlOut);
            summary["control_frames_ignored"] += static_cast<double>(port.GetChain().GetIgnored());
            summary["data_hops"] += static_cast<double>(port.GetCounters().dataIn);
            for (const auto& flowControl : port.GetChain().GetMembers())
            {
                flowControl->Report(summary);
            }
        }
        for (const auto& agent : node->GetAgents())
        {
            agent->Report(summary);
        }
    }
    for (const Switch* node : GetSwitches())
    {
        node->GetForwarding().Report(summary);
    }
}

} // namespace lossless
} // namespace ns3
