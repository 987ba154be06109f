package dev.stasis.agent.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a command tells the one who started it. Part of the interface: numbers never change. */
enum ExitCode {
  DONE(0, "Done"),
  FAILED(1, "Failed or cancelled, and undone: the workload runs on, or nothing of it was touched"),
  USAGE(2, "Wrong usage"),
  REFUSED(3, "Refused before anything was touched; the message names what was wanted and found"),
  ACT(4, "A workload stands still or its state is not known: see stasis-node frozen"),
  GONE(5, "The workload has ended"),
  INTERNAL(6, "A fault of this node or of Stasis itself");

  private final int number;
  private final String meaning;

  ExitCode(int number, String meaning) {
    this.number = number;
    this.meaning = meaning;
  }

  int number() {
    return number;
  }

  /** For the help of every command. */
  static Map<String, String> list() {
    Map<String, String> list = new LinkedHashMap<>();
    for (ExitCode code : values()) {
      list.put(Integer.toString(code.number), code.meaning);
    }
    return list;
  }
}
