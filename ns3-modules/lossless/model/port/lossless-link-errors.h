/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_LINK_ERRORS_H
#define LOSSLESS_LINK_ERRORS_H

#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Draws what becomes of the frames that a port sends on the link: independent wrong bits,
 * and independent losses of whole frames.
 *
 * What is drawn is the number of good ones until the next bad one, so that frames without an error
 * cost no random number.
 */
class LinkErrors
{
  public:
    /// What becomes of a frame on the link.
    enum class Fate : uint8_t
    {
        GOOD,  ///< it arrives
        WRONG, ///< it arrives with wrong bits
        LOST,  ///< nothing of it arrives
    };

    /// Constructor.
    /// @param bitErrorRate share of bits that are wrong. @param lossRate share of frames lost.
    /// @param stream number of the random stream.
    LinkErrors(double bitErrorRate, double lossRate, int64_t stream);
    virtual ~LinkErrors();

    /// Draw the fate of the next frame.
    /// @param bytes its size, without preamble and gap. @return its fate.
    virtual Fate Draw(uint32_t bytes);
    /// Draw whether bits between frames are received wrong.
    /// @param bytes their number. @return true if so.
    virtual bool Damages(uint32_t bytes);

  private:
    /// A row of independent trials, as the number of good ones ahead.
    struct Trials
    {
        double rate;  //!< probability that one is bad
        double ahead; //!< good ones until the next bad one
    };

    bool Fails(Trials& trials, double count);
    double DrawAhead(double rate);

    Ptr<UniformRandomVariable> m_random; //!< its stream
    Trials m_bits;                       //!< bits
    Trials m_frames;                     //!< frames
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_LINK_ERRORS_H */
