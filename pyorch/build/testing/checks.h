/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
// The checks of ns3/test.h with less code in each. ns-3 writes out three streams and a dozen
// strings wherever a test checks something, which took most of the time in which tests are
// compiled; here they are in one class. What is checked, what a failure says, and what follows
// from it are the same. The builder puts the #include of ns-3's own header in front of this.

#ifndef PYORCH_CHECKS_H
#define PYORCH_CHECKS_H

#include <sstream>

namespace pyorch
{

/// What a check that failed has to say.
class FailedCheck
{
  public:
    [[gnu::noinline]] FailedCheck()
    {
    }

    [[gnu::noinline]] ~FailedCheck()
    {
    }

    FailedCheck(const FailedCheck&) = delete;
    FailedCheck& operator=(const FailedCheck&) = delete;

    /**
     * Tell it to the test case.
     *
     * @param test the test case
     * @param condition what was checked
     * @param file the source of the check
     * @param line its line
     */
    [[gnu::noinline]] void Tell(ns3::TestCase& test,
                                const char* condition,
                                const char* file,
                                int line)
    {
        (test.*(&Access::ReportTestFailure))(condition,
                                             actual.str(),
                                             limit.str(),
                                             message.str(),
                                             file,
                                             line);
    }

    std::ostringstream message; //!< what the test says of it
    std::ostringstream actual;  //!< the value found
    std::ostringstream limit;   //!< the value expected

  private:
    /// Lends a function that is protected.
    class Access : public ns3::TestCase
    {
      public:
        using ns3::TestCase::ReportTestFailure;
    };
};

} // namespace pyorch

#define PYORCH_CHECK(fails, condition, actual_, limit_, msg, after)                                \
    do                                                                                             \
    {                                                                                              \
        if (fails)                                                                                 \
        {                                                                                          \
            ASSERT_ON_FAILURE;                                                                     \
            {                                                                                      \
                ::pyorch::FailedCheck pyorchFailed;                                                \
                pyorchFailed.message << msg;                                                       \
                pyorchFailed.actual << actual_;                                                    \
                pyorchFailed.limit << limit_;                                                      \
                pyorchFailed.Tell(*this, condition, __FILE__, __LINE__);                           \
            }                                                                                      \
            after;                                                                                 \
        }                                                                                          \
    } while (false)

#define PYORCH_NOTHING                                                                             \
    do                                                                                             \
    {                                                                                              \
    } while (false)

#undef NS_TEST_ASSERT_MSG_EQ
#define NS_TEST_ASSERT_MSG_EQ(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) == (limit)),                                                           \
                 #actual " (actual) == " #limit " (limit)",                                        \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_EQ
#define NS_TEST_EXPECT_MSG_EQ(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) == (limit)),                                                           \
                 #actual " (actual) == " #limit " (limit)",                                        \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#undef NS_TEST_ASSERT_MSG_NE
#define NS_TEST_ASSERT_MSG_NE(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) != (limit)),                                                           \
                 #actual " (actual) != " #limit " (limit)",                                        \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_NE
#define NS_TEST_EXPECT_MSG_NE(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) != (limit)),                                                           \
                 #actual " (actual) != " #limit " (limit)",                                        \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#undef NS_TEST_ASSERT_MSG_LT
#define NS_TEST_ASSERT_MSG_LT(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) < (limit)),                                                            \
                 #actual " (actual) < " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_LT
#define NS_TEST_EXPECT_MSG_LT(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) < (limit)),                                                            \
                 #actual " (actual) < " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#undef NS_TEST_ASSERT_MSG_LT_OR_EQ
#define NS_TEST_ASSERT_MSG_LT_OR_EQ(actual, limit, msg)                                            \
    PYORCH_CHECK(!((actual) <= (limit)),                                                           \
                 #actual " (actual) < " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_LT_OR_EQ
#define NS_TEST_EXPECT_MSG_LT_OR_EQ(actual, limit, msg)                                            \
    PYORCH_CHECK(!((actual) <= (limit)),                                                           \
                 #actual " (actual) < " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#undef NS_TEST_ASSERT_MSG_GT
#define NS_TEST_ASSERT_MSG_GT(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) > (limit)),                                                            \
                 #actual " (actual) > " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_GT
#define NS_TEST_EXPECT_MSG_GT(actual, limit, msg)                                                  \
    PYORCH_CHECK(!((actual) > (limit)),                                                            \
                 #actual " (actual) > " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#undef NS_TEST_ASSERT_MSG_GT_OR_EQ
#define NS_TEST_ASSERT_MSG_GT_OR_EQ(actual, limit, msg)                                            \
    PYORCH_CHECK(!((actual) >= (limit)),                                                           \
                 #actual " (actual) > " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_GT_OR_EQ
#define NS_TEST_EXPECT_MSG_GT_OR_EQ(actual, limit, msg)                                            \
    PYORCH_CHECK(!((actual) >= (limit)),                                                           \
                 #actual " (actual) > " #limit " (limit)",                                         \
                 actual,                                                                           \
                 limit,                                                                            \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#undef NS_TEST_ASSERT_MSG_EQ_TOL
#define NS_TEST_ASSERT_MSG_EQ_TOL(actual, limit, tol, msg)                                         \
    PYORCH_CHECK((actual) > (limit) + (tol) || (actual) < (limit) - (tol),                         \
                 #actual " (actual) < " #limit " (limit) + " #tol " (tol) && " #actual             \
                         " (actual) > " #limit " (limit) - " #tol " (tol)",                        \
                 actual,                                                                           \
                 limit << " +- " << tol,                                                           \
                 msg,                                                                              \
                 CONTINUE_ON_FAILURE)

#undef NS_TEST_EXPECT_MSG_EQ_TOL
#define NS_TEST_EXPECT_MSG_EQ_TOL(actual, limit, tol, msg)                                         \
    PYORCH_CHECK((actual) > (limit) + (tol) || (actual) < (limit) - (tol),                         \
                 #actual " (actual) < " #limit " (limit) + " #tol " (tol) && " #actual             \
                         " (actual) > " #limit " (limit) - " #tol " (tol)",                        \
                 actual,                                                                           \
                 limit << " +- " << tol,                                                           \
                 msg,                                                                              \
                 PYORCH_NOTHING)

#endif // PYORCH_CHECKS_H
