package dev.stasis.agent.cli;

import java.util.List;
import java.util.Map;

/**
 * The result of a command.
 *
 * @param code the exit code
 * @param json the answer for programs; keys are documented and stable
 * @param lines the answer for users
 * @param errors what failed and what to do next, one sentence per line; for users, also with JSON
 */
record Report(ExitCode code, Map<String, Object> json, List<String> lines, List<String> errors) {

  Report {
    lines = List.copyOf(lines);
    errors = List.copyOf(errors);
  }
}
