/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_LINK_AGREEMENT_H
#define LOSSLESS_LINK_AGREEMENT_H

#include "lossless-port.h"

#include <initializer_list>
#include <string>

namespace ns3
{
namespace lossless
{

/// For FlowControl::Check: attributes that must be the same at both ends of a link, but are not.
/// Reported at one end only.
/// @param flowControl of a port. @param port the port. @param keys attributes of its type.
/// @return one problem per line; empty if there are none, or the peer has no flow control of the
/// type.
std::string FindDifferences(const FlowControl& flowControl,
                            const Port& port,
                            std::initializer_list<const char*> keys);

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_LINK_AGREEMENT_H */
