/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_SIMULATION_H
#define FACADE_SIMULATION_H

// Nothing of ns-3 may be included here: Python parses this header at the start of every run.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @defgroup facade Facade
 *
 * The one door to a whole experiment, for programs and Python.
 */

namespace ns3
{
namespace lossless
{
class Fabric;
}

namespace facade
{

/**
 * @ingroup facade
 * @brief One run, described by flat arrays and strings: the facade that Python drives.
 *
 * Call order: constructor; Set / Add functions; Build; Check; Run (once or in slices); results.
 * Node, link and flow numbers count from 0 in the order in which they were added. Every function
 * throws std::invalid_argument, with a sentence that names the argument, when it is called with
 * something that does not exist, and std::logic_error when it comes too early or too late. In
 * Python these are exceptions of Python.
 *
 * A neighbour, a node on a path, and the column `peer` of a table is the number of a node. Where
 * two switches have several links, the number of all nodes + 2 link is the first node of a link,
 * reached by that link, and one more its second node.
 *
 * A process has one clock and one built Simulation: delete it before the next one's Build.
 */
class Simulation
{
  public:
    /**
     * @brief Create an empty network, with all random streams derived from the seed.
     *
     * A seed or an event loop that was chosen before, by the command line, is not overridden
     * silently: an RngRun other than the seed, or an RngSeed, throws std::logic_error, and
     * SimulatorImplementationType is kept (except for ns-3's default: select it by SetSimulator).
     * Programs pass RngSeedManager::GetRun().
     * @param seed the run's seed, from 1; ns-3's RngRun.
     */
    explicit Simulation(uint64_t seed);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Describe all registered types of the given modules as JSON.
    /// @param groups comma-separated TypeId group names ("lossless,rdma,gfc").
    /// @return a JSON list of {name, was, parent, group, abstract, signaller, telemetry,
    /// attributes: [{name, help, type, default, allowed}], traces: [{name, help, callback}]}; `was`
    /// is an old name that is still understood, or empty, the signaller that of
    /// CongestionControl::GetSignaller, telemetry what WantsTelemetry says.
    static std::string Describe(const std::string& groups);

    /// Set an attribute on every object of a type that this run creates.
    /// @param typeId full TypeId name, for instance "ns3::lossless::SharedBuffer".
    /// @param name attribute name. @param value in ns-3's syntax ("25000000ps", "0.125").
    void SetAttribute(const std::string& typeId, const std::string& name, const std::string& value);

    /// Select the event loop. The default orders events of the same time by place; it makes one
    /// cell of the network where something needs that, and Notes says why. All others order them by
    /// when they were scheduled, and have the same results as each other, which differ from those
    /// of the default in such ties.
    /// @param typeId full TypeId name of an ns3::SimulatorImpl; "ns3::eventloop::CellLoop" unless
    /// called, or chosen by the command line. Before anything is scheduled.
    void SetSimulator(const std::string& typeId);

    /// Let several threads run one simulation, each a part of the network's cells: the results are
    /// the same bytes. Before Run, which throws where a run needs one order of time, and says why.
    /// @param threads number, from 1.
    void SetThreads(uint32_t threads);
    /// Skip what repeats itself exactly, before the first Run.
    /// @param repeats "off", "on", or "verify": what a skip would lead to is simulated and
    /// compared.
    void SetRepeats(const std::string& repeats);

    /// Append a FlowControl to the chain of every port.
    /// @param typeId full TypeId name.
    void AddFlowControl(const std::string& typeId);
    /// Add a SwitchAgent to every switch.
    /// @param typeId full TypeId name.
    void AddAgent(const std::string& typeId);
    /// Add a SwitchAgent to every host.
    /// @param typeId full TypeId name.
    void AddHostAgent(const std::string& typeId);
    /// Set the policy that manages the buffer of every node; SharedBuffer by default.
    /// @param typeId full TypeId name of a BufferPolicy.
    void SetBufferPolicy(const std::string& typeId);
    /// Set the congestion control of all queue pairs.
    /// @param typeId full TypeId name; empty: none.
    void SetCongestionControl(const std::string& typeId);
    /// Set the policy that chooses among equal-cost next hops at every switch; before AddNodes.
    /// @param typeId full TypeId name; "ns3::lossless::Ecmp" by default.
    void SetForwarding(const std::string& typeId);
    /// Allow the loss of lossless frames, and less headroom than the flow controls demand.
    /// @param allow true to allow.
    void SetAllowLoss(bool allow);
    /// End the run once all finite flows are done. @param stop true to stop early.
    /// @param acknowledged false: a flow is done when its receiver has the whole message; true:
    /// when it is acknowledged at the sender.
    void SetStopWhenDone(bool stop, bool acknowledged = false);
    /// Check for deadlocks periodically, and at the end in any case.
    /// @param period ps between two checks; 0: only at the end. @param stop end the run at one.
    void SetDeadlockTest(int64_t period, bool stop);
    /// Judge no deadlocks: the summary has nothing about them, and their tables are rejected.
    void SwitchOffOracle();

    /// Add nodes.
    /// @param kinds 0 host, 1 switch. @param names one per node, joined by newlines.
    /// @param n number of nodes.
    void AddNodes(const uint8_t* kinds, const std::string& names, uint32_t n);
    /// Add links.
    /// @param a one end. @param b other end. @param rates bit/s. @param delays ps.
    /// @param n number of links.
    void AddLinks(const uint32_t* a,
                  const uint32_t* b,
                  const uint64_t* rates,
                  const int64_t* delays,
                  uint32_t n);
    /// Set an attribute on the objects of a single node: the node, its buffer, its agents, its
    /// ports and their flow controls. After AddLinks.
    /// @param node its number. @param typeId full TypeId name. @param name attribute name.
    /// @param value in ns-3's syntax.
    void SetNodeAttribute(uint32_t node,
                          const std::string& typeId,
                          const std::string& name,
                          const std::string& value);
    /// Set an attribute on a single port, or on its flow controls. After AddLinks.
    /// @param node number of its node. @param neighbour the one that it leads to; see the class.
    /// @param typeId full TypeId name. @param name attribute name. @param value in ns-3's syntax.
    void SetPortAttribute(uint32_t node,
                          uint32_t neighbour,
                          const std::string& typeId,
                          const std::string& name,
                          const std::string& value);
    /// Take a link down.
    /// @param link its number. @param down ps (0: before the start). @param up ps; -1: never.
    void FailLink(uint32_t link, int64_t down, int64_t up);

    /// Declare hosts to be one server. After AddNodes.
    /// @param hosts their numbers. @param n number of hosts. @param rate of each host's link into
    /// and out of a scale-up domain (bit/s), see ScaleUp; 0: none. @param delay of the domain (ps).
    /// @param failover whether flows of a host whose link fails move to another one of the server.
    void AddServer(const uint32_t* hosts, uint32_t n, uint64_t rate, int64_t delay, bool failover);

    /// Let a switch send frames for a host to a given neighbour for some time.
    /// @param node the switch. @param dst host. @param neighbour next node.
    /// @param at ps (0: from the start). @param until ps, shortest paths from then; -1: never.
    void DivertRoute(uint32_t node, uint32_t dst, uint32_t neighbour, int64_t at, int64_t until);

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
    /// Make nodes the ports of one host with several links: each has a link, and the first stands
    /// for the host. When a link fails, flows move to the ports that are nearest to each other.
    /// Before AddServer, which gets the first nodes only.
    /// @param nodes hosts. @param n number of them.
    void SetHostPorts(const uint32_t* nodes, uint32_t n);
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
    /// Make a host a slow receiver.
    /// @param host node. @param rate bit/s at which the host drains data; 0: line rate.
    /// @param start ps.
    void SetReceiveRate(uint32_t host, uint64_t rate, int64_t start);
    /// Make a faulty NIC pause its switch continually.
    /// @param host node. @param cls class. @param start ps. @param stop ps.
    void AddPauseStorm(uint32_t host, uint8_t cls, int64_t start, int64_t stop);
    /// Make a faulty port pause or resume its peer without reason, now and then.
    /// @param node its node. @param peer node to which it leads; -1: every port of the node.
    /// @param cls class. @param start ps. @param stop ps; -1: never. @param on ps that a pause
    /// takes; 0: until the end. @param off ps between two pauses. @param resumes it sends a RESUME
    /// every `on` instead.
    void AddStorm(uint32_t node,
                  int64_t peer,
                  uint8_t cls,
                  int64_t start,
                  int64_t stop,
                  int64_t on,
                  int64_t off,
                  bool resumes);

    /// Record a table.
    /// @param table name of a table, see observe::Probe; `pyorch docs tables` lists them.
    /// @param nodes nodes to trace; empty: all. @param peers for each node the neighbour that its
    /// port leads to; -1: all. @param classMask bit c set: class c. @param n length of nodes and
    /// peers.
    /// @param period ps between samples; 0: on every change.
    void Trace(const std::string& table,
               const uint32_t* nodes,
               const int64_t* peers,
               uint32_t n,
               uint32_t classMask,
               int64_t period);

    /// The network, to whose nodes programs may attach other objects before Build.
    /// @return the fabric; it exists as long as this object.
    lossless::Fabric& GetFabric() const;
    /// Capture ports into pcap files, one per port, with observe::PcapTap; its attributes are set
    /// by SetAttribute. After Build. Finish closes the files.
    /// @param nodes nodes to capture; empty: all. @param peers for each node the neighbour that its
    /// port leads to; -1: all. @param n length of nodes and peers.
    /// @param folder an existing folder; files are named "s0-h0.pcap", the port of s0 towards h0.
    /// @return problems, one per line; empty if none.
    std::string TracePcap(const uint32_t* nodes,
                          const int64_t* peers,
                          uint32_t n,
                          const std::string& folder);
    /// The captures. @return "path\tframes\tcut" of each file, one per line; cut: frames
    /// truncated because the standards' headers need more bytes than the model's frame has.
    std::string GetPcaps() const;

    /// Create ports, buffers, routes and queue pairs. Nothing may be added afterwards.
    void Build();
    /// Errors that make this configuration impossible.
    /// @return one problem per line; empty if none.
    std::string Check() const;
    /// Warnings about settings that may be intended (outside a sufficient bound).
    /// @return one warning per line.
    std::string Warnings() const;

    /// Simulate up to a time: what happens before it. Not to be called after Finish.
    /// @param until ps.
    /// @return false once all finite flows are done, if requested by SetStopWhenDone (Now() is then
    /// the time of the last one, whatever `until` is), or once a deadlock was found, if requested
    /// by SetDeadlockTest. Otherwise true, and Now() is `until`, even if no events are left: a run
    /// lasts as long as requested.
    bool Run(int64_t until);
    /// Simulated time. @return ps.
    int64_t Now() const;
    /// Number of events executed so far. @return count.
    uint64_t GetEventCount() const;
    /// Number of finite flows finished so far. @return count.
    uint64_t GetFinishedFlows() const;

    /// Share of the payload of all finite flows on the network that has been delivered.
    /// Like Now, it may be called from another thread while Run is executing.
    /// @return a share from 0 to 1; 1 if there is no finite flow.
    double GetDeliveredShare() const;

    /// Close open intervals, fill the table "flow" and check that bytes are conserved. Further
    /// calls return the result of the first one.
    /// @return problems, one per line; empty if none.
    std::string Finish();
    /// Remarks about the run in words, such as the deadlock that was found.
    /// @return one note per line; empty if none.
    std::string Notes() const;
    /// Values of the whole run, in a fixed order.
    /// @return (name, value) pairs; names end in their unit.
    std::vector<std::pair<std::string, double>> GetSummary() const;
    /// One value of GetSummary.
    /// @param name its name.
    /// @return the value; not a number (NaN) if there is none of this name.
    double GetNumber(const std::string& name) const;
    /// Payload that a flow has delivered so far: in order, or all that arrived if its queue pair
    /// does not recover from losses.
    /// @param flow its number. @return bytes.
    uint64_t GetDeliveredBytes(uint32_t flow) const;

    /// Result tables ("flow" always exists). @return number of tables.
    uint32_t GetNTables() const;
    /// Name of a table.
    /// @param table its number. @return name.
    std::string GetTableName(uint32_t table) const;
    /// Number of columns.
    /// @param table its number. @return number of columns.
    uint32_t GetNColumns(uint32_t table) const;
    /// Name of a column.
    /// @param table its number. @param column its number. @return name, ending in its unit.
    std::string GetColumnName(uint32_t table, uint32_t column) const;
    /// The type of a column, as named by numpy.
    /// @param table its number. @param column its number. @return "int64", "uint8"..
    std::string GetColumnType(uint32_t table, uint32_t column) const;
    /// Address of a column's first element.
    /// @param table its number. @param column its number. @return address.
    uintptr_t GetColumnData(uint32_t table, uint32_t column) const;
    /// Number of rows.
    /// @param table its number. @return number of rows.
    uint64_t GetNRows(uint32_t table) const;

  private:
    class Impl;
    std::unique_ptr<Impl> m_impl; //!< everything that needs ns-3's headers
};

} // namespace facade
} // namespace ns3

#endif /* FACADE_SIMULATION_H */
