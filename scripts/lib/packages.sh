# The Debian packages that each purpose needs, in one place. Sourced, never run.

# librdkafka is built from source where the system's is too old; the -dev packages after curl are for that.
BUILD_PACKAGES=(g++ cmake ninja-build mold ccache pkg-config libpqxx-dev libpq-dev libmysqlcppconn-dev libsqlite3-dev nlohmann-json3-dev
  libsimdjson-dev libxxhash-dev libcli11-dev libspdlog-dev ca-certificates dpkg-dev libcurl4-openssl-dev libssl-dev zlib1g-dev
  libzstd-dev liblz4-dev libsasl2-dev)
TEST_BUILD_PACKAGES=(libgtest-dev libbenchmark-dev python3 git)
SERVER_PACKAGES=(postgresql mariadb-server mariadb-client openjdk-17-jre-headless maven kcat)
MODEL_PACKAGES=(spin gcc)
CHECK_PACKAGES=(clang-format clang-tidy-16 git)
