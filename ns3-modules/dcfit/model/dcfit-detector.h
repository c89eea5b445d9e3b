/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_DETECTOR_H
#define DCFIT_DETECTOR_H

#include "dcfit-breaker.h"
#include "dcfit-pause-map.h"
#include "dcfit-trigger-cure.h"

#include "ns3/data-rate.h"
#include "ns3/lossless-event.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief DCFIT on one switch: detects deadlocks of PFC by messages that follow the pauses.
 *
 * It uses only its own ports, the node's FeedMap and the messages of its neighbours. A neighbour
 * without DCFIT, in general a server, counts as the initial trigger of the pauses it sends.
 */
class Dcfit : public Breaker,
              public lossless::QueueAgent,
              public lossless::PauseAgent,
              public lossless::ControlAgent,
              public lossless::ArrivalAgent
{
  public:
    /// Which egress is considered the cause of a pause.
    enum class Cause
    {
        ARRIVING, ///< that of the frame that triggered it
        LARGEST,  ///< that for which the ingress holds most bytes
    };

    using Clearing = PauseMap::Clearing;        //!< how a bit of the traffic map is cleared
    using Conflict = PauseMap::Conflict;        //!< which message a port keeps
    using Evidence = PauseMap::Evidence;        //!< what a consistency round checks at an ingress
    using ServerCure = TriggerCure::ServerCure; //!< action on servers
    using enum deadlock::Detection::Way;
    using Way = deadlock::Detection::Way; //!< how a deadlock was detected

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Dcfit();

    void Start() override;
    std::string Check() const override;
    bool NotifyArrival(lossless::Frame& frame, lossless::Port& ingress) override;
    void NotifyDequeue(lossless::Port& egress, uint16_t queue, lossless::Frame& frame) override;
    void NotifyPauseSent(lossless::Port& port, uint8_t cls, bool on) override;
    void NotifyPaused(lossless::Port& port, uint8_t cls, bool on) override;
    void Decorate(lossless::Port& port, lossless::ControlFrame& control) override;
    void NotifyControl(lossless::Port& port, const lossless::ControlFrame& control) override;
    void Report(lossless::Summary& summary) const override;

    /// Memory of the detector on a switch, per class: traffic map, and PauseMap::State of each
    /// port.
    /// @param ports of the switch. @return bits.
    uint64_t GetStateBits(uint32_t ports) const;
    /// Memory of the counters that clear the traffic map exactly, per class.
    /// @param ports of the switch. @return bits; 0 with Clearing Row and Evidence Map.
    uint64_t GetCounterBits(uint32_t ports) const;
    /// Memory for handling initial triggers, per class: heavy hitters of each egress, limited
    /// flows, and the servers acted on.
    /// @param ports of the switch. @return bits; 0 without HandleTrigger.
    uint64_t GetHandlingBits(uint32_t ports) const;

  private:
    using State = PauseMap::State; //!< of a port and class

    /// Start a process at an ingress that pauses. Its CHECK goes with the PAUSE, or else the caller
    /// sends it.
    void Begin(uint16_t ingress, uint8_t cls, Way way, bool trigger, uint8_t rank);
    /// A PAUSE has arrived at an egress, perhaps a repeated one.
    void ReceivePause(uint16_t port, uint8_t cls, bool tagged, const Message& message);
    /// A CHECK has arrived at an egress; fresh: with the PAUSE that began to hold it back.
    void ReceiveCheck(uint16_t port, uint8_t cls, const Message& message, bool fresh);
    /// A CONSISTENCY message has arrived at an egress.
    void ReceiveConsistency(uint16_t port, uint8_t cls, const Message& message);
    /// A loop is a deadlock: it leaves by an ingress here and comes back at an egress port.
    void Declare(uint16_t port, uint16_t ingress, uint8_t cls);
    /// Treat, or tell, the paused ports off a loop. @return true if there is any: the trigger lies
    /// beyond it.
    bool TellSuspects(uint16_t ingress, uint8_t cls, const Message& message);
    /// A NOTICE or FOUND has arrived at an ingress, from the egress that it pauses: notices go
    /// towards the cause, against the way of CHECK.
    void ReceiveNotice(uint16_t ingress, uint8_t cls, Kind kind, Message message);
    /// Send a message in a frame of its own, if the neighbour has DCFIT.
    void SendAlone(Kind kind, uint16_t port, uint8_t cls, const Message& message);
    /// Send a message of an egress on, by the ingresses that feed it and pause.
    void ForwardFrom(Kind kind, uint16_t port, uint8_t cls, const Message& message);
    /// The periodic check of Retry.
    void Look();
    /// Start a process at an ingress whose PAUSE was sent before: its CHECK goes alone.
    void BeginAgain(uint16_t ingress, uint8_t cls);

    // Attributes
    uint32_t m_switchBits;   //!< bits of a stored switch number
    Clearing m_clearing;     //!< of the traffic map
    Cause m_cause;           //!< of a pause
    Conflict m_conflict;     //!< between messages
    Evidence m_evidence;     //!< of a consistency round
    uint32_t m_rounds;       //!< consistency rounds
    Time m_retry;            //!< Retry
    bool m_drained;          //!< start a process when an egress has drained
    bool m_untold;           //!< start a process if a pause came without a message
    bool m_handle;           //!< handle the initial trigger
    ServerCure m_serverCure; //!< action on servers
    uint32_t m_heavyEntries; //!< flows tracked per egress
    DataRate m_limitRate;    //!< of a heavy flow
    uint32_t m_limitBurst;   //!< bytes
    uint32_t m_mostLimits;   //!< maximum number of limited flows
    Time m_restoration;      //!< time without cause until an action ends

    // State
    PauseMap m_map;                        //!< pauses and processes
    TriggerCure m_cure;                    //!< of initial triggers
    uint16_t m_number{0};                  //!< number of the switch in messages
    bool m_lookPending{false};             //!< an occurrence of m_look is scheduled
    lossless::ReusableEvent<Dcfit> m_look; //!< checks for lasting pauses

    // Counted
    uint64_t m_begun{0};        //!< processes started
    uint64_t m_suspected{0};    //!< loops found by CHECK
    uint64_t m_refuted{0};      //!< CONSISTENCY messages that ended at a port that had resumed
    uint64_t m_repeated{0};     //!< of these, at a port that was paused again in the same episode
    uint64_t m_alone{0};        //!< messages sent in frames of their own
    uint64_t m_tags{0};         //!< messages in PAUSE frames
    uint64_t m_messageBytes{0}; //!< wire bytes of those sent alone
    std::array<uint64_t, 3> m_detections{}; //!< by Way
    int64_t m_firstAt{-1};                  //!< first detection (ps)
    int64_t m_firstBegun{-1};               //!< start of its process (ps)
    int64_t m_firstLooped{-1};              //!< when its loop was found (ps)
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_DETECTOR_H */
