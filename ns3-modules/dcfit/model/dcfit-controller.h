/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_CONTROLLER_H
#define DCFIT_CONTROLLER_H

#include "dcfit-breaker.h"

#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief A central controller that polls every port of the network: a global view, but a delayed
 * one.
 *
 * One agent per switch; that of the lowest-numbered reachable switch represents the controller.
 * Every Period it asks the switches in turn for their queues, the bytes sent and the map of which
 * ingress feeds which egress; each reply arrives Delay after it was read, and a command takes as
 * long. An egress that held frames at two polls and sent nothing in between is suspected (DCFIT,
 * section 2.2); a cycle of suspected egresses that feed each other is broken at one of them. The
 * controller's messages use a separate management network and are only counted.
 */
class DeadlockController : public Breaker
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    DeadlockController();

    void Start() override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// The controller's state of an egress class.
    struct View
    {
        DeadlockController* agent{nullptr}; //!< agent of its switch
        uint16_t port{0};                   //!< its port
        uint8_t cls{0};                     //!< class
        std::size_t ahead{0};               //!< first View of the peer's switch
        std::size_t aheadEnd{0};            //!< end of these
        uint16_t peerPort{0};               //!< port of the peer
        int64_t sent{-1};                   //!< wire bytes sent, at the last reply
        bool waited{false};                 //!< it held frames at the last reply
        bool suspect{false};     //!< it held frames at two replies and sent nothing in between
        std::vector<bool> feeds; //!< by ingress: feeds this egress, at the last reply
    };

    void FindSwitches();
    void Poll();
    void ReadNext();
    void Decide();
    void Act();
    std::vector<std::size_t> FindCycle() const;

    Time m_period;  //!< attribute
    Time m_delay;   //!< attribute
    Time m_spacing; //!< attribute

    std::vector<DeadlockController*> m_switches; //!< all switches, if this is the controller
    std::vector<std::size_t> m_firstView;        //!< by switch, and one past the last
    std::vector<View> m_views;                   //!< all egress classes
    std::size_t m_next{0};                       //!< next switch to read
    std::vector<std::size_t> m_cycle;            //!< cycle to break
    int64_t m_began{0};                          //!< start of this poll (ps)
    uint64_t m_polls{0};                         //!< polls completed
    uint64_t m_bytes{0};                         //!< bytes of messages
    uint64_t m_found{0};                         //!< cycles found
    int64_t m_firstAt{-1};                       //!< time of the first cycle found (ps)
    lossless::ReusableEvent<DeadlockController> m_pollEvent;   //!< Poll
    lossless::ReusableEvent<DeadlockController> m_readEvent;   //!< ReadNext
    lossless::ReusableEvent<DeadlockController> m_decideEvent; //!< Decide
    lossless::ReusableEvent<DeadlockController> m_actEvent;    //!< Act
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_CONTROLLER_H */
