/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_SIMULATION_FLOWS_H
#define FACADE_SIMULATION_FLOWS_H

// Nothing of ns-3 may be included here: Python parses this header at the start of every run.
#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{
namespace facade
{

class SimulationState;

/**
 * @ingroup facade
 * @brief The second door of a Simulation: flows, their connections and paths.
 *
 * Times are in ps, rates in bit/s. See Simulation for the order of calls and for errors.
 */
class SimulationFlows
{
  public:
    SimulationFlows(const SimulationFlows&) = delete;
    SimulationFlows& operator=(const SimulationFlows&) = delete;

    /// Set the congestion control of all queue pairs.
    /// @param typeId full TypeId name; empty: none.
    void SetCongestionControl(const std::string& typeId);
    /// End the run once all finite flows are done. @param stop true to stop early.
    /// @param acknowledged false: a flow is done when its receiver has the whole message; true:
    /// when it is acknowledged at the sender.
    void SetStopWhenDone(bool stop, bool acknowledged = false);
    /// Add flows: each is one message, on its own queue pair unless SetConnections is used.
    /// @param src source host. @param dst destination host. @param sizes payload bytes; 0: greedy,
    /// endless.
    /// @param starts ps. @param stops ps at which a greedy source stops; -1: never.
    /// @param classes 0..7. @param rates cap in bit/s; 0: none. @param windows bytes in flight; 0:
    /// no limit. @param n number of flows. @return the number of the first flow added.
    uint32_t AddFlows(const uint32_t* src,
                      const uint32_t* dst,
                      const uint64_t* sizes,
                      const int64_t* starts,
                      const int64_t* stops,
                      const uint8_t* classes,
                      const uint64_t* rates,
                      const uint64_t* windows,
                      uint32_t n);
    /// Add one flow, starting at time 0, without a cap and a window.
    /// @param src source host. @param dst destination host. @param cls 0..7.
    /// @param size payload bytes; 0: endless. @return its number.
    uint32_t AddFlow(uint32_t src, uint32_t dst, uint8_t cls, uint64_t size = 0);
    /// Make flows wait for others: a flow starts at the latest of its own start time and, for each
    /// flow it waits for, the end of that flow plus a delay; a start that never occurred is -1 in
    /// the table "flow". A number from 2^31 on is a point, a flow from time 0 that sends nothing.
    /// @param flows those that wait; a flow may be listed several times.
    /// @param after for each, a finite flow that it waits for.
    /// @param delays ps, from 0. @param n length of the three.
    void AddDependencies(const uint32_t* flows,
                         const uint32_t* after,
                         const int64_t* delays,
                         uint32_t n);
    /// Let flows leave or arrive by other hosts of their servers, or other ports of their hosts.
    /// With a scale-up domain, a message uses it to reach the host by which it leaves, and arrives
    /// by its destination.
    /// @param flows their numbers. @param out for each, the host by which it leaves.
    /// @param in for each, the host by which it arrives. @param n length of the three.
    void SetNics(const uint32_t* flows, const uint32_t* out, const uint32_t* in, uint32_t n);
    /// Set an attribute of the queue pairs of some flows: others have that of SetAttribute. Before
    /// AddShares.
    /// @param flows their numbers. @param n how many. @param name of an attribute of
    /// ns3::rdma::QueuePair. @param value in ns-3's spelling.
    void SetFlowAttribute(const uint32_t* flows,
                          uint32_t n,
                          const std::string& name,
                          const std::string& value);
    /// Let flows be messages on one connection (queue pair), sent one after the other in the order
    /// of their starts. All have the same hosts, class, rate and window; none is endless, sent in
    /// bursts, on a fixed path or inside a scale-up domain.
    /// @param flows their numbers, without that of the connection.
    /// @param connections for each, the flow whose connection it uses, which uses its own. Frames
    /// carry its number. @param n length of the two.
    void SetConnections(const uint32_t* flows, const uint32_t* connections, uint32_t n);
    /// Give queue pairs UDP source ports, from which ECMP takes the hash of their frames. Others
    /// have a hash of their own number.
    /// @param flows whose queue pairs they are. @param ports above 0. @param n length of the two.
    void SetSourcePorts(const uint32_t* flows, const uint16_t* ports, uint32_t n);
    /// Cut shares off messages, which start and end with them: a message has arrived when all of
    /// its shares have, and its row of the table "flow" is of all of them. A share is a flow with
    /// a number and a queue pair of its own, unless SetConnections is used. After SetNics.
    /// @param messages flows whose shares they are. @param sizes bytes; the message keeps the rest,
    /// at least a byte. @param n number of shares. @return the number of the first one.
    uint32_t AddShares(const uint32_t* messages, const uint64_t* sizes, uint32_t n);
    /// Let a flow send only in bursts.
    /// @param flow its number. @param on ps. @param off ps between bursts.
    void SetOnOff(uint32_t flow, int64_t on, int64_t off);
    /// Pin a flow to a path.
    /// @param flow its number. @param nodes all nodes from source to destination; see the class.
    /// @param n count.
    void SetPath(uint32_t flow, const uint32_t* nodes, uint32_t n);
    /// Pin flows to paths. Their ACKs, NACKs and CNPs take the reverse paths, unless SetAckPaths or
    /// SetAckRouting is used.
    /// @param flows for each path, the flow. @param lengths for each path, its number of nodes.
    /// @param nodes all nodes of all paths, concatenated. @param n number of paths.
    void SetPaths(const uint32_t* flows,
                  const uint32_t* lengths,
                  const uint32_t* nodes,
                  uint32_t n);
    /// Pin the ACKs, NACKs and CNPs of flows to paths, each from the flow's destination to its
    /// source. After SetPaths.
    /// @param flows for each path, the flow. @param lengths for each path, its number of nodes.
    /// @param nodes all nodes of all paths, concatenated. @param n number of paths.
    void SetAckPaths(const uint32_t* flows,
                     const uint32_t* lengths,
                     const uint32_t* nodes,
                     uint32_t n);
    /// Set the routing of ACKs, NACKs and CNPs that are not pinned. By default they take the
    /// reverse path of a pinned flow, and use ECMP otherwise.
    /// @param flows their numbers.
    /// @param reverse for each: 1 for the reverse of the path that its data frames have at the
    /// start, whatever routes change later; 0 for ECMP with their own hash. @param n how many.
    void SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n);
    /// Number of finite flows finished so far. @return count.
    uint64_t GetFinishedFlows() const;
    /// Share of the payload of all finite flows on the network that has been delivered.
    /// Like Now, it may be called from another thread while Run is executing.
    /// @return a share from 0 to 1; 1 if there is no finite flow.
    double GetDeliveredShare() const;
    /// Payload that a flow has delivered so far: in order, or all that arrived if its queue pair
    /// does not recover from losses.
    /// @param flow its number. @return bytes.
    uint64_t GetDeliveredBytes(uint32_t flow) const;

  protected:
    /// Constructor. @param state what the doors of a run share.
    explicit SimulationFlows(std::shared_ptr<SimulationState> state);
    ~SimulationFlows();

  private:
    std::shared_ptr<SimulationState> m_state; //!< what the doors of a run share
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_SIMULATION_FLOWS_H */
