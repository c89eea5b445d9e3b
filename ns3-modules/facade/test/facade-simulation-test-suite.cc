/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "facade-test-network.h"

#include "ns3/facade-simulation.h"
#include "ns3/global-value.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-flow-control.h"
#include "ns3/lossless-port.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>

/**
 * @file
 * @ingroup facade-tests
 * Random fabrics, and Simulation's reports on types, configurations and runs.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::tests::Draws;

/// @ingroup facade-tests
/// @brief A flow control that does nothing but check that it is called in order.
class OrderProbe : public lossless::FlowControl,
                   public lossless::ByteObserver,
                   public lossless::XoffListener,
                   public lossless::QueueSelector,
                   public lossless::Gate,
                   public lossless::SentListener
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::OrderProbe")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<OrderProbe>();
        return tid;
    }

    void Start() override
    {
        Expect(!m_started && m_port, "started once, tied to a port");
        m_started = true;
        m_stamp = lossless::FramePool::ReserveSchemeBytes("order-probe", 1);
    }

    void NotifyReceived(lossless::Frame& frame, int64_t queueBytes) override
    {
        m_held[frame.cls] += frame.bytes;
        Expect(m_started && queueBytes == m_held[frame.cls], "bytes after an arrival");
        frame.scheme[m_stamp] = StampOf(frame.flow);
    }

    void NotifyReleased(const lossless::Departure& departure, int64_t queueBytes) override
    {
        int64_t& held = m_held[departure.cls];
        held -= departure.bytes;
        Expect(held >= 0 && queueBytes == held, "bytes after a departure");
        Expect(departure.scheme[m_stamp] == StampOf(departure.flow), "its bytes leave, too");
    }

    void NotifyXoff(uint8_t cls, bool xoff) override
    {
        Expect(xoff != m_off[cls], "OFF and ON take turns");
        Expect(!xoff || m_held[cls] > 0, "a queue that turns OFF holds something");
        m_off[cls] = xoff;
    }

    uint16_t GetOwnQueues() const override
    {
        return 0;
    }

    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const override
    {
        Expect(m_started && queue == frame.cls, "the queue of the class is offered");
        return queue;
    }

    void NotifyJoined(uint16_t queue, lossless::Frame& frame) override
    {
        Expect(queue == frame.cls && frame.queued == lossless::NowPs(),
               "notified when it has joined");
        ++m_queued;
    }

    int64_t GetEarliest(uint16_t queue, const lossless::Frame& head, int64_t now) const override
    {
        Expect(head.cls == queue && now == lossless::NowPs(), "asked for the head of a queue, now");
        m_asked = &head;
        return now;
    }

    void NotifySent(uint16_t queue, lossless::Frame& frame, int64_t now) override
    {
        Expect(now == lossless::NowPs() && frame.cls == queue, "notified when it leaves");
        Expect(m_port->IsUp() && !m_port->IsPaused(frame.cls), "nothing goes from a paused class");
        Expect(m_asked != nullptr, "asked before");
        Expect(m_queued > 0, "a frame that goes was queued");
        --m_queued;
    }

    static uint64_t g_violations; //!< calls out of order
    static uint64_t g_calls;      //!< calls

  private:
    static uint8_t StampOf(uint32_t flow)
    {
        return static_cast<uint8_t>(1 + flow % 255);
    }

    static void Expect(bool condition, const char* /* rule */)
    {
        ++g_calls;
        g_violations += !condition;
    }

    std::array<int64_t, lossless::N_CLASSES> m_held{}; //!< ingress bytes
    std::array<bool, lossless::N_CLASSES> m_off{};     //!< OFF
    mutable const lossless::Frame* m_asked{nullptr};   //!< last head asked for
    uint64_t m_queued{0};                              //!< frames in the egress queues
    uint32_t m_stamp{0};                               //!< of its byte in Frame::scheme
    bool m_started{false};                             //!< Start was called
};

uint64_t OrderProbe::g_violations = 0;
uint64_t OrderProbe::g_calls = 0;
NS_OBJECT_ENSURE_REGISTERED(OrderProbe);

/// @ingroup facade-tests
/// @brief Random fabrics: nothing lossless is lost at automatic headroom, frames are conserved,
/// runs repeat exactly.
class RandomFabricTest : public TestCase
{
  public:
    RandomFabricTest()
        : TestCase("random fabrics lose nothing at automatic headroom, conserve frames and repeat "
                   "exactly")
    {
    }

  private:
    /// Make a random connected fabric with random traffic and run it.
    /// @param seed of everything. @return finish times, delivered bytes and the number of events.
    std::vector<int64_t> RunOnce(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const uint32_t switches = 1 + random() % 5;
        const uint32_t hosts = 2 + random() % 8;
        const uint64_t rates[] = {10'000'000'000, 25'000'000'000, 33'333'333'333, 100'000'000'000};
        Network net(seed);
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Size",
                             std::to_string(2'000'000 + random() % 4'000'000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "LosslessClasses", "24");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Threshold",
                             random() % 2 ? "Static" : "Dynamic");
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Xoff",
                             std::to_string(2000 + random() % 60'000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", std::to_string(random() % 2000));
        net.sim.SetAttribute("ns3::lossless::SharedBuffer",
                             "Alpha",
                             random() % 2 ? "0.0078125" : "0.5");
        net.sim.SetAttribute("ns3::lossless::Port",
                             "ControlDelay",
                             std::to_string(random() % 2000) + "ns");
        net.sim.SetAttribute("ns3::lossless::Port",
                             "QueueService",
                             random() % 2 ? "Fifo" : "RoundRobin");
        const char* const services[] = {"Strict", "Dwrr", "Fifo"};
        net.sim.SetAttribute("ns3::lossless::Port", "ClassService", services[random() % 3]);
        net.sim.SetAttribute("ns3::lossless::Port", "ReleaseAt", random() % 2 ? "End" : "Start");
        net.sim.SetAttribute("ns3::pfc::Pfc", "Mode", random() % 2 ? "Timer" : "OnOff");
        net.sim.SetAttribute("ns3::rdma::QueuePair", "AnswerClass", random() % 2 ? "8" : "4");
        net.sim.AddFlowControl("ns3::facade::tests::OrderProbe");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Nodes(hosts, switches);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            net.Link(host,
                     hosts + random() % switches,
                     rates[random() % 4],
                     1000 * static_cast<int64_t>(random() % 3000));
        }
        for (uint32_t s = 1; s < switches; ++s)
        {
            net.Link(hosts + s,
                     hosts + random() % s,
                     rates[random() % 4],
                     1000 * static_cast<int64_t>(random() % 3000));
        }
        for (uint32_t flow = 0; flow < 3 * hosts; ++flow)
        {
            const uint32_t src = random() % hosts;
            const uint32_t dst = (src + 1 + random() % (hosts - 1)) % hosts;
            net.Flow(src,
                     dst,
                     1 + random() % 200'000,
                     static_cast<int64_t>(random() % 50'000'000),
                     3 + random() % 2);
        }
        if (random() % 3 == 0)
        {
            net.sim.SetReceiveRate(random() % hosts, 3'000'000'000, 0);
        }
        net.sim.Build();
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", "the configuration is possible, seed " << seed);
        net.sim.Run(20'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(),
                              "",
                              "nothing is lost and frames are conserved, seed " << seed);
        NS_TEST_EXPECT_MSG_EQ(net.Number("flows_unfinished"),
                              0,
                              "a tree cannot deadlock, seed " << seed);
        auto outcome = net.Column("flow", "finish_ps");
        const auto ideal = net.Column("flow", "ideal_ps");
        const auto start = net.Column("flow", "start_ps");
        for (std::size_t i = 0; i < ideal.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(outcome[i] - start[i],
                                        ideal[i],
                                        "no flow beats the ideal, seed " << seed);
        }
        outcome.push_back(static_cast<int64_t>(net.sim.GetEventCount()));
        return outcome;
    }

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= Draws(150); ++seed)
        {
            const auto first = RunOnce(seed);
            if (seed % 10 == 0)
            {
                NS_TEST_ASSERT_MSG_EQ((RunOnce(seed) == first),
                                      true,
                                      "the same seed gives the same run, seed " << seed);
            }
        }
        NS_TEST_ASSERT_MSG_GT(OrderProbe::g_calls, 100'000, "the probe was called");
        NS_TEST_ASSERT_MSG_EQ(OrderProbe::g_violations,
                              0,
                              "no flow control was called out of order");
    }
};

/// A JSON value, as far as a description needs it.
struct JsonValue
{
    std::string text;                         //!< of a string, or the word true or false
    bool isString{false};                     //!< it is a string
    std::vector<JsonValue> items;             //!< of a list
    std::map<std::string, JsonValue> members; //!< of an object
};

/// @ingroup facade-tests
/// @brief Reads JSON by RFC 8259, except numbers, null and escapes of code points, which do not
/// occur in a description.
class JsonReader
{
  public:
    /// Read. @param text all of it
    explicit JsonReader(const std::string& text)
        : m_text(text)
    {
        m_value = Value();
        Space();
        Expect(m_at == m_text.size());
    }

    JsonValue m_value;     //!< what was read
    std::string m_problem; //!< where it is not JSON; empty when it is

  private:
    void Expect(bool condition)
    {
        if (!condition && m_problem.empty())
        {
            m_problem = "at " + std::to_string(m_at) + ": " + m_text.substr(m_at, 40);
        }
    }

    char Peek() const
    {
        return m_at < m_text.size() && m_problem.empty() ? m_text[m_at] : '\0';
    }

    void Space()
    {
        while (Peek() == ' ' || Peek() == '\n')
        {
            ++m_at;
        }
    }

    bool Take(char c)
    {
        Space();
        const bool is = Peek() == c;
        m_at += is;
        return is;
    }

    std::string String()
    {
        Expect(Take('"'));
        std::string out;
        while (Peek() != '"' && Peek() != '\0')
        {
            Expect(static_cast<unsigned char>(Peek()) >= 0x20);
            if (Peek() == '\\')
            {
                ++m_at;
                const std::string from = "\"\\/bfnrt";
                const std::size_t which = from.find(Peek());
                Expect(which != std::string::npos);
                out.push_back("\"\\/\b\f\n\r\t"[which % 8]);
            }
            else
            {
                out.push_back(Peek());
            }
            ++m_at;
        }
        Expect(Take('"'));
        return out;
    }

    JsonValue Value()
    {
        JsonValue value;
        Space();
        if (Peek() == '"')
        {
            value.isString = true;
            value.text = String();
        }
        else if (Take('['))
        {
            while (!Take(']') && m_problem.empty())
            {
                Expect(value.items.empty() || Take(','));
                value.items.push_back(Value());
            }
        }
        else if (Take('{'))
        {
            while (!Take('}') && m_problem.empty())
            {
                Expect(value.members.empty() || Take(','));
                Space();
                const std::string name = String();
                Expect(Take(':'));
                Expect(value.members.count(name) == 0);
                value.members[name] = Value();
            }
        }
        else
        {
            while (Peek() >= 'a' && Peek() <= 'z')
            {
                value.text.push_back(m_text[m_at++]);
            }
            Expect(value.text == "true" || value.text == "false");
        }
        return value;
    }

    const std::string& m_text; //!< what is read
    std::size_t m_at{0};       //!< next character
};

/// @ingroup facade-tests
/// @brief The description of the types is JSON, with everything that ns-3 knows about each
/// attribute.
class DescribeTest : public TestCase
{
  public:
    DescribeTest()
        : TestCase("types of the requested groups are described in JSON, with every attribute as "
                   "ns-3 knows it")
    {
    }

  private:
    void DoRun() override
    {
        const std::string text = Simulation::Describe("lossless,pfc,rdma");
        const JsonReader reader(text);
        NS_TEST_ASSERT_MSG_EQ(reader.m_problem, "", "it is JSON");
        std::map<std::string, JsonValue> types;
        for (const JsonValue& type : reader.m_value.items)
        {
            types[type.members.at("name").text] = type;
        }
        uint32_t wanted = 0;
        for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
        {
            const TypeId tid = TypeId::GetRegistered(i);
            const std::string group = tid.GetGroupName();
            if (group != "lossless" && group != "pfc" && group != "rdma")
            {
                continue;
            }
            ++wanted;
            NS_TEST_ASSERT_MSG_EQ(types.count(tid.GetName()), 1, tid.GetName() << " is described");
            const JsonValue& type = types[tid.GetName()];
            NS_TEST_ASSERT_MSG_EQ(type.members.at("parent").text, tid.GetParent().GetName(), "");
            NS_TEST_ASSERT_MSG_EQ(type.members.at("abstract").text,
                                  (tid.HasConstructor() ? "false" : "true"),
                                  tid.GetName());
            NS_TEST_ASSERT_MSG_EQ(type.members.at("traces").items.size(),
                                  tid.GetTraceSourceN(),
                                  tid.GetName());
            const auto& attributes = type.members.at("attributes").items;
            std::vector<TypeId::AttributeInformation> infos; // except those that cannot be set
            for (std::size_t a = 0; a < tid.GetAttributeN(); ++a)
            {
                if (tid.GetAttribute(a).flags & TypeId::ATTR_SET)
                {
                    infos.push_back(tid.GetAttribute(a));
                }
            }
            NS_TEST_ASSERT_MSG_EQ(attributes.size(), infos.size(), tid.GetName());
            for (std::size_t a = 0; a < infos.size(); ++a)
            {
                const auto& info = infos[a];
                const auto& members = attributes[a].members;
                const std::string what = tid.GetName() + " " + info.name;
                NS_TEST_ASSERT_MSG_EQ(members.at("name").text, info.name, what);
                NS_TEST_ASSERT_MSG_EQ(members.at("help").text, info.help, what);
                NS_TEST_ASSERT_MSG_EQ(members.at("default").text,
                                      info.initialValue->SerializeToString(info.checker),
                                      what);
                // A user who writes the default must get the default.
                const StringValue written(members.at("default").text);
                NS_TEST_ASSERT_MSG_EQ(bool(info.checker->CreateValidValue(written)),
                                      true,
                                      what << ": the default is allowed");
                NS_TEST_ASSERT_MSG_EQ(members.at("type").text.find('<'), std::string::npos, what);
                NS_TEST_ASSERT_MSG_NE(members.at("help").text, "", what << " has a help text");
            }
        }
        NS_TEST_ASSERT_MSG_EQ(types.size(), wanted, "no type of another group");
        // Written down here by hand, so that an attribute that disappears is missed.
        std::map<std::string, std::string> pfc;
        for (const JsonValue& attribute : types["ns3::pfc::Pfc"].members.at("attributes").items)
        {
            pfc[attribute.members.at("name").text] = attribute.members.at("type").text + " " +
                                                     attribute.members.at("default").text + " " +
                                                     attribute.members.at("allowed").text;
        }
        const std::map<std::string, std::string> expected = {
            {"Mode", "ns3::EnumValue Timer Timer|OnOff"},
            {"PauseQuanta", "ns3::UintegerValue 65535 uint32_t 1:65535"},
            {"RefreshAt", "ns3::DoubleValue 0.5 double 0.01:1"}};
        for (const auto& [name, description] : expected)
        {
            NS_TEST_ASSERT_MSG_EQ(pfc[name], description, "Pfc " << name);
        }
        NS_TEST_ASSERT_MSG_EQ(pfc.size(), expected.size(), "attributes of Pfc");
        NS_TEST_ASSERT_MSG_EQ(Simulation::Describe("nothing"), "[]", "an empty list is one too");
    }
};

/// Types that had another name are found by it, and can be set by it.
class OldNamesTest : public TestCase
{
  public:
    OldNamesTest()
        : TestCase("an old name means the type that has another name now")
    {
    }

  private:
    void DoRun() override
    {
        Network net;
        const std::string text = Simulation::Describe("deadlock,observe,pfc");
        const JsonReader reader(text);
        uint32_t renamed = 0;
        for (const JsonValue& type : reader.m_value.items)
        {
            const std::string was = type.members.at("was").text;
            TypeId found;
            if (was.empty())
            {
                continue;
            }
            ++renamed;
            NS_TEST_ASSERT_MSG_EQ(TypeId::LookupByNameFailSafe(was, &found), true, was);
            NS_TEST_ASSERT_MSG_EQ(found.GetName(), type.members.at("name").text, was);
        }
        NS_TEST_ASSERT_MSG_EQ(renamed, 20, "counted by hand");
        net.sim.AddFlowControl("ns3::lossless::Pfc");
        net.sim.SetAttribute("ns3::lossless::Pfc", "PauseQuanta", "5");
        net.Star(2, GBPS, US);
        net.sim.SetNodeAttribute(1, "ns3::lossless::Pfc", "PauseQuanta", "6");
        net.sim.Build();
        for (const uint32_t host : {0U, 1U})
        {
            const auto& chain = net.sim.GetFabric().GetNode(host).GetPort(0).GetChain();
            UintegerValue quanta;
            chain.GetMembers().front()->GetAttribute("PauseQuanta", quanta);
            NS_TEST_ASSERT_MSG_EQ(quanta.Get(), 5 + host, "it is there, with the value");
        }
    }
};

/// @ingroup facade-tests
/// @brief Configurations that cannot be what they claim.
class CheckTest : public TestCase
{
  public:
    CheckTest()
        : TestCase("an over-committed buffer, headroom below eta', XON above XOFF and unreachable "
                   "hosts are refused, at the byte where they begin")
    {
    }

  private:
    static constexpr uint64_t RATE = 25'000'000'000;
    static constexpr int64_t DELAY = 1'500'000;
    static constexpr int64_t CONTROL_DELAY = 2'000'000;

    /// eta' = 2 (C D + L_wire) + max(3840 B, C x control delay) + control frame + L, worked out by
    /// hand: 2 (4687.5 + 1068) + 6250 + 84 + 1048, C D rounded up.
    static constexpr int64_t ETA = 2 * (4688 + 1068) + 6250 + 84 + 1048;

    /// A star of four hosts.
    /// @param attributes of the SharedBuffer. @param allowLoss allow loss. @return what Check says.
    static std::string Star(const std::map<std::string, int64_t>& attributes,
                            bool allowLoss = false)
    {
        Network net;
        net.Set("Port", "ControlDelay", std::to_string(CONTROL_DELAY) + "ps");
        net.Set("SharedBuffer", "LosslessClasses", 0x18);
        net.Set("SharedBuffer", "Threshold", "Static");
        for (const auto& [name, value] : attributes)
        {
            net.Set("SharedBuffer", name, value);
        }
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetAllowLoss(allowLoss);
        net.Star(4, RATE, DELAY);
        net.Flow(0, 1, 1000);
        net.sim.Build();
        return net.sim.Check();
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Star({{"Headroom", ETA}}), "", "eta' itself is enough");
        const std::string low = Star({{"Headroom", ETA - 1}});
        NS_TEST_ASSERT_MSG_NE(low.find("eta'"), std::string::npos, "a byte less is not");
        NS_TEST_ASSERT_MSG_NE(low.find(std::to_string(ETA) + " B"),
                              std::string::npos,
                              "the bound is named: " << low);
        NS_TEST_ASSERT_MSG_EQ(std::count(low.begin(), low.end(), '\n'), 8, "for eight ports");
        NS_TEST_ASSERT_MSG_EQ(Star({{"Headroom", ETA - 1}}, true), "", "unless loss is allowed");

        // The switch has four ports and two lossless classes.
        const int64_t need = 100'000 + 4 * 2 * (5000 + ETA);
        const std::map<std::string, int64_t> tight = {{"LossyPool", 100'000}, {"Private", 5000}};
        auto with = tight;
        with["Size"] = need;
        NS_TEST_ASSERT_MSG_EQ(Star(with), "", "the buffer may be just enough");
        with["Size"] = need - 1;
        const std::string over = Star(with);
        NS_TEST_ASSERT_MSG_NE(over.find("over-committed"),
                              std::string::npos,
                              "a byte less: " << over);
        NS_TEST_ASSERT_MSG_NE(over.find("is 1 B less"), std::string::npos, "how much: " << over);
        NS_TEST_ASSERT_MSG_NE(Star(with, true).find("over-committed"),
                              std::string::npos,
                              "allowing loss does not make the buffer larger");

        // Nothing is paused, nothing promised: what the lossy pool leaves must take a frame.
        const auto least = [](int64_t shared, int64_t xoff) {
            Network net;
            net.Set("SharedBuffer", "Size", 1'000'000 + shared);
            net.Set("SharedBuffer", "Threshold", xoff ? "Static" : "Dynamic");
            net.Set("SharedBuffer", "Xoff", std::max<int64_t>(xoff, 1));
            net.Set("SharedBuffer", "Xon", 0);
            net.Star(2, RATE, DELAY);
            net.Flow(0, 1, 1000);
            net.sim.Build();
            return net.sim.Check();
        };
        NS_TEST_ASSERT_MSG_EQ(least(1048, 9000), "", "a frame of 1048 B just fits");
        NS_TEST_ASSERT_MSG_EQ(least(8 * 1048, 0), "", "alpha is 1/8");
        for (const auto& [shared, xoff] :
             {std::pair{0, 0}, {0, 9000}, {8 * 1048 - 1, 0}, {9000, 1047}})
        {
            NS_TEST_ASSERT_MSG_NE(
                least(shared, xoff).find("of lossless class 3, less than a frame of 1048 B"),
                std::string::npos,
                "every frame would be lost: " << least(shared, xoff));
        }

        NS_TEST_ASSERT_MSG_EQ(Star({{"Xoff", 1000}, {"Xon", 1000}}), "", "XON may equal XOFF");
        NS_TEST_ASSERT_MSG_NE(
            Star({{"Xoff", 1000}, {"Xon", 1001}}).find("Xon 1001 B is above Xoff"),
            std::string::npos,
            "XON above XOFF");

        Network net;
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Nodes(3, 2);
        net.Link(0, 3, RATE, DELAY);
        net.Link(1, 3, RATE, DELAY);
        net.Link(2, 4, RATE, DELAY);
        net.Flow(0, 2, 1000);
        net.Flow(0, 1, 1000);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(),
                              "flow 0: there is no path from h0 to h2\n",
                              "two islands, and nothing else is wrong");
    }
};

/// @ingroup facade-tests
/// @brief Pinned paths: good, bad, and in circles.
class PathTest : public TestCase
{
  public:
    PathTest()
        : TestCase("a pinned path is followed; a bad one is refused; one that circles ends when "
                   "the time to live does")
    {
    }

  private:
    /// Three switches in a triangle, host 0 on the first, host 1 on the last.
    struct Triangle : Network
    {
        Triangle()
        {
            Witness::Install(*this);
            Set("QueuePair", "Retransmit", "None");
        }

        /// Make it.
        void Wire()
        {
            Nodes(2, 3);
            Link(0, 2, 10'000'000'000, 1000);
            Link(1, 4, 10'000'000'000, 1000);
            Link(2, 3, 10'000'000'000, 1000);
            Link(3, 4, 10'000'000'000, 1000);
            Link(4, 2, 10'000'000'000, 1000);
            Flow(0, 1, 5000);
        }

        /// Pin flow 0. @param path nodes
        void Pin(const std::vector<uint32_t>& path)
        {
            sim.SetPath(0, path.data(), static_cast<uint32_t>(path.size()));
        }
    };

    /// Pin a path, build and check.
    /// @param path nodes. @param failed link that is down from the start; -1: none. @return what
    /// Check says.
    static std::string Problems(const std::vector<uint32_t>& path, int failed = -1)
    {
        Triangle net;
        net.Wire();
        if (failed >= 0)
        {
            net.sim.FailLink(static_cast<uint32_t>(failed), 0, -1);
        }
        net.Pin(path);
        net.sim.Build();
        return net.sim.Check();
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Problems({0, 2, 4, 1}), "", "the short way");
        NS_TEST_ASSERT_MSG_EQ(Problems({0, 2, 3, 4, 1}), "", "the long way");
        const std::vector<std::vector<uint32_t>> bad = {{0, 1},
                                                        {0, 2, 3, 1},
                                                        {1, 4, 2, 0},
                                                        {0, 2, 3},
                                                        {0, 2, 0, 2, 4, 1}};
        for (const auto& path : bad)
        {
            NS_TEST_ASSERT_MSG_NE(Problems(path).find("flow 0"),
                                  std::string::npos,
                                  "refused: a path of " << path.size() << " nodes");
        }
        NS_TEST_ASSERT_MSG_EQ(Problems({0, 2, 3, 4, 1}, 4), "", "a failed link that it avoids");
        NS_TEST_ASSERT_MSG_EQ(Problems({0, 2, 4, 1}, 4),
                              "flow 0: its fixed path contains a link that is down\n",
                              "a path into a link that is down from the start is refused");

        for (const int64_t ttl : {1, 2, 3, 4, 5, 6, 7, 64})
        {
            // Six switches in two rounds: 2 3 4 2 3 4.
            Triangle net;
            net.sim.SetAllowLoss(true);
            net.Set("QueuePair", "Ttl", ttl);
            net.Wire();
            net.Pin({0, 2, 3, 4, 2, 3, 4, 1});
            net.sim.Build();
            NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "a circle can be pinned");
            net.sim.Trace("drop", nullptr, nullptr, 0, 0xff, 0);
            net.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(net.Number("dropped_ttl_frames"),
                                  (ttl <= 6 ? 5 : 0),
                                  "frames dropped at a time to live of " << ttl);
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_finished"), (ttl <= 6 ? 0 : 1), "TTL " << ttl);
            for (const int64_t node : net.Column("drop", "node"))
            {
                NS_TEST_ASSERT_MSG_EQ(node, 2 + (ttl - 1) % 3, "by the switch that counts to 0");
            }
            for (const int64_t cause : net.Column("drop", "cause"))
            {
                NS_TEST_ASSERT_MSG_EQ(cause,
                                      static_cast<int64_t>(lossless::DropCause::TTL),
                                      "with the right cause");
            }
        }
        {
            Triangle net;
            net.Set("QueuePair", "Ttl", 3);
            net.Wire();
            net.Pin({0, 2, 3, 4, 2, 3, 4, 1});
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_NE(net.sim.Finish().find("time to live: 5"),
                                  std::string::npos,
                                  "a lossless frame lost to its TTL fails a run that allows none");
        }
    }
};

/// @ingroup facade-tests
/// @brief Runs in slices, early ends, and results that do not depend on when one looks.
class RunTest : public TestCase
{
  public:
    RunTest()
        : TestCase("a run in slices is the run in one, ends early when all is done and only then, "
                   "is closed once, and ideal times are those of the network as it was built")
    {
    }

  private:
    /// A 3-to-1 incast, run in slices.
    /// @param slice ps. @param stopWhenDone end early. @return the flow table, and the end of the
    /// run.
    std::vector<int64_t> RunOnce(int64_t slice, bool stopWhenDone)
    {
        Network net;
        net.Set("SharedBuffer", "Threshold", "Static");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetStopWhenDone(stopWhenDone);
        net.Star(4, 25'000'000'000, 1'000'000);
        for (const uint32_t src : {0U, 1U, 2U})
        {
            net.Flow(src, 3, 300'000, src * 10'000'000);
        }
        net.sim.Build();
        constexpr int64_t END = 1'000'000'000;
        bool more = true;
        for (int64_t until = slice; more && until <= END; until += slice)
        {
            more = net.sim.Run(until);
        }
        NS_TEST_EXPECT_MSG_EQ(more, !stopWhenDone, "Run says whether there is more");
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        auto outcome = net.Column("flow", "finish_ps");
        NS_TEST_EXPECT_MSG_EQ(
            net.sim.Now(),
            (stopWhenDone ? *std::max_element(outcome.begin(), outcome.end()) : END),
            "the end of the run");
        outcome.push_back(static_cast<int64_t>(net.Number("pauses_sent")));
        outcome.push_back(static_cast<int64_t>(net.Number("pause_time_ps")));
        return outcome;
    }

    /// One packet, which arrives at 2.16768 us, and nothing to do afterwards.
    struct OnePacket : Network
    {
        OnePacket()
        {
            Set("Port", "Overhead", 0);
            Set("QueuePair", "Retransmit", "None");
        }

        /// Make it. @param stopWhenDone end early
        void Make(bool stopWhenDone)
        {
            sim.SetStopWhenDone(stopWhenDone);
            Star(2, 100'000'000'000, 1'000'000);
            Flow(0, 1, 1000);
            sim.Build();
        }
    };

    /// What Run answers, and what time it is then.
    void EndsWhenTold()
    {
        constexpr int64_t ARRIVAL = 2'167'680;
        {
            OnePacket whole;
            whole.Make(false);
            for (const int64_t until : {ARRIVAL - 1, ARRIVAL, 10'000'000L, 1'000'000'000L})
            {
                NS_TEST_ASSERT_MSG_EQ(whole.sim.Run(until), true, "a run that nothing ends");
                NS_TEST_ASSERT_MSG_EQ(whole.sim.Now(), until, "goes on, though nothing happens");
            }
            NS_TEST_ASSERT_MSG_EQ(whole.sim.Run(5), true, "a time that has passed");
            NS_TEST_ASSERT_MSG_EQ(whole.sim.Now(), 1'000'000'000, "changes nothing");
        }
        for (const int64_t until : {ARRIVAL + 1, 1'000'000'000L})
        {
            OnePacket early;
            early.Make(true);
            NS_TEST_ASSERT_MSG_EQ(early.sim.Run(ARRIVAL), true, "what happens then is to come");
            for (int call = 0; call < 2; ++call)
            {
                NS_TEST_ASSERT_MSG_EQ(early.sim.Run(until), false, "all is done, " << until);
                NS_TEST_ASSERT_MSG_EQ(early.sim.Now(), ARRIVAL, "when the packet arrived");
            }
        }
    }

    /// Results are filled in by the first Finish only.
    void FinishesOnce()
    {
        Network net;
        net.Set("SharedBuffer", "Threshold", "Static");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Star(3, 25'000'000'000, 1'000'000);
        net.Flow(0, 2, 0);
        net.Flow(1, 2, 0);
        net.sim.AddPauseStorm(2, 3, 1'000'000, -1);
        net.sim.Build();
        net.sim.Trace("pause", nullptr, nullptr, 0, 0xff, 0);
        net.sim.Run(100'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        const auto pauses = net.Column("pause", "end_ps");
        NS_TEST_ASSERT_MSG_EQ(pauses.empty(), false, "pauses that the end has closed");
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "flow").size(), 2, "one row a flow");
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "the same answer");
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "flow").size(), 2, "and no row more");
        NS_TEST_ASSERT_MSG_EQ((net.Column("pause", "end_ps") == pauses), true, "no pause more");
    }

    void DoRun() override
    {
        EndsWhenTold();
        FinishesOnce();
        for (const bool stopWhenDone : {false, true})
        {
            const auto whole = RunOnce(1'000'000'000, stopWhenDone);
            for (const int64_t slice : {1'000'000, 12'500'000, 500'000'000})
            {
                NS_TEST_ASSERT_MSG_EQ((RunOnce(slice, stopWhenDone) == whole),
                                      true,
                                      "slices of " << slice << " ps");
            }
        }
        for (const int64_t down : {-1LL, 500'000'000LL})
        {
            // The link fails long after the flow has finished.
            Network net;
            net.sim.SetAllowLoss(true);
            net.Set("Port", "Overhead", 0);
            net.Star(2, 100'000'000'000, 1'000'000);
            net.Flow(0, 1, 1000);
            if (down > 0)
            {
                net.sim.FailLink(1, down, -1);
            }
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            net.sim.Finish();
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0], 2'167'680, "one packet");
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "ideal_ps")[0],
                                  2'167'680,
                                  "the ideal time is not that of the network at its end");
        }
    }
};

/// @ingroup facade-tests
/// @brief FlowSchedule: random flows and points that wait for each other.
class DependencyTest : public TestCase
{
  public:
    DependencyTest()
        : TestCase("a flow that waits for others starts at the latest of its own start and their "
                   "ends plus a delay, by way of points, too; circles are refused")
    {
    }

  private:
    static constexpr uint32_t POINT = 1U << 31; //!< numbers of points start here

    /// What waits for what, and how long (ps).
    struct Edge
    {
        uint32_t waiter; //!< flow or point
        uint32_t after;  //!< flow or point
        int64_t delay;   //!< ps
    };

    /// How many can never start. @param edges all. @param numbers of flows and points.
    static std::size_t CountStuck(const std::vector<Edge>& edges, std::set<uint32_t> numbers)
    {
        // whoever waits for none that is left may go
        while (std::erase_if(numbers, [&](uint32_t number) {
            return std::none_of(edges.begin(), edges.end(), [&](const Edge& edge) {
                return edge.waiter == number && numbers.contains(edge.after);
            });
        }))
        {
        }
        return numbers.size();
    }

    /// When all that a flow or point waits for is over. @param edges all. @param number its
    /// number. @param finish of the flows (ps).
    static int64_t ReadyAt(const std::vector<Edge>& edges,
                           uint32_t number,
                           const std::vector<int64_t>& finish)
    {
        int64_t ready = 0;
        for (const auto& [waiter, after, delay] : edges)
        {
            if (waiter == number)
            {
                const int64_t over = after & POINT ? ReadyAt(edges, after, finish) : finish[after];
                ready = std::max(ready, over + delay);
            }
        }
        return ready;
    }

    /// A random schedule. @param seed of everything. @return whether it has a circle.
    bool Try(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        Network net;
        net.sim.SetSimulator(seed % 2 ? "ns3::eventloop::EventLoop" : "ns3::eventloop::CellLoop");
        net.sim.SetStopWhenDone(true);
        net.Star(5, 100'000'000'000, 1'000'000);
        std::vector<int64_t> starts;
        std::vector<uint32_t> order; // each may wait for those before it
        for (uint64_t count = 2 + random() % 15; count > 0; --count)
        {
            const auto src = static_cast<uint32_t>(random() % 5);
            starts.push_back(static_cast<int64_t>(random() % 3 * random() % 20'000'000));
            order.push_back(
                net.Flow(src, (src + 1 + random() % 4) % 5, 1 + random() % 9000, starts.back()));
        }
        for (uint64_t point = random() % 5; point > 0; --point)
        {
            order.push_back(POINT + static_cast<uint32_t>(point) - 1);
        }
        std::shuffle(order.begin(), order.end(), random);
        std::vector<Edge> edges;
        std::vector<uint32_t> waiters;
        std::vector<uint32_t> others;
        std::vector<int64_t> delays;
        for (std::size_t i = 0; i < 2 * order.size(); ++i)
        {
            const bool any = seed % 4 == 0 && i == 0; // perhaps a circle
            const std::size_t waiter = 1 + random() % (order.size() - 1);
            waiters.push_back(order[waiter]);
            others.push_back(order[any ? random() % order.size() : random() % waiter]);
            delays.push_back(static_cast<int64_t>(random() % 5'000'000));
            edges.push_back({waiters.back(), others.back(), delays.back()});
        }
        net.sim.AddDependencies(waiters.data(),
                                others.data(),
                                delays.data(),
                                static_cast<uint32_t>(edges.size()));
        net.sim.Build();
        const std::size_t stuck = CountStuck(edges, {order.begin(), order.end()});
        const std::string problem = net.sim.Check();
        NS_TEST_EXPECT_MSG_EQ(problem.empty(), (stuck == 0), "a circle, seed " << seed);
        if (stuck > 0)
        {
            const std::string what = " and " + std::to_string(stuck - 1) + " more can never start";
            NS_TEST_EXPECT_MSG_NE(problem.find(what), std::string::npos, problem << seed);
            return true;
        }
        NS_TEST_EXPECT_MSG_EQ(net.sim.Run(1'000'000'000'000), false, "all have finished");
        net.sim.Finish();
        const auto started = net.Column("flow", "start_ps");
        const auto finish = net.Column("flow", "finish_ps");
        for (uint32_t flow = 0; flow < starts.size(); ++flow)
        {
            NS_TEST_EXPECT_MSG_EQ(started[flow],
                                  std::max(starts[flow], ReadyAt(edges, flow, finish)),
                                  "start of " << flow << ", seed " << seed);
        }
        return false;
    }

    void DoRun() override
    {
        int circles = 0;
        for (uint64_t seed = 0; seed < 200; ++seed)
        {
            circles += Try(seed);
        }
        NS_TEST_EXPECT_MSG_GT(circles, 10, "some are circles");
        Network net;
        net.Star(2, 100'000'000'000, 1'000'000);
        const uint32_t late = net.Flow(0, 1, 1'000'000);
        const uint32_t waits = net.Flow(1, 0, 1000);
        const int64_t delay = 0;
        net.sim.AddDependencies(&waits, &late, &delay, 1);
        net.sim.Build();
        net.sim.Run(10'000'000);
        net.sim.Finish();
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "start_ps")[waits], -1, "its start never came");
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "sent_bytes")[waits], 0, "nor a packet");
        NS_TEST_EXPECT_MSG_EQ(net.Number("flows_unfinished"), 2, "both are unfinished");
    }
};

/// @ingroup facade-tests
/// @brief What the command line chose is kept, or the conflict is named.
class CommandLineTest : public TestCase
{
  public:
    CommandLineTest()
        : TestCase("a seed and an event loop of the command line are not overridden in silence")
    {
    }

  private:
    /// What making a simulation, or building it, is refused with.
    /// @param seed of it. @return the sentence; empty if it is not refused.
    static std::string Refusal(uint64_t seed)
    {
        try
        {
            Network net(seed);
            net.Star(2, 10'000'000'000, 100'000);
            net.sim.Build();
        }
        catch (const std::logic_error& error)
        {
            return error.what();
        }
        return {};
    }

    void DoRun() override
    {
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(Refusal(1), "", "nothing was chosen");
        RngSeedManager::SetRun(7);
        const std::string run = Refusal(2);
        NS_TEST_EXPECT_MSG_NE(run.find("RngRun 7 before Simulation(2)"), std::string::npos, run);
        NS_TEST_EXPECT_MSG_EQ(Refusal(7), "", "the same");
        NS_TEST_EXPECT_MSG_EQ(Refusal(3), "", "another simulation after it");
        RngSeedManager::SetSeed(3);
        const std::string seed = Refusal(3);
        NS_TEST_EXPECT_MSG_NE(seed.find("RngSeed 3"), std::string::npos, seed);
        RngSeedManager::SetSeed(1);
        NS_TEST_EXPECT_MSG_NE(Refusal(0).find("cannot be 0"), std::string::npos, "seed 0");

        // an event loop that was chosen stays
        const std::string theirs = "ns3::DefaultSimulatorImpl";
        const std::string chosen = "ns3::RealtimeSimulatorImpl";
        const auto built = [](const std::string& asked) {
            Network net(1);
            if (!asked.empty())
            {
                net.sim.SetSimulator(asked);
            }
            net.Star(2, 10'000'000'000, 100'000);
            net.sim.Build();
            return Simulator::GetImplementation()->GetInstanceTypeId().GetName();
        };
        NS_TEST_EXPECT_MSG_EQ(built(""), "ns3::eventloop::CellLoop", "by default");
        NS_TEST_EXPECT_MSG_EQ(built(theirs), theirs, "asked for");
        StringValue global;
        GlobalValue::GetValueByName("SimulatorImplementationType", global);
        NS_TEST_EXPECT_MSG_EQ(global.Get(), theirs, "ns-3's default, untouched");
        GlobalValue::Bind("SimulatorImplementationType", StringValue(chosen));
        NS_TEST_EXPECT_MSG_EQ(built(""), chosen, "by the command line");
        NS_TEST_EXPECT_MSG_EQ(built(theirs), theirs, "asked for all the same");
        GlobalValue::Bind("SimulatorImplementationType", StringValue(theirs));
        // an event loop that runs already cannot be changed
        Simulator::Schedule(Seconds(1), [] {});
        const std::string late = Refusal(1);
        NS_TEST_EXPECT_MSG_NE(late.find("ns-3 is already running " + theirs),
                              std::string::npos,
                              late);
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ(Refusal(1), "", "as at first");
    }
};

/// @ingroup facade-tests
/// @brief An `off` of 2^63 - 1 ps is off for ever, and so is what starts then.
class EndOfTimeTest : public TestCase
{
  public:
    EndOfTimeTest()
        : TestCase("times near 2^63 ps do not wrap")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t END = std::numeric_limits<int64_t>::max();
        // 10 Gb/s, frames of 1048 + 20 B: 854.4 ns each. A burst of 10 us holds 12 of them.
        for (const std::string loop : {"ns3::eventloop::EventLoop", "ns3::DefaultSimulatorImpl"})
        {
            for (const int64_t off : {END, END - 10'000'000, END / 2, int64_t{1'000'000'000'000}})
            {
                Network net;
                net.sim.SetSimulator(loop);
                net.Star(3, 10'000'000'000, 100'000);
                net.Flow(0, 1, 0);
                net.sim.SetOnOff(0, 10'000'000, off);
                net.Flow(1, 2, 1000);
                net.Flow(1, 0, 1000);
                const uint32_t waits = 2;
                const uint32_t after = 1;
                net.sim.AddDependencies(&waits, &after, &off, 1);
                net.sim.Build();
                NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "possible");
                net.sim.Run(100'000'000'000);
                NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "conserved");
                NS_TEST_EXPECT_MSG_EQ(net.sim.GetDeliveredBytes(0),
                                      12'000,
                                      "one burst, off " << off);
                NS_TEST_EXPECT_MSG_EQ(net.sim.GetDeliveredBytes(2), 0, "not yet, delay " << off);
            }
        }
        {
            Network net; // the last packet of what takes longer than 2^63 ps has no time of its own
            net.Set("QueuePair", "PayloadSize", 9000);
            net.Star(2, 1'000, 100'000);
            net.Flow(0, 1, 0xffff'ffffULL * 9000);
            net.sim.SetAllowLoss(true);
            net.sim.Build();
            net.sim.Run(1'000);
            net.sim.Finish();
            NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "ideal_ps")[0], END, "the end of time");
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of Simulation and of what it puts together.
class SimulationTestSuite : public TestSuite
{
  public:
    SimulationTestSuite()
        : TestSuite("facade-simulation", Type::UNIT)
    {
        AddTestCase(new RandomFabricTest, TestCase::Duration::QUICK);
        AddTestCase(new DescribeTest, TestCase::Duration::QUICK);
        AddTestCase(new OldNamesTest, TestCase::Duration::QUICK);
        AddTestCase(new CheckTest, TestCase::Duration::QUICK);
        AddTestCase(new PathTest, TestCase::Duration::QUICK);
        AddTestCase(new RunTest, TestCase::Duration::QUICK);
        AddTestCase(new DependencyTest, TestCase::Duration::QUICK);
        AddTestCase(new CommandLineTest, TestCase::Duration::QUICK);
        AddTestCase(new EndOfTimeTest, TestCase::Duration::QUICK);
    }
};

static SimulationTestSuite g_simulationTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
