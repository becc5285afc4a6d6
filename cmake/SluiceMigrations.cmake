# sluice_migrations(SINK DATABASE...): embeds migrations/DATABASE/NNNN_name.sql into the library sluice_sink_SINK, so that
# the binary carries what it needs: sluice::SINK::DATABASE_migrations().
function(sluice_migrations sink)
  foreach(database ${ARGN})
    sluice_embed_migrations(${sink} ${database})
  endforeach()
endfunction()

function(sluice_embed_migrations sink database)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/migrations/${database}/*.sql)
  set(entries)
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    string(REGEX MATCH "^[0-9]+" version ${stem})
    string(REGEX REPLACE "^0*([0-9]+)_.*$" "\\1" version ${stem})
    string(REGEX REPLACE "^[0-9]+_" "" name ${stem})
    file(READ ${file} sql)
    string(APPEND entries "    sluice::sql::Migration{${version}, \"${name}\", R\"sql(${sql})sql\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${database}_migrations.cpp)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Made from migrations/${database}/ by cmake/SluiceMigrations.cmake.
#include <array>
#include <span>

#include \"sinks/sql/database.h\"

namespace sluice::${sink} {

std::span<const sql::Migration> ${database}_migrations() {
  static const auto migrations = std::to_array<sql::Migration>({
${entries}  });
  return migrations;
}

}  // namespace sluice::${sink}
")
  target_sources(sluice_sink_${sink} PRIVATE ${output})
endfunction()
