# shellcheck shell=bash
# Compiled tests for scripts that run them without Maven, in a virtual machine.
# Sourced, never run, after tools.sh.

# compile_tests MODULE TEST OUT: sets CLASSES to the class path of the tests of a module, which it finds in the report of
# a run of one test that is short, or skips itself on this machine. Compiles what runs them, RunTests, into OUT.
compile_tests() {
  local module="$1" test="$2" out="$3" launcher
  cd "$STASIS_HOME"
  JAVA_HOME="$(find_build_jdk)" "$(find_maven)" -B -ntp -q -pl "$module" -am test -Dspotless.check.skip=true -Djandex.skip=true \
    "-Dtest=$test" -Dsurefire.failIfNoSpecifiedTests=false -Dsurefire.reportNameSuffix=compiled >&2
  CLASSES="$(sed -n 's/.*name="surefire.test.class.path" value="\([^"]*\)".*/\1/p' "$module/target/surefire-reports/TEST-$test-compiled.xml")"
  launcher="$(tr ':' '\n' <<<"$CLASSES" | grep -m 1 '/junit-platform-engine-' | sed 's/junit-platform-engine/junit-platform-launcher/g')"
  [ -r "$launcher" ] || die "JUnit's launcher: expected $launcher, got no such file"
  # Surefire ends it with a colon, which Java takes for the current folder: with all that other lanes change there.
  CLASSES="${CLASSES%:}:$launcher"
  "$(find_build_jdk)/bin/javac" -proc:none -cp "$CLASSES" -d "$out" e2e/lsm/RunTests.java
}
