package dev.stasis.agent.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/** Exit codes of a command. They are part of the interface: numbers never change. */
enum ExitCode {
  DONE(0, "Done"),
  FAILED(1, "Failed or cancelled, and rolled back: the workload runs, or was not changed"),
  USAGE(2, "Wrong usage"),
  REFUSED(3, "Refused before any change; the message contains the expected and the actual value"),
  ACT(4, "A workload is frozen, or its state is unknown: see stasis-node frozen"),
  GONE(5, "The workload has ended"),
  INTERNAL(6, "An error of this node or of Stasis itself");

  private final int number;
  private final String meaning;

  ExitCode(int number, String meaning) {
    this.number = number;
    this.meaning = meaning;
  }

  int number() {
    return number;
  }

  /** The list for the help of every command. */
  static Map<String, String> list() {
    Map<String, String> list = new LinkedHashMap<>();
    for (ExitCode code : values()) {
      list.put(Integer.toString(code.number), code.meaning);
    }
    return list;
  }
}
