/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-frame.h"

#include "ns3/abort.h"
#include "ns3/packet.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

namespace ns3
{
namespace lossless
{

namespace
{

/// Pool of one kind of record, allocated in chunks that are never moved.
template <class T>
class Pool
{
  public:
    T* Take()
    {
        T* item = TakeUsed();
        *item = T{};
        return item;
    }

    /// Get a record, with the contents of its former use.
    T* TakeUsed()
    {
        if (m_free.empty())
        {
            Grow();
        }
        T* item = m_free.back();
        m_free.pop_back();
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

    /// Visit every record ever handed out, in use or not.
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
    static constexpr std::size_t CHUNK = 1024; //!< records per chunk

    void Grow()
    {
        m_chunks.push_back(std::make_unique<T[]>(CHUNK));
        for (std::size_t i = CHUNK; i > 0; --i)
        {
            m_free.push_back(&m_chunks.back()[i - 1]);
        }
    }

    std::vector<std::unique_ptr<T[]>> m_chunks; //!< the memory
    std::vector<T*> m_free; //!< free records; last in, first out, so that they stay in cache
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

Pool<Telemetry>&
Telemetries()
{
    static Pool<Telemetry> pool;
    return pool;
}

/// A scheme's share of Frame::scheme.
struct Share
{
    std::string scheme; //!< name of the scheme
    uint32_t first;     //!< index
    uint32_t bytes;     //!< number of bytes
};

std::vector<Share> g_shares; //!< in order of their offsets
uint32_t g_users = 0;        //!< simulations that have frames

} // namespace

void
Telemetry::Assign(const Telemetry& other)
{
    room = other.room;
    hops = other.hops;
    missed = other.missed;
    std::copy_n(other.hop.begin(), hops, hop.begin());
}

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

void
FramePool::AddTelemetry(Frame& frame, uint32_t hops)
{
    frame.telemetry = Telemetries().TakeUsed();
    frame.telemetry->room = static_cast<uint8_t>(hops);
    frame.telemetry->hops = 0;
    frame.telemetry->missed = 0;
}

Frame*
FramePool::Copy(const Frame& frame)
{
    Frame* copy = Frames().Take();
    *copy = frame;
    copy->next = nullptr;
    copy->charged = false;
    if (frame.telemetry)
    {
        AddTelemetry(*copy, 0);
        copy->telemetry->Assign(*frame.telemetry);
    }
    if (copy->packet)
    {
        copy->packet->Ref();
    }
    return copy;
}

void
FramePool::Give(Frame* frame)
{
    if (frame->kind >= FrameKind::MAC) // or PACKET: other kinds hold no references
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
    if (frame->telemetry)
    {
        Telemetries().Give(frame->telemetry);
        frame->telemetry = nullptr;
    }
    Frames().Give(frame);
}

uint64_t
FramePool::GetLive()
{
    return Frames().GetLive();
}

uint64_t
FramePool::GetLiveTelemetry()
{
    return Telemetries().GetLive();
}

uint32_t
FramePool::ReserveSchemeBytes(const std::string& scheme, uint32_t bytes)
{
    uint32_t first = 0;
    for (const Share& share : g_shares)
    {
        if (share.scheme == scheme && share.bytes == bytes)
        {
            return share.first;
        }
        first = share.first + share.bytes;
    }
    NS_ABORT_MSG_IF(first + bytes > SCHEME_BYTES,
                    scheme << " requests " << bytes << " bytes of every frame, but only "
                           << SCHEME_BYTES - first << " of " << SCHEME_BYTES
                           << " are left: use fewer schemes together, or raise SCHEME_BYTES");
    g_shares.push_back(Share{scheme, first, bytes});
    return first;
}

void
FramePool::Open()
{
    ++g_users;
}

void
FramePool::Close()
{
    if (--g_users == 0)
    {
        Clear();
    }
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
    g_shares.clear();
    Telemetries().Clear();
}

} // namespace lossless
} // namespace ns3
