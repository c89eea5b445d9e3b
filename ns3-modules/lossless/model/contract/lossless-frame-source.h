/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FRAME_SOURCE_H
#define LOSSLESS_FRAME_SOURCE_H

#include "ns3/lossless-frame.h"

#include <array>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief A source of frames that are created only when they can be sent: the queue pairs of a host.
 */
class FrameSource
{
  public:
    virtual ~FrameSource() = default;
    /// Create the next frame of a class. Called only while the class is ready. If flow controls
    /// select queues (Egress::HasSelectors), flows whose frames would join a non-empty queue are
    /// skipped until Reopen is called for it.
    /// @param cls class. @return the frame, or nullptr.
    virtual Frame* Pull(uint8_t cls) = 0;
    /// Flows that were skipped because their frames would have had to wait may be tried again: the
    /// first of them, or all.
    /// @param queue egress queue that has become empty, or ANY_QUEUE: flows may join other queues
    /// now.
    virtual void Reopen(uint16_t queue);
};

/**
 * @ingroup lossless
 * @brief Several sources of one port: those with frames of a class provide one each in turn.
 */
class SourceRing : public FrameSource
{
  public:
    /// Add a source.
    /// @param source the source. @param ready bit c: it has frames of class c.
    void Add(FrameSource* source, uint32_t ready);
    /// A source has frames of a class, or no longer has any.
    /// @param source the source. @param cls class. @param ready whether it has. @return true if any
    /// has.
    bool SetReady(const FrameSource* source, uint8_t cls, bool ready);
    Frame* Pull(uint8_t cls) override;
    void Reopen(uint16_t queue) override;

  private:
    /// A source and its state.
    struct Member
    {
        FrameSource* source; //!< the source
        uint32_t ready;      //!< bit c: it has frames of class c
    };

    std::vector<Member> m_members;               //!< the sources
    std::array<std::size_t, N_CLASSES> m_turn{}; //!< by class: index of the next source
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FRAME_SOURCE_H */
