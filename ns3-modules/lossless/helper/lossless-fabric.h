/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FABRIC_H
#define LOSSLESS_FABRIC_H

#include "lossless-fabric-observer.h"
#include "lossless-type-settings.h"

#include "ns3/data-rate.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-routes.h"
#include "ns3/lossless-switch.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

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
 * @brief Builds a fabric: nodes, links, flow-control chains, agents, routes, and checks it before
 * and after a run.
 *
 * Order: AddObserver, SetAttribute, AddFlowControl, AddAgent, AddHostAgent, SetForwarding,
 * SetBufferPolicy; AddSwitch, AddHost,
 * AddLink, FailLink; SetNodeAttribute; Build; Check; run the simulator; Finish.
 *
 * Objects are found by paths of ns3::Config, such as
 * "/FabricList/0/NodeList/3/PortList/0/PauseSent", and by "/Names/s0/PortList/0" after AddNames.
 *
 * What is called with something that does not exist throws std::invalid_argument, what comes too
 * early or too late std::logic_error, both with a sentence.
 */
class Fabric : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Fabric();
    ~Fabric() override;

    /// Set an attribute on every object of a type that is made from now on.
    /// @param type TypeId name. @param name attribute. @param value value in ns-3's spelling.
    void SetAttribute(const std::string& type, const std::string& name, const std::string& value);
    /// Was Build() called? @return true if so.
    bool IsBuilt() const;
    /// Append a flow control to every port's chain.
    /// @param type TypeId name.
    void AddFlowControl(const std::string& type);
    /// Add an agent to every switch.
    /// @param type TypeId name.
    void AddAgent(const std::string& type);
    /// Add an agent to every host.
    /// @param type TypeId name.
    void AddHostAgent(const std::string& type);
    /// Say who chooses among equal next hops at every switch; ECMP unless called.
    /// @param type TypeId name.
    void SetForwarding(const std::string& type);
    /// Does every flow that is on no path of its own stay on one, that of the hash?
    /// @return true with ECMP.
    bool IsHashed() const;
    /// Say who shares out the buffer of every node; SharedBuffer unless called.
    /// @param type TypeId name of a BufferPolicy.
    void SetBufferPolicy(const std::string& type);
    /// Let frames of lossless classes be lost, and the buffer keep less headroom than the flow
    /// controls demand.
    /// @param allow true to.
    void SetAllowLoss(bool allow);

    /**
     * @brief Let somebody watch this fabric. Precondition: not built.
     *
     * @tparam T a FabricObserver.
     * @param observer it, from now on the fabric's.
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
     * @brief The observer of a class.
     *
     * @tparam T class.
     * @return the first such, or nullptr.
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
    /// @param what is asked for.
    void RequireOpen(const char* what) const;
    /// Throw std::logic_error unless the fabric is built.
    /// @param what is asked for.
    void RequireBuilt(const char* what) const;

    /**
     * @brief Make an object with the attributes set for its type.
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
    /// @param name its name. @param host the host, a node made elsewhere. @return its number.
    uint32_t AddHost(const std::string& name, Ptr<FabricNode> host);
    /// Add a link.
    /// @param a node. @param b node. @param rate rate. @param delay delay. @return its number.
    uint32_t AddLink(uint32_t a, uint32_t b, DataRate rate, Time delay);
    /// Take a link down.
    /// @param link its number. @param down when; 0: from the start.
    /// @param up when; negative: never.
    void FailLink(uint32_t link, Time down, Time up);
    /// Set an attribute on the objects of one node alone: the node itself, its buffer, its agents,
    /// its ports and their flow controls. Precondition: all links are added.
    /// @param node its number. @param type TypeId name. @param name attribute.
    /// @param value value in ns-3's spelling.
    void SetNodeAttribute(uint32_t node,
                          const std::string& type,
                          const std::string& name,
                          const std::string& value);
    /// Let a switch send what goes to a host to a neighbour for some time, whatever the shortest
    /// paths are: a route that is wrong, or not yet right.
    /// @param node the switch. @param dst host. @param neighbour next node.
    /// @param at when; 0: from the start.
    /// @param until when it goes back to shortest paths; negative: never.
    void DivertRoute(uint32_t node, uint32_t dst, uint32_t neighbour, Time at, Time until);
    /// All is added: find the routes, configure buffers, start flow controls.
    void Build();
    /// Give all nodes their names in ns3::Names, where none of them may be taken.
    void AddNames() const;

    /// A node.
    /// @param node its number. @return the node.
    FabricNode& GetNode(uint32_t node) const;
    /// How many nodes. @return count.
    uint32_t GetNNodes() const;
    /// The port of a node that leads to a neighbour.
    /// @param node number. @param peer number. @return the port, or nullptr.
    Port* FindPort(uint32_t node, uint32_t peer) const;
    /// Name a port as experiment files do.
    /// @param node node it belongs to. @param port its index.
    /// @return "s0:h0", the port of s0 that leads to h0.
    std::string GetPortName(uint32_t node, uint16_t port) const;
    /// The routes. @return routes.
    Routes& GetRoutes();

    /// What makes it impossible. Precondition: built. @return one problem a line; empty if none.
    std::string Check() const;
    /// What lies outside a sufficient bound. Precondition: built.
    /// @return one warning a line; empty if none.
    std::string Warn() const;
    /// End of a run: close intervals, check that frames and bytes are conserved and that nothing
    /// lossless was lost.
    /// @return one problem a line; empty if none.
    std::string Finish();
    /// Add the fabric's numbers.
    /// @param summary where to.
    void Report(Summary& summary) const;

  protected:
    void DoDispose() override;

  private:
    /// A link and when it fails.
    struct Link
    {
        uint32_t a;     //!< node
        uint16_t portA; //!< its port
        uint32_t b;     //!< node
        uint16_t portB; //!< its port
    };

    void CheckSimulator() const;
    void AddNode(const std::string& name, Ptr<FabricNode> node, bool isSwitch);
    Ptr<Port> MakePort();
    void SetLink(uint32_t link, bool up);
    void UpdateRoutes();

    TypeSettings m_types;                                      //!< attributes of what is made
    std::vector<std::string> m_flowControls;                   //!< chain of every port
    std::vector<std::string> m_agents;                         //!< of every switch
    std::vector<std::string> m_hostAgents;                     //!< of every host
    std::string m_forwarding{"ns3::lossless::Ecmp"};           //!< policy of every switch
    std::string m_bufferPolicy{"ns3::lossless::SharedBuffer"}; //!< of every node
    std::vector<Ptr<FabricNode>> m_nodes;                      //!< all
    std::vector<Switch*> m_switches;                           //!< those of them that forward
    std::vector<Link> m_links;                                 //!< all
    std::vector<uint32_t> m_downAtStart;                       //!< links
    Routes m_routes;                                           //!< the ways
    bool m_allowLoss{false};                                   //!< lossless frames may be lost
    bool m_built{false};                                       //!< Build was called
    std::vector<std::unique_ptr<FabricObserver>> m_observers;  //!< in the order of their calls
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FABRIC_H */
