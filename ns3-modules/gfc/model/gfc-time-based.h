/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef GFC_TIME_BASED_H
#define GFC_TIME_BASED_H

#include "ns3/cbfc-credit.h"
#include "ns3/data-rate.h"
#include "ns3/lossless-rate.h"

namespace ns3
{
namespace gfc
{

/**
 * @ingroup gfc
 * @brief Time-based GFC (section 5): the linear mapping of section 4.1 on the credits of CBFC.
 *
 * Every credit message carries FCCL; the receiver's queue, including blocks in flight, is Buffer -
 * (FCCL - FCTBS) blocks, and the linear mapping turns that into the rate until the next message.
 * Credits still apply: a frame without credit waits, so nothing is lost whatever the mapping. (That
 * the sender derives the queue length in this way is recalled with low confidence; the excerpt of
 * the paper only says that CBFC generates messages periodically.)
 *
 * Bound (derived, not the paper's): with Bm - B0 >= C (T + tau) the credits never run out. The
 * queue as the sender sees it includes blocks in flight, so between two messages it grows by at
 * most T R(held) <= T C (Bm - held) / (Bm - B0) <= Bm - held; the first message comes T + tau after
 * the first frame. This is a fluid bound: frames are whole. With Bm at the end of the buffer, a
 * queue whose drain has stopped comes within a frame of it; the sender then has no credit for a
 * frame and stops and waits as under CBFC. Therefore the mapping ends two frames earlier.
 */
class TimeBasedGfc : public cbfc::Credit
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    std::string Check() const override;
    std::string Warn() const override;
    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override;
    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t now) override;
    void Report(lossless::Summary& summary) const override;

  protected:
    void NotifyCredit(uint8_t cls, int64_t now) override;

  private:
    int64_t m_b0;         //!< queue length up to which the sender uses line rate (B)
    int64_t m_bm;         //!< queue length at which the mapping is 0 (B)
    DataRate m_minRate;   //!< lower bound of the rate
    uint64_t m_lowest{0}; //!< lowest rate used (bit/s)
    std::array<lossless::RateLimiter, lossless::N_CLASSES> m_limiter; //!< per class
};

} // namespace gfc
} // namespace ns3

#endif /* GFC_TIME_BASED_H */
