/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_ATTRIBUTE_H
#define LOSSLESS_ATTRIBUTE_H

#include "lossless-constants.h"

#include "ns3/attribute.h"
#include "ns3/enum.h"
#include "ns3/ptr.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace lossless
{

/// Longest time for an attribute or a link delay: a million seconds, in ps. The sum of any nine
/// stays below 2^63.
inline constexpr int64_t LONGEST_TIME = 1'000'000'000'000'000'000;
/// Slowest link: 1 kb/s. The longest pause, 65,535 quanta, then takes 9.3 hours.
inline constexpr uint64_t SLOWEST_LINK = 1'000;
/// Fastest link, and highest rate for an attribute: 1 Pb/s. ns-3 parses rates as double, which is
/// exact up to 2^53.
inline constexpr uint64_t HIGHEST_RATE = 1'000'000'000'000'000;

/**
 * @ingroup lossless
 * @brief Create a checker for times.
 *
 * Unlike ns-3's, its bounds are in picoseconds even when types are registered, which is before
 * UsePicoseconds(): ns-3's PicoSeconds(1) is 0 at that time. It parses whole picoseconds exactly,
 * and rejects a text beyond the range of int64_t instead of wrapping.
 *
 * @param lowest ps.
 * @param highest ps.
 * @return the checker.
 */
Ptr<const AttributeChecker> MakePicosecondsChecker(int64_t lowest = 0,
                                                   int64_t highest = LONGEST_TIME);
/**
 * @ingroup lossless
 * @brief Create a checker for rates with bounds, which ns-3's lacks.
 *
 * It rejects a text beyond the range of uint64_t, which ns-3's turns into 0.
 *
 * @param lowest bit/s.
 * @param highest bit/s.
 * @return the checker.
 */
Ptr<const AttributeChecker> MakeRateChecker(uint64_t lowest = 0, uint64_t highest = HIGHEST_RATE);

/// Create a checker for RateChange: Integrated, NextPacket or LastPacket. @return the checker.
Ptr<const AttributeChecker> MakeRateChangeChecker();

/**
 * @ingroup lossless
 * @brief Create a checker for a text with a value for each of some classes, "3=10Gbps,4=5Gbps".
 *
 * @param each checker of a value: of whole numbers or rates.
 * @param word one more allowed value; empty: none.
 * @return the checker, of an ns3::StringValue.
 */
Ptr<const AttributeChecker> MakeByClassChecker(Ptr<const AttributeChecker> each,
                                               const std::string& word = "");
/// The same for a text with a value for each of some code points, "26=3,48=6".
/// @param each checker of a value: of whole numbers. @return the checker.
Ptr<const AttributeChecker> MakeByDscpChecker(Ptr<const AttributeChecker> each);

/// The values of such a text.
/// @param text CLASS=VALUE, separated by commas.
/// @param keys number of classes, or of code points.
/// @return the value of each class as it is written, empty if it has none; nothing if the text has
/// another form or names a class twice.
std::optional<std::vector<std::string>> ReadByClass(const std::string& text,
                                                    std::size_t keys = N_CLASSES);

/// The reason why an attribute of a type cannot have a value.
/// @param type TypeId name. @param name attribute. @param value in ns-3's spelling.
/// @return a sentence that names the type, the attribute, the value and the allowed values; empty
/// if it can.
std::string CheckAttribute(const std::string& type,
                           const std::string& name,
                           const std::string& value);

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_ATTRIBUTE_H */
