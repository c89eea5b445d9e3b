/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-frame.h"

#include <memory>
#include <vector>

namespace ns3
{
namespace lossless
{

namespace
{

/// Memory of one kind of record, given out from chunks that are never moved.
template <class T>
class Pool
{
  public:
    T* Take()
    {
        if (m_free.empty())
        {
            Grow();
        }
        T* item = m_free.back();
        m_free.pop_back();
        *item = T{};
        ++m_live;
        return item;
    }

    void Give(T* item)
    {
        m_free.push_back(item);
        --m_live;
    }

    uint64_t GetLive() const
    {
        return m_live;
    }

    void Clear()
    {
        m_chunks.clear();
        m_free.clear();
        m_live = 0;
    }

  private:
    static constexpr std::size_t CHUNK = 1024; //!< records a chunk

    void Grow()
    {
        m_chunks.push_back(std::make_unique<T[]>(CHUNK));
        for (std::size_t i = CHUNK; i > 0; --i)
        {
            m_free.push_back(&m_chunks.back()[i - 1]);
        }
    }

    std::vector<std::unique_ptr<T[]>> m_chunks; //!< the memory
    std::vector<T*> m_free; //!< records not in use; last in, first out, so they stay in cache
    uint64_t m_live{0};     //!< records in use
};

Pool<Frame>&
Frames()
{
    static Pool<Frame> pool;
    return pool;
}

Pool<ControlFrame>&
ControlFrames()
{
    static Pool<ControlFrame> pool;
    return pool;
}

} // namespace

Frame*
FramePool::Take()
{
    return Frames().Take();
}

Frame*
FramePool::TakeControl()
{
    Frame* frame = Frames().Take();
    frame->control = ControlFrames().Take();
    frame->kind = FrameKind::MAC;
    frame->cls = CONTROL_CLASS;
    return frame;
}

void
FramePool::Give(Frame* frame)
{
    if (frame->control)
    {
        ControlFrames().Give(frame->control);
        frame->control = nullptr;
    }
    Frames().Give(frame);
}

uint64_t
FramePool::GetLive()
{
    return Frames().GetLive();
}

void
FramePool::Clear()
{
    Frames().Clear();
    ControlFrames().Clear();
}

} // namespace lossless
} // namespace ns3
