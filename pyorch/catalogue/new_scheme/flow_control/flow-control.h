/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_FLOW_CONTROL_H
#define @GUARD@_FLOW_CONTROL_H

#include "ns3/lossless-flow-control.h"

/**
 * @defgroup @module@ @title@
 *
 * A hop-by-hop flow control.
 */

namespace ns3
{
namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief Stops a class of the peer above a queue length, and resumes it at another one.
 *
 * The receiver's side checks the bytes of each (port, class) in its ingress accounting. Above Xoff
 * it stops the peer, at or below Xon it resumes it. The sender's side blocks the class in between.
 * Frames that arrive after a stop, at most C tau, need room in the buffer: Xoff must be below what
 * the shared buffer grants.
 */
class @Class@ : public lossless::FlowControl,
                public lossless::ByteObserver,
                public lossless::DeadlockModel
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    std::string Check() const override;
    bool WouldHold(uint16_t queue, const lossless::Frame& head, const Rest& rest) const override;
    bool WouldRelease(uint16_t queue,
                      const lossless::Frame& head,
                      const lossless::ControlFrame& control) const override;
    void NotifyReceived(lossless::Frame& frame, int64_t queueBytes) override;
    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override;
    bool ReceiveControl(const lossless::ControlFrame& control) override;
    void NotifyLink(bool up) override;
    void Report(lossless::Summary& summary) const override;

  private:
    void Tell(uint8_t cls, bool stop);
    void Obey(uint8_t cls, bool stop);

    // Attributes
    int64_t m_xoff; //!< the peer is stopped above it (B)
    int64_t m_xon;  //!< the peer is resumed at or below it (B)

    uint32_t m_told{0};     //!< receiver's side, bit c: class c of the peer is stopped
    uint32_t m_stopped{0};  //!< sender's side, bit c: class c is stopped
    uint64_t m_messages{0}; //!< messages sent
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_FLOW_CONTROL_H */
