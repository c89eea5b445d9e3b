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
 * @brief A central controller that polls every port of the network: a global view, but a late one.
 *
 * One agent a switch; that of the lowest-numbered switch that can be reached stands for the
 * controller. Every Period it asks the switches, one after the other, for the queues, the bytes
 * sent and the map of who feeds whom; each answer is Delay old when it is there, and a command
 * takes as long. An egress that held frames at two polls and sent nothing between them is
 * suspected (DCFIT, section 2.2); a cycle of suspected ones that feed each other is broken at one
 * of them. Its messages travel in a management network of their own and are only counted.
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
    /// What the controller knows of an egress class.
    struct View
    {
        DeadlockController* agent{nullptr}; //!< of its switch
        uint16_t port{0};                   //!< of it
        uint8_t cls{0};                     //!< class
        std::size_t ahead{0};               //!< first View of the peer's switch
        std::size_t aheadEnd{0};            //!< end of them
        uint16_t peerPort{0};               //!< port of the peer
        int64_t sent{-1};                   //!< wire bytes at the last answer
        bool waited{false};                 //!< held frames at the last answer
        bool suspect{false};                //!< held frames at two and sent nothing
        std::vector<bool> feeds;            //!< by ingress, at the last answer
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

    std::vector<DeadlockController*> m_switches; //!< of the network, if this is the controller
    std::vector<std::size_t> m_firstView;        //!< by switch, and the end
    std::vector<View> m_views;                   //!< all egress classes
    std::size_t m_next{0};                       //!< switch to be read
    std::vector<std::size_t> m_cycle;            //!< to be broken
    int64_t m_began{0};                          //!< of this poll (ps)
    uint64_t m_polls{0};                         //!< done
    uint64_t m_bytes{0};                         //!< of messages
    uint64_t m_found{0};                         //!< cycles
    int64_t m_firstAt{-1};                       //!< first of them (ps)
    lossless::ReusableEvent<DeadlockController> m_pollEvent;   //!< Poll
    lossless::ReusableEvent<DeadlockController> m_readEvent;   //!< ReadNext
    lossless::ReusableEvent<DeadlockController> m_decideEvent; //!< Decide
    lossless::ReusableEvent<DeadlockController> m_actEvent;    //!< Act
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_CONTROLLER_H */
