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
namespace lossless
{

/**
 * @ingroup facade
 * @brief Let a large network lie in large pages (2 MiB), where the system has them: a processor
 * knows the places of a few thousand pages, and a network of thousands of ports takes more small
 * ones than that.
 *
 * Memory that is allocated from now on comes from the heap that is readied here; nothing is taken
 * before it is used. Only speed depends on it. Does nothing where there is no need, or no glibc.
 *
 * @param bytes how much will be allocated, roughly.
 */
void PreferLargePages(std::size_t bytes);

} // namespace lossless
} // namespace ns3

#endif /* FACADE_MEMORY_H */
