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
 * @brief Refuse a call whose arguments are wrong.
 *
 * Nothing of the call is done. A program that does not catch the exception ends with its sentence;
 * in Python it is an exception of Python.
 *
 * @tparam Parts what a stream can print
 * @param parts of a sentence that says what was wrong and what is allowed.
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
 * @brief Refuse a call that comes too early or too late.
 *
 * @tparam Parts what a stream can print
 * @param parts of a sentence that says what has to be done before, or must not be.
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
