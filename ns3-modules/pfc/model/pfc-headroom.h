/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef PFC_HEADROOM_H
#define PFC_HEADROOM_H

#include <cstdint>

namespace ns3
{
namespace lossless
{
class Port;
}

namespace pfc
{

/**
 * @ingroup pfc
 * @brief Headroom eta' of a lossless (port, class) that is sufficient for PFC to lose nothing.
 *
 * eta' = 2 (C D + L_wire) + max(3840 B, C x control delay of the peer) + control frame on the wire
 * + L
 *
 * This is eta = 2 (C D + L_MTU) + 3840 B (DSH, ICDCS 2023, Background, C) plus what that formula
 * omits: the preamble and gap bytes of the frames, the serialisation of the PAUSE itself, and the
 * frame that triggers the PAUSE, which is charged to headroom, too.
 *
 * @param port the receiving port.
 * @return bytes, rounded up.
 */
int64_t SufficientHeadroom(const lossless::Port& port);

/**
 * @ingroup pfc
 * @brief Headroom as published, eta = 2 (C D + L_MTU) + 3840 B (DSH, ICDCS 2023, Background, C),
 * which is not always enough; see SufficientHeadroom.
 *
 * @param port the receiving port.
 * @return bytes, rounded up.
 */
int64_t PublishedHeadroom(const lossless::Port& port);

} // namespace pfc
} // namespace ns3

#endif /* PFC_HEADROOM_H */
