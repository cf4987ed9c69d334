// SPDX-License-Identifier: Apache-2.0
// The main program of the tests that need no MPI: doctest and a watchdog per case.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "watchdog.hpp"

namespace {

tailrace::test::Watchdog* watchdog = nullptr;
bool any_ran = false;

/// Arms the watchdog for every case.
struct CaseTimer : doctest::IReporter {
    explicit CaseTimer(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        any_ran = stats.numTestCasesPassingFilters > 0;
    }
    void test_case_start(const doctest::TestCaseData& data) override {
        if (watchdog) watchdog->start(data.m_name);
    }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {
        if (watchdog) watchdog->stop();
    }
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("case_timer", 1, CaseTimer);

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    tailrace::test::Watchdog guard("[rank 0]", tailrace::test::case_seconds(), 0);
    watchdog = &guard;
    const int status = context.run();
    watchdog = nullptr;
    if (context.shouldExit()) return status;  // it was only asked for a list
    if (!any_ran) {
        std::fprintf(stderr,
                     "error: no test case has this name; a filter that selects nothing "
                     "must not pass\n");
        return 4;
    }
    return status;
}
