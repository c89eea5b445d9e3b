/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef @GUARD@_BUFFER_POLICY_H
#define @GUARD@_BUFFER_POLICY_H

#include "ns3/lossless-buffer-policy.h"

#include <string>
#include <vector>

/**
 * @defgroup @module@ @title@
 *
 * A buffer policy.
 */

namespace ns3
{
namespace @namespace@
{

/**
 * @ingroup @module@
 * @brief Lets every lossless queue hold the same share of the buffer.
 *
 * Each (ingress port, class) has a headroom of its own; the rest of the buffer is shared. A queue
 * turns OFF with the frame that would take its shared bytes above Share of the shared buffer; this
 * frame and those in flight are charged to its headroom. It turns ON when its headroom is empty and
 * it is below its share by XonOffset, or holds nothing.
 */
class @Class@ : public lossless::BufferPolicy
{
  public:
    /**
     * @brief Get the type ID.
     *
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    std::string Check() const override;
    int64_t GetHeadroom(uint16_t port, uint8_t cls) const override;
    bool StaysOff(uint16_t port, uint8_t cls, const std::vector<Rest>& rests) const override;
    void Report(lossless::Summary& summary) const override;

  private:
    void DoConfigure(const std::vector<lossless::BufferDemand>& demands) override;
    bool DoAdmit(uint32_t queue, int64_t bytes) override;
    void DoRelease(uint32_t queue, int64_t shared, int64_t headroom) override;

    bool MayResume(int64_t shared, int64_t headroom) const;

    // Attributes
    double m_share{0};      //!< share of the shared buffer, for each queue
    int64_t m_xonOffset{0}; //!< below the share (B)

    std::vector<int64_t> m_headroom; //!< by Index (B)
    int64_t m_xoff{0};               //!< the share (B)
    uint64_t m_offs{0};              //!< number of times that a queue turned OFF
};

} // namespace @namespace@
} // namespace ns3

#endif /* @GUARD@_BUFFER_POLICY_H */
