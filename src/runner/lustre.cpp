// SPDX-License-Identifier: Apache-2.0
#include "runner/lustre.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

extern char** environ;

namespace tailrace::runner {

namespace {

constexpr std::size_t longest_output = 4096;

std::string read_all(int fd) {
    std::string text;
    char buffer[1024];
    for (;;) {
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (text.size() < longest_output) text.append(buffer, static_cast<std::size_t>(got));
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    return text;
}

}  // namespace

Finished run_program(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {127, core::describe_errno(errno)};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);  // ignored in here
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    Finished finished{127, {}};
    if (failed == 0) {
        finished.output = read_all(ends[0]);
        finished.status = wait_for(child);
    } else {
        finished.output = core::describe_errno(failed);
    }
    ::close(ends[0]);
    return finished;
}

bool lfs_there() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (::access(((folder.empty() ? "." : folder) + "/lfs").c_str(), X_OK) == 0) return true;
    return false;
}

void set_striping(const Striping& striping, const std::filesystem::path& file) {
    // An absolute name: one that begins with '-' stays a name.
    std::vector<std::string> command{"lfs", "setstripe"};
    if (striping.count) command.insert(command.end(), {"-c", std::to_string(*striping.count)});
    if (striping.size_bytes)
        command.insert(command.end(), {"-S", std::to_string(*striping.size_bytes)});
    command.push_back(std::filesystem::absolute(file).string());
    const Finished finished = run_program(command);
    if (finished.status == 0) return;
    std::string text;
    for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
    throw core::Error(core::Code::io,
                      "`" + text + "` failed with status " + std::to_string(finished.status) +
                          ": " + one_line(finished.output),
                      file.string(),
                      "correct lfs_stripe_count and lfs_stripe_size, or take them away");
}

std::map<std::string, std::string> striping_in_force(const std::filesystem::path& file) {
    std::map<std::string, std::string> striping;
    const std::string name = std::filesystem::absolute(file).string();
    for (const auto& [option, key] :
         {std::pair{"-c", "stripe_count"}, std::pair{"-S", "stripe_size_bytes"}}) {
        const Finished finished = run_program({"lfs", "getstripe", option, name});
        if (finished.status == 0 && !finished.output.empty())
            striping[key] = one_line(finished.output);
    }
    return striping;
}

}  // namespace tailrace::runner
