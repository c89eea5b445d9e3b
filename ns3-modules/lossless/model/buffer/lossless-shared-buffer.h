/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_SHARED_BUFFER_H
#define LOSSLESS_SHARED_BUFFER_H

#include "lossless-resume-heap.h"

#include "ns3/lossless-buffer-policy.h"

#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief The packet buffer of a switch: private, shared and headroom segments of a lossless pool,
 * and a lossy pool.
 *
 * Each lossless queue has a private part and a headroom of its own; the rest is shared under a
 * dynamic threshold T = alpha (Bs - sum w) over the shared bytes w. The private part is Private or,
 * if larger, what the flow controls of the port have promised to the upstream; headroom is what
 * they demand. This follows the PFC buffer background of the DSH paper (ICDCS 2023, Background),
 * with these rules where that text is not lossless or silent:
 *
 * - A frame is charged as a whole: to the private part if it fits there, else to the shared pool if
 *   w + frame <= T, else to headroom; it is refused only if the headroom cannot hold it. (Comparing
 *   q with phi + T + eta can drop with the headroom empty, because T shrinks while a queue is
 *   paused.)
 * - The queue turns OFF with the first byte in its headroom. It turns ON when its headroom is empty
 *   and w < Xon, or w = 0; this is evaluated when it releases bytes and whenever T rises.
 *
 * With a HeadroomRatio above 1 the headrooms share a pool that is smaller than their sum, like
 * SONiC's shared headroom pool (recalled); this saves buffer, but loses frames when too many queues
 * need theirs at once.
 *
 * Static thresholds replace T by Xoff, limited by the free bytes of the shared pool. Xoff and Xon
 * also count what was promised beyond Private, so that a flow control behind one that promises acts
 * at Xoff, but never within the promise.
 */
class SharedBuffer : public BufferPolicy
{
  public:
    /// How Xoff is set.
    enum class Threshold
    {
        DYNAMIC, ///< T = alpha (Bs - sum w)
        STATIC,  ///< fixed number of bytes
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    SharedBuffer();

    std::string Check() const override;
    int64_t GetHeadroom(uint16_t port, uint8_t cls) const override;
    int64_t GetOwn(uint16_t port, uint8_t cls) const override;
    int64_t GetRoom(uint16_t port, uint8_t cls) const override;
    bool StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const override;
    bool StaysOn(int64_t used, int64_t queue) const override;

    /// The Xoff threshold on the shared bytes of a queue.
    /// @param port ingress port. @param cls class. @return bytes.
    int64_t GetXoff(uint16_t port, uint8_t cls) const;

  protected:
    void DoConfigure(const std::vector<BufferDemand>& demands) override;
    bool DoAdmit(uint32_t queue, int64_t bytes) final;
    void DoRelease(uint32_t queue, int64_t shared, int64_t headroom) final;

  private:
    /// Reserved parts of a lossless queue.
    struct Parts
    {
        int64_t own{0};      //!< private part (B)
        int64_t promised{0}; //!< of which promised beyond Private: counted by Xoff and Xon (B)
        int64_t headroom{0}; //!< (B)
    };

    int64_t XoffOf(uint32_t queue) const;
    /// The largest pool use (sum w) at which an OFF queue turns ON.
    /// @param queue Index. @param usage its bytes. @return bytes or a constant of ResumeHeap.
    int64_t ResumeLevel(uint32_t queue, const Usage& usage) const;

    // Attributes
    int64_t m_private;      //!< phi (B)
    int64_t m_headroomAttr; //!< eta (B); 0: as demanded
    double m_headroomRatio; //!< over-subscription of headrooms
    Threshold m_threshold;  //!< dynamic or static
    double m_alpha;         //!< of the lossless pool
    int64_t m_xonOffset;    //!< Xon = T - this (B), dynamic
    int64_t m_xoff;         //!< static Xoff (B)
    int64_t m_xon;          //!< static Xon (B)

    // State
    std::vector<Parts> m_parts; //!< by Index
    int64_t m_headroomPool{0};  //!< total that all headrooms may hold (B)
    uint64_t m_alphaFixed{0};   //!< Fixed
    ResumeHeap m_off;           //!< OFF queues
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_SHARED_BUFFER_H */
