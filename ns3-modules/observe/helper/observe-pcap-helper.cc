/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-pcap-helper.h"

#include <algorithm>
#include <cctype>

namespace ns3
{
namespace observe
{

namespace
{

/// A node's name as part of a file's name.
/// @param name the name. @return the same, with unusual characters replaced by '_'.
std::string
FileName(std::string name)
{
    std::replace_if(
        name.begin(),
        name.end(),
        [](unsigned char c) {
            return !std::isalnum(c) && c != '.' && c != '_' && c != '+' && c != '#';
        },
        '_');
    return name;
}

} // namespace

FabricPcapHelper::FabricPcapHelper(lossless::Fabric& fabric)
    : m_fabric(fabric)
{
}

FabricPcapHelper::~FabricPcapHelper()
{
    Close();
}

bool
FabricPcapHelper::EnablePcap(const std::string& prefix, lossless::Port& port)
{
    if (!m_ports.insert(&port).second)
    {
        return true;
    }
    if (!m_serializers)
    {
        std::vector<const lossless::FabricNode*> nodes; // all: the network may be disconnected
        for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
        {
            nodes.push_back(&m_fabric.GetNode(node));
        }
        m_serializers = std::make_shared<const FrameSerializers>(nodes);
    }
    const std::string name =
        FileName(port.GetNode().GetName()) + "-" + FileName(port.GetNeighbourName());
    std::string file = prefix + name + ".pcap";
    for (uint32_t number = port.GetIndex(); !m_files.insert(file).second; ++number)
    {
        file = prefix + name + "-" + std::to_string(number) + ".pcap";
    }
    auto tap = m_fabric.Make<PcapTap>("ns3::observe::PcapTap");
    m_taps.push_back(tap);
    return tap->Open(file, port, m_serializers);
}

bool
FabricPcapHelper::EnablePcapAll(const std::string& prefix)
{
    bool good = true;
    for (uint32_t node = 0; node < m_fabric.GetNNodes(); ++node)
    {
        for (uint16_t port = 0; port < m_fabric.GetNode(node).GetNPorts(); ++port)
        {
            good = EnablePcap(prefix, m_fabric.GetNode(node).GetPort(port)) && good;
        }
    }
    return good;
}

std::string
FabricPcapHelper::Close()
{
    std::string problems;
    for (const auto& tap : m_taps)
    {
        if (!tap->Close())
        {
            problems += tap->GetFile() + ": could not be written completely\n";
        }
    }
    return problems;
}

const std::vector<Ptr<PcapTap>>&
FabricPcapHelper::GetTaps() const
{
    return m_taps;
}

} // namespace observe
} // namespace ns3
