package dev.stasis.agent.cli;

/**
 * One line of the node's self-test.
 *
 * @param name what was checked
 * @param found the result, in a few words
 * @param advice what to do; empty if nothing is needed
 */
record Finding(String name, Mark mark, String found, String advice) {

  /** The severity. */
  enum Mark {
    OK("ok"),
    /** The node works, with a remark. */
    NOTE("note"),
    BAD("bad");

    private final String word;

    Mark(String word) {
      this.word = word;
    }

    String value() {
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
