// LOAD DATA LOCAL that reads from us: the client library opens a path, which is the end of a pipe that we fill while
// the statement runs. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sinks/mysql/session.h"
#include "sinks/sql/background.h"

namespace sluice::mysql {

class LoadStream {
 public:
  // Borrows the session, which can do nothing else until complete(). Statements are made for a path each.
  explicit LoadStream(MysqlSession& session) : session_(session) {}
  ~LoadStream();  // what was sent stays in the open transaction
  LoadStream(const LoadStream&) = delete;
  LoadStream& operator=(const LoadStream&) = delete;

  bool is_open() const { return write_end_ >= 0; }
  // A path for open()'s statement.
  std::string make_pipe();
  void open(std::string statement);
  // Whole lines, each with its newline. Waits while the server is behind. False: the statement has ended by itself,
  // and complete() throws why.
  bool send(std::string_view lines);
  // How many rows went in. Throws what the server has against the statement.
  std::uint64_t complete();

 private:
  void close_write_end();

  MysqlSession& session_;
  int read_end_ = -1;
  int write_end_ = -1;
  std::uint64_t rows_ = 0;
  sql::Background background_;  // last: it ends before what it uses
};

}  // namespace sluice::mysql
