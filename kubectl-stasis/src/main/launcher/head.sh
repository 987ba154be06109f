#!/bin/sh
# kubectl stasis @VERSION@: the program follows behind this script, and is unpacked once into the user's cache.
# Wants Java 17 or newer: STASIS_JAVA, else JAVA_HOME, else PATH, else where macOS and Linux install it. https://stasis.dev
# Starts few programs: each of them takes as long as a hundredth of a command.
set -eu

home="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/kubectl-stasis/@ID@"

fail() {
  printf 'kubectl stasis: %s\n  %s\n' "$1" "$2" >&2
  exit 3
}

# Sets version to that of the Java whose program this is, from the file beside it: asking the program takes as long as a command.
find_version() {
  version='?'
  real="$(readlink -f "$1" 2>/dev/null)" || real="$1"
  release="${real%/bin/java}/release"
  [ -r "$release" ] || return 0
  while IFS='=' read -r key value; do
    if [ "$key" = JAVA_VERSION ]; then
      value="${value#\"}"
      version="${value%\"*}"
      return 0
    fi
  done <"$release"
}

# Sets java to the first of these programs that is new enough.
choose() {
  for candidate in "$@"; do
    if [ ! -x "$candidate" ] || [ -d "$candidate" ]; then continue; fi
    # On macOS this is a program that finds Java, or asks the user to install it; java_home knows too.
    if [ "$candidate" = /usr/bin/java ] && [ -x /usr/libexec/java_home ]; then continue; fi
    find_version "$candidate"
    major="${version%%.*}"
    case "$major" in
      '' | *[!0-9]*) ;;
      *) [ "$major" -ge 17 ] || continue ;;
    esac
    java="$candidate"
    return 0
  done
}

# Sets key to a path as the name of a file.
as_key() {
  set -f
  IFS=/
  # shellcheck disable=SC2086 # its folders
  set -- $1
  IFS=_
  key="$*"
  unset IFS
  set +f
}

java=""
choose "${STASIS_JAVA:-}" "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)"
if [ -z "$java" ] && [ -x /usr/libexec/java_home ]; then
  choose "$(/usr/libexec/java_home -v 17+ 2>/dev/null || true)/bin/java"
fi
[ -n "$java" ] || choose /usr/lib/jvm/*/bin/java /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java /opt/homebrew/opt/openjdk*/bin/java
[ -n "$java" ] || fail "expected Java 17 or newer, got none" "install one (apt-get install openjdk-17-jre-headless, brew install openjdk), or name it by JAVA_HOME"

if [ ! -d "$home/lib" ]; then
  mkdir -p "$home.$$" || fail "wanted to write to $home, could not" "name another folder by XDG_CACHE_HOME"
  tail -n +@LINES@ "$0" | tar -x -z -f - -C "$home.$$"
  # Another one may have been faster.
  mkdir -p "${home%/*}"
  mv -T "$home.$$" "$home" 2>/dev/null || { [ ! -d "$home" ] && mv "$home.$$" "$home" 2>/dev/null; } || rm -rf "$home.$$"
fi

set -- "dev.stasis.kubectl.cli.KubectlStasis" "$@"
classes="$home/lib/*"
# A command lives for a moment: one compiler, one collector thread. The JVM's own warnings would spoil what is piped on.
options="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xshare:auto -Xlog:disable"

# The classes as the JVM has read them once: more than half of a start is saved. Made by a list of nothing, in two steps: what the
# JVM archives at its exit (-XX:ArchiveClassesAtExit) lacks picocli's classes in Java 17, because their format is Java 5's.
as_key "$java"
archive="$home/classes-$version-$key.jsa"
if [ ! -e "$archive" ] && [ -w "$home" ]; then
  # shellcheck disable=SC2086 # several options
  {
    KUBECTL="$home/sample-kubectl" "$java" $options -XX:DumpLoadedClassList="$archive.$$.list" -cp "$classes" "$1" list -A >/dev/null 2>&1 &&
      "$java" $options -Xshare:dump -XX:SharedClassListFile="$archive.$$.list" -XX:SharedArchiveFile="$archive.$$" -cp "$classes" >/dev/null 2>&1
  } || true
  rm -f "$archive.$$.list"
  if [ -e "$archive.$$" ]; then mv -f "$archive.$$" "$archive"; else : >"$archive"; fi
fi

STASIS_TERMINAL=no
if [ -t 1 ] && [ -t 2 ]; then STASIS_TERMINAL=yes; fi
export STASIS_TERMINAL
# shellcheck disable=SC2086 # several options
exec "$java" $options -XX:SharedArchiveFile="$archive" ${STASIS_JAVA_OPTIONS:-} -cp "$classes" "$@"
