package dev.stasis.agent.cli;

import java.util.List;
import java.util.Map;

/**
 * What a command has to tell.
 *
 * @param code the exit code
 * @param json the answer for machines; keys are documented and stay
 * @param lines the answer for people
 * @param errors what went wrong and what to do next, a sentence a line; for people, also beside
 *     JSON
 */
record Report(ExitCode code, Map<String, Object> json, List<String> lines, List<String> errors) {

  Report {
    lines = List.copyOf(lines);
    errors = List.copyOf(errors);
  }
}
