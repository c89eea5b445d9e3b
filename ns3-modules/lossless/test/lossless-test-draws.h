/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_TEST_DRAWS_H
#define LOSSLESS_TEST_DRAWS_H

/**
 * @file
 * @ingroup lossless-tests
 * How many random cases a test draws.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Random cases to draw: a fifth with sanitizers, which make each twenty times as slow.
///
/// Any case shows a fault of memory as well as another; more of them add statistics, which a
/// program without sanitizers has.
/// @param most without sanitizers. @return how many.
constexpr int
Draws(int most)
{
#ifdef __SANITIZE_ADDRESS__
    return (most + 4) / 5;
#else
    return most;
#endif
}

} // namespace tests
} // namespace lossless
} // namespace ns3

#endif // LOSSLESS_TEST_DRAWS_H
