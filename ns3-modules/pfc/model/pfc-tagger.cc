/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "pfc-tagger.h"

#include "ns3/enum.h"
#include "ns3/string.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

namespace ns3
{
namespace pfc
{

using lossless::Frame;
using lossless::N_CLASSES;
using lossless::Port;

NS_OBJECT_ENSURE_REGISTERED(Tagger);

namespace
{

/// Split a text.
/// @param text the text
/// @param mark separator
/// @return its parts, empty ones included
std::vector<std::string>
Split(const std::string& text, char mark)
{
    std::vector<std::string> parts;
    std::string part;
    std::istringstream stream(text);
    while (std::getline(stream, part, mark))
    {
        parts.push_back(part);
    }
    return parts;
}

/// Split a text at blanks.
/// @param text the text
/// @return its words
std::vector<std::string>
WordsOf(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    std::string word;
    while (stream >> word)
    {
        words.push_back(word);
    }
    return words;
}

/// The class that a text names.
/// @param text the text
/// @return class, or N_CLASSES
uint8_t
ClassOf(const std::string& text)
{
    const auto words = WordsOf(text);
    const bool is = words.size() == 1 && words[0].size() == 1 && words[0][0] >= '0' &&
                    words[0][0] < '0' + static_cast<char>(N_CLASSES);
    return is ? static_cast<uint8_t>(words[0][0] - '0') : static_cast<uint8_t>(N_CLASSES);
}

/// Of ports of a switch without maps.
const lossless::ClassMaps NO_MAPS;

} // namespace

TypeId
Tagger::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::pfc::Tagger")
            .SetParent<lossless::SwitchAgent>()
            .SetGroupName("pfc")
            .AddConstructor<Tagger>()
            .AddAttribute("Rules",
                          "FROM > TO : OLD=NEW, ..., separated by semicolons: frames received from "
                          "a neighbour in FROM and sent to one in TO change from class OLD to "
                          "class NEW; names are separated by blanks. `invoke prevent --tags` "
                          "writes the rules.",
                          StringValue(""),
                          MakeStringAccessor(&Tagger::m_rules),
                          MakeStringChecker())
            .AddAttribute("Charge",
                          "The class to which the ingress charges a frame whose class changes: Old "
                          "(that in which it arrived, as Tagger requires) or New (for comparison: "
                          "pauses then name a class in which the upstream holds no such frames).",
                          EnumValue(Charge::OLD),
                          MakeEnumAccessor<Charge>(&Tagger::m_charge),
                          MakeEnumChecker(Charge::OLD, "Old", Charge::NEW, "New"));
    return tid;
}

Tagger::Tagger() = default;

std::string
Tagger::Read(std::vector<Classes>& table) const
{
    std::ostringstream problems;
    const auto tell = [&](const auto&... parts) {
        problems << m_node->GetName() << ": Rules of the tagger: ";
        (problems << ... << parts) << "\n";
    };
    const uint16_t ports = m_node->GetNPorts();
    std::map<std::string, std::vector<uint16_t>> towards; // a neighbour may have several links
    for (uint16_t port = 0; port < ports; ++port)
    {
        towards[m_node->GetPort(port).GetPeer().GetNode().GetName()].push_back(port);
    }
    const auto portsOf = [&](const std::string& text, const std::string& rule) {
        std::vector<uint16_t> found;
        for (const std::string& word : WordsOf(text))
        {
            const auto place = towards.find(word);
            if (place == towards.end())
            {
                tell("'", word, "' in '", rule, "' is not a neighbour");
                continue;
            }
            found.insert(found.end(), place->second.begin(), place->second.end());
        }
        return found;
    };
    Classes same;
    std::iota(same.begin(), same.end(), uint8_t{0});
    table.assign(std::size_t{ports} * ports, same);
    for (const std::string& rule : Split(m_rules, ';'))
    {
        if (WordsOf(rule).empty())
        {
            continue;
        }
        const auto sides = Split(rule, ':');
        const auto ends = sides.size() == 2 ? Split(sides[0], '>') : sides;
        const auto from = ends.size() == 2 ? portsOf(ends[0], rule) : std::vector<uint16_t>{};
        const auto to = ends.size() == 2 ? portsOf(ends[1], rule) : std::vector<uint16_t>{};
        if (sides.size() != 2 || ends.size() != 2 || WordsOf(ends[0]).empty() ||
            WordsOf(ends[1]).empty())
        {
            tell("'", rule, "' is not of the form FROM > TO : OLD=NEW");
            continue;
        }
        for (const std::string& change : Split(sides[1], ','))
        {
            const auto classes = Split(change, '=');
            const uint8_t before = classes.size() == 2 ? ClassOf(classes[0]) : N_CLASSES;
            const uint8_t after = classes.size() == 2 ? ClassOf(classes[1]) : N_CLASSES;
            if (before == N_CLASSES || after == N_CLASSES)
            {
                tell("'", change, "' in '", rule, "' is not OLD=NEW with classes from 0 to 7");
                continue;
            }
            for (const uint16_t ingress : from)
            {
                for (const uint16_t egress : to)
                {
                    uint8_t& entry = table[std::size_t{ingress} * ports + egress][before];
                    if (entry != before && entry != after)
                    {
                        tell("'", rule, "' and another rule map class ", +before, " differently");
                    }
                    entry = after;
                }
            }
        }
    }
    return problems.str();
}

std::vector<lossless::ClassMaps>
Tagger::ReadMaps() const
{
    std::vector<lossless::ClassMaps> maps;
    bool any = false;
    for (uint16_t port = 0; port < m_node->GetNPorts(); ++port)
    {
        maps.push_back(m_node->GetPort(port).GetMaps());
        any = any || !maps.back().AreEmpty();
    }
    return any ? maps : std::vector<lossless::ClassMaps>{};
}

std::string
Tagger::Check() const
{
    std::vector<Classes> table;
    std::string problems = Read(table);
    const bool changes = !WordsOf(m_rules).empty() || !ReadMaps().empty();
    if (m_node->GetRoles().HasFeedReaders() && changes)
    {
        problems += m_node->GetName() +
                    ": tagger changes classes, but another agent of the switch (such as dcfit) "
                    "assumes that "
                    "a frame leaves in the class in which it arrived; remove one of them\n";
    }
    return problems;
}

void
Tagger::Start()
{
    if (!WordsOf(m_rules).empty())
    {
        Read(m_table);
    }
    m_maps = ReadMaps();
}

void
Tagger::Report(lossless::Summary& summary) const
{
    summary["tagger_frames_changed"] += static_cast<double>(m_changed);
}

bool
Tagger::NotifyArrival(Frame& frame, Port& ingress)
{
    const lossless::ClassMaps* maps = m_maps.empty() ? nullptr : &m_maps[ingress.GetIndex()];
    const uint8_t before = maps ? maps->ClassOf(frame) : frame.cls;
    const uint8_t after = Look(frame, ingress, before);
    m_changed += after != before;
    Mark(frame, before, after);
    const uint8_t charged = m_charge == Charge::NEW ? after : before;
    frame.cls = maps ? maps->groups[charged] : charged;
    return true;
}

void
Tagger::Mark(Frame& frame, uint8_t before, uint8_t after) const
{
    frame.egressClass = after;
    if (m_maps.empty() && frame.dscp == Frame::NO_DSCP)
    {
        return; // the class on the wire says it
    }
    const lossless::ClassMaps& maps = m_maps.empty() ? NO_MAPS : m_maps[frame.egress];
    const uint8_t kept = after == before ? frame.GetDscp() : static_cast<uint8_t>(8 * after);
    frame.dscp = maps.marks[after] == Frame::NO_DSCP ? kept : maps.marks[after];
    frame.egressClass = maps.queues[after];
}

uint8_t
Tagger::GetEgressClass(const Frame& frame, const Port& /* ingress */) const
{
    return frame.egressClass; // noted on arrival
}

uint8_t
Tagger::Look(const Frame& frame, const Port& ingress, uint8_t cls) const
{
    const std::size_t row = std::size_t{ingress.GetIndex()} * m_node->GetNPorts() + frame.egress;
    return m_table.empty() ? cls : m_table[row][cls];
}

} // namespace pfc
} // namespace ns3
