// SPDX-License-Identifier: Apache-2.0
// A classic netCDF file, read by the specification of its format and by nothing of ours.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tailrace::test::cdf {

struct Variable {
    std::vector<std::uint64_t> dims;  ///< a record dimension has the number of records
    std::vector<std::string> dimension_names;
    bool record = false;
    int type = 0;
    std::uint64_t begin = 0;
    std::map<std::string, std::string> attributes;  ///< raw bytes
    std::vector<double> values;
};

struct File {
    int version = 0;
    std::uint64_t records = 0, bytes = 0, header_bytes = 0;
    std::map<std::string, std::string> attributes;
    std::map<std::string, Variable> variables;
};

class Reader {
public:
    /// @param values  read the elements as well: not of large files
    explicit Reader(const std::string& path, bool values = true) : x_file(path, std::ios::binary) {
        x_file.seekg(0, std::ios::end);
        result.bytes = static_cast<std::uint64_t>(x_file.tellg());
        x_file.seekg(0);
        if (text(3) != "CDF") throw std::runtime_error("no CDF");
        result.version = static_cast<int>(number(1));
        result.records = count();
        dimensions();
        result.attributes = attributes();
        variables();
        result.header_bytes = static_cast<std::uint64_t>(x_file.tellg());
        if (values)
            for (auto& [name, variable] : result.variables) read_values(variable);
    }
    File result;

private:
    struct Dimension {
        std::string name;
        std::uint64_t size;
    };

    std::string text(std::uint64_t bytes) {
        std::string found(bytes, '\0');
        x_file.read(found.data(), static_cast<std::streamsize>(bytes));
        if (!x_file) throw std::runtime_error("the header ends early");
        return found;
    }
    std::uint64_t number(std::uint64_t bytes) {
        std::uint64_t value = 0;
        for (const char c : text(bytes)) value = value << 8U | static_cast<unsigned char>(c);
        return value;
    }
    std::uint64_t count() { return number(result.version == 5 ? 8 : 4); }
    std::string padded(std::uint64_t bytes) {
        const std::string found = text(bytes);
        text((4 - bytes % 4) % 4);
        return found;
    }
    static std::uint64_t size_of(int type) {
        static constexpr std::uint64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
        return sizes[type];
    }
    std::uint64_t list(std::uint64_t tag) {
        const std::uint64_t seen = number(4), elements = count();
        if (seen != tag && (seen != 0 || elements != 0)) throw std::runtime_error("another list");
        return elements;
    }
    void dimensions() {
        for (std::uint64_t n = list(10); n > 0; --n) {
            std::string name = padded(count());
            x_dimensions.push_back({std::move(name), count()});
        }
    }
    std::map<std::string, std::string> attributes() {
        std::map<std::string, std::string> found;
        for (std::uint64_t n = list(12); n > 0; --n) {
            const std::string name = padded(count());
            const int type = static_cast<int>(number(4));
            found[name] = padded(count() * size_of(type));
        }
        return found;
    }
    void variables() {
        for (std::uint64_t n = list(11); n > 0; --n) {
            Variable one;
            const std::string name = padded(count());
            for (std::uint64_t rank = count(); rank > 0; --rank) {
                const Dimension& dimension = x_dimensions.at(count());
                one.record = one.record || dimension.size == 0;
                one.dims.push_back(dimension.size == 0 ? result.records : dimension.size);
                one.dimension_names.push_back(dimension.name);
            }
            one.attributes = attributes();
            one.type = static_cast<int>(number(4));
            count();  // vsize
            one.begin = number(result.version == 1 ? 4 : 8);
            result.variables[name] = std::move(one);
        }
    }
    /// Of one record of all record variables.
    std::uint64_t record_bytes() const {
        std::uint64_t sum = 0, last = 0, number_of = 0;
        for (const auto& [name, variable] : result.variables) {
            if (!variable.record) continue;
            ++number_of;
            last = row(variable) * size_of(variable.type);
            sum += (last + 3) / 4 * 4;
        }
        return number_of == 1 ? last : sum;
    }
    static std::uint64_t row(const Variable& variable) {
        std::uint64_t elements = 1;
        for (std::size_t d = variable.record ? 1 : 0; d < variable.dims.size(); ++d)
            elements *= variable.dims[d];
        return elements;
    }
    void read_values(Variable& variable) {
        const std::uint64_t rows = variable.record ? result.records : 1;
        for (std::uint64_t r = 0; r < rows; ++r) {
            x_file.seekg(static_cast<std::streamoff>(variable.begin + r * record_bytes()));
            for (std::uint64_t i = 0; i < row(variable); ++i)
                variable.values.push_back(value(variable.type));
        }
    }
    double value(int type) {
        const std::uint64_t bits = number(size_of(type));
        switch (type) {
            case 1:
                return static_cast<std::int8_t>(bits);
            case 3:
                return static_cast<std::int16_t>(bits);
            case 4:
                return static_cast<std::int32_t>(bits);
            case 5:
                return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            case 6:
                return std::bit_cast<double>(bits);
            case 10:
                return static_cast<double>(static_cast<std::int64_t>(bits));
            default:
                return static_cast<double>(bits);
        }
    }

    std::ifstream x_file;
    std::vector<Dimension> x_dimensions;
};

inline File read(const std::string& path, bool values = true) {
    return Reader(path, values).result;
}

}  // namespace tailrace::test::cdf
