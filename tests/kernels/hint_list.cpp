// SPDX-License-Identifier: Apache-2.0
#include "formats/hint_list.hpp"

#include <doctest/doctest.h>

#include "core/error.hpp"

using namespace tailrace;
using formats::Hints;
using formats::hints_from_list;

TEST_CASE("pairs behind a pattern") {
    CHECK(hints_from_list("*:romio_cb_write=disable:romio_ds_write=disable", "a/output.h5") ==
          Hints{{"romio_cb_write", "disable"}, {"romio_ds_write", "disable"}});
    CHECK(hints_from_list("*:direct_io:cb_nodes=2", "x") ==
          Hints{{"direct_io", "true"}, {"cb_nodes", "2"}});
}

TEST_CASE("a value may hold colons and commas") {
    CHECK(hints_from_list("*:cb_config_list=*:4:cb_nodes=4", "x") ==
          Hints{{"cb_config_list", "*:4"}, {"cb_nodes", "4"}});
    CHECK(hints_from_list("*:cb_config_list=n1:2,n2:1,*:cb_nodes=3", "x") ==
          Hints{{"cb_config_list", "n1:2,n2:1"}, {"cb_nodes", "3"}});
}

TEST_CASE("quotation marks of a job script and blanks around a part do not belong to it") {
    const Hints both{{"a", "b"}, {"c", "d"}};
    CHECK(hints_from_list("\"*:a=b:c=d\"", "x") == both);
    CHECK(hints_from_list(" '*:a=b, *:c=d' ", "x") == both);
    CHECK_THROWS_AS((void)hints_from_list("\"*:a=b", "x"), core::Error);
}

TEST_CASE("only the patterns that match the file, the last one wins") {
    const char* text = "dump.*:cb_nodes=1,*.h5:cb_nodes=2:a=b,/scratch/*:cb_nodes=3";
    CHECK(hints_from_list(text, "run/out.h5") == Hints{{"cb_nodes", "2"}, {"a", "b"}});
    CHECK(hints_from_list(text, "/scratch/me/out.h5") == Hints{{"cb_nodes", "3"}, {"a", "b"}});
    CHECK(hints_from_list(text, "dump.7") == Hints{{"cb_nodes", "1"}});
    CHECK(hints_from_list(text, "other").empty());
}

TEST_CASE("what is no list of hints is refused with the part in question") {
    for (const char* text : {"romio_cb_write=disable", "*", ":a=b", "*:=b", "*:a=", "*:a=b,"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)hints_from_list(text, "x"), core::Error);
    }
}

TEST_CASE("values that ROMIO does not know are named with those that it knows") {
    using formats::values_left_out;
    CHECK(values_left_out({{"romio_cb_write", "ENABLE"},
                           {"romio_ds_read", "automatic"},
                           {"cb_nodes", "many"},
                           {"romio_no_indep_rw", "true"}})
              .empty());
    const std::vector<std::string> found =
        values_left_out({{"romio_cb_write", "Enable"}, {"romio_no_indep_rw", "1"}});
    REQUIRE(found.size() == 2);
    CHECK(found[0] ==
          "ROMIO leaves out the hint romio_cb_write=Enable: it knows enable, disable, automatic");
    CHECK(found[1] == "ROMIO leaves out the hint romio_no_indep_rw=1: it knows true, false");
}
