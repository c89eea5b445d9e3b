/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_AGENT_ROLES_H
#define LOSSLESS_AGENT_ROLES_H

#include "ns3/lossless-switch-agent.h"

#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The agents of a node by role: events are reported only to agents with the matching role.
 */
class AgentRoles
{
  public:
    /// Register the roles of an agent.
    /// @param agent agent of the node.
    void Add(SwitchAgent* agent);

    /// @return true if an agent watches queues.
    bool HasQueueAgents() const
    {
        return !m_queue.empty();
    }

    /// @return true if an agent inspects arriving frames, or sets the class in which they leave.
    bool AsksAtArrival() const
    {
        return m_asksAtArrival;
    }

    /// @return true if frames may leave in a class other than that in which they arrived.
    bool ChangesClasses() const
    {
        return m_tagger;
    }

    /// The class in which a frame leaves a switch.
    /// @param frame the frame, in its ingress class, with its egress. @param ingress port.
    /// @return class.
    uint8_t GetEgressClass(const Frame& frame, const Port& ingress) const
    {
        return m_tagger ? m_tagger->GetEgressClass(frame, ingress) : frame.cls;
    }

    /// @return the agent that is asked about frames that the buffer refuses, or null.
    const AdmissionAgent* GetAdmissionAgent() const
    {
        return m_admission;
    }

    /// Ask about a frame of a lossy class that the buffer refuses.
    /// @param frame the frame, with its egress. @param ingress port.
    /// @return true: ask the buffer again; false: drop it.
    bool OfferRefused(Frame& frame, Port& ingress) const
    {
        return m_admission && m_admission->NotifyRefused(frame, ingress);
    }

    /// @return true if an agent needs to know which ingress feeds which egress.
    bool HasFeedReaders() const
    {
        return m_hasFeedReaders;
    }

    /// A frame joins an egress queue, or starts transmission.
    /// @param egress port. @param queue queue. @param frame frame. @param joined false: it departs.
    void TellQueue(Port& egress, uint16_t queue, Frame& frame, bool joined) const;
    /// A port pauses its peer or is paused by it, or such a pause ends.
    /// @param port port. @param cls class. @param on whether the pause starts.
    /// @param sent true: by this node; false: by the peer.
    void TellPause(Port& port, uint8_t cls, bool on, bool sent) const;
    /// Let agents append to a control frame.
    /// @param port port. @param control the frame.
    void TellDecorate(Port& port, ControlFrame& control) const;
    /// A control frame takes effect.
    /// @param port port. @param control the frame.
    void TellControl(Port& port, const ControlFrame& control) const;
    /// A data frame is in the FIFO of a slow receiver.
    /// @param frame the frame. @param bytes frame bytes in the FIFO.
    /// @param rate drain rate of the FIFO in bit/s.
    void TellReceive(const Frame& frame, int64_t bytes, uint64_t rate) const;
    /// Offer a SIGNAL frame.
    /// @param frame the frame. @param ingress port. @return true if an agent consumed it.
    bool OfferTransit(Frame* frame, Port& ingress) const;
    /// Ask whether an arrived frame is to be kept.
    /// @param frame the frame, with its egress. @param ingress port. @return false: drop it.
    bool OfferArrival(Frame& frame, Port& ingress) const;

  private:
    std::vector<QueueAgent*> m_queue;     //!< by role
    std::vector<PauseAgent*> m_pause;     //!< by role
    std::vector<TransitAgent*> m_transit; //!< by role
    std::vector<ControlAgent*> m_control; //!< by role
    std::vector<ReceiveAgent*> m_receive; //!< by role
    std::vector<ArrivalAgent*> m_arrival; //!< by role
    const TagAgent* m_tagger{nullptr};    //!< or null
    AdmissionAgent* m_admission{nullptr}; //!< or null
    bool m_asksAtArrival{false};          //!< see AsksAtArrival
    bool m_hasFeedReaders{false};         //!< see HasFeedReaders
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_AGENT_ROLES_H */
