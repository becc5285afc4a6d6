#include "sinks/mysql/load_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/model/error.h"

namespace sluice::mysql {

namespace {

constexpr int pipe_bytes = 1 << 20;  // so that neither side waits for the other at every write

// A write to a pipe that nobody reads raises SIGPIPE; here it is an error of the one write.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0) {
      while (sigtimedwait(&sigpipe_, nullptr, &now) == -1 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
};

}  // namespace

LoadStream::~LoadStream() {
  if (!is_open()) return;
  try {
    complete();
  } catch (const std::exception&) {
    // Whoever drops a stream rolls back.
  }
}

std::string LoadStream::make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(Fault::retryable, std::string("cannot make a pipe for LOAD DATA: ") + std::strerror(errno));
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
  ::fcntl(write_end_, F_SETPIPE_SZ, pipe_bytes);  // best effort
  return "/proc/self/fd/" + std::to_string(read_end_);
}

void LoadStream::open(std::string statement) {
  background_.run([this, statement = std::move(statement)] {
    // Without a reader our next write fails, instead of waiting for one for ever.
    const auto close_read_end = [this] { ::close(std::exchange(read_end_, -1)); };
    try {
      rows_ = session_.run(statement);
    } catch (...) {
      close_read_end();
      throw;
    }
    close_read_end();
  });
}

bool LoadStream::send(std::string_view lines) {
  const WithoutSigpipe quiet;
  while (!lines.empty()) {
    const auto written = ::write(write_end_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void LoadStream::close_write_end() {
  ::close(std::exchange(write_end_, -1));
}

std::uint64_t LoadStream::complete() {
  close_write_end();
  background_.wait();
  return rows_;
}

}  // namespace sluice::mysql
