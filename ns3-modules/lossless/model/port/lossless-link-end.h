/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_LINK_END_H
#define LOSSLESS_LINK_END_H

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>

namespace ns3
{
namespace lossless
{

struct TelemetryHop;

/// How long a port takes to obey a received MAC control frame, besides its ControlDelay.
enum class PauseResponse
{
    IDEAL,  ///< no time
    IEEE,   ///< as long as IEEE 802.3 allows at its rate
    TESTER, ///< 3 us
};

/// The longest response to a PAUSE that IEEE 802.3, 31B.3.7 allows.
/// @param rate of the link (bit/s). @return quanta of 512 bit times; of a rate that the standard
/// lacks those of the next faster one.
uint32_t GetResponseQuanta(uint64_t rate);

/**
 * @ingroup lossless
 * @brief Constants of one end of a link: rate, delay, the overhead of frames, and how exact its
 * clock and its medium are.
 */
class LinkEnd : public Object
{
  public:
    /// @return its index in its node.
    uint16_t GetIndex() const
    {
        return m_index;
    }

    /// @return link rate (bit/s).
    uint64_t GetRate() const
    {
        return m_rate;
    }

    /// @return link delay (ps).
    int64_t GetDelay() const
    {
        return m_delay;
    }

    /// @return overhead of a frame on the wire (B).
    uint32_t GetOverhead() const
    {
        return m_overhead;
    }

    /// @return size of a MAC control frame (B).
    uint32_t GetControlFrameSize() const
    {
        return m_controlFrameSize;
    }

    /// @return time until a received control frame takes effect here (ps): ControlDelay, or the
    /// response if that takes longer.
    int64_t GetControlDelay() const;

    /// The clock of its node differs from the nominal one: its rate changes. Once, before the
    /// start.
    /// @param draw number from -1 to 1: where in its ClockTolerance the clock is.
    void SetClock(double draw);

    /// What a rate that is given to the node is by its clock.
    /// @param rate nominal (bit/s). @return bit/s.
    uint64_t ByClock(uint64_t rate) const
    {
        return m_rate == m_nominalRate ? rate
                                       : InProportion(rate, m_rate, m_nominalRate, HIGHEST_RATE);
    }

    /// @return share of the bits sent that are received wrong.
    double GetBitErrorRate() const
    {
        return m_bitErrorRate;
    }

    /// @return share of the frames sent that are lost on the link, besides those with wrong bits.
    double GetLossRate() const
    {
        return m_lossRate;
    }

    /// Set the size of the largest frame in this fabric.
    /// @param bytes bytes.
    void SetLargestFrame(uint32_t bytes)
    {
        m_largestFrame = bytes;
    }

    /// @return largest frame that comes and goes here (B).
    uint32_t GetLargestFrame() const
    {
        return m_mtu == 0 || m_largestFrame < m_mtu ? m_largestFrame : m_mtu;
    }

    /// @return largest frame that it may send or receive (B); 0: any.
    uint32_t GetMtu() const
    {
        return m_mtu;
    }

  protected:
    /// Add the attributes to the type of a class derived from this one.
    /// @param tid type. @return the same.
    static TypeId AddAttributes(TypeId tid);
    /// Set the link parameters.
    /// @param index in the node. @param rate bit/s. @param delay ps.
    void Attach(uint16_t index, uint64_t rate, int64_t delay);

    /// Transmission time of bytes.
    /// @param wire bytes, overhead included. @return ps.
    int64_t GetTimeOf(int64_t wire) const
    {
        return m_psPerByte ? wire * m_psPerByte : TransmissionTime(wire, m_rate);
    }

    /// Telemetry as this port writes it.
    /// @param hop exact values. @return those in the resolution of its attributes.
    TelemetryHop InResolution(TelemetryHop hop) const;

    uint16_t m_index{0};         //!< in the node
    uint32_t m_overhead;         //!< overhead of a frame (B); attribute
    int64_t m_psPerByte{0};      //!< exact time of a byte; 0: not a whole number of ps
    int64_t m_delay{0};          //!< ps
    uint32_t m_controlFrameSize; //!< bytes
    uint32_t m_mtu;              //!< bytes; 0: any
    uint64_t m_rate{0};          //!< bit/s
    uint32_t m_largestFrame{0};  //!< bytes

  private:
    void SetRate(uint64_t rate);

    Time m_controlDelay;       //!< receive processing of control frames
    PauseResponse m_response;  //!< the same, by rate
    uint64_t m_nominalRate{0}; //!< bit/s
    double m_clockOffset;      //!< of the clock of its node (ppm)
    double m_clockTolerance;   //!< largest random part of it (ppm)
    double m_bitErrorRate;     //!< share of bits received wrong
    double m_lossRate;         //!< share of frames lost
    uint32_t m_telemetryBytes; //!< unit of the bytes sent in telemetry (B)
    uint32_t m_telemetryQueue; //!< unit of the queue length in telemetry (B)
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_LINK_END_H */
