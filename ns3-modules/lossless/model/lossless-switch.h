/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_SWITCH_H
#define LOSSLESS_SWITCH_H

#include "lossless-fabric-node.h"
#include "lossless-forwarding-policy.h"

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief A store-and-forward switch with a shared buffer.
 *
 * A frame is charged when its last bit has arrived, joins its egress queue after Latency, and is
 * released when it has been sent. Frames of the control queue are not charged. A frame for all is
 * copied to every port of the fabric's spanning tree but that by which it came; each copy is
 * charged by itself. Not modelled: cut-through, multicast groups, address learning.
 */
class Switch : public FabricNode
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Switch();

    int64_t GetPipelineLatency() const override;
    /// Time from a link's failure or recovery to this switch's new routes. @return ps.
    int64_t GetRouteDelay() const;
    /// Set its number.
    /// @param number how many switches were made before it.
    void SetNumber(uint32_t number);
    /// Its number among the switches; hosts have none. @return from 0 on.
    uint32_t GetNumber() const;
    /// Say who chooses among equal next hops.
    /// @param policy it.
    void SetForwarding(Ptr<ForwardingPolicy> policy);
    /// Who chooses among equal next hops. @return the policy.
    ForwardingPolicy& GetForwarding() const;
    void Receive(Frame* frame, Port& ingress) override;
    void Inject(Frame* frame) override;
    void NotifyLink(Port& port, bool up) override;
    uint64_t CountHeld() const override;

  protected:
    void DoDispose() override;

  private:
    /// Choose the egress port, or drop.
    /// @param frame it. @return false when it was dropped.
    bool Route(Frame* frame);
    /// Choose the egress port where it is not simply that of the hash. Neither this nor
    /// EnterPipeline is inlined, so that frames that need neither do not pay for their registers.
    /// @param frame it. @return the port, or NO_PORT.
    [[gnu::noinline]] uint16_t Choose(const Frame& frame);
    /// Take a port out of the next hops if its link is still down.
    /// @param port its index. @param failure which failure of the port it was.
    void LeaveLink(uint16_t port, uint32_t failure);
    /// Send a frame for all on along the spanning tree, a copy for every further port.
    /// @param frame it. @param ingress port.
    void Flood(Frame* frame, Port& ingress);
    /// Charge a frame that has its egress and send it on.
    /// @param frame it. @param ingress port.
    inline void Forward(Frame* frame, Port& ingress);
    /// Charge a frame where agents are asked whether it may stay, and in which class it leaves.
    /// @param frame it. @param ingress port. @return false when it was dropped.
    [[gnu::noinline]] bool Admit(Frame* frame, Port& ingress);
    [[gnu::noinline]] void EnterPipeline(Frame* frame);
    void LeavePipeline(Frame* frame);

    Time m_latency;                   //!< attribute
    Time m_routeDelay;                //!< until it learns of a link
    uint32_t m_number{0};             //!< among the switches
    bool m_fastReroute;               //!< attribute
    Time m_detectionDelay;            //!< attribute
    bool m_decrementTtl;              //!< attribute
    Ptr<ForwardingPolicy> m_policy;   //!< chooses among equal next hops
    bool m_isPlain{true};             //!< the policy is the hash, and no link is left
    std::vector<uint32_t> m_failures; //!< by port: how often it went down
    std::vector<bool> m_left;         //!< by port: known to be down
    std::vector<uint16_t> m_alive;    //!< next hops that are not left
    EventStream<Switch, Frame, &Switch::LeavePipeline>
        m_pipeline; //!< frames between arrival and egress queue
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SWITCH_H */
