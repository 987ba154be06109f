#!/bin/sh
# kubectl stasis @VERSION@: the program follows behind this script, and is unpacked once into the user's cache.
# Wants Java 17 or newer: STASIS_JAVA, else JAVA_HOME, else PATH, else /usr/lib/jvm. https://stasis.dev
set -eu

home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/kubectl-stasis/@ID@"

fail() {
  printf 'kubectl stasis: %s\n  %s\n' "$1" "$2" >&2
  exit 3
}

# Version of the Java whose program this is, from the file beside it: asking the program takes as long as a command.
version_of() {
  real="$(readlink -f "$1" 2>/dev/null || printf '%s' "$1")"
  release="${real%/bin/java}/release"
  [ -r "$release" ] || { printf '?'; return 0; }
  while IFS='=' read -r key value; do
    if [ "$key" = JAVA_VERSION ]; then
      value="${value#\"}"
      printf '%s' "${value%\"*}"
      return 0
    fi
  done <"$release"
  printf '?'
}

java=""
for candidate in "${STASIS_JAVA:-}" "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
  if [ ! -x "$candidate" ] || [ -d "$candidate" ]; then continue; fi
  version="$(version_of "$candidate")"
  major="${version%%.*}"
  case "$major" in
    '' | *[!0-9]*) ;;
    *) [ "$major" -ge 17 ] || continue ;;
  esac
  java="$candidate"
  break
done
[ -n "$java" ] || fail "expected Java 17 or newer, got none" "install one (apt-get install openjdk-17-jre-headless), or name it by JAVA_HOME"

if [ ! -d "$home/lib" ]; then
  mkdir -p "$home.$$" || fail "wanted to write to $home, could not" "name another folder by XDG_CACHE_HOME"
  tail -n +@LINES@ "$0" | tar -x -z -f - -C "$home.$$"
  # Another one may have been faster.
  mkdir -p "${home%/*}"
  mv -T "$home.$$" "$home" 2>/dev/null || mv "$home.$$" "$home" 2>/dev/null || rm -rf "$home.$$"
fi

set -- "dev.stasis.kubectl.cli.KubectlStasis" "$@"
classes="$home/lib/*"
# A command lives for a moment: one compiler, one collector thread. The JVM's own warnings would spoil what is piped on.
options="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xshare:auto -Xlog:disable"

# The classes as the JVM has read them once: half of a start is saved. Made by a list of nothing.
archive="$home/classes-$version-$(printf '%s' "$java" | cksum | tr -d ' ').jsa"
if [ ! -e "$archive" ] && [ -w "$home" ]; then
  # shellcheck disable=SC2086 # several options
  KUBECTL="$home/sample-kubectl" "$java" $options -XX:ArchiveClassesAtExit="$archive.$$" -cp "$classes" "$1" list -A >/dev/null 2>&1 || true
  if [ -e "$archive.$$" ]; then mv -f "$archive.$$" "$archive"; else : >"$archive"; fi
fi

STASIS_TERMINAL=no
if [ -t 1 ] && [ -t 2 ]; then STASIS_TERMINAL=yes; fi
export STASIS_TERMINAL
# shellcheck disable=SC2086 # several options
exec "$java" $options -XX:SharedArchiveFile="$archive" ${STASIS_JAVA_OPTIONS:-} -cp "$classes" "$@"
