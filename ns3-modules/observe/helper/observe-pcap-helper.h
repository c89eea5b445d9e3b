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
namespace lossless
{

/**
 * @ingroup observe
 * @brief Captures ports of a fabric into pcap files, one file a port.
 */
class FabricPcapHelper
{
  public:
    /// Start without a tap.
    /// @param fabric the network; all its links are added.
    explicit FabricPcapHelper(Fabric& fabric);
    /// Closes all files.
    ~FabricPcapHelper();
    FabricPcapHelper(const FabricPcapHelper&) = delete;
    FabricPcapHelper& operator=(const FabricPcapHelper&) = delete;

    /**
     * @brief Capture a port. A port that is captured already is left as it is.
     *
     * Attributes of the tap are those that Fabric::SetAttribute set for "ns3::lossless::PcapTap".
     * The file is named after the node and its neighbour: prefix + "s0-h0.pcap". A second link
     * between the same nodes has the number of its port behind that: "s0-s1-3.pcap". Characters
     * other than letters, digits, '.', '_' and '+' become '_'.
     *
     * @param prefix of the file's path, such as "traces/".
     * @param port the port.
     * @return false if the file cannot be written.
     */
    bool EnablePcap(const std::string& prefix, Port& port);
    /// Capture all ports of all nodes.
    /// @param prefix of the files' paths. @return false if one of the files cannot be written.
    bool EnablePcapAll(const std::string& prefix);
    /// Close all files. @return one problem a line; empty if all is written.
    std::string Close();
    /// The taps. @return in the order in which they were made.
    const std::vector<Ptr<PcapTap>>& GetTaps() const;

  private:
    Fabric& m_fabric;                                      //!< the network
    std::shared_ptr<const FrameSerializers> m_serializers; //!< of the network
    std::vector<Ptr<PcapTap>> m_taps;                      //!< all
    std::set<const Port*> m_ports;                         //!< those captured
    std::set<std::string> m_files;                         //!< their files
};

} // namespace lossless
} // namespace ns3

#endif /* OBSERVE_PCAP_HELPER_H */
