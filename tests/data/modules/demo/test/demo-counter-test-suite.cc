/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/demo-counter.h"
#include "ns3/test.h"

namespace ns3
{
namespace demo
{
namespace tests
{

/// Two steps of one.
class CountTestCase : public TestCase
{
  public:
    CountTestCase()
        : TestCase("Two steps of one")
    {
    }

  private:
    void DoRun() override
    {
        auto counter = CreateObject<Counter>();
        counter->Next();
        NS_TEST_ASSERT_MSG_EQ(counter->Next(), 2, "two steps of one end at two");
    }
};

/// The suite of Counter.
class CounterTestSuite : public TestSuite
{
  public:
    CounterTestSuite()
        : TestSuite("demo-counter", Type::UNIT)
    {
        AddTestCase(new CountTestCase, Duration::QUICK);
    }
};

static CounterTestSuite g_counterTestSuite; //!< registers the suite

} // namespace tests
} // namespace demo
} // namespace ns3
