/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FRAME_SOURCE_H
#define LOSSLESS_FRAME_SOURCE_H

#include "lossless-frame.h"

#include <array>
#include <vector>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Where a port gets frames that are made only when they can go: the queue pairs of a host.
 */
class FrameSource
{
  public:
    virtual ~FrameSource() = default;
    /// Make the next frame of a class. Called only while the class is ready. Where flow controls
    /// choose queues (Egress::HasSelectors), it passes over flows whose frames would join a queue
    /// that is not empty, until Reopen says that they may be tried again.
    /// @param cls class. @return it, or nullptr.
    virtual Frame* Pull(uint8_t cls) = 0;
    /// Flows that were passed over because their frames would have had to wait may be tried again:
    /// the first of them, or all.
    /// @param queue egress queue that has run empty, or ANY_QUEUE: flows may join other queues now.
    virtual void Reopen(uint16_t queue);
};

/**
 * @ingroup lossless
 * @brief Several sources of one port: of those that have frames of a class, each gives one in turn.
 */
class SourceRing : public FrameSource
{
  public:
    /// Add a source.
    /// @param source it. @param ready bit c: it has frames of class c.
    void Add(FrameSource* source, uint32_t ready);
    /// A source has, or has no more, frames of a class.
    /// @param source it. @param cls class. @param ready has. @return true if any source has.
    bool SetReady(const FrameSource* source, uint8_t cls, bool ready);
    Frame* Pull(uint8_t cls) override;
    void Reopen(uint16_t queue) override;

  private:
    /// A source and what it has.
    struct Member
    {
        FrameSource* source; //!< it
        uint32_t ready;      //!< bit c: it has frames of class c
    };

    std::vector<Member> m_members;               //!< the sources
    std::array<std::size_t, N_CLASSES> m_turn{}; //!< by class: whose turn it is
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FRAME_SOURCE_H */
