/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_PCAP_HELPER_H
#define OBSERVE_PCAP_HELPER_H

#include "ns3/lossless-fabric.h"
#include "ns3/observe-pcap-tap.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace observe
{

/**
 * @ingroup observe
 * @brief Captures ports of a fabric into pcap files, one file per port.
 */
class FabricPcapHelper
{
  public:
    /// Constructor, without taps.
    /// @param fabric the network; all its links are added.
    explicit FabricPcapHelper(lossless::Fabric& fabric);
    /// Closes all files.
    ~FabricPcapHelper();
    FabricPcapHelper(const FabricPcapHelper&) = delete;
    FabricPcapHelper& operator=(const FabricPcapHelper&) = delete;

    /**
     * @brief Capture a port; does nothing if the port is already captured.
     *
     * Attributes of the tap are those that Fabric::SetAttribute set for "ns3::observe::PcapTap".
     * The file is named after the node and the port among its own, see Port::GetNeighbourName:
     * prefix + "s0-h0.pcap", "s0-s1#2.pcap". Characters other than letters, digits, '.', '_', '+'
     * and '#' become '_'; if another port's file has that name, the port number is appended.
     *
     * @param prefix of the file's path, such as "traces/".
     * @param port the port.
     * @return false if the file cannot be written.
     */
    bool EnablePcap(const std::string& prefix, lossless::Port& port);
    /// Capture all ports of all nodes.
    /// @param prefix of the files' paths. @return false if any of the files cannot be written.
    bool EnablePcapAll(const std::string& prefix);
    /// Close all files. @return one problem per line; empty if all were written.
    std::string Close();
    /// The taps. @return in the order of their creation.
    const std::vector<Ptr<PcapTap>>& GetTaps() const;

  private:
    lossless::Fabric& m_fabric;                            //!< the network
    std::shared_ptr<const FrameSerializers> m_serializers; //!< of the network
    std::vector<Ptr<PcapTap>> m_taps;                      //!< all taps
    std::set<const lossless::Port*> m_ports;               //!< ports that are captured
    std::set<std::string> m_files;                         //!< names of their files
};

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_PCAP_HELPER_H */
