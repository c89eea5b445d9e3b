/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LLR_REPLAY_BUFFER_H
#define LLR_REPLAY_BUFFER_H

#include "llr-sequence.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace ns3
{
namespace llr
{

/**
 * @ingroup llr
 * @brief The frames that one end of a link has sent and that are not acknowledged: their numbers,
 * sizes and times, and which of them is repeated next.
 *
 * It also knows how many the other end accepts, because it is told the fate of each frame: a good
 * one is accepted if all before it were. This serves only to have each frame in one place (see
 * lossless::LinkRetry).
 */
class ReplayBuffer
{
  public:
    /// A frame.
    struct Entry
    {
        int64_t end;    //!< when its last bit was sent last (ps)
        uint16_t bytes; //!< size (B)
        uint8_t cls;    //!< class
    };

    /// Forget all.
    /// @param sequence number of the next frame.
    void Reset(uint32_t sequence);
    /// A new frame is sent. Precondition: not replaying.
    /// @param entry the frame. @param good whether it arrives undamaged.
    /// @return true if the other end accepts it.
    bool Push(const Entry& entry, bool good);
    /// Frames up to a number are acknowledged.
    /// @param sequence of the last of them. @return how many that are; nothing if no such frame is
    /// here, nor just before.
    std::optional<uint32_t> Release(uint32_t sequence);
    /// Repeat all, from the oldest on.
    void Replay();
    /// The next one is repeated. Precondition: replaying.
    /// @param end when its last bit is sent (ps). @param good whether it arrives undamaged.
    /// @return true if the other end accepts it; it may have accepted it before.
    bool Repeat(int64_t end, bool good);

    /// @return true if frames are to be repeated.
    bool IsReplaying() const
    {
        return m_cursor < m_count;
    }

    /// @return true if the oldest one is to be repeated next.
    bool IsAtOldest() const
    {
        return m_cursor == 0 && m_count > 0;
    }

    /// @return the frame that is repeated next. Precondition: replaying.
    const Entry& GetNext() const
    {
        return At(m_cursor);
    }

    /// @return its number; without a replay that of the next new frame.
    uint32_t GetNextSequence() const
    {
        return Advance(m_oldest, m_cursor);
    }

    /// @return the oldest frame. Precondition: there is one.
    const Entry& GetOldest() const
    {
        return At(0);
    }

    /// @return number of the oldest frame, or of the next one if there is none.
    uint32_t GetOldestSequence() const
    {
        return m_oldest;
    }

    /// @return the number of frames.
    uint32_t GetFrames() const
    {
        return m_count;
    }

    /// @return their bytes.
    int64_t GetBytes() const
    {
        return m_bytes;
    }

    /// @return number of frames repeated so far.
    uint64_t GetRepeated() const
    {
        return m_repeated;
    }

    /// @return the most bytes so far.
    int64_t GetPeak() const
    {
        return m_peak;
    }

  private:
    const Entry& At(uint32_t index) const
    {
        return m_ring[(m_first + index) & (m_ring.size() - 1)];
    }

    bool NoteSent(bool good);
    void Grow();

    std::vector<Entry> m_ring; //!< entries from m_first on; a power of two
    std::size_t m_first{0};    //!< index of the oldest
    uint32_t m_count{0};       //!< number of entries
    uint32_t m_cursor{0};      //!< index of the entry to repeat next; m_count: none
    uint32_t m_accepted{0};    //!< how many, from the oldest on, the other end accepts
    uint32_t m_oldest{0};      //!< number of the oldest
    int64_t m_bytes{0};        //!< of all
    int64_t m_peak{0};         //!< the most of them
    uint64_t m_repeated{0};    //!< frames
};

} // namespace llr
} // namespace ns3

#endif /* LLR_REPLAY_BUFFER_H */
