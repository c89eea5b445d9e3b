/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef SFC_MESSAGE_H
#define SFC_MESSAGE_H

#include "ns3/lossless-frame.h"

/**
 * @defgroup sfc Source flow control
 *
 * Source Flow Control (Bottorff, March 2022): a congested queue asks the source of a packet to
 * pause for an interval.
 */

namespace ns3
{
namespace sfc
{

/**
 * @ingroup sfc
 * @brief Contents of a source flow control message (SFCM).
 *
 * It is sent as a routed frame of the kind SIGNAL: in reality a UDP datagram whose payload has
 * these fields, with the addresses of the packet that caused it swapped.
 */
struct Message
{
    int64_t interval{0}; //!< pause interval (ps)
    int64_t stamp{0};    //!< when the packet that caused it joined the congested queue (ps)
    uint8_t cls{0};      //!< class of that packet
    bool stamped{false}; //!< the message includes the time stamp
};

/// Longest interval of a message: 48 bits of ps, 281 s.
inline constexpr int64_t MAX_INTERVAL = (INT64_C(1) << 48) - 1;

/**
 * @ingroup sfc
 * @brief Write a message into a frame.
 *
 * @param message the message; its interval is at most MAX_INTERVAL.
 * @param frame of the kind SIGNAL.
 */
void Write(const Message& message, lossless::Frame& frame);
/**
 * @ingroup sfc
 * @brief Read the message of a frame.
 *
 * @param frame any frame.
 * @param message set if there is one.
 * @return false if it is not a source flow control message.
 */
bool Read(const lossless::Frame& frame, Message& message);

/**
 * @ingroup sfc
 * @brief The pause interval for a queue: the time to drain it down to a reserve.
 *
 * @param octets bytes on the wire queued.
 * @param reserve bytes that may still be queued when the pause ends.
 * @param rate bandwidth of the queue in bit/s, not 0.
 * @param resolution unit of the interval in the message (ps); the interval is rounded up, as a
 * pause that is too short overruns the buffer.
 * @param longest upper bound (ps).
 * @return ps.
 */
int64_t PauseInterval(int64_t octets,
                      int64_t reserve,
                      uint64_t rate,
                      int64_t resolution,
                      int64_t longest);
/**
 * @ingroup sfc
 * @brief The pause that a source applies when a message arrives.
 *
 * With a time stamp TTS is known, and TFS is assumed to be equal: the interval less both.
 *
 * @param message the message.
 * @param now its arrival time (ps).
 * @return ps, not below 0.
 */
int64_t Remaining(const Message& message, int64_t now);
/**
 * @ingroup sfc
 * @brief A pause in quanta of 512 bit times, rounded up.
 *
 * @param interval ps, not below 0.
 * @param rate of the link (bit/s).
 * @return quanta, at most the maximum of a PFC frame.
 */
uint32_t Quanta(int64_t interval, uint64_t rate);

} // namespace sfc
} // namespace ns3

#endif /* SFC_MESSAGE_H */
