/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PORT_OWNER_H
#define LOSSLESS_PORT_OWNER_H

#include "lossless-agent-roles.h"
#include "lossless-buffer-policy.h"

#include "ns3/object.h"

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

namespace ns3
{
namespace lossless
{

class PortObserver;

/**
 * @ingroup lossless
 * @brief A node as its ports and their flow controls know it: who it is, what it has, who is told
 * of what happens, and where frames go that have arrived or left.
 */
class PortOwner : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    PortOwner();
    ~PortOwner() override;

    /// Number and name it.
    /// @param id its number in the fabric. @param name its name.
    void SetIdentity(uint32_t id, const std::string& name);

    /// @return its number.
    uint32_t GetId() const
    {
        return m_id;
    }

    /// @return its name.
    const std::string& GetName() const
    {
        return m_name;
    }

    /// A port.
    /// @param index its index. @return the port.
    virtual Port& GetPort(uint16_t index) const = 0;
    /// @return how many ports.
    virtual uint16_t GetNPorts() const = 0;
    /// Largest frame this node may make. @return bytes; 0: it makes none of its own.
    virtual uint32_t GetLargestFrame() const;

    /// Give it a buffer, not yet configured.
    /// @param buffer the buffer.
    void SetBuffer(Ptr<BufferPolicy> buffer);

    /// @return its buffer.
    BufferPolicy& GetBuffer() const
    {
        return *PeekPointer(m_buffer);
    }

    /// @return its agents.
    const std::vector<Ptr<SwitchAgent>>& GetAgents() const
    {
        return m_agents;
    }

    /// @return which of them are told of what.
    const AgentRoles& GetRoles() const
    {
        return m_roles;
    }

    /// Who watches the ports.
    /// @param observer it, or nullptr.
    void SetObserver(PortObserver* observer)
    {
        m_observer = observer;
    }

    /// @return who watches the ports, or nullptr.
    PortObserver* GetObserver() const
    {
        return m_observer;
    }

    /**
     * @brief What the instances of a scheme on the ports of this node share.
     *
     * @tparam T its type, made when first asked for.
     * @return it.
     */
    template <class T>
    std::shared_ptr<T> GetShared()
    {
        std::shared_ptr<void>& shared = m_shared[typeid(T)];
        if (!shared)
        {
            shared = std::make_shared<T>();
        }
        return std::static_pointer_cast<T>(shared);
    }

    /// A frame has arrived whole.
    /// @param frame it. @param ingress port.
    virtual void Receive(Frame* frame, Port& ingress) = 0;
    /// Release a frame's bytes, tell the flow controls, and let queues resume that now may.
    /// @param departure what leaves.
    virtual void Release(const Departure& departure) = 0;
    /// A frame that was made here, with Frame::paced set, begins to go, or was dropped before.
    /// @param frame it.
    virtual void NotifyLeft(const Frame& frame);
    /// Drop a frame that was taken out of an egress queue, and release its bytes.
    /// @param frame it. @param cause why.
    virtual void Discard(Frame* frame, DropCause cause) = 0;
    /// Count a drop and free the frame, whose bytes are not, or no longer, charged.
    /// @param frame it. @param cause why.
    virtual void Drop(Frame* frame, DropCause cause) = 0;

  protected:
    void DoDispose() override;

    uint32_t m_id{0};                       //!< number
    PortObserver* m_observer{nullptr};      //!< or null
    AgentRoles m_roles;                     //!< of the agents
    Ptr<BufferPolicy> m_buffer;             //!< buffer
    std::string m_name;                     //!< name
    std::vector<Ptr<SwitchAgent>> m_agents; //!< all agents

  private:
    std::map<std::type_index, std::shared_ptr<void>> m_shared; //!< GetShared
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PORT_OWNER_H */
