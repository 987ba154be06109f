# shellcheck shell=bash
# What the reports and logs of test runners say, for the table of bin/test. Sourced.
# COUNTED: the Maven modules of the step at hand, space-separated.

# mark_reports STEP [SUFFIX]: reports written from now on, with this suffix, belong to this step. A step of the
# other lane may test the same module meanwhile.
mark_reports() {
  MARK="$(log_of "$1").mark" SUFFIX="${2:-}"
  touch "$MARK"
}

# reports: the surefire reports of this step, NUL-terminated.
reports() {
  local module folders=()
  for module in $COUNTED; do
    if [ -d "$STASIS_HOME/$module/target/surefire-reports" ]; then folders+=("$STASIS_HOME/$module/target/surefire-reports"); fi
  done
  if [ "${#folders[@]}" -gt 0 ]; then find "${folders[@]}" -name "TEST-*$SUFFIX.xml" -newer "$MARK" -print0; fi
}

# "N tests, N failed, N skipped". Keeps the reasons of skipped tests for the end.
count_tests() {
  # A disabled test has a message, one whose assumption does not hold an exception.
  reports | xargs -0 -r sed -n -e 's/.*<skipped message="\([^"]*\)".*/\1/p' \
    -e 's/.*<skipped type=[^>]*><!\[CDATA\[[^:]*: \(.*\)/\1/p' >>"$LOGS/skipped-tests"
  reports | xargs -0 -r sed -n '/<testsuite /,/>/p' | tr '\n' ' ' | sed 's/<testsuite /\n/g' | awk '
      function value(name,  rest) {
        if (!match($0, " " name "=\"[0-9]+\"")) return 0
        rest = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", rest); return rest
      }
      / tests="/ { tests += value("tests"); bad += value("failures") + value("errors"); skipped += value("skipped") }
      END { printf "%d tests, %d failed, %d skipped", tests, bad, skipped }'
}

# The tests that failed, each with the first line of why.
failed_tests() {
  reports | xargs -0 -r awk '
    function flush() { if (name != "" && why != "") print "failed: " of "." name ": " substr(why, 1, 1200); why = "" }
    function plain(text) {
      gsub(/&#10;/, " ", text); gsub(/&quot;/, "\"", text); gsub(/&lt;/, "<", text)
      gsub(/&gt;/, ">", text); gsub(/&apos;/, "\047", text); gsub(/&amp;/, "\\&", text)
      return text
    }
    /<testcase / { match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8)
                   match($0, /classname="[^"]*"/); of = substr($0, RSTART + 11, RLENGTH - 12); sub(/.*[.]/, "", of) }
    /<(failure|error)[ >]/ { why = "no message"
                   if (match($0, / message="[^"]*"/)) why = plain(substr($0, RSTART + 10, RLENGTH - 11)); flush() }' | sort -u
}

# failed_compilation LOG: what the compiler and Maven said.
failed_compilation() { grep -m 20 '^\[ERROR\]' "$1" || true; }

# C tests print a line each: "ok NAME", "FAIL NAME" or "skipped NAME: why".
count_lines() {
  sed -n 's/^skipped [^:]*: //p' "$1" >>"$LOGS/skipped-tests"
  awk '/^ok /{ok++} /^FAIL/{bad++} /^skipped /{skipped++}
    END { printf "%d tests, %d failed, %d skipped", ok + bad + skipped, bad, skipped }' "$1"
}

# failed_lines LOG: the C tests that failed, with what they said.
failed_lines() { awk '/^FAIL/ { print "failed: " substr($0, 6, 300); more = 4; next } /^     / && more-- > 0 { print substr($0, 1, 300); next } { more = 0 }' "$1"; }

# Why tests were skipped, and how many for each reason.
skipped_tests() {
  if [ -s "$LOGS/skipped-tests" ]; then
    sed 's/&quot;/"/g; s/&apos;/'"'"'/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' "$LOGS/skipped-tests" | sort | uniq -c | sort -rn | cut -c 1-300
  fi
}
