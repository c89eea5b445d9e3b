/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_BREAKER_H
#define DCFIT_BREAKER_H

#include "ns3/deadlock-detection.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/traced-callback.h"

namespace ns3
{
namespace dcfit
{

/**
 * @ingroup dcfit
 * @brief An agent that can break a deadlock at an egress of its switch.
 *
 * It takes the frames of one ingress, the loop's, out of one egress queue: they are dropped as an
 * intended loss, sent by another port, or moved to a lossy class.
 */
class Breaker
    : public lossless::SwitchAgent,
      public lossless::FeedReader,
      public lossless::NetworkAgent // frames that it reroutes leave the paths that flows have
{
  public:
    /// Action on the frames.
    enum class Cure
    {
        NONE,    ///< nothing
        DROP,    ///< dropped
        REROUTE, ///< sent by a loop-free alternate that is not paused; dropped where there is none
        LOSSY,   ///< moved to LossyClass
    };

    /// Which frames are taken first.
    enum class Order
    {
        OLDEST, ///< those at the head of the queue
        NEWEST, ///< those at its end
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    std::string Check() const override;
    void Report(lossless::Summary& summary) const override;

  protected:
    /// Is a cure configured? @return true if so.
    bool Cures() const;
    /// Break a loop that leads from an ingress to an egress.
    /// @param egress port that is held back. @param ingress port whose upstream waits.
    /// @param cls class.
    void Break(lossless::Port& egress, lossless::Port& ingress, uint8_t cls);
    /// The class that frames are moved to. @return class.
    uint8_t GetLossyClass() const;

    /// Detection, where a derived agent detects
    TracedCallback<const lossless::Port&, const deadlock::Detection&> m_detectionTrace;

  private:
    bool Treat(lossless::Frame* frame);
    bool IsOff(uint16_t ingress, uint8_t cls, int64_t leaving) const;

    Cure m_cure;            //!< attribute
    double m_share;         //!< attribute
    uint32_t m_bytes;       //!< attribute
    Order m_order;          //!< attribute
    uint8_t m_lossy;        //!< attribute
    uint64_t m_broken{0};   //!< loops broken
    uint64_t m_dropped{0};  //!< frames dropped
    uint64_t m_rerouted{0}; //!< frames rerouted
    uint64_t m_moved{0};    //!< frames moved to the lossy class
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_BREAKER_H */
