/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_REFUSAL_H
#define LOSSLESS_REFUSAL_H

#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Reject a call with invalid arguments.
 *
 * The call has no effect. A program that does not catch the exception terminates with its message;
 * in Python it becomes a Python exception.
 *
 * @tparam Parts streamable types
 * @param parts parts of a sentence that states the error and what is allowed.
 * @throw std::invalid_argument always.
 */
template <class... Parts>
[[noreturn]] void
Refuse(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    throw std::invalid_argument(text.str());
}

/**
 * @ingroup lossless
 * @brief Reject a call that comes too early or too late.
 *
 * @tparam Parts streamable types
 * @param parts parts of a sentence that states what must, or must not, be done before.
 * @throw std::logic_error always.
 */
template <class... Parts>
[[noreturn]] void
RefuseNow(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    throw std::logic_error(text.str());
}

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_REFUSAL_H */
