/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_PROXY_H
#define SFC_PROXY_H

#include "sfc-message.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-switch-agent.h"

#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace sfc
{

/**
 * @ingroup sfc
 * @brief Acts for NICs without source flow control: a switch that intercepts the messages for the
 * hosts on its ports and pauses these by PFC.
 *
 * A PFC frame replaces the current pause, whereas source flow control keeps the longer one. So the
 * switch remembers the end of each (port, class)'s pause, sends no frame that would end it sooner,
 * and extends PFC frames to that port: a RESUME of its own PFC becomes a PAUSE of the remaining
 * time. While its own PFC holds the class, it sends nothing.
 */
class SfcProxy : public lossless::SwitchAgent,
                 public lossless::PauseAgent,
                 public lossless::TransitAgent,
                 public lossless::ControlAgent
{
  public:
    /// What a message pauses.
    enum class Scope
    {
        CLASS,     ///< the class of the packet
        INTERFACE, ///< all classes
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    SfcProxy();
    ~SfcProxy() override;

    void Start() override;
    std::string Check() const override;
    void NotifyPauseSent(lossless::Port& port, uint8_t cls, bool on) override;
    bool NotifyTransit(lossless::Frame* frame, lossless::Port& ingress) override;
    void Decorate(lossless::Port& port, lossless::ControlFrame& control) override;
    void Report(lossless::Summary& summary) const override;

    /**
     * @brief Handle a message of a congestion point of the same switch, immediately.
     *
     * A message from elsewhere passes through the switch's latency first, as every frame does.
     *
     * @param message the message.
     * @param host its destination.
     * @return false if the host is not on a port of this switch.
     */
    bool Take(const Message& message, uint32_t host);

  private:
    /// A port that leads to a host.
    struct Edge
    {
        uint16_t port{0}; //!< its index
        uint32_t held{0}; //!< bit c: PFC of this switch holds class c
        std::array<int64_t, lossless::N_CLASSES> until{}; //!< end of the pause by class (ps)
    };

    /// A message in the pipeline.
    struct Waiting
    {
        Message message; //!< the message
        uint32_t edge;   //!< index in m_edges
    };

    void LeavePipeline();
    void Act(Edge& edge, const Message& message);
    uint32_t RemainingQuanta(const Edge& edge, uint8_t cls, uint64_t rate) const;

    Scope m_scope; //!< attribute

    std::vector<Edge> m_edges;                       //!< ports with hosts
    std::unordered_map<uint32_t, uint32_t> m_byHost; //!< index in m_edges by node number
    std::vector<int32_t> m_byPort;                   //!< index in m_edges by port; -1: no host
    std::deque<Waiting> m_pipeline;                  //!< messages that have arrived
    lossless::ReusableEvent<SfcProxy> m_leave;       //!< a message has passed the pipeline

    uint64_t m_taken{0};   //!< messages handled
    uint64_t m_covered{0}; //!< of these, messages that extended no pause
    uint64_t m_late{0};    //!< of these, messages older than their interval
    uint64_t m_frames{0};  //!< PFC frames sent
    uint64_t m_raised{0};  //!< words of other PFC frames that were extended
    int64_t m_transit{0};  //!< from congestion to effect, total (ps)
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_PROXY_H */
