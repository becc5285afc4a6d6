// libpqxx 6 forgets the last answer of a connection that broke (make_result() asks the broken connection for its
// encoding before anything owns the answer): some 2 KB for each. Tests break connections by the dozen.
extern "C" const char*
__lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer asks for it
  return "leak:libpqxx\n";
}
