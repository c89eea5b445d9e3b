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
 * @brief Holds the classes of a port back until a time: the source FIFOs of a NIC.
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

    /// Hold a class back; never shortens.
    /// @param cls class. @param now ps. @param until ps.
    /// @return by how much the time in which it is held back has grown (ps).
    int64_t Hold(uint8_t cls, int64_t now, int64_t until);

  private:
    std::array<int64_t, lossless::N_CLASSES> m_until{}; //!< ps
};

/**
 * @ingroup sfc
 * @brief A NIC that obeys source flow control: a message stops the class, the whole interface or
 * the flow for its interval; one that is stopped already stops for the longer of what remains and
 * the new interval.
 */
class SfcReactionPoint : public lossless::SwitchAgent, public lossless::TransitAgent
{
  public:
    /// What pauses.
    enum class Scope
    {
        CLASS,     ///< the class of the packet
        INTERFACE, ///< all classes; not the control queue
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
    /// @param message what was obeyed. @param flow its flow. @param from ps. @param until ps.
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
        Message message;            //!< it
        rdma::QueuePair* queuePair; //!< whose packet caused it
        int64_t pause;              //!< what is to be paused (ps)
    };

    void Obey(const Waiting& waiting);
    void ReachSource();

    // Attributes
    Scope m_scope;  //!< what pauses
    Time m_latency; //!< from the source FIFO to the wire

    // State
    rdma::Host* m_host{nullptr};                       //!< the node
    Ptr<SfcGate> m_gate;                               //!< of its port
    std::deque<Waiting> m_pipeline;                    //!< on their way
    lossless::ReusableEvent<SfcReactionPoint> m_reach; //!< one takes effect

    // Counters
    uint64_t m_received{0};      //!< messages
    uint64_t m_late{0};          //!< that came later than their interval
    uint64_t m_spent{0};         //!< of which nothing was left after the correction
    uint64_t m_covered{0};       //!< that lengthened no pause
    uint64_t m_unknownSource{0}; //!< for another host
    uint64_t m_unknownFlow{0};   //!< of no flow that sends from here
    int64_t m_transit{0};        //!< from the congested queue to here, summed (ps)
    int64_t m_intervals{0};      //!< in them, summed (ps)
    int64_t m_reaction{0};       //!< longest time from the congested queue to the effect (ps)
    int64_t m_held{0};           //!< classes or flows held back, summed (ps)
    TracedCallback<const Message&, uint32_t, int64_t, int64_t> m_pauseTrace; //!< Pause
};

} // namespace sfc
} // namespace ns3

#endif /* SFC_REACTION_POINT_H */
