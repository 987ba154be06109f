# shellcheck shell=bash
# CRIU, built from the tarball that the distribution builds its own package from.
# Debian 12's package (3.17) does not work on new kernels, and none of the packages is static.

# Newest first: version and SHA-256 of the upstream tarball as Debian's and Ubuntu's pools carry it
# (criu_VERSION.orig.tar.xz, from the signed source indices of sid and trixie).
readonly CRIU_SOURCES=(
  "4.2.1 29ec0ee09e296479fe7048c80980e8ef1d0684d0b0204c2b101dfea19f6725b9"
  "4.1.1 f80a66cb3726bb2116266d4759ce3bcbfab7abdb6b6d430bf20dd41911717afe"
)

# What the build needs; the libraries bring their static form with them.
readonly CRIU_BUILD_PACKAGES=(pkg-config libprotobuf-dev libprotobuf-c-dev protobuf-c-compiler
  protobuf-compiler patch libnl-3-dev libcap-dev libnet1-dev uuid-dev libbsd-dev)

readonly CRIU_PATCH="$STASIS_HOME/bin/lib/criu.patch"

# Libraries that would make it dynamic if they happen to be there. Without libnftables it also dumps
# processes of other users where root lacks CAP_SYS_RESOURCE.
readonly CRIU_WITHOUT="libnftables libselinux libbpf libdrm gnutls"

# The archives of this machine's own apt configuration, the distribution's first, a line each.
mirrors() {
  # shellcheck disable=SC2016 # the $( ) is apt's own format
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '{ print ($1 == "Debian" || $1 == "Ubuntu" ? 0 : NF > 1 ? 2 : 1), $NF }' |
    sort -u | awk '$1 < 2 { sub("/$", "", $2); print $2 }' | grep -v -- '-security$' || true
}

tarball_is_right() { [ -r "$1" ] && [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]; }

# fetch_criu VERSION SHA256: into .tools/cache, or fails.
fetch_criu() {
  local file="$TOOLS/cache/criu_$1.orig.tar.xz" mirror component
  if tarball_is_right "$file" "$2"; then return 0; fi
  for mirror in $(mirrors); do
    for component in main universe; do
      # 120 s: 1 MB.
      if timeout 120 /usr/lib/apt/apt-helper -o Acquire::Retries=2 -o Acquire::http::Timeout=30 download-file \
        "$mirror/pool/$component/c/criu/criu_$1.orig.tar.xz" "$file" "SHA256:$2" >>"$TOOLS/log/criu-fetch.log" 2>&1 9>&- &&
        tarball_is_right "$file" "$2"; then
        return 0
      fi
    done
  done
  rm -f "$file"
  return 1
}

# compile_criu TARBALL: leaves .tools/bin/criu, whose GitID says which patch it has.
compile_criu() {
  local log="$TOOLS/log/criu-build.log" tree
  mkdir -p "$TOOLS/bin"
  # CRIU's makefiles cannot be in a path with a space, where this checkout may be.
  tree="$(mktemp -d /var/tmp/stasis-criu.XXXXXX)"
  tar -xJf "$1" -C "$tree" --strip-components=1
  # Without the patch criu would run programs of the containers that it restores into, with its own rights.
  patch -s -p1 -d "$tree" <"$CRIU_PATCH" >"$TOOLS/log/criu-patch.log" 2>&1 ||
    die "bin/lib/criu.patch does not apply to $(basename "$1")" "use the source of CRIU 4.2.1; see $TOOLS/log/criu-patch.log"
  cat >"$tree/pkg-config" <<SCRIPT
#!/bin/sh
for word; do
  for left_out in $CRIU_WITHOUT; do [ "\$word" != "\$left_out" ] || exit 1; done
done
exec pkg-config "\$@"
SCRIPT
  chmod +x "$tree/pkg-config"
  # 1200 s: 20 s on two fast cores; an emulated machine is fifty times slower.
  # LDFLAGS in the environment: as an argument it would replace what the parasite's makefile adds to it.
  env -u MAKEFLAGS -u CFLAGS LDFLAGS=-static timeout 1200 make -C "$tree" -j "$(nproc)" NO_GNUTLS=1 WERROR=0 GITID=$CRIU_BUILD \
    PKG_CONFIG="$tree/pkg-config" criu >"$log" 2>&1 </dev/null 9>&- ||
    die "CRIU could not be built" "see $log; its end:" "$(tail -n 5 "$log")"
  strip -o "$TOOLS/bin/criu.new" "$tree/criu/criu"
  mv "$TOOLS/bin/criu.new" "$TOOLS/bin/criu"
  rm -rf "$tree"
}

build_criu() {
  local source version sum started=$SECONDS
  if [ -n "${STASIS_CRIU_TARBALL:-}" ]; then
    [ -r "$STASIS_CRIU_TARBALL" ] || die "STASIS_CRIU_TARBALL: expected a readable file, got $STASIS_CRIU_TARBALL"
    for source in "${CRIU_SOURCES[@]}"; do
      read -r version sum <<<"$source"
      if tarball_is_right "$STASIS_CRIU_TARBALL" "$sum"; then
        say "setup: building CRIU $version from $STASIS_CRIU_TARBALL"
        compile_criu "$STASIS_CRIU_TARBALL"
        return 0
      fi
    done
    die "STASIS_CRIU_TARBALL: expected criu_VERSION.orig.tar.xz with one of these versions and SHA-256 sums, got $(sha256sum <"$STASIS_CRIU_TARBALL" | cut -d ' ' -f 1)" "${CRIU_SOURCES[@]}"
  fi
  for source in "${CRIU_SOURCES[@]}"; do
    read -r version sum <<<"$source"
    if fetch_criu "$version" "$sum"; then
      say "setup: building CRIU $version (20 to 60 s)"
      compile_criu "$TOOLS/cache/criu_$version.orig.tar.xz"
      say "setup: CRIU $version built in $((SECONDS - started)) s"
      return 0
    fi
  done
  die "CRIU's source was found on none of this machine's apt mirrors: $(mirrors | tr '\n' ' ')" \
    "fetch criu_4.2.1.orig.tar.xz from any Debian mirror (pool/main/c/criu) and run:" \
    "STASIS_CRIU_TARBALL=FILE bin/setup    (log: $TOOLS/log/criu-fetch.log)"
}

# criu_advice FILE: what its own check says, for a message.
criu_advice() {
  printf 'criu check says: '
  timeout 60 "$1" check 2>&1 | grep -v 'Looks good' | tail -n 3 || true
  printf '  it needs root with SYS_ADMIN and SYS_PTRACE and a kernel with CONFIG_CHECKPOINT_RESTORE; in a container: --privileged'
}
