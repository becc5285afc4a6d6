# need_mysql: MySQL's own server. Debian's releases have MariaDB alone, sid has both: its packages are unpacked into a
# folder of the cache and run with their own loader and libraries, so that the system stays as it is. Sourced, never run.

build_mysql() { # prefix
  local prefix=$1 state=$SLUICE_CACHE/apt-bin package
  rm -rf "$prefix.part" "$state/cache/archives"
  mkdir -p "$prefix.part"
  apt_isolated "$state" deb apt-get update -q
  apt_isolated "$state" deb apt-get install -q -y --no-install-recommends --download-only \
    mysql-server-core mysql-client-core
  for package in "$state"/cache/archives/*.deb; do dpkg -x "$package" "$prefix.part"; done
  rm -rf "$prefix" "$state/cache/archives"
  # The move makes the cache all or nothing.
  mv "$prefix.part" "$prefix"
}

need_mysql() {
  [ -x "$SLUICE_CACHE/mysql/usr/sbin/mysqld" ] ||
    quietly "fetching MySQL from Debian's newest packages" build_mysql "$SLUICE_CACHE/mysql"
}
