/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-state-visitor.h"

#include <algorithm>

namespace ns3
{
namespace lossless
{

std::string
Growth::Derive(const State& before, const State& after)
{
    for (const State* state : {&before, &after})
    {
        if (!state->refusal.empty())
        {
            return state->refusal;
        }
    }
    if (before.same != after.same || before.alarms != after.alarms ||
        before.notes.size() != after.notes.size() || before.counts.size() != after.counts.size() ||
        before.followers.size() != after.followers.size())
    {
        return "the state did not recur";
    }
    period = after.time - before.time;
    moved.clear();
    for (std::size_t i = 0; i < after.notes.size(); ++i)
    {
        moved.push_back(after.notes[i] != before.notes[i]);
        if (moved.back() && after.notes[i] - before.notes[i] != period)
        {
            return "the state did not recur";
        }
    }
    counts.clear();
    for (std::size_t i = 0; i < after.counts.size(); ++i)
    {
        counts.push_back(after.counts[i] - before.counts[i]);
    }
    packets.clear();
    for (const auto& [flow, next] : after.bases)
    {
        packets[flow] = next - before.bases.at(flow); // flows are the same ones
    }
    followers.clear();
    most = NEVER;
    for (std::size_t i = 0; i < after.followers.size(); ++i)
    {
        const auto& [flow, number, limit, stays] = after.followers[i];
        const uint64_t sent = packets.at(flow);
        const uint64_t grown = number - before.followers[i].number;
        followers.push_back(grown);
        if (grown != sent && !(grown == 0 && stays && before.followers[i].stays))
        {
            return "the state did not recur";
        }
        most = grown == 0 ? most : std::min(most, static_cast<int64_t>((limit - number) / grown));
    }
    return {};
}

bool
Growth::Matches(const State& expected, const State& found)
{
    return found.refusal.empty() && expected.time == found.time && expected.same == found.same &&
           expected.alarms == found.alarms && expected.notes == found.notes &&
           expected.counts == found.counts && expected.bases == found.bases &&
           expected.followers == found.followers;
}

State
Growth::Predict(const State& state, int64_t periods) const
{
    State later = state;
    later.time += periods * period;
    for (std::size_t i = 0; i < later.notes.size(); ++i)
    {
        later.notes[i] += moved[i] ? periods * period : 0;
    }
    for (std::size_t i = 0; i < later.counts.size(); ++i)
    {
        later.counts[i] += periods * counts[i];
    }
    for (std::size_t i = 0; i < later.followers.size(); ++i)
    {
        later.followers[i].number += static_cast<uint64_t>(periods) * followers[i];
    }
    for (auto& [flow, next] : later.bases)
    {
        next += static_cast<uint64_t>(periods) * packets.at(flow);
    }
    return later;
}

} // namespace lossless
} // namespace ns3
