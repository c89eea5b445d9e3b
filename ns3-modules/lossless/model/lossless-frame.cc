/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-frame.h"

#include "lossless-state-visitor.h"

#include "ns3/abort.h"
#include "ns3/packet.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{
namespace lossless
{

namespace
{

/// Free records that any thread may take: where frames go one way, one thread has all.
template <class T>
class Depot
{
  public:
    /// Move some free records of a thread here.
    /// @param free those of the thread. @param count how many.
    void Give(std::vector<T*>& free, std::size_t count)
    {
        const std::scoped_lock lock(m_mutex);
        m_free.insert(m_free.end(), free.end() - static_cast<std::ptrdiff_t>(count), free.end());
        free.resize(free.size() - count);
    }

    /// Move some to a thread.
    /// @param free those of the thread. @param most how many.
    void Take(std::vector<T*>& free, std::size_t most)
    {
        const std::scoped_lock lock(m_mutex);
        const std::size_t count = std::min(most, m_free.size());
        free.insert(free.end(), m_free.end() - static_cast<std::ptrdiff_t>(count), m_free.end());
        m_free.resize(m_free.size() - count);
    }

    void Clear()
    {
        m_free.clear();
    }

  private:
    std::mutex m_mutex;     //!< of the list
    std::vector<T*> m_free; //!< the records
};

/// The depot of one kind of record.
template <class T>
Depot<T>&
GetDepot()
{
    static Depot<T> depot;
    return depot;
}

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
        if (m_free.size() == MOST_FREE) [[unlikely]]
        {
            GetDepot<T>().Give(m_free, MOST_FREE / 2);
        }
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
        GetDepot<T>().Clear();
    }

  private:
    static constexpr std::size_t CHUNK = 1024;           //!< records per chunk
    static constexpr std::size_t MOST_FREE = 32 * CHUNK; //!< that a thread keeps

    [[gnu::noinline]] void Grow()
    {
        GetDepot<T>().Take(m_free, MOST_FREE / 2);
        if (!m_free.empty())
        {
            return;
        }
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

/// The records of a thread. They may be given back in another one.
struct Pools
{
    Pool<Frame> frames;          //!< frames
    Pool<ControlFrame> controls; //!< contents of control frames
    Pool<Telemetry> telemetries; //!< telemetry of frames
};

/// All pools, for as long as the process lives.
struct AllPools
{
    std::mutex mutex;                        //!< of the lists
    std::vector<std::unique_ptr<Pools>> all; //!< every one
    std::vector<Pools*> free;                //!< of threads that have ended
};

AllPools&
GetAllPools()
{
    static AllPools pools;
    return pools;
}

[[gnu::tls_model("initial-exec")]] constinit thread_local Pools* t_pools = nullptr;

/// Gives the pools of a thread back when it ends.
struct Lease
{
    ~Lease()
    {
        AllPools& pools = GetAllPools();
        const std::scoped_lock lock(pools.mutex);
        pools.free.push_back(std::exchange(t_pools, nullptr));
    }
};

/// Find pools for a thread that has none.
[[gnu::noinline]] [[gnu::cold]] void
TakePools()
{
    AllPools& pools = GetAllPools();
    const std::scoped_lock lock(pools.mutex);
    if (pools.free.empty())
    {
        pools.all.push_back(std::make_unique<Pools>());
        pools.free.push_back(pools.all.back().get());
    }
    t_pools = pools.free.back();
    pools.free.pop_back();
    thread_local Lease lease;
    static_cast<void>(lease);
}

/// The pools of the calling thread. @return pools.
Pools&
Mine()
{
    if (!t_pools) [[unlikely]]
    {
        TakePools();
    }
    return *t_pools;
}

Pool<Frame>&
Frames()
{
    return Mine().frames;
}

Pool<ControlFrame>&
ControlFrames()
{
    return Mine().controls;
}

Pool<Telemetry>&
Telemetries()
{
    return Mine().telemetries;
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
Visit(StateVisitor& visitor, Frame& frame, const Joined* joined)
{
    auto& [next,
           queued,
           order,
           control,
           flow,
           dst,
           hash,
           bytes,
           ingress,
           egress,
           kind,
           cls,
           ingressClass,
           ttl,
           hop,
           ecn,
           pinned,
           lost,
           corrupted,
           repeat,
           charged,
           paced,
           collects,
           truncated,
           payload,
           dscp,
           egressClass,
           src,
           psn,
           linkSequence,
           word,
           telemetry,
           packet,
           scheme] = frame; // all of it: another field would not compile
    const bool isData = kind == FrameKind::DATA;
    visitor.Require(isData || kind == FrameKind::ACK, "a frame is neither data nor an ACK");
    visitor.Require(!control && !telemetry && !packet && !paced && !lost, "a frame is special");
    visitor.Require(ecn != Frame::ECN_MARKED, "frames are marked");
    visitor
        .Same(flow, dst, hash, bytes, ingress, egress, static_cast<int>(kind), cls, ingressClass);
    visitor.Same(ttl, hop, ecn, pinned, corrupted, repeat, charged, collects, truncated, payload);
    visitor.Same(dscp, egressClass, src, linkSequence, scheme);
    if (joined)
    {
        visitor.Time(queued);
        visitor.Same(joined->before - order);
        order += joined->after - joined->before;
    }
    if (isData)
    {
        visitor.Packet(flow, psn);
        visitor.Same(word[0], word[1]);
    }
    else
    {
        visitor.Same(psn);
        visitor.Packet(flow, word[0]);
        visitor.Packet(flow, word[1]);
    }
    static_cast<void>(next); // that of the list
}

void
FrameFifo::Visit(StateVisitor& visitor, const Joined* joined)
{
    visitor.Inside(*this);
    visitor.Same(m_frames);
    visitor.Derived(m_head, m_tail, m_bytes);
    for (Frame* frame = m_head; frame; frame = frame->next)
    {
        lossless::Visit(visitor, *frame, joined);
    }
}

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
    uint64_t live = 0; // of one pool perhaps negative, modulo 2^64
    for (const auto& pools : GetAllPools().all)
    {
        live += pools->frames.GetLive();
    }
    return live;
}

uint64_t
FramePool::GetLiveTelemetry()
{
    uint64_t live = 0;
    for (const auto& pools : GetAllPools().all)
    {
        live += pools->telemetries.GetLive();
    }
    return live;
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
    for (const auto& pools : GetAllPools().all)
    {
        pools->frames.ForEach([](Frame& frame) {
            if (frame.packet)
            {
                frame.packet->Unref();
            }
        });
        pools->frames.Clear();
        pools->controls.Clear();
        pools->telemetries.Clear();
    }
    g_shares.clear();
}

} // namespace lossless
} // namespace ns3
