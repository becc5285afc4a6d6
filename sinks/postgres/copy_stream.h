// A COPY ... FROM STDIN that is open, as a pipe for lines that are encoded already. Internal to this folder; the one
// place where versions 6 and 7 of libpqxx differ for us.
#pragma once

#include <pqxx/pqxx>
#include <string>
#include <string_view>

namespace sluice::postgres {

class CopyStream {
 public:
  // Names are quoted already. Borrows the transaction, which can do nothing else until complete().
  CopyStream(pqxx::transaction_base& transaction, const std::string& table, const std::string& columns);

  // Whole lines in COPY's text format, separated by newlines, without one at the end.
  void send(std::string_view lines);
  // Throws what the server has against any of them.
  void complete() { stream_.complete(); }

 private:
  pqxx::stream_to stream_;
};

}  // namespace sluice::postgres
