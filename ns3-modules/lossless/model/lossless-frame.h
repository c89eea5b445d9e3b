/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_FRAME_H
#define LOSSLESS_FRAME_H

#include "lossless-constants.h"

#include "ns3/ptr.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{

class Packet;

namespace lossless
{

/// What a frame carries.
enum class FrameKind : uint8_t
{
    DATA,   ///< payload of a queue pair
    ACK,    ///< acknowledgement of a queue pair
    NACK,   ///< negative acknowledgement of a queue pair
    CNP,    ///< congestion notification of a queue pair
    SIGNAL, ///< routed message of a scheme; its meaning is in Frame::word
    MAC,    ///< link-local MAC control frame; see ControlFrame
    PACKET, ///< a packet of another protocol stack; see Frame::packet
};

/// Why a frame was dropped.
enum class DropCause : uint8_t
{
    HEADROOM,  ///< the headroom of its (port, class) was full
    LOSSY,     ///< a lossy class was over its threshold
    NO_ROUTE,  ///< no link leads to the destination
    TTL,       ///< its time to live ran out
    LINK_DOWN, ///< it was on, or queued for, a link that failed
    SCHEME,    ///< a SwitchAgent dropped it on purpose
};

/// Number of drop causes.
inline constexpr uint32_t N_DROP_CAUSES = 6;

/**
 * @ingroup lossless
 * @brief A MAC control frame (EtherType 0x8808): what a FlowControl tells the other end of its
 * link.
 *
 * A FlowControl recognises its own frames by the opcode. `value` is the scheme's word for each
 * class: pause quanta for PFC, a queue length or a stage for GFC.
 */
struct ControlFrame
{
    uint16_t opcode{0};                    //!< MAC control opcode
    uint16_t classes{0};                   //!< class-enable vector: bit c set, class c is addressed
    bool isState{false};                   //!< word c is the present state of class c
    std::array<uint32_t, N_CLASSES> value; //!< one word a class; meaning depends on the opcode
    std::array<uint8_t, 24> extra;         //!< bytes that a SwitchAgent appended inside the padding
    uint8_t extraLength{0};                //!< how many of them are in use
};

/// Most hops that in-band network telemetry (INT) has room for in a frame: a count of 4 bits.
inline constexpr uint32_t MOST_TELEMETRY_HOPS = 15;

/// What a switch writes about an egress port into a frame that collects telemetry, as its first
/// bit goes.
struct TelemetryHop
{
    int64_t time;    //!< now (ps)
    int64_t txBytes; //!< wire bytes of all classes in the frames that went before
    int64_t queue;   //!< bytes left in the egress queue that the frame comes from
    uint64_t rate;   //!< of the link (bit/s)
};

/**
 * @ingroup lossless
 * @brief In-band network telemetry: what the switches on its way wrote into a frame.
 *
 * The sender reserves the room, as HPCC's simulator does: a frame that grew on its way would upset
 * schemes at both ends of a link that count bytes.
 */
struct Telemetry
{
    uint8_t room{0};                                   //!< most hops
    uint8_t hops{0};                                   //!< hops written
    uint8_t missed{0};                                 //!< switches that found no room, at most 255
    std::array<TelemetryHop, MOST_TELEMETRY_HOPS> hop; //!< from the sender on; the rest is not set

    /// Take over what another says; only the hops written are copied.
    /// @param other the other.
    void Assign(const Telemetry& other);
};

/// Bytes of a frame that belong to the schemes on its way; see FramePool::ReserveSchemeBytes.
inline constexpr uint32_t SCHEME_BYTES = 8;
/// Those bytes.
using SchemeBytes = std::array<uint8_t, SCHEME_BYTES>;

/**
 * @ingroup lossless
 * @brief A frame: a small pooled record. Bytes are made only where somebody looks at them.
 *
 * Owned by exactly one place at a time: a queue, a link, or the function that handles it.
 */
struct alignas(64) Frame
{
    static constexpr uint8_t ECN_CAPABLE = 1; //!< a switch may mark it
    static constexpr uint8_t ECN_MARKED = 3;  //!< a switch has: congestion experienced

    // What every switch touches, in one cache line
    Frame* next{nullptr};            //!< link of the list that holds it
    int64_t queued{0};               //!< when it joined its egress queue (ps)
    uint64_t order{0};               //!< frames that joined egress queues of its port before it
    ControlFrame* control{nullptr};  //!< MAC only
    uint32_t flow{0};                //!< number of its flow
    uint32_t dst{0};                 //!< node it goes to, or ALL_NODES
    uint32_t hash{0};                //!< of the 5-tuple, for ECMP
    uint16_t bytes{0};               //!< size from the destination address to the FCS
    uint16_t ingress{NO_PORT};       //!< port through which it came into the node that holds it
    uint16_t egress{NO_PORT};        //!< port of that switch through which it will leave; NO_PORT
                                     //!< at a host, which has one
    FrameKind kind{FrameKind::DATA}; //!< what it carries
    uint8_t cls{0};                  //!< class 0..7, or CONTROL_CLASS: that of the wire or queue it
                                     //!< is in
    uint8_t ingressClass{0};         //!< class that it is charged to, in which it came into the
                                     //!< node that holds it
    uint8_t ttl{64};                 //!< hops it may still take
    uint8_t hop{0};                  //!< switches passed, the index into a pinned path
    uint8_t ecn{0};                  //!< 0 not capable, ECN_CAPABLE, or ECN_MARKED
    bool pinned{false};              //!< follows the path of its flow
    bool lost{false};                //!< its link failed while it was on the wire
    bool repeat{false};              //!< DATA: this packet was sent before
    bool charged{false};  //!< its bytes are in the shared buffer of the node that holds it
    bool paced{false};    //!< the node that made it waits for it to leave (FabricNode::NotifyLeft)
    bool collects{false}; //!< switches write into its telemetry
    // What its ends touch
    uint16_t payload{0};            //!< payload bytes in it
    uint32_t src{0};                //!< node that made it
    uint32_t psn{0};                //!< packet sequence number
    std::array<uint64_t, 2> word{}; //!< DATA: [0] 1 asks for an ACK; ACK, NACK: [0] next packet in
                                    //!< order, [1] packet answered; SIGNAL: the scheme's own
    Telemetry* telemetry{nullptr};  //!< DATA: of its way; ACK, NACK: that of the data frame they
                                    //!< answer; nullptr: its flow does not ask for any
    Packet* packet{nullptr};        //!< PACKET only, a reference held by the frame: the bytes from
                                    //!< the Ethernet header on, an 802.1Q tag included, without
                                    //!< padding and FCS
    mutable SchemeBytes scheme{};   //!< 0 when the frame is made; each scheme has its share, and
                                    //!< may write into it whenever it is shown the frame
};

/**
 * @ingroup lossless
 * @brief What is known of a frame whose bytes leave a node's accounting; it may be gone itself.
 */
struct Departure
{
    uint32_t flow{0};          //!< its flow
    uint16_t ingress{NO_PORT}; //!< port it came in by
    uint16_t egress{NO_PORT};  //!< port it left by
    uint16_t bytes{0};         //!< size
    uint8_t cls{0};            //!< class that it was charged to
    SchemeBytes scheme{};      //!< Frame::scheme

    /// The departure of a frame that is still there.
    /// @param frame it. @return what is to be released.
    static Departure Of(const Frame& frame)
    {
        return {frame.flow,
                frame.ingress,
                frame.egress,
                frame.bytes,
                frame.ingressClass,
                frame.scheme};
    }
};

/**
 * @ingroup lossless
 * @brief Makes and takes back frames without asking the heap for each.
 *
 * One pool a process, as there is one simulation a process.
 */
class FramePool
{
  public:
    /// Take a frame with default fields. @return the frame.
    static Frame* Take();
    /// Take a MAC control frame. @return the frame; its `control` has no class set.
    static Frame* TakeControl();
    /// Take a frame that carries a packet.
    /// @param packet the packet, from its Ethernet header on; the frame refers to it until it is
    /// given back. @return the frame.
    static Frame* TakePacket(Ptr<Packet> packet);
    /// Give a frame room for telemetry.
    /// @param frame a frame without any; it gives the room back with itself.
    /// @param hops hops, up to MOST_TELEMETRY_HOPS.
    static void AddTelemetry(Frame& frame, uint32_t hops);
    /// Take a frame with the fields of another: a copy made on the way.
    /// @param frame any but a MAC control frame; a packet in it is shared.
    /// @return the copy, which is in no list and not charged.
    static Frame* Copy(const Frame& frame);
    /// Give a frame back.
    /// @param frame the frame; not to be used any more.
    static void Give(Frame* frame);
    /// Frames taken and not given back. @return count.
    static uint64_t GetLive();
    /// Telemetry records of frames that were not given back. @return count.
    static uint64_t GetLiveTelemetry();
    /// Set bytes of every frame (Frame::scheme) aside for a scheme, at set-up: in
    /// SwitchAgent::SetUp or FlowControl::Start. They are 0 when a frame is made, stay with it on
    /// its way, and are on no wire.
    /// @param scheme its name: all instances get the same bytes. @param bytes how many.
    /// @return index of the first in Frame::scheme and Departure::scheme.
    static uint32_t ReserveSchemeBytes(const std::string& scheme, uint32_t bytes);
    /// A simulation begins to use the pool.
    static void Open();
    /// A simulation has ended; Clear with the last.
    static void Close();
    /// Forget every frame, and who reserved bytes of frames: pointers into the pool become invalid
    /// and the packets of frames in use are let go.
    static void Clear();
};

/**
 * @ingroup lossless
 * @brief First in, first out list of frames that counts bytes.
 */
class FrameFifo
{
  public:
    /// Append.
    /// @param frame the frame.
    void Push(Frame* frame)
    {
        frame->next = nullptr;
        (m_tail ? m_tail->next : m_head) = frame;
        m_tail = frame;
        m_bytes += frame->bytes;
        ++m_frames;
    }

    /// Put before all others.
    /// @param frame the frame.
    void PushFront(Frame* frame)
    {
        frame->next = m_head;
        m_head = frame;
        if (!m_tail)
        {
            m_tail = frame;
        }
        m_bytes += frame->bytes;
        ++m_frames;
    }

    /// Put behind one that is here.
    /// @param before it. @param frame the frame.
    void InsertAfter(Frame* before, Frame* frame)
    {
        frame->next = before->next;
        before->next = frame;
        if (m_tail == before)
        {
            m_tail = frame;
        }
        m_bytes += frame->bytes;
        ++m_frames;
    }

    /// Remove the first. Precondition: not empty. @return the frame.
    Frame* Pop()
    {
        Frame* frame = m_head;
        m_head = frame->next;
        if (!m_head)
        {
            m_tail = nullptr;
        }
        m_bytes -= frame->bytes;
        --m_frames;
        return frame;
    }

    /// The first frame. @return the frame, or nullptr.
    Frame* Head() const
    {
        return m_head;
    }

    /// Is there none? @return true when empty.
    bool IsEmpty() const
    {
        return !m_head;
    }

    /// Bytes held. @return sum of Frame::bytes.
    int64_t GetBytes() const
    {
        return m_bytes;
    }

    /// Frames held. @return count.
    uint32_t GetFrames() const
    {
        return m_frames;
    }

  private:
    Frame* m_head{nullptr}; //!< first
    Frame* m_tail{nullptr}; //!< last
    int64_t m_bytes{0};     //!< sum of bytes
    uint32_t m_frames{0};   //!< count
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FRAME_H */
