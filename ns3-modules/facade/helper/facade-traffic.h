/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_TRAFFIC_H
#define FACADE_TRAFFIC_H

#include "facade-flow-paths.h"
#include "facade-flow-schedule.h"
#include "facade-path-times.h"

#include "ns3/lossless-buffer-policy.h"
#include "ns3/observe-table.h"
#include "ns3/rdma-server.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace rdma
{

/**
 * @ingroup facade
 * @brief The flows of a run, from what is asked of them to what became of them.
 */
class Traffic
{
  public:
    /// Flows in a network.
    /// @param fabric it; outlives this.
    explicit Traffic(lossless::Fabric& fabric);

    /// As Simulation::SetCongestionControl.
    void SetCongestionControl(const std::string& typeId);
    /// As Simulation::SetStopWhenDone.
    void SetStopWhenDone(bool stop, bool acknowledged);
    /// @return a new host for these flows.
    Ptr<Host> MakeHost();
    /// As Simulation::AddFlows.
    uint32_t AddFlows(const uint32_t* src,
                      const uint32_t* dst,
                      const uint64_t* sizes,
                      const int64_t* starts,
                      const int64_t* stops,
                      const uint8_t* classes,
                      const uint64_t* rates,
                      const uint64_t* windows,
                      uint32_t n);
    /// As Simulation::AddDependencies.
    void AddDependencies(const uint32_t* flows,
                         const uint32_t* after,
                         const int64_t* delays,
                         uint32_t n);
    /// As Simulation::AddServer.
    void AddServer(const uint32_t* hosts, uint32_t n, uint64_t rate, int64_t delay, bool failover);
    /// As Simulation::SetNics.
    void SetNics(const uint32_t* flows, const uint32_t* out, const uint32_t* in, uint32_t n);
    /// As Simulation::SetOnOff.
    void SetOnOff(uint32_t flow, int64_t on, int64_t off);
    /// As Simulation::SetPaths, or, of answers, SetAckPaths.
    void SetPaths(const uint32_t* flows,
                  const uint32_t* lengths,
                  const uint32_t* nodes,
                  uint32_t n,
                  bool answers);
    /// As Simulation::SetAckRouting.
    void SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n);

    /// Tell hosts the largest frame, before the network is built.
    void Prepare();
    /// The network is built: connect the queue pairs and start them at their times.
    void Connect();
    /// @return what is wrong with paths and dependencies, one problem a line.
    std::string CheckWays() const;
    /// @return what else makes these flows impossible, one problem a line.
    std::string Check() const;
    /// @return what the congestion control warns of, one warning a line.
    std::string Warn() const;
    /// @return the cyclic buffer dependency of the flows, a line; empty if there is none.
    std::string DescribeCycle() const;
    /// Fill the table "flow".
    /// @param flows where to.
    void FillTable(lossless::Table& flows) const;
    /// Add the numbers of all flows.
    /// @param summary where to.
    void Report(lossless::Summary& summary) const;
    /// As Simulation::GetDeliveredShare.
    double GetDeliveredShare() const;
    /// The queue pair of a flow; throws std::invalid_argument where there is none.
    /// @param flow its number. @return it.
    QueuePair& GetFlow(uint32_t flow) const;
    /// Forget the queue pairs, before the simulator is destroyed.
    void Release();

    /// @return how far the messages are.
    const Progress& GetProgress() const
    {
        return m_progress;
    }

  private:
    uint32_t GetLargestFrame() const;
    Server* FindServer(uint32_t host) const;
    int64_t Carry(uint32_t flow, QueuePair& queuePair);
    void ForEachHost(const std::function<void(Host&)>& visit) const;

    lossless::Fabric& m_fabric;                     //!< the network
    std::vector<Ptr<QueuePair>> m_queuePairs;       //!< by flow
    std::vector<QueuePair::Demand> m_demands;       //!< by flow
    FlowPaths::Ends m_ends;                         //!< by flow, where they leave and arrive
    std::vector<std::unique_ptr<Server>> m_servers; //!< all
    std::map<uint32_t, Server*> m_serverOf;         //!< by host, where it has one
    std::map<uint32_t, std::pair<uint32_t, uint32_t>> m_asked; //!< ends of flows by other hosts
    std::vector<int64_t> m_idealTimes;                         //!< by flow (ps); -1: none
    std::vector<int64_t> m_answerTimes; //!< by flow (ps), of an ACK alone; -1: none
    Progress m_progress;                //!< of the hosts
    double m_finiteBytes{0};            //!< of flows on the network with an end (bytes)
    std::string m_congestionControl;    //!< TypeId name; empty: none
    PathTimes::Hops m_cycle;            //!< of their buffer dependencies; empty: none
    FlowSchedule m_schedule;            //!< starts them
    FlowPaths m_paths;                  //!< their ways
};

} // namespace rdma
} // namespace ns3

#endif /* FACADE_TRAFFIC_H */
