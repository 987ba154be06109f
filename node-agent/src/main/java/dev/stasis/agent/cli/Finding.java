package dev.stasis.agent.cli;

/**
 * One line of the node's self-test.
 *
 * @param name what was looked at
 * @param found what is there, in a few words
 * @param advice what to do; empty when nothing has to be done
 */
record Finding(String name, Mark mark, String found, String advice) {

  /** How it is. */
  enum Mark {
    OK("ok"),
    /** The node works, but something is worth knowing. */
    NOTE("note"),
    BAD("bad");

    private final String word;

    Mark(String word) {
      this.word = word;
    }

    String word() {
      return word;
    }
  }

  static Finding ok(String name, String found) {
    return new Finding(name, Mark.OK, found, "");
  }

  static Finding note(String name, String found, String advice) {
    return new Finding(name, Mark.NOTE, found, advice);
  }

  static Finding bad(String name, String found, String advice) {
    return new Finding(name, Mark.BAD, found, advice);
  }
}
