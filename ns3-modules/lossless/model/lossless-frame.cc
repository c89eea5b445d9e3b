/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-frame.h"

#include "ns3/packet.h"

#include <memory>
#include <type_traits>
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

    /// Look at every record that was ever given out, in use or not.
    template <class F>
    void ForEach(F look)
    {
        for (const auto& chunk : m_chunks)
        {
            for (std::size_t i = 0; i < CHUNK; ++i)
            {
                look(chunk[i]);
            }
        }
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

static_assert(sizeof(Frame) == 128 && std::is_trivially_copyable_v<Frame>,
              "a frame is two cache lines, copied as bytes");

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

Frame*
FramePool::TakePacket(Ptr<Packet> packet)
{
    Frame* frame = Frames().Take();
    frame->packet = GetPointer(packet); // takes a reference
    frame->kind = FrameKind::PACKET;
    return frame;
}

Frame*
FramePool::Copy(const Frame& frame)
{
    Frame* copy = Frames().Take();
    *copy = frame;
    copy->next = nullptr;
    copy->charged = false;
    if (copy->packet)
    {
        copy->packet->Ref();
    }
    return copy;
}

void
FramePool::Give(Frame* frame)
{
    if (frame->kind >= FrameKind::MAC) // or PACKET: what else there is holds nothing
    {
        if (frame->control)
        {
            ControlFrames().Give(frame->control);
            frame->control = nullptr;
        }
        if (frame->packet)
        {
            frame->packet->Unref();
            frame->packet = nullptr;
        }
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
    Frames().ForEach([](Frame& frame) {
        if (frame.packet)
        {
            frame.packet->Unref();
        }
    });
    Frames().Clear();
    ControlFrames().Clear();
}

} // namespace lossless
} // namespace ns3
