/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_SWITCH_H
#define LOSSLESS_SWITCH_H

#include "lossless-fabric-node.h"

#include "ns3/lossless-forwarding-policy.h"

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief A store-and-forward switch with a shared buffer.
 *
 * A frame is charged when its last bit has arrived, joins its egress queue after Latency, and is
 * released when it has been sent. Frames of the control queue are not charged. A broadcast frame is
 * copied to every port of the fabric's spanning tree except the one by which it arrived; each copy
 * is charged separately. Not modelled: cut-through, multicast groups, address learning.
 */
class Switch : public FabricNode
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Switch();

    bool IsSwitch() const override;
    void SetCell(uint16_t cell) override;
    int64_t GetPipelineLatency() const override;
    /// Time from a link's failure or recovery to new routes of this switch. @return ps.
    int64_t GetRouteDelay() const;
    /// Set its number.
    /// @param number number of switches created before it.
    void SetNumber(uint32_t number);
    /// Its number among the switches; hosts have none. @return number from 0.
    uint32_t GetNumber() const;
    /// Set the policy that chooses among equal-cost next hops.
    /// @param policy the policy.
    void SetForwarding(Ptr<ForwardingPolicy> policy);
    /// The policy that chooses among equal-cost next hops. @return the policy.
    ForwardingPolicy& GetForwarding() const;
    void Receive(Frame* frame, Port& ingress) override;
    void Inject(Frame* frame) override;
    void NotifyLink(Port& port, bool up) override;
    uint64_t CountHeld() const override;
    void Visit(StateVisitor& visitor) override;

  protected:
    void DoDispose() override;

  private:
    /// Choose the egress port, or drop.
    /// @param frame the frame. @return false if it was dropped.
    bool Route(Frame* frame);
    /// Choose the egress port if it is not simply that of the hash. Neither this nor EnterPipeline
    /// is inlined, so that frames that need neither do not pay for saving registers.
    /// @param frame the frame. @return the port, or NO_PORT.
    [[gnu::noinline]] uint16_t Choose(const Frame& frame);
    /// Remove a port from the next hops if its link is still down.
    /// @param port its index. @param failure number of the port's failure.
    void LeaveLink(uint16_t port, uint32_t failure);
    /// Forward a broadcast frame along the spanning tree, with a copy for every further port.
    /// @param frame the frame. @param ingress port.
    void Flood(Frame* frame, Port& ingress);
    /// Charge a frame that has its egress and forward it.
    /// @param frame the frame. @param ingress port.
    inline void Forward(Frame* frame, Port& ingress);
    /// Charge a frame after asking agents whether to keep it, and in which class it leaves.
    /// @param frame the frame. @param ingress port. @return false if it was dropped.
    [[gnu::noinline]] bool Admit(Frame* frame, Port& ingress);
    [[gnu::noinline]] void EnterPipeline(Frame* frame);
    void LeavePipeline(Frame* frame);

    Time m_latency;                   //!< attribute
    Time m_routeDelay;                //!< time until it has new routes
    uint32_t m_number{0};             //!< among the switches
    bool m_fastReroute;               //!< attribute
    Time m_detectionDelay;            //!< attribute
    bool m_decrementTtl;              //!< attribute
    Ptr<ForwardingPolicy> m_policy;   //!< chooses among equal-cost next hops
    bool m_isPlain{true};             //!< the policy is the hash, and no port is excluded
    std::vector<uint32_t> m_failures; //!< by port: number of failures
    std::vector<bool> m_left;         //!< by port: known to be down, excluded
    std::vector<uint16_t> m_alive;    //!< next hops that are not excluded
    EventStream<Switch, Frame, &Switch::LeavePipeline>
        m_pipeline; //!< frames between arrival and egress queue
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SWITCH_H */
