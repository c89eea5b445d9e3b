/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-monitor.h"

#include "ns3/deadlock-detection.h"
#include "ns3/observe-probe.h"

namespace ns3
{
namespace deadlock
{

namespace
{

/// "detection": the reports of all nodes' detectors, compared with the oracle at the same moment.
class DetectionProbe : public observe::Probe
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::deadlock::DetectionProbe")
                                .SetParent<observe::Probe>()
                                .SetGroupName("deadlock")
                                .AddConstructor<DetectionProbe>();
        return tid;
    }

    void Open(lossless::Fabric& fabric, observe::Table& table) override
    {
        m_monitor = &DeadlockMonitor::Of(fabric);
        m_monitor->RequireOracle();
        m_columns.Open(table);
        // 0 on the loop, 1 off it, 2 begun again, 3 watchdog, 4 controller
        m_way = table.Add<uint8_t>("way");
        // when the messages that led to it began
        m_begun = table.Add<int64_t>("begun_ps");
        // when a loop was suspected
        m_looped = table.Add<int64_t>("looped_ps");
        // that the oracle sees the queue in, or stuck behind; -1: none
        m_episode = table.Add<int64_t>("episode");
        for (uint32_t node = 0; node < fabric.GetNNodes(); ++node)
        {
            for (const auto& agent : fabric.GetNode(node).GetAgents())
            {
                agent->TraceConnectWithoutContext("Detection",
                                                  MakeCallback(&DetectionProbe::Record, this));
            }
        }
    }

  private:
    void Record(const lossless::Port& port, const Detection& detection)
    {
        const auto row = m_columns.Append(port, detection.cls);
        m_way->push_back(detection.way);
        m_begun->push_back(detection.begun);
        m_looped->push_back(detection.looped);
        m_episode->push_back(
            m_monitor->GetOracle().FindEpisode(port.GetNodeId(), port.GetIndex(), detection.cls));
    }

    DeadlockMonitor* m_monitor{nullptr};                //!< queried at every detection
    observe::PortColumns m_columns;                     //!< time, node, peer, class
    observe::ColumnValues<uint8_t>* m_way{nullptr};     //!< Detection::Way
    observe::ColumnValues<int64_t>* m_begun{nullptr};   //!< ps
    observe::ColumnValues<int64_t>* m_looped{nullptr};  //!< ps
    observe::ColumnValues<int64_t>* m_episode{nullptr}; //!< that the oracle assigns it to, or -1
};

} // namespace

NS_OBJECT_ENSURE_REGISTERED(DetectionProbe);

} // namespace deadlock
} // namespace ns3
