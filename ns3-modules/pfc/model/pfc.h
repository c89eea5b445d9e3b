/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFC_H
#define PFC_H

#include "ns3/lossless-event.h"
#include "ns3/lossless-flow-control.h"

#include <array>

/**
 * @defgroup pfc Priority-based flow control
 *
 * PFC, IEEE 802.1Qbb, and the watchdog that breaks pause storms.
 */

namespace ns3
{
namespace pfc
{

/**
 * @ingroup pfc
 * @brief Priority-based flow control, IEEE 802.1Qbb.
 *
 * Pauses a class of the peer when the shared buffer turns its queue OFF, and resumes it with zero
 * quanta when the queue turns ON. In Timer mode a pause lasts as many quanta of 512 bit times as
 * the frame says, a new frame replaces the timer, and a class that stays OFF is paused again before
 * the pause expires. In OnOff mode a pause lasts until the resume, as in most simulators; the two
 * are equivalent while no refresh is lost.
 *
 * A received frame takes effect after Port's ControlDelay, and only for classes that are lossless
 * at the node which received it.
 */
class Pfc : public lossless::FlowControl,
            public lossless::XoffListener,
            public lossless::DeadlockModel,
            public lossless::Resting
{
  public:
    /// What ends a pause.
    enum class Mode
    {
        TIMER,  ///< its quanta, or a resume
        ON_OFF, ///< a resume
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    Pfc();

    lossless::BufferDemand GetBufferDemand() const override;
    void Start() override;
    std::string Check() const override;
    std::string Warn() const override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    void NotifyXoff(uint8_t cls, bool xoff) override;
    void SendResume(uint8_t cls) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

    bool IsAtRest() const override;

  protected:
    /// Obey: called when the pause of a class begins and when it ends. A derived scheme may obey in
    /// another way than to hold the class back.
    /// @param cls class. @param held true: it is paused.
    virtual void Hold(uint8_t cls, bool held);

  private:
    void Send(uint32_t classes, uint32_t quanta);
    void Refresh();
    void Expire();
    void SetPaused(uint8_t cls, bool paused);
    int64_t PauseTime(uint32_t quanta) const;

    // Attributes
    Mode m_mode;        //!< what ends a pause
    uint32_t m_quanta;  //!< duration of a pause
    double m_refreshAt; //!< share of a pause after which it is refreshed

    // Receiver's side
    uint32_t m_off{0};            //!< bit c: class c of the peer is to be paused
    bool m_refreshPending{false}; //!< an occurrence of m_refresh is scheduled
    int64_t m_refreshInterval{0}; //!< ps
    uint64_t m_frames{0};         //!< PFC frames sent
    uint64_t m_refreshes{0};      //!< of these, refreshes

    // Sender's side
    std::array<int64_t, lossless::N_CLASSES> m_until{}; //!< when the pause of a class ends (ps)
    uint32_t m_paused{0};                               //!< bit c: class c is paused
    uint64_t m_expired{0};                              //!< pauses that expired

    lossless::ReusableEvent<Pfc> m_refresh; //!< refreshes the pauses sent
    lossless::ReusableEvent<Pfc> m_expire;  //!< a pause may have ended
};

} // namespace pfc
} // namespace ns3

#endif /* PFC_H */
