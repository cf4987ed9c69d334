// SPDX-License-Identifier: Apache-2.0
// tailrace_server_*: see tailrace/server.h.
#include <cstdio>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "call.hpp"
#include "comm/handle.hpp"
#include "handles.hpp"
#include "server/layout/agree.hpp"

using namespace tailrace;
using bindings::call;
using bindings::there;

namespace {

server::Model& model_of(tailrace_server* server) {
    there(server, "server");
    if (!server->session || !server->session->is_model())
        throw core::Error(core::Code::wrong_call, "this rank serves, it is none of the model", "",
                          "call the model only if is_model is 1");
    return server->session->model();
}

std::uint64_t number_of(std::int64_t id) {
    if (id < 0)
        throw core::Error(core::Code::bad_input, "there is no collection " + std::to_string(id), "",
                          "use the number that tailrace_server_add_collection gave");
    return static_cast<std::uint64_t>(id);
}

/// A file failed, whichever code its reason has; the call itself was done.
int of_file(int code) { return code == TAILRACE_INVALID ? TAILRACE_FAILED : code; }

/// The first, and in its text the places of others, which nobody would hear of again.
int first_failure(const std::vector<server::Status>& statuses) {
    constexpr int most = 20;
    int code = TAILRACE_OK, also = 0;
    std::set<std::string> places;
    for (const server::Status& one : statuses) {
        if (!one.error || !places.insert(one.error->where()).second) continue;
        if (code == TAILRACE_OK)
            code = of_file(bindings::failed(*one.error));
        else if (++also <= most)
            bindings::last_error() += "\n       also: " + one.error->where();
    }
    if (also > most)
        bindings::last_error() += "\n       also: " + std::to_string(also - most) + " more";
    return code;
}

/// Of calls whose statuses are the result.
template <class Work>
int status_of(const Work& work) noexcept {
    int status = TAILRACE_OK;
    const int code = call([&] { status = first_failure(work()); });
    return code != TAILRACE_OK ? code : status;
}

/// The program ends MPI, and servers still wait for it.
void forgotten(server::Session& session) {
    if (session.ranks().rank() == 0)
        std::fputs(
            "tailrace server: error: MPI ends, and the server was not finalized: files that were "
            "open get no name\n       hint: call tailrace_server_finalize on all ranks of the "
            "model before MPI_Finalize\n",
            stderr);
    session.give_up();
}

struct Put {
    const char* file;
    const char* variable;
    tailrace_type type;
    int ndims;
    const std::uint64_t *start, *count;
    const void* data;
    std::int64_t record;
};

int put(tailrace_server* server, std::int64_t id, const Put& what, bool replicated) {
    return call([&] {
        server::LocalBlock block;
        block.data = what.data;
        block.replicated = replicated;
        for (int i = 0; i < what.ndims; ++i) {
            block.box.offset.push_back(what.data ? (&there(what.start, "start"))[i] : 0);
            block.box.count.push_back(what.data ? (&there(what.count, "count"))[i] : 0);
        }
        if (!block.box.count.empty() && block.box.volume() == 0) block.data = nullptr;
        std::optional<std::uint64_t> record;
        if (what.record >= 0) record = static_cast<std::uint64_t>(what.record);
        model_of(server).put(number_of(id), what.file == nullptr ? "" : what.file,
                             &there(what.variable, "variable"),
                             server::scalar_of(bindings::element(what.type)), block, record);
    });
}

}  // namespace

const char* tailrace_error_text(void) { return bindings::last_error().c_str(); }

int tailrace_server_start_f(int fortran_comm, int argc, const char* const* argv,
                            tailrace_server** server, int* is_model) {
    return call([&] {
        there(server, "server") = nullptr;
        there(is_model, "is_model") = 0;
        std::vector<std::string> words;
        for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
        auto made = std::make_unique<tailrace_server>(comm::from_handle(fortran_comm));
        made->session.emplace(
            made->world,
            server::agree(made->world, words, server::environment_of_process()).layout);
        const server::Layout& layout = made->session->layout();
        if (made->world.rank() == 0 && !layout.ranks.left_over.empty())
            std::fputs(("tailrace server: warning: " + layout.text() + "\n").c_str(), stderr);
        *is_model = made->session->is_model() ? 1 : 0;
        if (*is_model != 0)
            made->last_word.emplace([&session = *made->session] { forgotten(session); });
        *server = made.release();
    });
}

int tailrace_server_comm_f(tailrace_server* server, int* fortran_comm) {
    return call([&] {
        model_of(server);
        there(fortran_comm, "fortran_comm") = comm::handle_of(server->session->ranks());
    });
}

int tailrace_server_add_collection(tailrace_server* server, const char* name,
                                   const tailrace_metadata* metadata, const char* options,
                                   std::int64_t* id) {
    return call([&] {
        const std::uint64_t number = model_of(server).add_collection(
            &there(name, "name"), there(metadata, "metadata").get(),
            server->session->layout().collection(&there(name, "name"),
                                                 options == nullptr ? "" : options));
        there(id, "id") = static_cast<std::int64_t>(number);
    });
}

int tailrace_server_metadata(tailrace_server* server, std::int64_t id,
                             tailrace_metadata** metadata) {
    return call([&] {
        server::FileMetadata& own = model_of(server).metadata(number_of(id));
        for (tailrace_metadata& one : server->collections)
            if (one.collection == &own) {
                there(metadata, "metadata") = &one;
                return;
            }
        there(metadata, "metadata") =
            &server->collections.emplace_back(tailrace_metadata{{}, &own});
    });
}

int tailrace_server_set_date(tailrace_server* server, std::int64_t id, std::int64_t year, int month,
                             int day, int hour, int minute, int second) {
    return call([&] {
        model_of(server).set_date(number_of(id), {year, month, day, hour, minute, second});
    });
}

int tailrace_server_put(tailrace_server* server, std::int64_t id, const char* file,
                        const char* variable, tailrace_type type, int ndims,
                        const std::uint64_t* start, const std::uint64_t* count, const void* data,
                        std::int64_t record) {
    return put(server, id, {file, variable, type, ndims, start, count, data, record}, false);
}

int tailrace_server_put_replicated(tailrace_server* server, std::int64_t id, const char* file,
                                   const char* variable, tailrace_type type, int ndims,
                                   const std::uint64_t* start, const std::uint64_t* count,
                                   const void* data, std::int64_t record) {
    return put(server, id, {file, variable, type, ndims, start, count, data, record}, true);
}

int tailrace_server_end_step(tailrace_server* server, std::int64_t id, const double* time) {
    return status_of([&] {
        return model_of(server).end_step(number_of(id),
                                         time == nullptr ? std::nullopt : std::optional(*time));
    });
}

int tailrace_server_close_file(tailrace_server* server, std::int64_t id) {
    return status_of([&] { return model_of(server).close_file(number_of(id)); });
}

int tailrace_server_flush(tailrace_server* server, std::int64_t id) {
    return status_of([&] { return model_of(server).flush(number_of(id)); });
}

int tailrace_server_status(tailrace_server* server) {
    return status_of([&] {
        std::vector<server::Status> heard;
        if (auto error = model_of(server).status()) heard.push_back({0, std::move(error)});
        return heard;
    });
}

int tailrace_server_finalize(tailrace_server* server) {
    return status_of([&] {
        model_of(server);
        auto all = server->session->finalize();
        server->last_word.reset();
        return all;
    });
}

void tailrace_server_free(tailrace_server* server) { delete server; }
