/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_REACTION_POINT_H
#define SFC_REACTION_POINT_H

#include "sfc-message.h"

#include "ns3/lossless-constants.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>
#include <deque>

namespace ns3
{
namespace rdma
{
class Host;
class QueuePair;
} // namespace rdma

namespace sfc
{

/**
 * @ingroup sfc
 * @brief Holds back the classes of a port until a given time: the source FIFOs of a NIC.
 */
class SfcGate : public lossless::FlowControl, public lossless::Gate, public lossless::DeadlockModel
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;

    /// Hold a class back until a time; never shortens a hold.
    /// @param cls class. @param now ps. @param until ps.
    /// @return by how much the total hold time has grown (ps).
    int64_t Hold(uint8_t cls, int64_t now, int64_t until);

  private:
    std::array<int64_t, lossless::N_CLASSES> m_until{}; //!< end of the hold, by class (ps)
};

/**
 * @ingroup sfc
 * @brief A NIC that obeys source flow control: a message pauses the class, the whole interface or
 * the flow for its interval; if it is paused already, the later end applies.
 */
class SfcReactionPoint : public lossless::SwitchAgent, public lossless::TransitAgent
{
  public:
    /// What a message pauses.
    enum class Scope
    {
        CLASS,     ///< the class of the packet
        INTERFACE, ///< all classes except the control queue
        FLOW,      ///< the flow of the packet
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    SfcReactionPoint();
    ~SfcReactionPoint() override;

    void SetUp() override;
    std::string Check() const override;
    bool NotifyTransit(lossless::Frame* frame, lossless::Port& ingress) override;
    void Report(lossless::Summary& summary) const override;

    /// TracedCallback signature of pauses.
    /// @param message the message. @param flow its flow. @param from ps. @param until ps.
    typedef void (*PauseCallback)(const Message& message,
                                  uint32_t flow,
                                  int64_t from,
                                  int64_t until);

  protected:
    void DoDispose() override;

  private:
    /// A message that has not reached the source FIFO yet.
    struct Waiting
    {
        Message message;            //!< the message
        rdma::QueuePair* queuePair; //!< queue pair of the packet that caused it
        int64_t pause;              //!< pause to apply (ps)
    };

    void Obey(const Waiting& waiting);
    void ReachSource();

    // Attributes
    Scope m_scope;  //!< what a message pauses
    Time m_latency; //!< from the source FIFO to the wire

    // State
    rdma::Host* m_host{nullptr};                       //!< the host
    Ptr<SfcGate> m_gate;                               //!< gate of its port
    std::deque<Waiting> m_pipeline;                    //!< messages on their way to the FIFO
    lossless::ReusableEvent<SfcReactionPoint> m_reach; //!< a message reaches the FIFO

    // Counters
    uint64_t m_received{0};      //!< messages received
    uint64_t m_late{0};          //!< messages that arrived after their interval
    uint64_t m_spent{0};         //!< messages with no pause left after the correction
    uint64_t m_covered{0};       //!< messages that extended no pause
    uint64_t m_unknownSource{0}; //!< messages for another host
    uint64_t m_unknownFlow{0};   //!< messages of a flow that is not sent from here
    int64_t m_transit{0};        //!< from the congested queue to here, total (ps)
    int64_t m_intervals{0};      //!< intervals of messages, total (ps)
    int64_t m_reaction{0};       //!< longest time from the congested queue to the effect (ps)
    int64_t m_held{0};           //!< hold time of classes or flows, total (ps)
    TracedCallback<const Message&, uint32_t, int64_t, int64_t> m_pauseTrace; //!< Pause
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_REACTION_POINT_H */
