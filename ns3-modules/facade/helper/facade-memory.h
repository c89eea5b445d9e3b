/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_MEMORY_H
#define FACADE_MEMORY_H

#include <cstddef>

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief Use huge pages (2 MiB) for a large network where the system has them: the TLB of a
 * processor covers a few thousand pages, and a network of thousands of ports takes more small pages
 * than that.
 *
 * Memory allocated from now on comes from the heap prepared here; pages are only used once they are
 * written to. This affects only speed. It does nothing if the network is small, or without glibc.
 *
 * @param bytes approximate amount of memory to be allocated.
 */
void PreferLargePages(std::size_t bytes);

} // namespace facade
} // namespace ns3

#endif /* FACADE_MEMORY_H */
