// SPDX-License-Identifier: Apache-2.0
// The strict configuration: what is taken, what is refused, and with which words.
#include "core/config.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace tailrace::core;

namespace {

Key key(const char* name, Shape shape) {
    Key one;
    one.name = name;
    one.shape = shape;
    one.group = "All";
    return one;
}

KeyTable table() {
    KeyTable keys;
    keys.add(key("flag", Shape::flag));
    Key number = key("number", Shape::number);
    number.min = 1;
    keys.add(number);
    keys.add(key("tuple", Shape::tuple));
    keys.add(key("real", Shape::real));
    Key text = key("text", Shape::text);
    text.default_text = "plain";
    keys.add(text);
    Key choice = key("choice", Shape::choice);
    choice.choices = {"position", "rank"};
    keys.add(choice);
    Key words = key("words", Shape::words);
    words.most_words = 3;
    keys.add(words);
    keys.add(key("hint", Shape::pairs));
    Key many = key("many", Shape::words);
    many.repeatable = true;
    keys.add(many);
    return keys;
}

Config lines(const std::string& text) {
    Config config(table());
    config.add_lines(text, "run.in", false);
    config.finish();
    return config;
}

std::string failure(const std::string& text, bool needs_done = false) {
    Config config(table());
    try {
        config.add_lines(text, "run.in", needs_done);
        config.finish();
    } catch (const Error& error) {
        return error.what();
    }
    return "no failure";
}

bool has(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("core.config") {
    TEST_CASE("lines of every shape, in any order, with comments") {
        const Config config = lines(
            "  # a comment\n\n\tnumber 18446744073709551615 # the largest\r\ntuple 3 4 5\nflag\n"
            "real 0.25#tight\ntext a name # with#out this\nchoice rank\nwords a#b c\n"
            "hint cb_config_list=*:4\nhint x=y=z\nmany 1\nmany 2 3\nDONE\nnonsense\n");
        CHECK(config.number("number") == 18446744073709551615ULL);
        CHECK(config.tuple("tuple") == std::vector<std::uint64_t>{3, 4, 5});
        CHECK(config.flag("flag"));
        CHECK(config.real("real") == 0.25);
        CHECK(config.text("text") == "a name");
        CHECK(config.text("choice") == "rank");
        CHECK(config.words("words") == Words{"a#b", "c"});
        CHECK(config.pairs("hint") == NamedValues{{"cb_config_list", "*:4"}, {"x", "y=z"}});
        CHECK(config.lists("many") == std::vector<Words>{{"1"}, {"2", "3"}});
        CHECK(config.place("number") == "run.in:3");
    }
    TEST_CASE("a comment hides a key") {
        CHECK_FALSE(lines("# number 4\n#number 4\n").has("number"));
    }
    TEST_CASE("flags are on, off, or an error") {
        CHECK(lines("flag 1").flag("flag"));
        CHECK(lines("flag TRUE").flag("flag"));
        CHECK_FALSE(lines("flag 0").flag("flag"));
        CHECK_FALSE(lines("flag off").flag("flag"));
        CHECK_FALSE(lines("").flag("flag"));
        CHECK(has(failure("flag maybe"), "run.in:1: flag is on or off, not \"maybe\""));
    }
    TEST_CASE("numbers are digits only") {
        for (const char* bad : {"+1", "0x10", "1.5", "1e3", "12z", "", "-", "--1", "one"})
            CHECK(has(failure(std::string("number ") + bad), "run.in:1: "));
        CHECK(has(failure("number -3"), "\"-3\" of number is negative"));
        CHECK(has(failure("number 0x10"), "\"0x10\" of number is not a whole number"));
        CHECK(has(failure("number 18446744073709551616"), "does not fit 64 bits"));
        CHECK(has(failure("number 0"), "must be at least 1"));
        CHECK(has(failure("number"), "number needs a value"));
        CHECK(has(failure("number 1 2"), "\"1 2\" of number is not a whole number"));
    }
    TEST_CASE("tuples") {
        CHECK(lines("tuple 2x3x4").tuple("tuple") == std::vector<std::uint64_t>{2, 3, 4});
        CHECK(has(failure("tuple 2 3"), "tuple needs 3 numbers, but got 2 in \"2 3\""));
        CHECK(has(failure("tuple 2x3"), "needs 3 numbers, but got 2"));
        CHECK(has(failure("tuple 1 2 3 4"), "needs 3 numbers, but got 4"));
        CHECK(has(failure("tuple 1 2 x"), "\"x\" of tuple is not a whole number"));
        CHECK(has(failure("tuple 1xx2"), "\"\" of tuple is not a whole number"));
        CHECK(has(failure("tuple 1 2 -3"), "is negative"));
    }
    TEST_CASE("reals are finite decimals") {
        for (const char* bad : {"inf", "nan", "1e999", "-1", "0x1p3", "1,5", "1 2"})
            CHECK(has(failure(std::string("real ") + bad), "run.in:1: "));
        CHECK(lines("real 1e-3").real("real") == 0.001);
    }
    TEST_CASE("unknown keys get a guess") {
        CHECK(has(failure("flga"), "run.in:1: unknown key \"flga\". Did you mean \"flag\"?"));
        CHECK(has(failure("done"), "unknown key \"done\""));
        CHECK(has(failure("number=3"), "write `number N`"));
        CHECK_FALSE(has(failure("zzzzzzzzz"), "Did you mean"));
        CHECK(has(failure("choice psition"), "Did you mean \"position\"?"));
    }
    TEST_CASE("a key given twice names both places") {
        const std::string text = failure("number 1\n\nnumber 2\n");
        CHECK(has(text, "run.in:3: number is given twice"));
        CHECK(has(text, "first at run.in:1 as \"1\""));
        CHECK(has(failure("hint a=1\nhint a=2"), "hint \"a\" is given twice"));
    }
    TEST_CASE("the end") {
        CHECK(has(failure("flag\n", true), "run.in: the input ended after 1 lines without DONE"));
        CHECK(failure("flag\nDONE", true) == "no failure");
        CHECK(failure("  DONE # now\nflag maybe", true) == "no failure");
        CHECK(has(failure("DONEX\n", true), "unknown key"));
    }
    TEST_CASE("control characters do not reach the terminal") {
        CHECK(has(failure("number \x1b[31m7"), "\\x1b[31m7"));
        CHECK(has(failure(std::string("number 1\0002", 10)), "zero byte"));
    }
    TEST_CASE("defaults < lines < environment < arguments") {
        const auto text_of = [](bool file, bool environment, bool argument) {
            Config config(table());
            // Whatever the order of the calls.
            if (argument) config.add_argument("text=from argument");
            if (environment) config.add_environment({{"P_TEXT", "from environment"}}, "P_");
            if (file) config.add_lines("text from file", "f", false);
            config.finish();
            return config.text("text");
        };
        CHECK(text_of(false, false, false) == "plain");
        CHECK(text_of(true, false, false) == "from file");
        CHECK(text_of(true, true, false) == "from environment");
        CHECK(text_of(true, true, true) == "from argument");
        CHECK(text_of(true, false, true) == "from argument");
    }
    TEST_CASE("a value of another kind of source stands where that says") {
        Config config(table());
        config.add_value("text", " a # b ", Origin::file, "s.toml:4");
        CHECK(config.text("text") == "a # b");
        CHECK(config.place("text") == "s.toml:4");
        config.add_value("text", "c", Origin::command_line, "--text");
        CHECK(config.place("text") == "--text");
        config.add_value("text", "d", Origin::environment, "TEXT");
        CHECK(config.text("text") == "c");
        CHECK_THROWS_WITH_AS(config.add_value("txet", "e", Origin::file, "s.toml:5"),
                             doctest::Contains("s.toml:5: unknown key \"txet\". Did you mean"),
                             Error);
    }
    TEST_CASE("hints of several sources are joined, name by name") {
        Config config(table());
        config.add_lines("hint a=file\nhint b=file", "f", false);
        config.add_environment({{"P_HINT", "b=environment; c=environment"}}, "P_");
        config.add_argument("hint=c=argument");
        config.finish();
        CHECK(config.pairs("hint") ==
              NamedValues{{"a", "file"}, {"b", "environment"}, {"c", "argument"}});
    }
    TEST_CASE("arguments and environment are as strict") {
        const auto failing = [](auto&& work) {
            Config config(table());
            try {
                work(config);
            } catch (const Error& error) {
                return std::string(error.what());
            }
            return std::string("no failure");
        };
        CHECK(has(failing([](Config& c) { c.add_argument("number"); }), "write number=VALUE"));
        CHECK(
            has(failing([](Config& c) { c.add_argument("nubmer=3"); }), "Did you mean \"number\""));
        CHECK(has(failing([](Config& c) { c.add_argument("flag="); }), "on or off"));
        CHECK(has(failing([](Config& c) {
                      c.add_argument("number=1");
                      c.add_argument("number=1");
                  }),
                  "given twice"));
        CHECK(has(failing([](Config& c) {
                      c.add_environment({{"P_FLAGG", "1"}}, "P_");
                  }),
                  "P_FLAGG: the environment variable stands for no key. Did you mean \"P_FLAG\"?"));
        for (const char* variable : {"P_FLAG", "P_NUMBER", "P_TEXT", "P_HINT"}) {
            Config empty(table());
            empty.add_environment({{variable, " "}}, "P_");
            empty.finish();
            CHECK_FALSE(empty.flag("flag"));
            const KeyTable all = table();
            for (const Key& known : all.keys()) CHECK_FALSE(empty.given(known.name));
        }
        Config config(table());
        config.add_argument("flag=false");
        config.add_argument("text=a # b");  // no comments in arguments
        config.finish();
        CHECK_FALSE(config.flag("flag"));
        CHECK(config.text("text") == "a # b");
    }
    TEST_CASE("required keys are all named") {
        KeyTable keys;
        for (const char* name : {"one", "two"}) {
            Key required = key(name, Shape::number);
            required.required = true;
            keys.add(required);
        }
        Config config(keys);
        CHECK_THROWS_WITH_AS(config.finish(),
                             "missing keys: one N, two N\n       hint: add the line `one N`",
                             Error);
    }
    TEST_CASE("the listing gives the same configuration again") {
        const Config first =
            lines("tuple 1 2 3\nhint a=b\nhint c=d\nmany 4 5\nmany 6\nreal 2.50\n");
        const Config second = lines(first.listing());
        CHECK(first.listing().find("DONE") != std::string::npos);
        const auto a = first.effective(), b = second.effective();
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            CHECK(a[i].key == b[i].key);
            CHECK(a[i].value == b[i].value);
        }
    }
    TEST_CASE("random text never does anything but parse or throw Error") {
        std::mt19937_64 random(20210419);
        static constexpr char alphabet[] = "flagnumbertuplehint 0123456789xX=#-+.\t\n\r\x01\xff";
        for (int round = 0; round < 5000; ++round) {
            std::string text;
            for (std::uint64_t i = random() % 40; i > 0; --i)
                text += alphabet[random() % (sizeof alphabet - 1)];
            CHECK_NOTHROW(failure(text, random() % 2 == 0));
        }
    }
}
