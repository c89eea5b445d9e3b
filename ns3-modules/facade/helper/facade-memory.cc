/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace ns3
{
namespace facade
{

void
PreferLargePages([[maybe_unused]] std::size_t bytes)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t SMALL_PAGE = 4096;
    constexpr std::size_t PAGE = 2 << 20;
    constexpr std::size_t BLOCK = 8 * PAGE;
    constexpr int LARGEST = 32 << 20; // so that glibc allocates smaller blocks from its heap
    if (bytes < 2 * PAGE)
    {
        return;
    }
    // The heap grows by these blocks and keeps them, with their madvise() setting, when they are
    // freed. Nothing writes to them, so that they use no memory yet.
    constexpr std::size_t KEPT = std::numeric_limits<int>::max();
    if (!mallopt(M_MMAP_THRESHOLD, LARGEST) || !mallopt(M_TRIM_THRESHOLD, static_cast<int>(KEPT)))
    {
        return;
    }
    bytes = std::min(bytes, KEPT - 2 * BLOCK);
    std::vector<void*> blocks;
    for (std::size_t taken = 0; taken < bytes; taken += BLOCK)
    {
        void* block = std::malloc(BLOCK);
        if (!block)
        {
            break;
        }
        blocks.push_back(block);
        const uintptr_t from = reinterpret_cast<uintptr_t>(block) & ~uintptr_t{SMALL_PAGE - 1};
        madvise(reinterpret_cast<void*>(from), BLOCK, MADV_HUGEPAGE);
    }
    for (void* block : blocks)
    {
        std::free(block);
    }
#endif
}

} // namespace facade
} // namespace ns3
