/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-attribute.h"

#include "lossless-rate.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

namespace ns3
{
namespace lossless
{

namespace
{

/**
 * @brief Parse a whole number with a unit.
 *
 * @tparam T integer.
 * @param text such as "25ps".
 * @param unit such as "ps".
 * @param[out] value the number.
 * @return false if it is not a whole number with this unit, or out of T's range.
 */
template <class T>
bool
ReadWhole(const std::string& text, const std::string& unit, T& value)
{
    if (!text.ends_with(unit))
    {
        return false;
    }
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* end = text.data() + text.size() - unit.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc() && stop == end;
}

/// Split a text into a number and its unit.
/// @param text such as "1.5us". @return both; not a number (NaN) if there is none.
std::pair<long double, std::string>
Split(const std::string& text)
{
    std::size_t used = 0;
    try
    {
        const long double number = std::stold(text, &used);
        return {number, text.substr(used)};
    }
    catch (const std::exception&)
    {
        return {NAN, text};
    }
}

/// A Time that is parsed exactly from whole picoseconds.
class ExactTimeValue : public TimeValue
{
  public:
    using TimeValue::TimeValue;

    Ptr<AttributeValue> Copy() const override
    {
        return Create<ExactTimeValue>(*this);
    }

    bool DeserializeFromString(std::string text, Ptr<const AttributeChecker> checker) override
    {
        int64_t ps = 0;
        if (ReadWhole(text, "ps", ps))
        {
            Set(Time::From(ps, Time::PS));
            return true;
        }
        // A time beyond 2^63 - 1 ps would wrap in any unit that ns-3 knows.
        static const std::pair<const char*, long double> UNITS[] = {{"fs", 1e-3L},
                                                                    {"ps", 1},
                                                                    {"ns", 1e3L},
                                                                    {"us", 1e6L},
                                                                    {"ms", 1e9L},
                                                                    {"s", 1e12L},
                                                                    {"", 1e12L},
                                                                    {"min", 60e12L},
                                                                    {"h", 3600e12L},
                                                                    {"d", 86400e12L},
                                                                    {"y", 365 * 86400e12L}};
        const auto [number, unit] = Split(text);
        for (const auto& [name, scale] : UNITS)
        {
            if (unit == name && std::abs(number * scale) < static_cast<long double>(NEVER))
            {
                return TimeValue::DeserializeFromString(text, checker);
            }
        }
        return false;
    }
};

/// A DataRate that is parsed exactly from whole bits per second.
class ExactRateValue : public DataRateValue
{
  public:
    using DataRateValue::DataRateValue;

    Ptr<AttributeValue> Copy() const override
    {
        return Create<ExactRateValue>(*this);
    }

    bool DeserializeFromString(std::string text, Ptr<const AttributeChecker> checker) override
    {
        uint64_t rate = 0;
        if (ReadWhole(text, "bps", rate))
        {
            Set(DataRate(rate));
            return true;
        }
        const auto [number, unit] = Split(text);
        const std::size_t prefix = std::string("kMGT").find(unit.empty() ? ' ' : unit.front());
        const long double scale =
            prefix == std::string::npos ? 1 : std::pow(1e3L, static_cast<long double>(prefix + 1));
        if (!(number >= 0 && number * scale < static_cast<long double>(NEVER)))
        {
            return false; // DataRate would change the number
        }
        return DataRateValue::DeserializeFromString(text, checker);
    }
};

/// A checker with bounds.
class TimeBounds : public AttributeChecker
{
  public:
    TimeBounds(int64_t lowest, int64_t highest)
        : m_lowest(lowest),
          m_highest(highest)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto time = dynamic_cast<const TimeValue*>(&value);
        if (!time)
        {
            return false;
        }
        const int64_t ps = time->Get().ToInteger(Time::PS);
        return ps >= m_lowest && ps <= m_highest;
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::TimeValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return "Time " + std::to_string(m_lowest) + "ps:" + std::to_string(m_highest) + "ps";
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<ExactTimeValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto from = dynamic_cast<const TimeValue*>(&source);
        const auto to = dynamic_cast<TimeValue*>(&destination);
        if (from && to)
        {
            to->Set(from->Get());
        }
        return from && to;
    }

  private:
    int64_t m_lowest;  //!< ps
    int64_t m_highest; //!< ps
};

/// A checker with bounds.
class RateBounds : public AttributeChecker
{
  public:
    RateBounds(uint64_t lowest, uint64_t highest)
        : m_lowest(lowest),
          m_highest(highest)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto rate = dynamic_cast<const DataRateValue*>(&value);
        return rate && rate->Get().GetBitRate() >= m_lowest &&
               rate->Get().GetBitRate() <= m_highest;
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::DataRateValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return "DataRate " + std::to_string(m_lowest) + "bps:" + std::to_string(m_highest) + "bps";
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<ExactRateValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto from = dynamic_cast<const DataRateValue*>(&source);
        const auto to = dynamic_cast<DataRateValue*>(&destination);
        if (from && to)
        {
            to->Set(from->Get());
        }
        return from && to;
    }

  private:
    uint64_t m_lowest;  //!< bit/s
    uint64_t m_highest; //!< bit/s
};

/// Does a text have the syntax of a value? ns-3 itself aborts on some that do not, or parses only a
/// part of them.
/// @param kind name of the value's class. @param names names of an enumeration, joined by "|".
/// @param text the text. @return true if so, or if the decision is left to ns-3.
bool
IsSpelt(const std::string& kind, const std::string& names, const std::string& text)
{
    if (kind.starts_with("ns3::EnumValue"))
    {
        return !text.empty() && ("|" + names + "|").find("|" + text + "|") != std::string::npos;
    }
    if (names.starts_with("CLASS=") || names.starts_with("DSCP="))
    {
        return text.find_first_of(" \t\n") == std::string::npos;
    }
    if (kind == "ns3::DoubleValue")
    {
        const auto [number, unit] = Split(text);
        return std::isfinite(number) && unit.empty();
    }
    if (kind == "ns3::UintegerValue")
    {
        uint64_t number = 0;
        return ReadWhole(text, "", number);
    }
    if (kind == "ns3::IntegerValue")
    {
        int64_t number = 0;
        return ReadWhole(text, "", number);
    }
    return true;
}

/// A checker of a value for each of some classes, or code points.
class ByClass : public AttributeChecker
{
  public:
    ByClass(Ptr<const AttributeChecker> each, const std::string& word, bool ofClasses)
        : m_each(each),
          m_word(word),
          m_ofClasses(ofClasses)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto* text = dynamic_cast<const StringValue*>(&value);
        const std::size_t keys = m_ofClasses ? N_CLASSES : N_DSCPS;
        const auto values = text ? ReadByClass(text->Get(), keys) : std::nullopt;
        return values && std::all_of(values->begin(), values->end(), [this](const auto& one) {
                   return one.empty() || (!m_word.empty() && one == m_word) ||
                          (IsSpelt(m_each->GetValueTypeName(),
                                   m_each->GetUnderlyingTypeInformation(),
                                   one) &&
                           m_each->CreateValidValue(StringValue(one)));
               });
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::StringValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return (m_ofClasses ? "CLASS=" : "DSCP=") + m_each->GetUnderlyingTypeInformation() +
               (m_word.empty() ? "" : "|" + m_word);
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<StringValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto from = dynamic_cast<const StringValue*>(&source);
        const auto to = dynamic_cast<StringValue*>(&destination);
        if (from && to)
        {
            to->Set(from->Get());
        }
        return from && to;
    }

  private:
    Ptr<const AttributeChecker> m_each; //!< of a value
    std::string m_word;                 //!< one more value, or empty
    bool m_ofClasses;                   //!< else of code points
};

} // namespace

Ptr<const AttributeChecker>
MakePicosecondsChecker(int64_t lowest, int64_t highest)
{
    return Create<TimeBounds>(lowest, highest);
}

Ptr<const AttributeChecker>
MakeRateChecker(uint64_t lowest, uint64_t highest)
{
    return Create<RateBounds>(lowest, highest);
}

Ptr<const AttributeChecker>
MakeRateChangeChecker()
{
    return MakeEnumChecker(RateChange::INTEGRATED,
                           "Integrated",
                           RateChange::NEXT_FRAME,
                           "NextPacket",
                           RateChange::LAST_FRAME,
                           "LastPacket");
}

Ptr<const AttributeChecker>
MakeByClassChecker(Ptr<const AttributeChecker> each, const std::string& word)
{
    return Create<ByClass>(each, word, true);
}

Ptr<const AttributeChecker>
MakeByDscpChecker(Ptr<const AttributeChecker> each)
{
    return Create<ByClass>(each, "", false);
}

std::optional<std::vector<std::string>>
ReadByClass(const std::string& text, std::size_t keys)
{
    std::vector<std::string> values(keys);
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
    {
        const std::size_t mark = word.find('=');
        std::size_t key = 0;
        if (mark == std::string::npos || mark + 1 == word.size() ||
            !ReadWhole(word.substr(0, mark), "", key) || key >= keys || !values[key].empty())
        {
            return std::nullopt;
        }
        values[key] = word.substr(mark + 1);
    }
    return values;
}

std::string
CheckAttribute(const std::string& type, const std::string& name, const std::string& value)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(type, &tid))
    {
        return "there is no type '" + type + "'; is the module that defines it built and loaded?";
    }
    TypeId::AttributeInformation info;
    if (!tid.LookupAttributeByName(name, &info))
    {
        return type + " has no attribute '" + name + "'";
    }
    const std::string allowed = info.checker->HasUnderlyingTypeInformation()
                                    ? info.checker->GetUnderlyingTypeInformation()
                                    : info.checker->GetValueTypeName();
    if (IsSpelt(info.checker->GetValueTypeName(), allowed, value) &&
        info.checker->CreateValidValue(StringValue(value)))
    {
        return {};
    }
    return type + "::" + name + " cannot be '" + value + "'; allowed: " + allowed;
}

} // namespace lossless
} // namespace ns3
