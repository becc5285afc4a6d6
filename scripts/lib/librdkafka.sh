# need_librdkafka: a librdkafka >= 2.12, either the system's or one built from Debian's newer source package and cached.
# Sets SLUICE_RDKAFKA_PREFIX to its prefix (empty: the system's is new enough).
LIBRDKAFKA_MINIMUM=2.12

build_librdkafka() { # prefix
  local prefix=$1 work tree
  work=$(mktemp -d)
  mkdir -p "$SLUICE_CACHE/apt-src"
  (
    cd "$work"
    apt_isolated "$SLUICE_CACHE/apt-src" deb-src apt-get update -q
    apt_isolated "$SLUICE_CACHE/apt-src" deb-src apt-get source -q --download-only librdkafka
    mkdir tree
    tar -xf librdkafka_*.orig.tar.* -C tree --strip-components=1
  )
  tree=$work/tree
  # Optimised as Debian does it; of its two libraries the C one alone, which is all that is linked.
  cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" -DRDKAFKA_BUILD_STATIC=ON \
    -DRDKAFKA_BUILD_EXAMPLES=OFF -DRDKAFKA_BUILD_TESTS=OFF -DENABLE_LZ4_EXT=ON -DWITH_SSL=ON -DWITH_SASL=ON \
    -DWITH_ZSTD=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$prefix.part"
  ninja -C "$work/build" src/librdkafka.a
  cmake --install "$work/build/src"
  rm -rf "$prefix" "$work"
  # The move makes the cache all or nothing.
  mv "$prefix.part" "$prefix"
}

need_librdkafka() {
  local prefix=$SLUICE_CACHE/librdkafka
  SLUICE_RDKAFKA_PREFIX=
  if pkg-config --atleast-version=$LIBRDKAFKA_MINIMUM rdkafka 2>/dev/null; then return 0; fi
  if [ ! -e "$prefix/include/librdkafka/rdkafka.h" ]; then
    quietly "building librdkafka >= $LIBRDKAFKA_MINIMUM from Debian's newer source package" build_librdkafka "$prefix"
  fi
  SLUICE_RDKAFKA_PREFIX=$prefix
}
