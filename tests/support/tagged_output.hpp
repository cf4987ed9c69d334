// SPDX-License-Identifier: Apache-2.0
// Output of one rank of a test: whole lines, each with the rank before it.
#pragma once

#include <unistd.h>

#include <streambuf>
#include <string>
#include <utility>

namespace tailrace::test {

/// Writes each line to standard output in one piece, with a tag before it.
class TaggedOutput : public std::streambuf {
public:
    explicit TaggedOutput(std::string tag) : x_tag(std::move(tag)) {}
    TaggedOutput(const TaggedOutput&) = delete;
    TaggedOutput& operator=(const TaggedOutput&) = delete;
    ~TaggedOutput() override { write_line(); }

protected:
    int_type overflow(int_type character) override {
        if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
        x_line += traits_type::to_char_type(character);
        if (x_line.back() == '\n') write_line();
        return character;
    }

private:
    void write_line() {
        if (x_line.empty()) return;
        if (x_line.back() != '\n') x_line += '\n';
        const std::string text = x_line == "\n" ? x_line : x_tag + x_line;
        for (std::size_t done = 0; done < text.size();) {
            const auto count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
            if (count <= 0) break;
            done += static_cast<std::size_t>(count);
        }
        x_line.clear();
    }

    std::string x_tag;
    std::string x_line;
};

}  // namespace tailrace::test
