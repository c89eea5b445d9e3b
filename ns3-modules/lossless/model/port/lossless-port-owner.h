/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_PORT_OWNER_H
#define LOSSLESS_PORT_OWNER_H

#include "ns3/lossless-agent-roles.h"
#include "ns3/lossless-buffer-policy.h"
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
 * @brief A node as seen by its ports and their flow controls: its identity and parts, the
 * recipients of events, and the handling of frames that have arrived or left.
 */
class PortOwner : public Object
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    PortOwner();
    ~PortOwner() override;

    /// Set number and name.
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
    /// @return number of ports.
    virtual uint16_t GetNPorts() const = 0;
    /// @return true if it forwards frames between its ports; false: it is a host, which creates and
    /// consumes them.
    virtual bool IsSwitch() const;
    /// Largest frame that this node may create. @return bytes; 0: it creates none.
    virtual uint32_t GetLargestFrame() const;

    /// Set its buffer, which is not yet configured.
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

    /// @return the agents by role.
    const AgentRoles& GetRoles() const
    {
        return m_roles;
    }

    /// Set the observer of the ports.
    /// @param observer the observer, or nullptr.
    void SetObserver(PortObserver* observer)
    {
        m_observer = observer;
    }

    /// @return the observer of the ports, or nullptr.
    PortObserver* GetObserver() const
    {
        return m_observer;
    }

    /**
     * @brief State shared by the instances of a scheme on the ports of this node.
     *
     * @tparam T its type, created at the first call.
     * @return the state.
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

    /// A frame has arrived completely.
    /// @param frame the frame. @param ingress port.
    virtual void Receive(Frame* frame, Port& ingress) = 0;
    /// Release a frame's bytes, notify the flow controls, and resume queues that now may.
    /// @param departure the frame that leaves.
    virtual void Release(const Departure& departure) = 0;
    /// A frame created here with Frame::paced set starts transmission, or was dropped before.
    /// @param frame the frame.
    virtual void NotifyLeft(const Frame& frame);
    /// Drop a frame that was removed from an egress queue, and release its bytes.
    /// @param frame the frame. @param cause cause.
    virtual void Discard(Frame* frame, DropCause cause) = 0;
    /// Count a drop and free the frame, whose bytes are not charged.
    /// @param frame the frame. @param cause cause.
    virtual void Drop(Frame* frame, DropCause cause) = 0;

  protected:
    void DoDispose() override;

    uint32_t m_id{0};                       //!< number
    PortObserver* m_observer{nullptr};      //!< or null
    AgentRoles m_roles;                     //!< the agents by role
    Ptr<BufferPolicy> m_buffer;             //!< buffer
    std::string m_name;                     //!< name
    std::vector<Ptr<SwitchAgent>> m_agents; //!< all agents

  private:
    std::map<std::type_index, std::shared_ptr<void>> m_shared; //!< GetShared
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_PORT_OWNER_H */
