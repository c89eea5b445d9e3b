/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFC_WATCHDOG_H
#define PFC_WATCHDOG_H

#include "ns3/deadlock-detection.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>
#include <string>
#include <vector>

namespace ns3
{
namespace pfc
{

/**
 * @ingroup pfc
 * @brief The PFC watchdog of a switch, modelled on SONiC's.
 *
 * Every Poll it checks each (port, lossless class): if the queue holds frames, none was sent and
 * PFC held it back for more than 99 % of the interval, the interval counts as a storm. When storms
 * have lasted for Detection, the watchdog acts; when there has been none for Restoration, it
 * reverts the action. It does not check for cycles. Classes may have an Action and times of their
 * own.
 */
class PfcWatchdog : public lossless::SwitchAgent,
                    public lossless::ArrivalAgent,
                    public lossless::ControlAgent
{
  public:
    /// Action in a storm.
    enum class Action
    {
        DROP,    ///< drop the queue's frames and those that arrive for it
        FORWARD, ///< send frames in spite of PFC
        ALERT,   ///< only report
    };

    /// What ends a storm.
    enum class Calm
    {
        PAUSE, ///< an interval in which PFC did not hold the queue back
        FRAMES ///< an interval without PFC frames of the class, whatever they say
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    PfcWatchdog();

    void Start() override;
    std::string Check() const override;
    bool NotifyArrival(lossless::Frame& frame, lossless::Port& ingress) override;
    void NotifyControl(lossless::Port& port, const lossless::ControlFrame& control) override;
    void Report(lossless::Summary& summary) const override;

  private:
    /// A watched (port, class).
    struct Watch
    {
        int64_t pausedTime{0}; //!< total pause time at the last poll (ps)
        int64_t sent{0};       //!< wire bytes sent at the last poll
        int64_t storm{0};      //!< duration of the current storm (ps)
        int64_t calm{0};       //!< time since the last storm (ps)
        bool acting{false};    //!< the action is in force
        bool heard{false};     //!< a PFC frame of the class has come since the last poll
    };

    Watch& At(uint16_t port, uint8_t cls)
    {
        return m_watches[static_cast<std::size_t>(port) * lossless::N_CLASSES + cls];
    }

    /// What is done for a class, and when.
    struct Rule
    {
        int64_t detection;   //!< ps
        int64_t restoration; //!< ps
        Action action;       //!< in a storm
    };

    /// @return the rules of all classes.
    std::array<Rule, lossless::N_CLASSES> ReadRules() const;
    void Poll();
    void Judge(lossless::Port& port, uint8_t cls);
    void Act(lossless::Port& port, uint8_t cls);
    void Restore(lossless::Port& port, uint8_t cls);

    Time m_poll;                //!< attribute
    Time m_detection;           //!< attribute
    Time m_restoration;         //!< attribute
    Action m_action;            //!< attribute
    Calm m_calm;                //!< attribute
    std::string m_detections;   //!< attribute
    std::string m_restorations; //!< attribute
    std::string m_actions;      //!< attribute

    std::array<Rule, lossless::N_CLASSES> m_rules{}; //!< by class
    std::vector<Watch> m_watches;                    //!< by port, class
    /// Detection
    TracedCallback<const lossless::Port&, const deadlock::Detection&> m_detectionTrace;
    uint64_t m_storms{0};                        //!< storms detected
    uint64_t m_restored{0};                      //!< storms ended
    uint64_t m_dropped{0};                       //!< frames dropped
    int64_t m_firstAt{-1};                       //!< first storm (ps)
    lossless::ReusableEvent<PfcWatchdog> m_tick; //!< Poll
};

} // namespace pfc
} // namespace ns3

#endif /* PFC_WATCHDOG_H */
