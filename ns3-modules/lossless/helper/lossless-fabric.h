/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FABRIC_H
#define LOSSLESS_FABRIC_H

#include "lossless-cells.h"
#include "lossless-fabric-observer.h"
#include "lossless-type-settings.h"

#include "ns3/data-rate.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-routes.h"
#include "ns3/lossless-switch.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Builds a fabric of nodes, links, flow-control chains, agents and routes, and checks it
 * before and after a run.
 *
 * Order: AddObserver, SetAttribute, AddFlowControl, AddAgent, AddHostAgent, SetForwarding,
 * SetBufferPolicy; AddSwitch, AddHost, AddLink, FailLink; SetNodeAttribute; Build; Check; run the
 * simulator; Finish.
 *
 * Objects are found by ns3::Config paths, such as "/FabricList/0/NodeList/3/PortList/0/PauseSent",
 * and by "/Names/s0/PortList/0" after AddNames.
 *
 * A call with an argument that does not exist throws std::invalid_argument, one that comes too
 * early or too late std::logic_error, both with an explanation.
 */
class Fabric : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Fabric();
    ~Fabric() override;

    /// Set an attribute on all objects of a type that are created from now on.
    /// @param type TypeId name. @param name attribute. @param value value in ns-3's spelling.
    void SetAttribute(const std::string& type, const std::string& name, const std::string& value);
    /// Was Build() called? @return true if so.
    bool IsBuilt() const;
    /// Append a flow control to every port's chain, of links that are added later.
    /// @param type TypeId name.
    void AddFlowControl(const std::string& type);
    /// Add an agent to every switch that is added later.
    /// @param type TypeId name.
    void AddAgent(const std::string& type);
    /// Add an agent to every host that is added later.
    /// @param type TypeId name.
    void AddHostAgent(const std::string& type);
    /// Set the policy that chooses among equal-cost next hops at every switch; ECMP by default.
    /// @param type TypeId name.
    void SetForwarding(const std::string& type);
    /// Does every flow without a pinned path stay on a single path, that of the hash?
    /// @return true with ECMP.
    bool IsHashed() const;
    /// Set the policy that manages the buffer of every node; SharedBuffer by default.
    /// @param type TypeId name of a BufferPolicy.
    void SetBufferPolicy(const std::string& type);
    /// Allow the loss of lossless frames, and a buffer with less headroom than the flow controls
    /// demand.
    /// @param allow true to allow it.
    void SetAllowLoss(bool allow);

    /**
     * @brief Add an observer. Precondition: not built.
     *
     * @tparam T a FabricObserver.
     * @param observer the observer; the fabric takes ownership.
     * @return the same.
     */
    template <class T>
    T& AddObserver(std::unique_ptr<T> observer)
    {
        RequireOpen("AddObserver");
        T& added = *observer;
        m_observers.push_back(std::move(observer));
        return added;
    }

    /**
     * @brief The observer of a given class.
     *
     * @tparam T class.
     * @return the first one, or nullptr.
     */
    template <class T>
    T* FindObserver() const
    {
        for (const auto& observer : m_observers)
        {
            if (auto* found = dynamic_cast<T*>(observer.get()))
            {
                return found;
            }
        }
        return nullptr;
    }

    /// Throw std::logic_error if the fabric is built.
    /// @param what name of the operation.
    void RequireOpen(const char* what) const;
    /// Throw std::logic_error unless the fabric is built.
    /// @param what name of the operation.
    void RequireBuilt(const char* what) const;

    /**
     * @brief Create an object with the attributes set for its type.
     *
     * @tparam T class.
     * @param type TypeId name.
     * @return the object.
     */
    template <class T>
    Ptr<T> Make(const std::string& type)
    {
        return m_types.Make<T>(type);
    }

    /// Add a switch.
    /// @param name its name. @return its number.
    uint32_t AddSwitch(const std::string& name);
    /// Add a host.
    /// @param name its name. @param host the host, created elsewhere. @return its number.
    uint32_t AddHost(const std::string& name, Ptr<FabricNode> host);
    /// Add a link. Two switches may have several; each is a port of its own.
    /// @param a node. @param b node. @param rate rate. @param delay delay. @return its number.
    uint32_t AddLink(uint32_t a, uint32_t b, DataRate rate, Time delay);
    /// Take a link down.
    /// @param link its number. @param down time of the failure; 0: from the start.
    /// @param up time of the recovery; negative: never.
    void FailLink(uint32_t link, Time down, Time up);
    /// Set an attribute on the objects of a single node: the node itself, its buffer, its agents,
    /// its ports and their flow controls. Precondition: all links have been added.
    /// @param node its number. @param type TypeId name. @param name attribute.
    /// @param value value in ns-3's spelling.
    void SetNodeAttribute(uint32_t node,
                          const std::string& type,
                          const std::string& name,
                          const std::string& value);
    /// Set an attribute on a single port, or on its flow controls. Precondition: all links have
    /// been added, and SetNodeAttribute has been called for its node, whose values it overrides.
    /// @param node number of its node. @param neighbour the one that it leads to, see FindPort.
    /// @param type TypeId name. @param name attribute. @param value value in ns-3's spelling.
    void SetPortAttribute(uint32_t node,
                          uint32_t neighbour,
                          const std::string& type,
                          const std::string& name,
                          const std::string& value);
    /// Let a switch send frames for a host to a given neighbour for some time, regardless of
    /// shortest paths: a wrong or not yet updated route.
    /// @param node the switch. @param dst host. @param neighbour next node, see FindPort.
    /// @param at start; 0: from the beginning.
    /// @param until when it returns to shortest paths; negative: never.
    void DivertRoute(uint32_t node, uint32_t dst, uint32_t neighbour, Time at, Time until);
    /// TracedCallback signature of routes.
    /// @param dst host to which the routes changed; ALL_NODES: to any.
    typedef void (*RoutesCallback)(uint32_t dst);

    /// Everything has been added: compute routes, configure buffers, start flow controls.
    void Build();
    /// Add all nodes to ns3::Names, where none of their names may be in use.
    void AddNames() const;

    /// A node.
    /// @param node its number. @return the node.
    FabricNode& GetNode(uint32_t node) const;
    /// The number of nodes. @return count.
    uint32_t GetNNodes() const;
    /// The port of a node that leads to a neighbour. Precondition: all nodes have been added.
    /// @param node number.
    /// @param neighbour its number; where two nodes have several links, GetNNodes() + 2 link names
    /// the port to the first node of a link, and one more that to its second.
    /// @return the port, or nullptr.
    Port* FindPort(uint32_t node, uint32_t neighbour) const;
    /// The name of a port, as in experiment files.
    /// @param node node it belongs to. @param port its index.
    /// @return "s0:h0", the port of s0 that leads to h0; "s0:s1#2" that of their second link.
    std::string GetPortName(uint32_t node, uint16_t port) const;
    /// The routes. @return routes.
    Routes& GetRoutes();

    /**
     * @brief Let cells run on their own from now on, if eventloop::CellLoop is the event loop and
     * nothing stands in the way; else all nodes are one cell. Precondition: built, not running.
     *
     * @param obstacle what the caller knows to stand in the way; empty: nothing.
     * @param isQuiet called at any time at which all nodes are, in one order: tells whether for as
     * long as the shortest delay of a link after it nothing will look at several nodes. Null:
     * always.
     * @return what stands in the way; empty: nothing, or the event loop is another.
     */
    std::string RunInCells(std::string obstacle, std::function<bool()> isQuiet = nullptr);
    /// Let several threads run the cells. Precondition: nothing stands in the way of cells, and
    /// RunInCells has not been called.
    /// @param threads number of threads, from 2.
    void RunInThreads(uint16_t threads);
    /// What needs all nodes in one order of time, because of the network or what observes it.
    /// @return the first such thing; empty: there is none.
    std::string FindObstacle() const;
    /// What keeps several threads from running the cells. Precondition: built.
    /// @param watched whether RunInCells will have something that tells when nodes are looked at.
    /// @return the first such thing; empty: nothing that this fabric knows.
    std::string FindThreadObstacle(bool watched) const;
    /// Do links or routes change after it is built?
    /// @return true after FailLink or DivertRoute for a time after 0, or after Build().
    bool Changes() const;

    /// Errors that make a run impossible. Precondition: built. @return one problem per line; empty
    /// if none.
    std::string Check() const;
    /// Violations of sufficient bounds. Precondition: built.
    /// @return one warning per line; empty if none.
    std::string Warn() const;
    /// End of a run: close intervals, check that frames and bytes are conserved and that no
    /// lossless frame was lost.
    /// @return one problem per line; empty if none.
    std::string Finish();
    /// Add the fabric's totals.
    /// @param summary the summary.
    void Report(Summary& summary) const;

  protected:
    void DoDispose() override;

  private:
    /// A link.
    struct Link
    {
        uint32_t a;     //!< node
        uint16_t portA; //!< its port
        uint32_t b;     //!< node
        uint16_t portB; //!< its port
    };

    /// Refuse event loops that divide a network into processes.
    void CheckSimulator() const;
    /// Name the ports of links between the same two nodes apart, see FindPort.
    void NameParallelLinks();
    /// Add a node of either kind; its number is the next one.
    void AddNode(const std::string& name, Ptr<FabricNode> node, bool isSwitch);
    /// A port with its chain, as is set now.
    Ptr<Port> MakePort();
    /// A link fails or recovers, at both ends.
    void SetLink(uint32_t link, bool up);
    /// Links have changed: each switch adopts the new shortest paths after its RouteDelay.
    void UpdateRoutes();
    /// A switch adopts a table; the last one of an instant tells of it.
    void Adopt(uint32_t node, const Routes::Table& table);
    /// A diversion begins.
    void Divert(uint32_t node, uint32_t dst, uint16_t port);
    /// A diversion ends.
    void Restore(uint32_t node, uint32_t dst);

    TypeSettings m_types;                                      //!< attributes of new objects
    std::vector<std::string> m_flowControls;                   //!< chain of every port
    std::vector<std::string> m_agents;                         //!< of every switch
    std::vector<std::string> m_hostAgents;                     //!< of every host
    std::string m_forwarding{"ns3::lossless::Ecmp"};           //!< policy of every switch
    std::string m_bufferPolicy{"ns3::lossless::SharedBuffer"}; //!< of every node
    std::vector<Ptr<FabricNode>> m_nodes;                      //!< all
    std::vector<Switch*> m_switches;                           //!< those that are switches
    std::vector<Link> m_links;                                 //!< all
    std::vector<uint32_t> m_downAtStart;                       //!< links
    Routes m_routes;                                           //!< the routes
    bool m_allowLoss{false};                                   //!< lossless frames may be lost
    bool m_built{false};                                       //!< Build was called
    bool m_changes{false};                                     //!< see Changes
    CellRules m_cells;                                         //!< how cells may run
    std::map<int64_t, std::size_t> m_adoptions; //!< switches that will adopt a table, by time (ps)
    TracedCallback<uint32_t> m_routesTrace;     //!< Routes
    std::vector<std::unique_ptr<FabricObserver>> m_observers; //!< in the order of their calls
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_H */
