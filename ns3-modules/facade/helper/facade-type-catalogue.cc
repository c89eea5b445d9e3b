/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-type-catalogue.h"

#include "ns3/object-factory.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace facade
{

using rdma::CongestionControl;

namespace
{

/// A type, and the name that it had when types of several modules shared a namespace.
struct Renamed
{
    const char* now; //!< without the leading ns3::
    const char* was; //!< likewise
};

/// All renamed types. A name that no registered type has belongs to a module that is not linked.
constexpr Renamed RENAMED[] = {
    {"deadlock::DeadlockProbe", "lossless::DeadlockProbe"},
    {"deadlock::DetectionProbe", "dcfit::DetectionProbe"},
    {"deadlock::PauseTreeProbe", "lossless::PauseTreeProbe"},
    {"observe::BufferProbe", "lossless::BufferProbe"},
    {"observe::ControlProbe", "lossless::ControlProbe"},
    {"observe::ControlValueProbe", "lossless::ControlValueProbe"},
    {"observe::DropProbe", "lossless::DropProbe"},
    {"observe::EgressProbe", "lossless::EgressProbe"},
    {"observe::FlowLinkProbe", "lossless::FlowLinkProbe"},
    {"observe::FrameProbe", "lossless::FrameProbe"},
    {"observe::FrameSerializer", "lossless::FrameSerializer"},
    {"observe::PauseProbe", "lossless::PauseProbe"},
    {"observe::PcapTap", "lossless::PcapTap"},
    {"observe::Probe", "lossless::Probe"},
    {"observe::QueueProbe", "lossless::QueueProbe"},
    {"observe::RateProbe", "lossless::RateProbe"},
    {"observe::SampledProbe", "lossless::SampledProbe"},
    {"pfc::Pfc", "lossless::Pfc"},
    {"pfc::PfcWatchdog", "dcfit::PfcWatchdog"},
    {"pfc::Tagger", "lossless::Tagger"},
};

/// The name that a type had before.
/// @param name full name. @return full name; empty if it always had this one.
std::string
OldName(const std::string& name)
{
    const auto* found = std::ranges::find_if(RENAMED, [&name](const Renamed& one) {
        return name == std::string("ns3::") + one.now;
    });
    return found == std::end(RENAMED) ? "" : std::string("ns3::") + found->was;
}

/// Write a text as a JSON string.
/// @param text the text. @return with quotes.
std::string
Json(const std::string& text)
{
    std::ostringstream out;
    out << '"';
    for (const char c : text)
    {
        switch (c)
        {
        case '"':
            out << "\\\"";
            break;
        case '\\':
            out << "\\\\";
            break;
        case '\n':
            out << "\\n";
            break;
        default:
            out << (static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
        }
    }
    out << '"';
    return out.str();
}

/// Requirements of a congestion control on the network.
/// @param tid any type.
/// @return members of a JSON object; empty or false if it is not a congestion control.
std::string
DescribeNeeds(TypeId tid)
{
    Ptr<CongestionControl> control;
    if (tid.HasConstructor() && tid.IsChildOf(CongestionControl::GetTypeId()))
    {
        ObjectFactory factory;
        factory.SetTypeId(tid);
        control = factory.Create<CongestionControl>();
    }
    return "\"signaller\":" + Json(control ? control->GetSignaller() : "") +
           ",\"telemetry\":" + (control && control->WantsTelemetry() ? "true" : "false");
}

/// Describe one type.
/// @param tid the type. @return a JSON object.
std::string
DescribeType(TypeId tid)
{
    std::ostringstream out;
    out << "{\"name\":" << Json(tid.GetName()) << ",\"was\":" << Json(OldName(tid.GetName()))
        << ",\"parent\":" << Json(tid.GetParent().GetName())
        << ",\"group\":" << Json(tid.GetGroupName())
        << ",\"abstract\":" << (tid.HasConstructor() ? "false" : "true") << ","
        << DescribeNeeds(tid) << ",\"attributes\":[";
    bool first = true;
    for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
    {
        const auto info = tid.GetAttribute(i);
        if (!(info.flags & TypeId::ATTR_SET))
        {
            continue; // a pointer to other objects, for paths of ns3::Config
        }
        // ns-3 spells an enumeration's type as a template; its values are in `allowed`.
        const std::string type = info.checker->GetValueTypeName();
        out << (std::exchange(first, false) ? "" : ",") << "{\"name\":" << Json(info.name)
            << ",\"help\":" << Json(info.help)
            << ",\"type\":" << Json(type.substr(0, type.find('<')))
            << ",\"default\":" << Json(info.initialValue->SerializeToString(info.checker))
            << ",\"allowed\":"
            << Json(info.checker->HasUnderlyingTypeInformation()
                        ? info.checker->GetUnderlyingTypeInformation()
                        : "")
            << "}";
    }
    out << "],\"traces\":[";
    for (std::size_t i = 0; i < tid.GetTraceSourceN(); ++i)
    {
        const auto info = tid.GetTraceSource(i);
        out << (i ? "," : "") << "{\"name\":" << Json(info.name) << ",\"help\":" << Json(info.help)
            << ",\"callback\":" << Json(info.callback) << "}";
    }
    out << "]}";
    return out.str();
}

} // namespace

void
AcceptOldNames()
{
    static std::set<std::string> done; // ns-3 takes a deprecated name once
    for (const auto& [now, was] : RENAMED)
    {
        TypeId tid;
        if (const std::string name = std::string("ns3::") + now;
            TypeId::LookupByNameFailSafe(name, &tid) && done.insert(name).second)
        {
            tid.AddDeprecatedName(std::string("ns3::") + was);
        }
    }
}

std::string
DescribeTypes(const std::string& groups)
{
    std::vector<std::string> wanted;
    std::istringstream list(groups);
    for (std::string group; std::getline(list, group, ',');)
    {
        wanted.push_back(group);
    }
    // Sorted by name, so that the text does not depend on the order in which libraries were loaded.
    std::vector<std::pair<std::string, TypeId>> types;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        if (std::find(wanted.begin(), wanted.end(), tid.GetGroupName()) != wanted.end())
        {
            types.emplace_back(tid.GetName(), tid);
        }
    }
    std::sort(types.begin(), types.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    std::string out = "[";
    for (const auto& [name, tid] : types)
    {
        if (out.size() > 1)
        {
            out.push_back(',');
        }
        out += DescribeType(tid);
    }
    out.push_back(']');
    return out;
}

} // namespace facade
} // namespace ns3
