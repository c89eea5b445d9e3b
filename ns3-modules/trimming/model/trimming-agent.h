/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef TRIMMING_AGENT_H
#define TRIMMING_AGENT_H

#include "ns3/lossless-switch-agent.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <string>

/**
 * @defgroup trimming Packet trimming
 *
 * Switches cut packets down to their first bytes instead of dropping them, and send these to the
 * receiver in a class of their own.
 */

namespace ns3
{
namespace trimming
{

/**
 * @ingroup trimming
 * @brief Packet trimming: what the buffer does not admit of a lossy class is cut to its first Size
 * bytes and sent on in TrimClass.
 *
 * Only data frames of queue pairs that are longer than Size are trimmed, and each once; everything
 * else, and a trimmed frame that is not admitted either, is dropped. Frames of lossless classes are
 * never trimmed.
 */
class Trimming : public lossless::SwitchAgent, public lossless::AdmissionAgent
{
  public:
    /// Which frame is trimmed if an arriving one is not admitted.
    enum class Victim
    {
        ARRIVING, ///< that one
        COIN,     ///< that one or the newest of its egress queue, each half of the time
    };

    /// What it has counted.
    struct Counters
    {
        uint64_t frames{0};  //!< frames trimmed here
        uint64_t bytes{0};   //!< bytes cut off these
        uint64_t dropped{0}; //!< trimmed frames, here or before, that were dropped here
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void Start() override;
    std::string Check() const override;
    void Report(lossless::Summary& summary) const override;
    bool NotifyRefused(lossless::Frame& frame, lossless::Port& ingress) override;
    uint32_t GetTruncatedSize() const override;

    /// @return what it has counted.
    const Counters& GetCounters() const;

    /// TracedCallback signature of trimmed frames.
    /// @param egress port by which it leaves. @param frame the frame, trimmed.
    /// @param bytes cut off.
    typedef void (*TrimCallback)(const lossless::Port& egress,
                                 const lossless::Frame& frame,
                                 uint32_t bytes);

  private:
    /// @return true if frames of a class are trimmed.
    bool IsTrimmed(uint8_t cls) const;
    /// Cut a frame. @return false if it is too short.
    bool Trim(lossless::Frame& frame);
    /// Make room for a frame by trimming the newest one of its queue.
    /// @return false if there is none that can be trimmed.
    bool TrimQueued(const lossless::Frame& frame);

    // Attributes
    uint16_t m_size;     //!< of a trimmed frame (B)
    uint32_t m_classes;  //!< bit c: class c is trimmed; 0: all lossy ones
    uint8_t m_trimClass; //!< class of trimmed frames
    Victim m_victim;     //!< which frame is trimmed

    Ptr<UniformRandomVariable> m_random; //!< the coin, or null
    Counters m_counters;                 //!< see GetCounters
    TracedCallback<const lossless::Port&, const lossless::Frame&, uint32_t> m_trimTrace; //!< Trim
};

} // namespace trimming
} // namespace ns3

#endif /* TRIMMING_AGENT_H */
