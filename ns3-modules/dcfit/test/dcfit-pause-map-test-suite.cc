/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/dcfit-trigger-cure.h"
#include "ns3/lossless-port.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup dcfit-tests
 * PauseMap and TriggerCure by themselves: against lists of what is fed, kept, limited and sent.
 */

namespace ns3
{
namespace dcfit
{
namespace tests
{

using lossless::N_CLASSES;
using lossless::NO_PORT;
using lossless::NowPs;

/// @ingroup dcfit-tests
/// @brief A buffer that notes what it is asked.
class AskedBuffer : public lossless::SharedBuffer
{
  public:
    bool StaysOff(uint16_t /* port */, uint8_t cls, const std::vector<Rest>& rests) const override
    {
        m_rests.clear();
        for (const Rest& rest : rests)
        {
            m_rests[{rest.cls, rest.port}] = rest.bytes;
        }
        return cls % 2;
    }

    mutable std::map<std::pair<uint8_t, uint16_t>, int64_t> m_rests; //!< last question
};

/// @ingroup dcfit-tests
/// @brief A node with ports, a map and a buffer, but no links.
class FedNode : public lossless::tests::TestNode
{
  public:
    /// Constructor. @param ports how many. @param buffer its buffer.
    FedNode(uint16_t ports, Ptr<lossless::BufferPolicy> buffer)
    {
        buffer->SetAttribute("LosslessClasses", UintegerValue(0x18));
        SetBuffer(buffer);
        for (uint16_t port = 0; port < ports; ++port)
        {
            AddPort(CreateObject<lossless::Port>());
        }
        KeepFeeds(true);
    }

    /// @return the map, to be filled by hand.
    lossless::FeedMap& Feeds()
    {
        return *m_feeds;
    }
};

/// @ingroup dcfit-tests
/// @brief Frames, pauses and messages come at random.
class PauseMapTest : public TestCase
{
  public:
    PauseMapTest()
        : TestCase("which message a port keeps, whom an ingress waits for, what its pause carries "
                   "and what would be left of it, from lists of frames and messages")
    {
    }

  private:
    static constexpr std::array<uint8_t, 2> CLASSES{3, 4}; //!< that are lossless

    /// One port of a class, as the model knows it.
    struct Known
    {
        std::map<uint16_t, uint32_t> bytes; //!< by ingress, as an egress
        std::map<uint16_t, bool> since;     //!< by ingress: fed it since it was empty
        uint32_t ages{2};                   //!< checks since its message was new
    };

    using Model = std::map<std::pair<uint8_t, uint16_t>, Known>; //!< by class, port

    /// One of few messages. @return it.
    Message Draw()
    {
        return {static_cast<uint16_t>(m_random() % 3),
                static_cast<uint8_t>(m_random() % 2),
                static_cast<uint16_t>(m_random() % 2),
                static_cast<uint8_t>(m_random() % 2 ? MAX_RANK : m_random() % 3),
                0};
    }

    /// A message comes to a port.
    void Remember(PauseMap& map, Model& model, uint16_t port, uint8_t cls, bool highest)
    {
        const Message message = Draw();
        const PauseMap::State before = map.At(port, cls);
        Known& known = model[{cls, port}];
        const bool first = m_random() % 4 == 0;
        const bool same = before.info.HasEpisodeOf(message);
        const bool weaker = highest && known.ages < 2 && !before.info.HasInitiatorOf(message) &&
                            before.info.Precedes(message);
        const bool keeps = first || !before.known || !(same || weaker);
        NS_TEST_ASSERT_MSG_EQ(map.Remember(port, cls, message, first), keeps, "which is kept");
        const PauseMap::State& after = map.At(port, cls);
        NS_TEST_ASSERT_MSG_EQ((after.info == (keeps ? message : before.info)), true, "that one");
        const bool anew = keeps && !same;
        known.ages = anew ? 0 : known.ages;
        NS_TEST_ASSERT_MSG_EQ(after.resumed, (before.resumed && !anew), "of the episode");
        NS_TEST_ASSERT_MSG_EQ(+after.checked, (anew ? 0 : before.checked), "rounds of it");
        NS_TEST_ASSERT_MSG_EQ(after.noticed, (before.noticed && !anew), "notices of it");
    }

    /// Ask everything about a port.
    void Ask(const PauseMap& map,
             Model& model,
             const PauseMap::Rules& rules,
             const AskedBuffer& buffer,
             uint16_t port,
             uint8_t cls)
    {
        const bool highest = rules.conflict == PauseMap::Conflict::HIGHEST;
        const Message message = Draw();
        bool waits = false;
        bool recent = false;
        bool middle = false;
        uint16_t loop = NO_PORT;
        std::vector<uint16_t> informed;
        for (uint16_t egress = 0; model.contains({cls, egress}); ++egress)
        {
            Known& known = model[{cls, egress}];
            const PauseMap::State& state = map.At(egress, cls);
            const bool feeds = rules.clearing == PauseMap::Clearing::COUNTERS
                                   ? known.bytes[port] > 0
                                   : known.since[port];
            NS_TEST_ASSERT_MSG_EQ(map.Feeds(egress, port, cls), feeds, "feeds");
            middle =
                middle || (egress != port && state.known && state.info.HasInitiatorOf(message));
            waits = waits || (feeds && state.paused);
            recent = recent || (feeds && state.known && known.ages < 2);
            if (feeds && state.known)
            {
                informed.push_back(egress);
                const bool returns = loop == NO_PORT && state.info.HasEpisodeOf(message);
                loop = returns ? egress : loop;
            }
        }
        NS_TEST_ASSERT_MSG_EQ(map.IsMiddle(port, cls, message), middle, "two ways");
        NS_TEST_ASSERT_MSG_EQ(map.WaitsForPaused(port, cls), waits, "waits");
        NS_TEST_ASSERT_MSG_EQ(map.FeedsRecentMessage(port, cls), recent, "recent");
        NS_TEST_ASSERT_MSG_EQ(map.FindLoop(port, cls, message), loop, "the loop");

        const PauseMap::State& own = map.At(port, cls);
        const uint16_t info = map.FindInfo(port, cls);
        if (highest)
        {
            const bool best = std::all_of(informed.begin(), informed.end(), [&](uint16_t egress) {
                return info != NO_PORT &&
                       !map.At(egress, cls).info.Precedes(map.At(info, cls).info);
            });
            NS_TEST_ASSERT_MSG_EQ(best, true, "none precedes it");
            const auto place = std::find(informed.begin(), informed.end(), info);
            NS_TEST_ASSERT_MSG_EQ((place == informed.end()), informed.empty(), "one of these");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(info,
                                  (map.At(own.cause, cls).known ? own.cause : NO_PORT),
                                  "why");
        }
        Message tag;
        const bool tagged = map.FindTag(port, cls, tag);
        NS_TEST_ASSERT_MSG_EQ(tagged, (own.own || info != NO_PORT), "a tag");
        const Message mine{5, static_cast<uint8_t>(port), own.sequence, own.rank, 0};
        NS_TEST_ASSERT_MSG_EQ((!tagged || tag == (own.own ? mine : map.At(info, cls).info)),
                              true,
                              "its own before others'");
        const int rank = info == NO_PORT ? -1 : map.At(info, cls).info.rank;
        NS_TEST_ASSERT_MSG_EQ(+map.RankAbove(port, cls),
                              (highest ? std::min<int>(rank + 1, MAX_RANK) : 0),
                              "one above");

        const bool asks = rules.evidence == PauseMap::Evidence::BYTES;
        NS_TEST_ASSERT_MSG_EQ(map.StaysOff(port, cls, message), (!asks || cls % 2), "stays OFF");
        for (const auto& [place, rest] : buffer.m_rests)
        {
            int64_t left = 0;
            for (uint16_t egress = 0; model.contains({place.first, egress}); ++egress)
            {
                const PauseMap::State& state = map.At(egress, place.first);
                const bool with = state.known && state.info.HasEpisodeOf(message);
                left += with ? model[{place.first, egress}].bytes[place.second] : 0;
            }
            NS_TEST_ASSERT_MSG_EQ(rest, left, "what would be left");
        }
        NS_TEST_ASSERT_MSG_EQ(buffer.m_rests.size(), (asks ? model.size() : 0), "of all queues");
    }

    /// A random history. @param rules of the map.
    void Try(const PauseMap::Rules& rules)
    {
        const auto ports = static_cast<uint16_t>(2 + m_random() % 4);
        const auto buffer = CreateObject<AskedBuffer>();
        const auto node = CreateObject<FedNode>(ports, buffer);
        PauseMap map;
        map.Start(*node, 5, std::vector<bool>(ports, true), rules);
        Model model;
        std::vector<std::tuple<uint16_t, uint16_t, uint8_t, uint32_t>> frames;
        for (uint16_t port = 0; port < ports; ++port)
        {
            for (const uint8_t cls : CLASSES)
            {
                model[{cls, port}] = {};
            }
        }
        for (int step = 0; step < 400; ++step)
        {
            const auto port = static_cast<uint16_t>(m_random() % ports);
            const uint8_t cls = CLASSES[m_random() % CLASSES.size()];
            PauseMap::State& state = map.At(port, cls);
            switch (m_random() % 7)
            {
            case 0: {
                const auto egress = static_cast<uint16_t>(m_random() % ports);
                frames.emplace_back(port, egress, cls, 64 + m_random() % 1437);
                const uint32_t bytes = std::get<3>(frames.back());
                node->Feeds().Add(port, egress, cls, bytes);
                model[{cls, egress}].bytes[port] += bytes;
                model[{cls, egress}].since[port] = true;
                break;
            }
            case 1:
                if (!frames.empty())
                {
                    std::swap(frames[m_random() % frames.size()], frames.back());
                    const auto [ingress, egress, its, bytes] = frames.back();
                    frames.pop_back();
                    node->Feeds().Remove(ingress, egress, its, bytes);
                    Known& known = model[{its, egress}];
                    known.bytes[ingress] -= bytes;
                    if (std::all_of(known.bytes.begin(), known.bytes.end(), [](const auto& one) {
                            return one.second == 0;
                        }))
                    {
                        known.since.clear();
                    }
                }
                break;
            case 2:
                map.Age();
                for (auto& [place, known] : model)
                {
                    ++known.ages;
                }
                break;
            case 3:
                state.known = false;
                state.paused = m_random() % 2;
                state.own = m_random() % 2;
                state.cause = static_cast<uint8_t>(m_random() % ports);
                state.sequence = static_cast<uint16_t>(m_random() % 4096);
                state.rank = static_cast<uint8_t>(m_random() % 16);
                break;
            case 4:
                state.resumed = state.noticed = true;
                state.checked = 1;
                break;
            default:
                Remember(map, model, port, cls, rules.conflict == PauseMap::Conflict::HIGHEST);
            }
            Ask(map, model, rules, *buffer, static_cast<uint16_t>(m_random() % ports), cls);
        }
        node->Dispose();
    }

    void DoRun() override
    {
        for (int round = 0; round < 40; ++round)
        {
            Try({round % 2 ? PauseMap::Clearing::ROW : PauseMap::Clearing::COUNTERS,
                 round / 2 % 2 ? PauseMap::Conflict::NEWEST : PauseMap::Conflict::HIGHEST,
                 round / 4 % 2 ? PauseMap::Evidence::MAP : PauseMap::Evidence::BYTES});
        }
    }

    std::mt19937_64 m_random{12}; //!< source of chance
};

/// @ingroup dcfit-tests
/// @brief Flows are limited and servers treated at random, while frames come.
class TriggerCureTest : public TestCase
{
  public:
    TriggerCureTest()
        : TestCase("a limited flow gets its rate and burst in every interval and no less, the one "
                   "that has been calm for longest gives way, and what is calm is let go")
    {
    }

  private:
    static constexpr uint8_t CLS = 3;                     //!< of all frames
    static constexpr uint8_t LOSSY = 1;                   //!< class for treated servers
    static constexpr uint16_t PORTS = 2;                  //!< egresses
    static constexpr int64_t RESTORATION = 99'000'001;    //!< ps; no frame comes at a check
    static constexpr int64_t RATE = 1'000'000'000;        //!< of a limited flow (bit/s)
    static constexpr int64_t BURST = 3000;                //!< of a limited flow (B)
    static constexpr int64_t PS_BITS = 8'000'000'000'000; //!< units of a byte: RATE times 1 ps is 1

    /// A limited flow.
    struct Limit
    {
        uint32_t flow;                                   //!< its number
        int64_t since;                                   //!< limited (ps)
        int64_t dropped;                                 //!< last (ps)
        std::vector<std::pair<int64_t, int64_t>> passed; //!< time (ps), bytes
    };

    /// May a frame pass? No interval that ends now may have more than rate and burst, and what was
    /// saved up before the limit does not count.
    static bool Fits(const Limit& limit, int64_t bytes)
    {
        int64_t sum = bytes;
        bool fits = bytes <= BURST;
        for (auto one = limit.passed.rbegin(); one != limit.passed.rend(); ++one)
        {
            sum += one->second;
            fits = fits && (sum - BURST) * PS_BITS <= RATE * (NowPs() - one->first);
        }
        return fits && sum * PS_BITS <= RATE * (NowPs() - limit.since);
    }

    /// A check for what is calm, at its time. @param at ps.
    void Check(const PauseMap& map, int64_t at)
    {
        m_restored += std::erase_if(m_limits, [at](const Limit& limit) {
            return limit.dropped <= at - RESTORATION;
        });
        for (uint16_t port = 0; port < PORTS; ++port)
        {
            const PauseMap::State& state = map.At(port, CLS);
            const bool calm =
                !state.paused && std::max(m_cause[port], state.pausedAt) <= at - RESTORATION;
            m_restored += m_treated[port] && calm;
            m_treated[port] = m_treated[port] && !calm;
        }
        m_check = m_limits.empty() && !m_treated[0] && !m_treated[1] ? -1 : at + RESTORATION;
    }

    /// A trigger is treated. @param treated it was not before.
    void Handle(bool treated)
    {
        m_handled += treated;
        m_check = treated && m_check < 0 ? NowPs() + RESTORATION : m_check;
    }

    /// A heavy flow is to be limited. @param port egress. @param sent bytes of its flows, in the
    /// order in which they came.
    void Treat(TriggerCure& cure,
               uint16_t port,
               const std::vector<std::pair<uint32_t, int64_t>>& sent)
    {
        cure.TreatFlows(port);
        const auto heaviest =
            std::max_element(sent.begin(), sent.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
            });
        if (heaviest == sent.end() || Find(heaviest->first) != m_limits.end())
        {
            return;
        }
        if (m_limits.size() == 2)
        {
            m_limits.erase(std::min_element(
                m_limits.begin(),
                m_limits.end(),
                [](const Limit& a, const Limit& b) { return a.dropped < b.dropped; }));
            ++m_restored;
        }
        m_limits.push_back({heaviest->first, NowPs(), NowPs(), {}});
        Handle(true);
    }

    std::vector<Limit>::iterator Find(uint32_t flow)
    {
        return std::find_if(m_limits.begin(), m_limits.end(), [flow](const Limit& limit) {
            return limit.flow == flow;
        });
    }

    /// A frame comes. @return what it adds to the bytes of its flow.
    void Arrive(TriggerCure& cure, uint16_t port, uint32_t flow, uint32_t bytes)
    {
        lossless::Frame frame;
        frame.cls = CLS;
        frame.egress = port;
        frame.flow = flow;
        frame.bytes = static_cast<uint16_t>(bytes);
        const auto limit = Find(flow);
        const bool passes = limit == m_limits.end() || Fits(*limit, bytes);
        NS_TEST_ASSERT_MSG_EQ(cure.Admit(frame), passes, "limited, at " << NowPs());
        NS_TEST_ASSERT_MSG_EQ(+frame.cls, +(m_treated[port] ? LOSSY : CLS), "for its server");
        if (limit != m_limits.end() && passes)
        {
            limit->passed.emplace_back(NowPs(), bytes);
        }
        else if (limit != m_limits.end())
        {
            limit->dropped = NowPs();
        }
    }

    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937_64 random(6);
        const auto node = CreateObject<FedNode>(PORTS, CreateObject<AskedBuffer>());
        PauseMap map;
        map.Start(*node, 0, {false, false}, {});
        TriggerCure cure;
        cure.Start(*node,
                   map,
                   {TriggerCure::ServerCure::LOSSY, LOSSY, 8, RATE, BURST, 2, RESTORATION});
        std::array<std::vector<std::pair<uint32_t, int64_t>>, PORTS> sent;
        for (int step = 0; step < 4000; ++step)
        {
            const bool calm = step / 400 % 2; // few triggers, so that all comes to rest
            Simulator::Stop(TimeStep(2 + random() % 1'000'000));
            Simulator::Run();
            while (m_check >= 0 && m_check < NowPs())
            {
                Check(map, m_check);
            }
            const auto port = static_cast<uint16_t>(random() % PORTS);
            PauseMap::State& state = map.At(port, CLS);
            const uint64_t kind = random() % 100;
            if (kind < 2 && !calm)
            {
                Handle(!m_treated[port]);
                m_treated[port] = true;
                m_cause[port] = NowPs();
                cure.TreatServer(port, CLS);
            }
            else if (kind < 5 && !calm)
            {
                Treat(cure, port, sent[port]);
            }
            else if (kind < 8)
            {
                state.paused = !state.paused && !calm;
                state.pausedAt = state.paused ? NowPs() : state.pausedAt;
            }
            else
            {
                const auto flow = static_cast<uint32_t>(2 * (random() % 3) + port);
                const auto bytes = static_cast<uint32_t>(64 + random() % (calm ? 100 : 1437));
                auto own = std::find_if(sent[port].begin(), sent[port].end(), [flow](auto& one) {
                    return one.first == flow;
                });
                own = own == sent[port].end() ? sent[port].insert(own, {flow, 0}) : own;
                own->second += bytes;
                Arrive(cure, port, flow, bytes);
            }
            NS_TEST_ASSERT_MSG_EQ(cure.GetHandled(), m_handled, "treated");
            NS_TEST_ASSERT_MSG_EQ(cure.GetRestored(), m_restored, "let go, by " << NowPs());
        }
        NS_TEST_EXPECT_MSG_GT(m_restored, 20, "many were let go");
        Simulator::Destroy();
        node->Dispose();
    }

    std::vector<Limit> m_limits;          //!< limited flows
    std::array<bool, PORTS> m_treated{};  //!< by port: its server is
    std::array<int64_t, PORTS> m_cause{}; //!< by port: last cause for it (ps)
    int64_t m_check{-1};                  //!< next one (ps); -1: none
    uint64_t m_handled{0};                //!< triggers
    uint64_t m_restored{0};               //!< of these
};

/// @ingroup dcfit-tests
/// @brief Tests of what Dcfit is made of.
class PauseMapTestSuite : public TestSuite
{
  public:
    PauseMapTestSuite()
        : TestSuite("dcfit-pause-map", Type::UNIT)
    {
        AddTestCase(new PauseMapTest, TestCase::Duration::QUICK);
        AddTestCase(new TriggerCureTest, TestCase::Duration::QUICK);
    }
};

static PauseMapTestSuite g_pauseMapTestSuite; //!< registers the suite

} // namespace tests
} // namespace dcfit
} // namespace ns3
