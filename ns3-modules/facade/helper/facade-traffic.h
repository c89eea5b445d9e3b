/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_TRAFFIC_H
#define FACADE_TRAFFIC_H

#include "facade-flow-paths.h"
#include "facade-flow-schedule.h"
#include "facade-machines.h"
#include "facade-path-times.h"

#include "ns3/lossless-buffer-policy.h"
#include "ns3/observe-table.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief The flows of a run, from their configuration to their results.
 */
class Traffic
{
  public:
    /// Flows in a network.
    /// @param fabric the network; outlives this.
    explicit Traffic(lossless::Fabric& fabric);

    /// See Simulation::SetCongestionControl.
    void SetCongestionControl(const std::string& typeId);
    /// See Simulation::SetStopWhenDone.
    void SetStopWhenDone(bool stop, bool acknowledged);
    /// @return a new host for these flows.
    Ptr<rdma::Host> MakeHost();
    /// See Simulation::AddFlows.
    uint32_t AddFlows(const uint32_t* src,
                      const uint32_t* dst,
                      const uint64_t* sizes,
                      const int64_t* starts,
                      const int64_t* stops,
                      const uint8_t* classes,
                      const uint64_t* rates,
                      const uint64_t* windows,
                      uint32_t n);
    /// See Simulation::AddDependencies.
    void AddDependencies(const uint32_t* flows,
                         const uint32_t* after,
                         const int64_t* delays,
                         uint32_t n);
    /// See Simulation::SetNics.
    void SetNics(const uint32_t* flows, const uint32_t* out, const uint32_t* in, uint32_t n);
    /// See Simulation::SetOnOff.
    void SetOnOff(uint32_t flow, int64_t on, int64_t off);
    /// See Simulation::SetFlowAttribute.
    void SetFlowAttribute(const uint32_t* flows,
                          uint32_t n,
                          const std::string& name,
                          const std::string& value);
    /// See Simulation::SetConnections.
    void SetConnections(const uint32_t* flows, const uint32_t* connections, uint32_t n);
    /// See Simulation::SetSourcePorts.
    void SetSourcePorts(const uint32_t* flows, const uint16_t* ports, uint32_t n);
    /// See Simulation::AddShares.
    uint32_t AddShares(const uint32_t* messages, const uint64_t* sizes, uint32_t n);
    /// See Simulation::SetPaths; for answers, SetAckPaths.
    void SetPaths(const uint32_t* flows,
                  const uint32_t* lengths,
                  const uint32_t* nodes,
                  uint32_t n,
                  bool answers);
    /// See Simulation::SetAckRouting.
    void SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n);

    /// Set the largest frame of hosts, before the network is built.
    void Prepare();
    /// The network is built: connect the queue pairs and schedule their starts.
    void Connect();
    /// @return problems of paths and dependencies, one per line.
    std::string CheckWays() const;
    /// @return other problems of these flows, one per line.
    std::string Check() const;
    /// @return warnings of the congestion control, one per line.
    std::string Warn() const;
    /// @return the cyclic buffer dependency of the flows, as a line; empty if there is none.
    std::string DescribeCycle() const;
    /// Fill the table "flow".
    /// @param flows the table.
    void FillTable(observe::Table& flows) const;
    /// Add the totals of all flows.
    /// @param summary the summary.
    void Report(lossless::Summary& summary) const;
    /// See Simulation::GetDeliveredShare.
    double GetDeliveredShare() const;
    /// The queue pair of a flow; throws std::invalid_argument if there is none.
    /// @param flow its number. @return the queue pair.
    rdma::QueuePair& GetFlow(uint32_t flow) const;

    /// @return all queue pairs, by flow.
    const std::vector<Ptr<rdma::QueuePair>>& GetQueuePairs() const
    {
        return m_queuePairs;
    }

    /// @return which nodes are one machine.
    Machines& GetMachines()
    {
        return m_machines;
    }

    /// Is it certain, before the run, that no queues can wait for each other?
    /// @return true: neither flows nor answers have cyclic dependencies, and paths do not change.
    bool RulesOutCycles();
    /// Release the queue pairs, before the simulator is destroyed.
    void Release();

    /// @return the progress of the messages.
    const rdma::Progress& GetProgress() const
    {
        return m_progress;
    }

  private:
    /// The largest frame of any flow (B).
    uint32_t GetLargestFrame() const;
    /// Problems of flows that share a connection.
    std::string CheckConnections() const;
    /// Problems if switches truncate frames: what the queue pairs lack for it, or the classes.
    std::string CheckTruncation() const;
    bool FollowsNoCycle() const;
    int64_t GetEarliestEnd();
    /// Let a scale-up domain carry a flow that crosses one.
    /// @return time that it takes there, before it is on the network (ps); 0: it does not.
    int64_t Carry(uint32_t flow, rdma::QueuePair& queuePair);
    void FollowRoutes(uint32_t host);
    /// Visit all hosts, by number.
    void ForEachHost(const std::function<void(rdma::Host&)>& visit) const;

    lossless::Fabric& m_fabric;                     //!< the network
    std::vector<Ptr<rdma::QueuePair>> m_queuePairs; //!< by flow
    std::vector<rdma::QueuePair::Demand> m_demands; //!< by flow
    FlowPaths::Ends m_ends; //!< by flow: hosts at which it enters and leaves the network
    Machines m_machines;    //!< servers, and hosts with several links
    std::map<uint32_t, std::pair<uint32_t, uint32_t>>
        m_asked; //!< original ends of flows that use other hosts
    std::map<uint32_t, uint32_t>
        m_connections;           //!< by flow: whose connection it uses, if not its own
    std::set<uint32_t> m_shared; //!< flows whose connections others use
    std::map<uint32_t, std::map<std::string, std::string>>
        m_own; //!< by flow, attributes of its queue pair that others do not have
    std::map<uint32_t, uint32_t> m_messageOf; //!< by flow that is a share, its message
    std::vector<int64_t> m_idealTimes;        //!< by flow (ps); -1: none
    std::vector<int64_t> m_answerTimes;       //!< by flow: delay of an ACK (ps); -1: none
    int64_t m_longestRtt{0};                  //!< longest base round-trip time at set-up (ps)
    rdma::Progress m_progress;                //!< progress of the hosts
    double m_finiteBytes{0};                  //!< total bytes of finite flows on the network (B)
    std::string m_congestionControl;          //!< TypeId name; empty: none
    PathTimes::Hops m_cycle;        //!< cyclic buffer dependency of the flows; empty: none
    std::optional<bool> m_rulesOut; //!< see RulesOutCycles, of paths that do not change
    std::vector<uint32_t> m_open;   //!< finite flows that may not have finished
    uint32_t m_farthest{0};         //!< of these, one that is far from its end
    int64_t m_nextLook{0};          //!< when to look for another one (ps)
    FlowSchedule m_schedule;        //!< starts the flows
    FlowPaths m_paths;              //!< their paths
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_TRAFFIC_H */
