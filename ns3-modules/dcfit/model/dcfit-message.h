/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DCFIT_MESSAGE_H
#define DCFIT_MESSAGE_H

#include "ns3/lossless-frame.h"

#include <array>
#include <cstdint>

/**
 * @defgroup dcfit Deadlock detection
 *
 * DCFIT (Wu and Ng, arXiv 2009.13446), the detectors that it is compared with (a watchdog, a
 * central controller), and cures of a deadlock.
 */

namespace ns3
{
namespace dcfit
{

/// MAC control opcode of a message in a frame of its own.
inline constexpr uint16_t DCFIT_OPCODE = 0x0fd0;
/// First byte of the block appended to a MAC control frame.
inline constexpr uint8_t BLOCK_TYPE = 0xdc;
/// Bits of a switch number: 10,000 switches (section 5).
inline constexpr uint32_t SWITCH_BITS = 14;
/// Bits of a port number: 64 ports (section 5).
inline constexpr uint32_t PORT_BITS = 6;
/// Bits of a sequence number in a message, of which Dcfit may use fewer.
inline constexpr uint32_t SEQUENCE_BITS = 12;
/// Bits of the rank.
inline constexpr uint32_t RANK_BITS = 4;
/// Bits of the round, or of the remaining hops of a notice.
inline constexpr uint32_t ROUND_BITS = 4;
/// Largest rank.
inline constexpr uint8_t MAX_RANK = (1U << RANK_BITS) - 1;
/// Largest round.
inline constexpr uint8_t MAX_ROUND = (1U << ROUND_BITS) - 1;
/// Bytes of a message.
inline constexpr std::size_t MESSAGE_BYTES = 5;
/// Messages that fit into a MAC control frame with type, length, kind and classes.
inline constexpr std::size_t MAX_MESSAGES = 4;

/// Purpose of a message.
enum class Kind : uint8_t
{
    CHECK = 1,       ///< follows the pauses upstream: is there a loop? (section 3.2)
    CONSISTENCY = 2, ///< has every port on the loop been paused throughout?
    NOTICE = 3, ///< a deadlock: downstream around the loop, and off it to the node that pauses it
    FOUND = 4,  ///< the same, after a switch has found the cause off the loop
};

/**
 * @ingroup dcfit
 * @brief Identity of a detection process: generic initiator {switch, port} and the sequence number
 * of its episode.
 *
 * 40 bits on the wire, most significant first: switch 14, port 6, sequence 12, rank 4, round 4.
 */
struct Message
{
    uint16_t node{0};     //!< switch
    uint8_t port{0};      //!< its port, an ingress whose upstream it pauses
    uint16_t sequence{0}; //!< sequence number of its episode
    uint8_t rank{
        0}; //!< 1 more than the rank of the messages that its initiator had received; 0: none
    uint8_t round{0}; //!< CONSISTENCY: rounds completed. NOTICE, FOUND: hops left

    /// Compare two messages.
    /// @param other the other one. @return whether they are the same.
    bool operator==(const Message& other) const = default;

    /// Does another message have the same generic initiator?
    /// @param other the other one. @return true if so.
    bool HasInitiatorOf(const Message& other) const
    {
        return node == other.node && port == other.port;
    }

    /// Do both belong to the same episode of the same initiator?
    /// @param other the other one. @return true if so.
    bool HasEpisodeOf(const Message& other) const
    {
        return HasInitiatorOf(other) && sequence == other.sequence && rank == other.rank;
    }

    /**
     * @brief Does it take precedence over another one where a port keeps only one?
     *
     * The higher rank does. Within a rank every switch applies the same total order, so that one of
     * several messages completes the loop; the sequence numbers shuffle the order, so that it is
     * not always the same initiator's.
     *
     * @param other the other one.
     * @return true if so.
     */
    bool Precedes(const Message& other) const
    {
        if (rank != other.rank)
        {
            return rank > other.rank;
        }
        return Key() != other.Key() ? Key() > other.Key() : Initiator() > other.Initiator();
    }

    /// Its initiator as a single number. @return switch and port.
    uint32_t Initiator() const
    {
        return static_cast<uint32_t>(node) << PORT_BITS | port;
    }

    /// Its position among messages of its rank: initiator and sequence number, shuffled.
    /// @return 20 bits; for a given sequence number, distinct for each initiator.
    uint32_t Key() const
    {
        // Invertible steps.
        constexpr uint32_t BITS = SWITCH_BITS + PORT_BITS;
        constexpr uint32_t MASK = (1U << BITS) - 1;
        uint32_t key = Initiator() ^ ((sequence * 0x11111U) & MASK);
        for (const uint32_t odd : {0x9e3b1U, 0x7f4a7U})
        {
            key = (key * odd) & MASK;
            key ^= key >> (BITS / 2);
        }
        return key;
    }
};

/// A serialised message.
using MessageBytes = std::array<uint8_t, MESSAGE_BYTES>;

/**
 * @ingroup dcfit
 * @brief Serialize a message.
 *
 * @param message each field within its number of bits.
 * @return five bytes.
 */
MessageBytes Serialize(const Message& message);
/**
 * @ingroup dcfit
 * @brief Parse a message.
 *
 * @param bytes as produced by Serialize.
 * @return the message.
 */
Message Read(const MessageBytes& bytes);

/**
 * @ingroup dcfit
 * @brief The block appended to a MAC control frame: type 0xdc, length, kind, class-enable byte, and
 * a message for each enabled class, from class 0 on.
 */
class Block
{
  public:
    /// Start empty.
    /// @param kind the kind of all its messages.
    explicit Block(Kind kind = Kind::CHECK);

    /// Add the message of a class. Classes are added in ascending order.
    /// @param cls class. @param message the message.
    /// @return false if there is no room: at most MAX_MESSAGES fit.
    bool Add(uint8_t cls, const Message& message);
    /// The message of a class.
    /// @param cls class. @param message set to the message. @return false if there is none.
    bool Get(uint8_t cls, Message& message) const;
    /// The kind of its messages. @return kind.
    Kind GetKind() const;
    /// Append the block to a frame, after other appended blocks; does nothing if it is empty.
    /// @param control the frame. @return false if there is no room.
    bool AppendTo(lossless::ControlFrame& control) const;
    /// Find the block in a frame; blocks of other types (type, length, bytes) are skipped.
    /// @param control the frame. @return false if there is none.
    bool ReadFrom(const lossless::ControlFrame& control);

  private:
    Kind m_kind;                                    //!< of all messages
    uint8_t m_classes{0};                           //!< bit c: there is a message of class c
    uint8_t m_count{0};                             //!< number of messages
    std::array<MessageBytes, MAX_MESSAGES> m_bytes; //!< messages by ascending class
};

} // namespace dcfit
} // namespace ns3

#endif /* DCFIT_MESSAGE_H */
