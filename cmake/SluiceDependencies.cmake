# What Sluice is built on. docs/dependencies.md says why each was chosen.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(spdlog REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(PQXX REQUIRED IMPORTED_TARGET libpqxx)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)

# Debian's package of Connector/C++ brings no .pc file.
find_library(MYSQLCPPCONN_LIBRARY mysqlcppconn REQUIRED)
find_path(MYSQLCPPCONN_INCLUDE_DIR cppconn/driver.h REQUIRED)
add_library(sluice_mysqlcppconn INTERFACE)
target_link_libraries(sluice_mysqlcppconn INTERFACE ${MYSQLCPPCONN_LIBRARY})
target_include_directories(sluice_mysqlcppconn SYSTEM INTERFACE $<BUILD_INTERFACE:${MYSQLCPPCONN_INCLUDE_DIR}>)

# A librdkafka that scripts/lib/librdkafka.sh built goes before the system's.
set(SLUICE_RDKAFKA_PREFIX "" CACHE PATH "Prefix of a librdkafka >= 2.12; empty: the system's")
if(SLUICE_RDKAFKA_PREFIX)
  find_package(OpenSSL REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(CURL REQUIRED)
  pkg_check_modules(RDKAFKA_NEEDS REQUIRED IMPORTED_TARGET libzstd liblz4 libsasl2)
  add_library(sluice_rdkafka INTERFACE)
  target_include_directories(sluice_rdkafka SYSTEM INTERFACE $<BUILD_INTERFACE:${SLUICE_RDKAFKA_PREFIX}/include>)
  target_link_libraries(sluice_rdkafka INTERFACE
    $<BUILD_INTERFACE:${SLUICE_RDKAFKA_PREFIX}/lib/librdkafka.a>
    $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/sluice/librdkafka.a> OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB CURL::libcurl
    PkgConfig::RDKAFKA_NEEDS Threads::Threads ${CMAKE_DL_LIBS} m)
else()
  pkg_check_modules(RDKAFKA IMPORTED_TARGET rdkafka>=2.12)
  if(NOT RDKAFKA_FOUND)
    message(FATAL_ERROR "librdkafka >= 2.12 is needed (older ones lose assignments and stall, see docs/dependencies.md). "
      "Run scripts/build, which builds one from Debian's newer source package and caches it, or name the prefix of one "
      "with -DSLUICE_RDKAFKA_PREFIX=DIR.")
  endif()
  add_library(sluice_rdkafka INTERFACE)
  target_link_libraries(sluice_rdkafka INTERFACE PkgConfig::RDKAFKA)
endif()

if(SLUICE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(SLUICE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
