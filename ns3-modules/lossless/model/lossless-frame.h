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
#include <limits>
#include <string>

namespace ns3
{

class Packet;

namespace lossless
{

class StateVisitor;

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
    NO_ROUTE,  ///< there is no link to the destination
    TTL,       ///< its time to live expired
    LINK_DOWN, ///< it was on, or queued for, a link that failed
    SCHEME,    ///< a SwitchAgent dropped it on purpose
    CORRUPTED, ///< it was received with wrong bits, or was lost on its link
};

/// Number of drop causes.
inline constexpr uint32_t N_DROP_CAUSES = 7;

/**
 * @ingroup lossless
 * @brief A MAC control frame (EtherType 0x8808): a message of a FlowControl to the other end of its
 * link.
 *
 * A FlowControl recognises its own frames by the opcode. `value` is the scheme's word for each
 * class: pause quanta for PFC, a queue length or a stage for GFC.
 */
struct ControlFrame
{
    uint16_t opcode{0};  //!< MAC control opcode
    uint16_t classes{0}; //!< class-enable vector: bit c set, class c is addressed
    bool isState{false}; //!< word c is the current state of class c
    std::array<uint32_t, N_CLASSES>
        value;                     //!< one word per class; its meaning depends on the opcode
    std::array<uint8_t, 24> extra; //!< bytes that a SwitchAgent appended inside the padding
    uint8_t extraLength{0};        //!< number of these bytes in use
};

/// Maximum number of hops of in-band network telemetry (INT) in a frame: a count of 4 bits.
inline constexpr uint32_t MOST_TELEMETRY_HOPS = 15;

/// Data about an egress port that a switch writes into a frame with telemetry when transmission of
/// the frame starts.
struct TelemetryHop
{
    int64_t time;    //!< current time (ps)
    int64_t txBytes; //!< wire bytes of all frames sent before, of all classes
    int64_t queue;   //!< bytes left in the frame's egress queue
    uint64_t rate;   //!< link rate (bit/s)
};

/**
 * @ingroup lossless
 * @brief In-band network telemetry: the records that switches on its path wrote into a frame.
 *
 * The sender reserves the room, as HPCC's simulator does: a frame that grew on its path would break
 * schemes that count bytes at both ends of a link.
 */
struct Telemetry
{
    uint8_t room{0};   //!< maximum number of hops
    uint8_t hops{0};   //!< number of hops written
    uint8_t missed{0}; //!< number of switches without room, at most 255
    std::array<TelemetryHop, MOST_TELEMETRY_HOPS> hop; //!< in path order; later entries are not set

    /// Copy another record; only the hops written are copied.
    /// @param other the other one.
    void Assign(const Telemetry& other);
};

/// Number on a link of a frame that no LinkRetry protects.
inline constexpr uint32_t NO_SEQUENCE = std::numeric_limits<uint32_t>::max();

/// Bytes of a frame for use by schemes; see FramePool::ReserveSchemeBytes.
inline constexpr uint32_t SCHEME_BYTES = 8;
/// Those bytes.
using SchemeBytes = std::array<uint8_t, SCHEME_BYTES>;

/**
 * @ingroup lossless
 * @brief A frame: a small pooled record. Its bytes are only generated for captures.
 *
 * Owned by exactly one place at a time: a queue, a link, or the function that handles it.
 */
struct alignas(64) Frame
{
    static constexpr uint8_t ECN_CAPABLE = 1; //!< a switch may mark it
    static constexpr uint8_t ECN_MARKED = 3;  //!< a switch has marked it: congestion experienced
    static constexpr uint8_t NO_DSCP = 64;    //!< see dscp

    /// @return its code point; one without has that of its class on the wire (class selectors,
    /// RFC 2474).
    uint8_t GetDscp() const
    {
        return dscp == NO_DSCP ? static_cast<uint8_t>(8 * cls) : dscp;
    }

    // Accessed by every switch, in one cache line
    Frame* next{nullptr}; //!< link of the list that holds it
    int64_t queued{0};    //!< when it joined its egress queue (ps)
    uint64_t order{0};    //!< number of frames that joined egress queues of its port before it
    ControlFrame* control{nullptr};  //!< MAC only
    uint32_t flow{0};                //!< flow number
    uint32_t dst{0};                 //!< destination node, or ALL_NODES
    uint32_t hash{0};                //!< of the 5-tuple, for ECMP
    uint16_t bytes{0};               //!< size from the destination address to the FCS
    uint16_t ingress{NO_PORT};       //!< port by which it arrived at the current node
    uint16_t egress{NO_PORT};        //!< port by which it will leave that switch; NO_PORT
                                     //!< at a host, which has only one
    FrameKind kind{FrameKind::DATA}; //!< what it carries
    uint8_t cls{0};          //!< class 0..7, or CONTROL_CLASS, on the current wire or in the
                             //!< current queue
    uint8_t ingressClass{0}; //!< class that it is charged to, in which it arrived at the
                             //!< current node
    uint8_t ttl{64};         //!< remaining hops
    uint8_t hop{0};          //!< number of switches passed, the index into a pinned path
    uint8_t ecn{0};          //!< 0 not capable, ECN_CAPABLE, or ECN_MARKED
    bool pinned{false};      //!< follows the path of its flow
    bool lost{false};        //!< it never arrives: its link failed meanwhile, or corrupted it
    bool corrupted{false};   //!< its link corrupted it
    bool repeat{false};      //!< DATA: a retransmission
    bool charged{false};     //!< its bytes are charged to the buffer of the current node
    bool paced{false};       //!< its node waits for it to leave (FabricNode::NotifyLeft)
    bool collects{false};    //!< switches write telemetry into it
    bool truncated{false};   //!< DATA: a switch has cut off its end (AdmissionAgent); NACK: the
                             //!< packet answered came so
    // Accessed by its end nodes, and by switches that map classes
    uint16_t payload{0};                //!< payload bytes in it
    uint8_t dscp{NO_DSCP};              //!< code point; NO_DSCP: that of the class on the wire
    uint8_t egressClass{0};             //!< class of its egress queue, noted by a TagAgent
    uint32_t src{0};                    //!< source node
    uint32_t psn{0};                    //!< packet sequence number
    uint32_t linkSequence{NO_SEQUENCE}; //!< number on the current link, of a LinkRetry
    std::array<uint64_t, 2> word{}; //!< DATA: [0] 1 requests an ACK; ACK, NACK: [0] next packet in
                                    //!< order, [1] packet answered; SIGNAL: defined by the scheme
    Telemetry* telemetry{nullptr};  //!< DATA: of its path; ACK, NACK: of the data frame they
                                    //!< answer; nullptr: its flow does not use it
    Packet* packet{nullptr};        //!< PACKET only, a reference held by the frame: the bytes from
                                    //!< the Ethernet header on, an 802.1Q tag included, without
                                    //!< padding and FCS
    SchemeBytes scheme{};           //!< 0 in a new frame; each scheme has its share, and may
                                    //!< write to it when it is given a frame that is not const
};

/// Number of frames that have joined egress queues of a port, as a StateVisitor found and left it.
struct Joined
{
    uint64_t before; //!< it found
    uint64_t after;  //!< it left
};

/// Visit the state of a frame.
/// @param visitor visitor. @param frame the frame.
/// @param joined of its port, in whose egress queues it waits; null: it is on a wire, or in a queue
/// in which it does not matter when it came.
void Visit(StateVisitor& visitor, Frame& frame, const Joined* joined);

/**
 * @ingroup lossless
 * @brief A frame whose bytes leave a node's accounting; the frame itself may no longer exist.
 */
struct Departure
{
    uint32_t flow{0};          //!< flow number
    uint16_t ingress{NO_PORT}; //!< port by which it arrived
    uint16_t egress{NO_PORT};  //!< port by which it left
    uint16_t bytes{0};         //!< size
    uint8_t cls{0};            //!< class that it was charged to
    SchemeBytes scheme{};      //!< Frame::scheme

    /// The departure of a frame that still exists.
    /// @param frame the frame. @return its departure.
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
 * @brief Allocates and recycles frames without a heap allocation for each.
 *
 * One pool per thread, as there is one simulation per process; a frame may be given back in another
 * thread than it was taken.
 */
class FramePool
{
  public:
    /// Get a frame with default fields. @return the frame.
    static Frame* Take();
    /// Get a MAC control frame. @return the frame; its `control` has no class set.
    static Frame* TakeControl();
    /// Get a frame that carries a packet.
    /// @param packet the packet, starting with its Ethernet header; the frame holds a reference
    /// until it is returned. @return the frame.
    static Frame* TakePacket(Ptr<Packet> packet);
    /// Add room for telemetry to a frame.
    /// @param frame a frame without telemetry; the room is released with the frame.
    /// @param hops maximum number of hops, up to MOST_TELEMETRY_HOPS.
    static void AddTelemetry(Frame& frame, uint32_t hops);
    /// Get a frame with the fields of another one: a copy made by a switch.
    /// @param frame any but a MAC control frame; its packet is shared.
    /// @return the copy, which is in no list and not charged.
    static Frame* Copy(const Frame& frame);
    /// Return a frame.
    /// @param frame the frame; must not be used afterwards.
    static void Give(Frame* frame);
    /// Number of frames in use. @return count.
    static uint64_t GetLive();
    /// Number of telemetry records in use. @return count.
    static uint64_t GetLiveTelemetry();
    /// Reserve bytes of every frame (Frame::scheme) for a scheme, at set-up: in SwitchAgent::SetUp
    /// or FlowControl::Start. They are 0 in a new frame, stay with it along its path, and do not
    /// occupy the wire.
    /// @param scheme its name: all instances get the same bytes. @param bytes number of bytes.
    /// @return index of the first in Frame::scheme and Departure::scheme.
    static uint32_t ReserveSchemeBytes(const std::string& scheme, uint32_t bytes);
    /// A simulation starts using the pool.
    static void Open();
    /// A simulation has ended; calls Clear for the last one.
    static void Close();
    /// Discard all frames and reservations: pointers into the pool become invalid, and the packets
    /// of frames in use are released.
    static void Clear();
};

/**
 * @ingroup lossless
 * @brief A FIFO list of frames that counts bytes.
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

    /// Insert at the head.
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

    /// Insert behind a given frame.
    /// @param before that frame. @param frame the frame.
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

    /// Remove the head. Precondition: not empty. @return the frame.
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

    /// The head. @return the frame, or nullptr.
    Frame* Head() const
    {
        return m_head;
    }

    /// Is it empty? @return true if so.
    bool IsEmpty() const
    {
        return !m_head;
    }

    /// Total of the bytes. @return sum of Frame::bytes.
    int64_t GetBytes() const
    {
        return m_bytes;
    }

    /// Number of frames. @return count.
    uint32_t GetFrames() const
    {
        return m_frames;
    }

    /// Visit the state. @param visitor visitor. @param joined see Visit of a frame.
    void Visit(StateVisitor& visitor, const Joined* joined);

  private:
    Frame* m_head{nullptr}; //!< first
    Frame* m_tail{nullptr}; //!< last
    int64_t m_bytes{0};     //!< sum of bytes
    uint32_t m_frames{0};   //!< count
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_FRAME_H */
