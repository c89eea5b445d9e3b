/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/facade-simulation.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/object-factory.h"
#include "ns3/pffc-flow-control.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <sstream>

/**
 * @file
 * @ingroup pffc-tests
 * PFFC: what the receiver's side says, against a second model; whole networks with lost control
 * frames; many flows; what a flow can hold.
 */

namespace ns3
{
namespace pffc
{
namespace tests
{

using lossless::ControlFrame;
using lossless::Frame;
using lossless::FramePool;
using lossless::NowPs;
using lossless::tests::Draws;

/// @ingroup pffc-tests
/// @brief A node that notes what arrives.
class SinkNode : public lossless::tests::TestNode
{
  public:
    SinkNode()
    {
        SetBuffer(CreateObject<lossless::SharedBuffer>());
    }

    void Receive(Frame* frame, lossless::Port& /* ingress */) override
    {
        m_got.push_back(*frame);
        Take(frame);
    }

    std::vector<Frame> m_got; //!< frames in the order of arrival
};

/// @ingroup pffc-tests
/// @brief Loses, delays and reorders the control frames of the flow control behind it in the chain;
/// keeps what it sees.
class Gremlin : public lossless::FlowControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::pffc::tests::Gremlin")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Gremlin>();
        return tid;
    }

    bool ReceiveControl(const ControlFrame& control) override
    {
        Message message;
        if (Read(control, message))
        {
            m_seen.push_back(message);
        }
        if (g_random() % 100 < g_lose)
        {
            return true;
        }
        if (g_random() % 100 < g_delay)
        {
            m_late.push_back(control);
            return true;
        }
        const auto& chain = m_port->GetChain().GetMembers();
        chain[1]->ReceiveControl(control);
        while (!m_late.empty() && g_random() % 2)
        {
            chain[1]->ReceiveControl(m_late.front()); // overtaken
            m_late.pop_front();
        }
        return true;
    }

    static std::mt19937_64 g_random; //!< of all of them
    static uint32_t g_lose;          //!< per cent
    static uint32_t g_delay;         //!< per cent

    std::vector<Message> m_seen;     //!< before anything was lost
    std::deque<ControlFrame> m_late; //!< to be delivered too late
};

std::mt19937_64 Gremlin::g_random;
uint32_t Gremlin::g_lose = 0;
uint32_t Gremlin::g_delay = 0;
NS_OBJECT_ENSURE_REGISTERED(Gremlin);

/// Two nodes joined by a link, with PFFC at both ends and a gremlin before each.
struct Pair
{
    /// Make it.
    /// @param configure sets attributes of PFFC. @param ingress ports that frames may have come in
    /// by, beside the one. @param queueService of the ports.
    Pair(ObjectFactory configure, uint16_t ingress, const std::string& queueService)
    {
        lossless::UsePicoseconds();
        for (std::size_t i = 0; i < 2; ++i)
        {
            nodes[i] = CreateObject<SinkNode>();
            for (uint16_t port = 0; port <= ingress; ++port)
            {
                nodes[i]->AddPort(
                    CreateObjectWithAttributes<lossless::Port>("QueueService",
                                                               StringValue(queueService)));
            }
        }
        for (std::size_t i = 0; i < 2; ++i)
        {
            for (uint16_t port = 0; port <= ingress; ++port)
            {
                lossless::Port* peer = &nodes[1 - i]->GetPort(0);
                nodes[i]->GetPort(port).Attach(PeekPointer(nodes[i]), port, peer, RATE, DELAY);
                nodes[i]->GetPort(port).SetLargestFrame(1500);
            }
            gremlins[i] = CreateObject<Gremlin>();
            schemes[i] = configure.Create<Pffc>();
            nodes[i]->GetPort(0).AddFlowControl(gremlins[i]);
            nodes[i]->GetPort(0).AddFlowControl(schemes[i]);
            nodes[i]->Start();
        }
    }

    ~Pair()
    {
        Simulator::Destroy();
        for (const auto& node : nodes)
        {
            node->Dispose();
        }
        FramePool::Clear();
    }

    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    static constexpr uint64_t RATE = 10'000'000'000; //!< bit/s
    static constexpr int64_t DELAY = 1'000'000;      //!< ps
    std::array<Ptr<SinkNode>, 2> nodes;              //!< both ends
    std::array<Ptr<Gremlin>, 2> gremlins;            //!< first in their chains
    std::array<Ptr<Pffc>, 2> schemes;                //!< second
};

/// @ingroup pffc-tests
/// @brief What the receiver's side says, against a model with sets and maps.
class ReceiverTest : public TestCase
{
  public:
    ReceiverTest()
        : TestCase("flows are sent to PEQs and back as Xoff and Xon say; PAUSE goes before MIGRATE "
                   "and RESUME before MIGRATE-BACK; a shared PEQ waits for all its flows")
    {
    }

  private:
    /// A message as a text.
    /// @param what kind. @param number paused PEQs, or PEQ. @param flows of it. @return the text.
    static std::string Spell(const char* what, uint32_t number, const std::set<uint32_t>& flows)
    {
        std::ostringstream text;
        text << what << ' ' << number;
        for (const uint32_t flow : flows)
        {
            text << " f" << flow;
        }
        return text.str();
    }

    /// PAUSE, RESUME or MIGRATE as a text, without its sequence number.
    /// @param message it. @return the text.
    static std::string Spell(const Message& message)
    {
        const std::set<uint32_t> flows(message.flows.begin(),
                                       message.flows.begin() + message.nFlows);
        return message.opcode == STATE_OPCODE ? Spell("state", message.paused, {})
                                              : Spell("migrate", message.peq, flows);
    }

    void DoRun() override
    {
        Gremlin::g_lose = 0;
        Gremlin::g_delay = 0;
        std::mt19937_64 random(12);
        uint64_t resumedShared = 0;
        for (int round = 0; round < 60; ++round)
        {
            const uint32_t n = 1 + random() % 7;
            const int64_t xoff = 5000 + static_cast<int64_t>(random() % 20'000);
            const int64_t xon = 1 + static_cast<int64_t>(random() % xoff);
            ObjectFactory factory("ns3::pffc::Pffc");
            factory.Set("Peqs", UintegerValue(n));
            factory.Set("FbuXoff", StringValue(std::to_string(xoff)));
            factory.Set("FbuXon", StringValue(std::to_string(xon)));
            factory.Set("Refresh", StringValue("0s"));
            const bool hash = random() % 2;
            factory.Set("Assignment", StringValue(hash ? "Hash" : "FewestFlows"));
            Pair pair(factory, 0, "Fifo");
            // The second model: per class and PEQ the flows in it and of them those above.
            std::map<uint32_t, int64_t> fbu;
            std::map<uint32_t, uint32_t> peqOf;
            std::map<uint32_t, std::set<uint32_t>> members;
            std::set<uint32_t> above;
            std::vector<std::string> expected;
            const uint32_t flows = 2 + random() % 20;
            std::map<uint32_t, std::deque<uint32_t>> held;
            uint32_t paused = 0;
            int64_t phase = 1;
            for (int step = 0; step < 4000; ++step)
            {
                phase = step % 500 == 0 ? static_cast<int64_t>(1 + random() % 9) : phase;
                const uint32_t flow = random() % flows;
                Frame frame;
                frame.cls = 3;
                frame.flow = flow;
                frame.bytes = static_cast<uint16_t>(64 + random() % 1437);
                if (static_cast<int64_t>(random() % 10) < phase || held[flow].empty())
                {
                    held[flow].push_back(frame.bytes);
                    fbu[flow] += frame.bytes;
                    pair.schemes[0]->NotifyReceived(frame, 0);
                    if (fbu[flow] >= xoff)
                    {
                        above.insert(flow);
                    }
                    if (fbu[flow] >= xoff && !peqOf.contains(flow))
                    {
                        // The model learns from the real thing which PEQ was taken, and judges it.
                        Run(pair);
                        const auto& seen = pair.gremlins[1]->m_seen;
                        const uint32_t taken = seen.empty() ? 0 : seen.back().peq;
                        NS_TEST_ASSERT_MSG_EQ((taken >= 1 && taken <= n), true, "a PEQ it has");
                        std::size_t fewest = flows;
                        for (uint32_t peq = 1; peq <= n; ++peq)
                        {
                            fewest = std::min(fewest, members[peq].size());
                        }
                        NS_TEST_ASSERT_MSG_EQ((hash || members[taken].size() == fewest),
                                              true,
                                              "the PEQ with the fewest flows");
                        const auto [known, isNew] = m_hash.try_emplace({flow, n}, taken);
                        NS_TEST_ASSERT_MSG_EQ((!hash || isNew || known->second == taken),
                                              true,
                                              "always the same PEQ by hash");
                        if (!hash)
                        {
                            m_hash.clear();
                        }
                        peqOf[flow] = taken;
                        members[taken].insert(flow);
                        if (!(paused >> taken & 1))
                        {
                            paused |= 1U << taken;
                            expected.push_back(Spell("state", paused, {}));
                        }
                        expected.push_back(Spell("migrate", taken, {flow}));
                    }
                    continue;
                }
                const uint32_t bytes = held[flow].front();
                held[flow].pop_front();
                fbu[flow] -= bytes;
                pair.schemes[0]->NotifyReleased({flow, 0, 0, static_cast<uint16_t>(bytes), 3}, 0);
                if (fbu[flow] < xon)
                {
                    above.erase(flow);
                }
                if (!peqOf.contains(flow))
                {
                    continue;
                }
                const uint32_t peq = peqOf[flow];
                const bool some = std::ranges::any_of(members[peq], [&above](uint32_t f) {
                    return above.contains(f);
                });
                if (some)
                {
                    continue;
                }
                resumedShared += members[peq].size() > 1;
                paused &= ~(1U << peq);
                expected.push_back(Spell("state", paused, {}));
                // However many frames name them, all its flows go back.
                expected.push_back(Spell("back", peq, members[peq]));
                for (const uint32_t member : members[peq])
                {
                    peqOf.erase(member);
                }
                members[peq].clear();
            }
            Run(pair);
            std::vector<std::string> said;
            std::set<uint32_t> back;
            uint32_t backPeq = 0;
            uint16_t sequence = 0;
            const auto closeBack = [&] {
                if (!back.empty())
                {
                    said.push_back(Spell("back", backPeq, back));
                    back.clear();
                }
            };
            for (const Message& message : pair.gremlins[1]->m_seen)
            {
                NS_TEST_ASSERT_MSG_EQ(message.sequence, ++sequence, "sequence numbers");
                if (message.opcode == BACK_OPCODE)
                {
                    backPeq = message.peq;
                    back.insert(message.flows.begin(), message.flows.begin() + message.nFlows);
                    continue;
                }
                closeBack();
                said.push_back(Spell(message));
            }
            closeBack();
            NS_TEST_ASSERT_MSG_EQ((said == expected), true, "what was said, round " << round);
            // Once all has left nothing is known any more.
            for (auto& [flow, frames] : held)
            {
                for (; !frames.empty(); frames.pop_front())
                {
                    pair.schemes[0]->NotifyReleased(
                        {flow, 0, 0, static_cast<uint16_t>(frames.front()), 3},
                        0);
                }
            }
            lossless::Summary summary;
            pair.schemes[0]->Report(summary);
            NS_TEST_ASSERT_MSG_EQ(summary["pffc_tracked_flows"], 0, "entries leave with the bytes");
            NS_TEST_ASSERT_MSG_EQ(summary["pffc_pauses_sent"],
                                  summary["pffc_resumes_sent"],
                                  "every pause ends");
        }
        NS_TEST_ASSERT_MSG_GT(resumedShared, 50, "PEQs were shared");
    }

    /// Let what was sent arrive. @param pair the network
    static void Run(Pair& /* pair */)
    {
        Simulator::Run();
    }

    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_hash; //!< PEQ by flow and n
};

/// @ingroup pffc-tests
/// @brief PBU and recirculation, by hand.
class PbuTest : public TestCase
{
  public:
    PbuTest()
        : TestCase("PBU of a PEQ and of a port ask for more before a pause and a resume; the "
                   "decrement is late by the recirculation, to the picosecond")
    {
    }

  private:
    /// Bytes of a flow come in, or leave.
    /// @param pair network. @param flow flow. @param bytes negative: leave.
    static void Move(Pair& pair, uint32_t flow, int bytes)
    {
        Frame frame;
        frame.cls = 3;
        frame.flow = flow;
        frame.bytes = static_cast<uint16_t>(std::abs(bytes));
        if (bytes > 0)
        {
            pair.schemes[0]->NotifyReceived(frame, 0);
        }
        else
        {
            pair.schemes[0]->NotifyReleased({flow, 0, 0, frame.bytes, 3}, 0);
        }
    }

    /// A number of the summary. @param pair network. @param name its name. @return its value.
    static double Number(const Pair& pair, const std::string& name)
    {
        lossless::Summary summary;
        pair.schemes[0]->Report(summary);
        return summary[name];
    }

    /// PFFC with n = 1 and thresholds of a flow of 3000 and 2000 B.
    /// @param scope of PBU. @return factory.
    static ObjectFactory Make(const std::string& scope)
    {
        ObjectFactory factory("ns3::pffc::Pffc");
        factory.Set("Peqs", UintegerValue(1));
        factory.Set("FbuXoff", StringValue("3000"));
        factory.Set("FbuXon", StringValue("2000"));
        factory.Set("PbuScope", StringValue(scope));
        factory.Set("Refresh", StringValue("0s"));
        return factory;
    }

    void DoRun() override
    {
        ObjectFactory perPeq = Make("PerPeq");
        perPeq.Set("PbuXoff", StringValue("5000"));
        perPeq.Set("PbuXon", StringValue("2500"));
        {
            Pair pair(perPeq, 0, "Fifo");
            Move(pair, 1, 3000);
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_flows_migrated"),
                                  1,
                                  "FBU sends the flow away");
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_pauses_sent"), 0, "PBU is 3000 B");
            Move(pair, 2, 4000);
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_pauses_sent"), 1, "PBU is 7000 B");
            Move(pair, 1, -1500);
            Move(pair, 2, -2500);
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_resumes_sent"), 0, "PBU is 3000 B");
            Move(pair, 1, -600);
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_resumes_sent"), 1, "PBU is 2400 B");
        }
        ObjectFactory perPort = Make("PerIngressPort");
        perPort.Set("PbuXoff", StringValue("5000"));
        perPort.Set("PbuXon", StringValue("2500"));
        {
            Pair pair(perPort, 0, "Fifo");
            for (uint32_t flow = 1; flow <= 4; ++flow)
            {
                Move(pair, flow, 1200);
            }
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_flows_migrated"), 0, "PBU is 4800 B");
            Move(pair, 5, 1200);
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_flows_migrated"), 1, "PBU is 6000 B");
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_pauses_sent"), 1, "and the PEQ is paused");
            Move(pair, 5, -1200);
            Move(pair, 1, -1200);
            Move(pair, 2, -1000);
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_resumes_sent"), 0, "PBU is 2600 B");
            Move(pair, 2, -200); // another flow's bytes
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_resumes_sent"), 1, "PBU is 2400 B");
            NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_tracked_flows"), 2, "flows 3 and 4 are left");
        }
        ObjectFactory late = Make("PerPeq");
        late.Set("RecirculationDelay", StringValue("700ns"));
        {
            Pair pair(late, 0, "Fifo");
            for (int i = 0; i < 3; ++i)
            {
                Move(pair, 1, 1500);
            }
            for (const int64_t time : {1'000'000, 2'000'000, 3'000'000})
            {
                Simulator::Schedule(TimeStep(time), [&pair] { Move(pair, 1, -1500); });
            }
            // 4500 B: below Xon with the second decrement, gone with the third
            for (const int64_t time : {2'699'999, 2'700'001, 3'699'999, 3'700'001})
            {
                Simulator::Stop(TimeStep(time - NowPs()));
                Simulator::Run();
                NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_resumes_sent"),
                                      (time > 2'700'000 ? 1 : 0),
                                      "RESUME at " << time << " ps");
                NS_TEST_ASSERT_MSG_EQ(Number(pair, "pffc_tracked_flows"),
                                      (time > 3'700'000 ? 0 : 1),
                                      "entry at " << time << " ps");
            }
        }
    }
};

/// Run until all flows have finished and what was said last has been said again, but not for ever.
/// @param sim the run. @param flows finite flows.
void
RunUntilDone(facade::Simulation& sim, uint64_t flows)
{
    constexpr int64_t STEP = 5'000'000'000;
    constexpr int64_t LIMIT = 1'000'000'000'000;
    while (sim.GetFinishedFlows() < flows && sim.Now() < LIMIT && sim.Run(sim.Now() + STEP))
    {
    }
    sim.Run(sim.Now() + STEP);
}

/// @ingroup pffc-tests
/// @brief Random networks with random flows, slow receivers and lost control frames.
class NetworkTest : public TestCase
{
  public:
    NetworkTest()
        : TestCase("random networks: no frame lost, none overtaken, all flows finish, nothing is "
                   "left over, however many control frames are lost or late")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(31);
        double migrated = 0;
        double shared = 0;
        double overtaken = 0;
        double expired = 0;
        for (int round = 0; round < Draws(120); ++round)
        {
            Gremlin::g_random.seed(round);
            Gremlin::g_lose = round % 3 == 0 ? 0 : static_cast<uint32_t>(random() % 50);
            Gremlin::g_delay = round % 3 == 2 ? static_cast<uint32_t>(random() % 30) : 0;
            facade::Simulation sim(1);
            const std::string pffc = "ns3::pffc::Pffc";
            sim.SetAttribute(pffc, "Peqs", std::to_string(1 + random() % 7));
            const int64_t xoff =
                2000 + static_cast<int64_t>(random() % (round % 2 ? 5000 : 40'000));
            sim.SetAttribute(pffc, "FbuXoff", std::to_string(xoff));
            sim.SetAttribute(pffc, "FbuXon", std::to_string(1 + random() % xoff));
            sim.SetAttribute(pffc, "Assignment", random() % 2 ? "Hash" : "FewestFlows");
            sim.SetAttribute(pffc, "PbuScope", random() % 2 ? "PerPeq" : "PerIngressPort");
            const bool pbu = random() % 2;
            const int64_t pbuXoff = pbu ? 3000 + static_cast<int64_t>(random() % 100'000) : 0;
            sim.SetAttribute(pffc, "PbuXoff", std::to_string(pbuXoff));
            sim.SetAttribute(pffc, "PbuXon", std::to_string(pbu ? 1 + random() % pbuXoff : 0));
            sim.SetAttribute(pffc, "Refresh", std::to_string(10 + random() % 100) + "us");
            sim.SetAttribute(pffc,
                             "RecirculationDelay",
                             std::to_string(random() % 2 * (random() % 5000)) + "ns");
            sim.SetAttribute("ns3::lossless::Port",
                             "QueueService",
                             random() % 2 ? "Fifo" : "RoundRobin");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "400000000");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "300000000");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "40"); // 3 and 5
            sim.SetAttribute("ns3::rdma::QueuePair", "Timeout", "1s");
            sim.AddFlowControl("ns3::pffc::tests::Gremlin");
            sim.AddFlowControl(pffc);
            // A random tree of switches: no cycles, so that nothing can deadlock.
            const uint32_t switches = 1 + random() % 5;
            const uint32_t hosts = 3 + random() % 8;
            std::vector<uint8_t> kinds(hosts, 0);
            kinds.insert(kinds.end(), switches, 1);
            std::string names;
            for (std::size_t i = 0; i < kinds.size(); ++i)
            {
                names.append("n").append(std::to_string(i)).append("\n");
            }
            sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
            const auto link = [&](uint32_t a, uint32_t b) {
                const uint64_t rate = (random() % 2 ? 10 : 25) * 1'000'000'000ULL;
                const auto delay = static_cast<int64_t>(random() % 2'000'000);
                sim.AddLinks(&a, &b, &rate, &delay, 1);
            };
            for (uint32_t i = 1; i < switches; ++i)
            {
                link(hosts + i, hosts + random() % i);
            }
            for (uint32_t host = 0; host < hosts; ++host)
            {
                link(host, hosts + (host < switches ? host : random() % switches));
            }
            // More switches than hosts may leave a switch without any: it still forwards.
            const uint32_t flows = 5 + random() % 40;
            for (uint32_t i = 0; i < flows; ++i)
            {
                const uint32_t src = random() % hosts;
                const uint32_t dst =
                    (src + 1 + (random() % 3 ? 0 : random() % (hosts - 1))) % hosts;
                const uint64_t bytes = 500 + random() % (random() % 2 ? 20'000 : 300'000);
                const auto start = static_cast<int64_t>(random() % 200'000'000);
                const int64_t never = -1;
                const uint8_t cls = random() % 4 ? 3 : 5;
                const uint64_t none = 0;
                const uint64_t window = random() % 3 ? 0 : 5000;
                sim.AddFlows(&src, &dst, &bytes, &start, &never, &cls, &none, &window, 1);
            }
            for (uint32_t host = 0; host < hosts; ++host)
            {
                if (random() % 3)
                {
                    sim.SetReceiveRate(host, 500'000'000 + random() % 5'000'000'000, 0);
                }
            }
            sim.Build();
            NS_TEST_ASSERT_MSG_EQ(sim.Check(), "", "possible, round " << round);
            RunUntilDone(sim, flows);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost, round " << round);
            const auto numbers = sim.GetSummary();
            std::map<std::string, double> summary(numbers.begin(), numbers.end());
            NS_TEST_ASSERT_MSG_EQ(summary["flows_unfinished"], 0, "all finish, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary["reordered_frames"], 0, "order, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary["retransmitted_bytes"],
                                  0,
                                  "none sent twice, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary["pffc_tracked_flows"],
                                  0,
                                  "no flow left, round " << round);
            migrated += summary["pffc_flows_migrated"];
            shared += summary["pffc_flows_sharing_a_peq"];
            overtaken += summary["pffc_frames_overtaken"];
            expired += summary["pffc_states_expired"];
        }
        Gremlin::g_lose = 0;
        Gremlin::g_delay = 0;
        NS_TEST_ASSERT_MSG_GT(migrated, Draws(10'000), "flows were migrated");
        NS_TEST_ASSERT_MSG_GT(shared, Draws(500), "PEQs were shared");
        NS_TEST_ASSERT_MSG_GT(overtaken, Draws(500), "control frames were overtaken");
        NS_TEST_ASSERT_MSG_GT(expired, Draws(5), "states were forgotten");
    }
};

/// A star whose hub has all the buffer in the world: host 0 receives at a rate of its own.
/// @param sim the run. @param senders hosts beside host 0. @param rate of the links (bit/s)
/// @param drain rate of host 0 (bit/s) @param xoff of the buffer (B).
void
MakeStar(facade::Simulation& sim,
         uint32_t senders,
         uint64_t rate,
         uint64_t drain,
         int64_t xoff = 900'000'000)
{
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Size", "1000000000");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", std::to_string(xoff));
    std::vector<uint8_t> kinds(senders + 1, 0);
    kinds.push_back(1);
    std::string names;
    for (std::size_t i = 0; i < kinds.size(); ++i)
    {
        names.append("n").append(std::to_string(i)).append("\n");
    }
    sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    for (uint32_t host = 0; host <= senders; ++host)
    {
        const uint32_t hub = senders + 1;
        const int64_t delay = 1'000'000;
        sim.AddLinks(&host, &hub, &rate, &delay, 1);
    }
    if (drain)
    {
        sim.SetReceiveRate(0, drain, 0);
    }
}

/// Add a flow of class 3.
/// @param sim the run. @param src source. @param dst destination. @param bytes size; 0: endless.
/// @param window bytes in flight; 0: any.
void
AddFlow(facade::Simulation& sim, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t window = 0)
{
    const int64_t start = 0;
    const int64_t never = -1;
    const uint8_t cls = 3;
    const uint64_t none = 0;
    sim.AddFlows(&src, &dst, &bytes, &start, &never, &cls, &none, &window, 1);
}

/// @ingroup pffc-tests
/// @brief 100,000 flows at once in one switch.
class ManyFlowsTest : public TestCase
{
  public:
    ManyFlowsTest()
        : TestCase("100,000 flows at once in a switch, fewer with sanitizers: state is bounded and "
                   "leaves with the bytes")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t SENDERS = 100;
        constexpr uint32_t AT_ONCE = Draws(100'000);
        constexpr uint32_t FLOWS = AT_ONCE + 1500;
        facade::Simulation sim(1);
        sim.AddFlowControl("ns3::pffc::Pffc");
        MakeStar(sim, SENDERS, 100'000'000'000, 0);
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            AddFlow(sim, 1 + flow % SENDERS, 0, 1000);
        }
        sim.Build();
        RunUntilDone(sim, FLOWS);
        NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost");
        const auto numbers = sim.GetSummary();
        std::map<std::string, double> summary(numbers.begin(), numbers.end());
        NS_TEST_ASSERT_MSG_EQ(summary["flows_unfinished"], 0, "all finished");
        NS_TEST_ASSERT_MSG_EQ(summary["reordered_frames"], 0, "in order");
        NS_TEST_ASSERT_MSG_GT(summary["pffc_peak_tracked_flows"], AT_ONCE, "so many at once");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(summary["pffc_peak_tracked_flows"], FLOWS, "no more");
        NS_TEST_ASSERT_MSG_EQ(summary["pffc_tracked_flows"], 0, "all entries have left");
        // 32 B a slot, at most three quarters full, doubled when full.
        NS_TEST_ASSERT_MSG_LT_OR_EQ(summary["pffc_peak_state_bytes"],
                                    32 * FLOWS * 8.0 / 3,
                                    "memory");
    }
};

/// @ingroup pffc-tests
/// @brief How many bytes of a flow come after its Xoff.
class HeadroomTest : public TestCase
{
  public:
    HeadroomTest()
        : TestCase("a flow holds at most Xoff + headroom, and nearly that much")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(41);
        double largest = 0;
        for (int round = 0; round < 40; ++round)
        {
            facade::Simulation sim(1);
            sim.AddFlowControl("ns3::pffc::Pffc");
            sim.SetAttribute("ns3::pffc::Pffc", "FbuXoff", "100000");
            sim.SetAttribute("ns3::pffc::Pffc", "FbuXon", "50000");
            const int64_t payload =
                static_cast<int64_t>(random() % 2 ? 1452 : 200 + random() % 4000);
            sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", std::to_string(payload));
            sim.SetAttribute("ns3::lossless::Port",
                             "ControlDelay",
                             std::to_string(random() % 3 * (random() % 4000)) + "ns");
            sim.SetAttribute("ns3::lossless::Port", "Overhead", std::to_string(random() % 2 * 20));
            // So many senders that a flow hardly drains; frames the other way make PAUSE wait.
            const uint32_t senders = 8 + random() % 25;
            MakeStar(sim, 2 * senders, round % 2 ? 10'000'000'000 : 100'000'000'000, 0);
            for (uint32_t host = 1; host <= senders; ++host)
            {
                AddFlow(sim, host, 0, 0);
                AddFlow(sim, senders + host, host, 0);
            }
            sim.Build();
            sim.Run((round % 2 ? 200'000'000 : 20'000'000) +
                    static_cast<int64_t>(random() % 20'000'000));
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost");
            const auto numbers = sim.GetSummary();
            std::map<std::string, double> summary(numbers.begin(), numbers.end());
            const double over = summary["pffc_peak_flow_bytes"] - 100'000;
            NS_TEST_ASSERT_MSG_GT(over, 0, "Xoff was passed, round " << round);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(over,
                                        summary["pffc_flow_headroom_bytes"],
                                        "closed form, round " << round);
            largest = std::max(largest, over / summary["pffc_flow_headroom_bytes"]);
        }
        NS_TEST_ASSERT_MSG_GT(largest, 0.85, "the closed form is not idle");
    }
};

/// @ingroup pffc-tests
/// @brief A host with a flow that is held back still sends the others; a link that fails leaves
/// nothing behind.
class HostTest : public TestCase
{
  public:
    HostTest()
        : TestCase("a host sends its other flows at full rate while one is paused; flows that "
                   "share a PEQ take turns; a failed link leaves nothing behind")
    {
    }

  private:
    void DoRun() override
    {
        // Flow 0 goes to a receiver that takes 100 Mb/s, flow 1 to an idle one, from one host.
        for (const std::string scheme : {"ns3::pffc::Pffc", "ns3::pfc::Pfc"})
        {
            facade::Simulation sim(1);
            sim.AddFlowControl(scheme);
            const bool pfc = scheme == "ns3::pfc::Pfc";
            MakeStar(sim, 2, 10'000'000'000, 100'000'000, pfc ? 100'000 : 900'000'000);
            AddFlow(sim, 1, 0, 0);
            AddFlow(sim, 1, 2, 0);
            sim.Build();
            sim.Run(10'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost");
            const auto* delivered = Delivered(sim);
            // 10 ms at 10 Gb/s, less the slow flow and preambles, gaps and headers.
            const double goodput = static_cast<double>(delivered[1]) / 12.5e6;
            const double expected = 0.99 * 1000 / 1068;
            if (pfc)
            {
                NS_TEST_ASSERT_MSG_LT(goodput, 0.1, "PFC stops both");
            }
            else
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(goodput, expected, 0.02, "the other flow under PFFC");
            }
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(delivered[0]),
                                      125e3 * 1000 / 1048,
                                      10e3,
                                      "the slow receiver is busy all the time");
        }

        // Five endless flows of one host to one slow receiver, one PEQ: none is forgotten.
        {
            facade::Simulation sim(1);
            sim.AddFlowControl("ns3::pffc::Pffc");
            sim.SetAttribute("ns3::pffc::Pffc", "Peqs", "1");
            MakeStar(sim, 2, 10'000'000'000, 1'000'000'000);
            for (int flow = 0; flow < 5; ++flow)
            {
                AddFlow(sim, 1, 0, 0);
            }
            AddFlow(sim, 1, 2, 0);
            sim.Build();
            sim.Run(40'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "nothing lost");
            const auto* shared = Delivered(sim);
            for (int flow = 0; flow < 5; ++flow)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(shared[flow]),
                                          5e6 / 5 * 1000 / 1048,
                                          150e3,
                                          "a fifth each, flow " << flow);
            }
            NS_TEST_ASSERT_MSG_GT(shared[5], 40e6, "and the sixth the rest");
        }

        for (int round = 0; round < 20; ++round)
        {
            facade::Simulation failing(1);
            failing.AddFlowControl("ns3::pffc::Pffc");
            failing.SetAttribute("ns3::pffc::Pffc", "Peqs", std::to_string(1 + round % 7));
            failing.SetAttribute("ns3::rdma::QueuePair", "Timeout", "200us");
            failing.SetAllowLoss(true);
            failing.SetStopWhenDone(true);
            MakeStar(failing, 3, 10'000'000'000, 2'000'000'000);
            for (uint32_t host = 1; host <= 3; ++host)
            {
                AddFlow(failing, host, 0, 400'000);
                AddFlow(failing, host, 1 + host % 3, 300'000);
            }
            failing.FailLink(round % 4, 50'000'000 + round * 30'000'000, 900'000'000);
            failing.Build();
            failing.Run(300'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(failing.Finish(), "", "frames are conserved, round " << round);
            const auto numbers = failing.GetSummary();
            std::map<std::string, double> summary(numbers.begin(), numbers.end());
            NS_TEST_ASSERT_MSG_GT(summary["dropped_frames"], 0, "the failure hit something");
            NS_TEST_ASSERT_MSG_EQ(summary["flows_unfinished"], 0, "all finish, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary["reordered_frames"], 0, "in order, round " << round);
        }
    }

    /// Delivered bytes by flow. @param sim the run, finished. @return column of the table of flows.
    static const int64_t* Delivered(const facade::Simulation& sim)
    {
        for (uint32_t column = 0; column < sim.GetNColumns(0); ++column)
        {
            if (sim.GetColumnName(0, column) == "delivered_bytes")
            {
                return reinterpret_cast<const int64_t*>(sim.GetColumnData(0, column));
            }
        }
        return nullptr;
    }
};

/// @ingroup pffc-tests
/// @brief Tests of Pffc.
class FlowControlTestSuite : public TestSuite
{
  public:
    FlowControlTestSuite()
        : TestSuite("pffc-flow-control", Type::UNIT)
    {
        AddTestCase(new ReceiverTest, TestCase::Duration::QUICK);
        AddTestCase(new PbuTest, TestCase::Duration::QUICK);
        AddTestCase(new NetworkTest, TestCase::Duration::QUICK);
        AddTestCase(new ManyFlowsTest, TestCase::Duration::QUICK);
        AddTestCase(new HeadroomTest, TestCase::Duration::QUICK);
        AddTestCase(new HostTest, TestCase::Duration::QUICK);
    }
};

static FlowControlTestSuite g_flowControlTestSuite; //!< registers the suite

} // namespace tests
} // namespace pffc
} // namespace ns3
