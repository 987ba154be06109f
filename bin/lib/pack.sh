# shellcheck shell=bash
# Packs the demo for a machine without network and JDK. Sourced by bin/demo.

# What operator and agent need of a JDK.
readonly JRE_MODULES=java.base,java.logging,java.xml,java.naming,java.management,java.sql,java.net.http,java.desktop,java.instrument,java.security.jgss,jdk.unsupported,jdk.management,jdk.zipfs,jdk.crypto.ec,jdk.httpserver

# Libraries that are there twice become one file with two names.
link_twins() {
  local sum file last="" first=""
  find "$1" -name '*.jar' -exec sha256sum {} + | sort | while read -r sum file; do
    if [ "$sum" = "$last" ]; then ln -f "$first" "$file"; else first="$file"; fi
    last="$sum"
  done
}

# pack_demo FOLDER
pack_demo() {
  local jdk
  mkdir -p "$1"
  [ -z "$(ls -A "$1")" ] || die "--pack: an empty folder is wanted, found: $1"
  prepare_local
  jdk="$(find_build_jdk)"
  (cd "$STASIS_HOME" && tar -cf - --exclude 'quarkus-ide-launcher-*' bin examples sim-gpu/target/{gpu-counter,sim-gpu-node,libcuda.so.1,libnvidia-ml.so.1} \
    runtime/target/stasis-runtime local/target/lib local/target/"$(basename "$(local_jar)")" operator/target/quarkus-app) | tar -xf - -C "$1"
  link_twins "$1"
  "$STASIS_HOME/bin/lib/plain-jars.py" "$1"
  "$jdk/bin/jlink" --add-modules "$JRE_MODULES" --strip-debug --no-header-files --no-man-pages --output "$1/jre"
  mkdir -p "$1/.tools/bin" "$1/.tools/lib"
  cp "$(find_criu)" "$1/.tools/bin/criu"
  cp "$(command -v "${RUNC:-runc}")" "$1/.tools/bin/runc.bin"
  # runc is linked to libseccomp; a machine without runc may lack it.
  ldd "$1/.tools/bin/runc.bin" 2>/dev/null | awk '/libseccomp.*=> \//{print $3}' | xargs -r -I{} cp -L {} "$1/.tools/lib/"
  cat >"$1/.tools/bin/runc" <<'RUN'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH="$here/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/runc.bin" "$@"
RUN
  chmod +x "$1/.tools/bin/runc"
  touch "$1/packed"
  say "demo: packed, $(du -sm "$1" | cut -f 1) MiB (under 50 MiB as .tar.xz); on the other machine, as root: FOLDER/bin/demo"
}
