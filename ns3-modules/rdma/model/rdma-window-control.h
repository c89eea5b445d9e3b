/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_WINDOW_CONTROL_H
#define RDMA_WINDOW_CONTROL_H

#include "rdma-rate-control.h"

#include "ns3/nstime.h"

namespace ns3
{
namespace rdma
{

/**
 * @ingroup rdma
 * @brief A congestion control that computes a window W, in bytes.
 *
 * W starts at line rate times T, the base round-trip time, and is kept between MinRate times T and
 * that. The sender is paced at W / T. When the path changes T becomes that of the new one, and W /
 * T stays. A round trip ends with the first ACK of a packet that was sent after it started; schemes
 * move its end, m_roundEnd.
 */
class WindowControl : public RateControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start(Sender& sender, uint64_t lineRate) override;
    void NotifyPath() override;

  protected:
    static constexpr double BYTE_RATE = 8e12; //!< bit/s of a byte per picosecond

    /// What a rate transfers in T. @param rate bit/s. @return bytes.
    double WindowAt(double rate) const;
    /// Set W, within its bounds, and apply it to the NIC. @param bytes W.
    void SetWindow(double bytes);
    /// T has changed: scale W, and in a scheme all that is proportional to T.
    /// @param factor new T over the old one.
    virtual void Rescale(double factor);

    double m_baseRtt{0};    //!< T (ps)
    double m_bytes{0};      //!< W
    int64_t m_roundEnd{-1}; //!< first packet sent in this round trip; -1: none yet

  private:
    void SetBaseRtt();

    Time m_givenRtt;        //!< attribute: T; 0: that of the queue pair's own path
    double m_mostBytes{0};  //!< window at line rate
    double m_leastBytes{0}; //!< window at MinRate
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_WINDOW_CONTROL_H */
