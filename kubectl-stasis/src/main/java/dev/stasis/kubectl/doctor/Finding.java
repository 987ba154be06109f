package dev.stasis.kubectl.doctor;

/**
 * One thing that the doctor has to say.
 *
 * @param severity how bad it is
 * @param where the node, or {@code cluster}
 * @param what what is wrong, with the values that count
 * @param advice what to do
 */
public record Finding(Severity severity, String where, String what, String advice) {

  /** Of the cluster as a whole. */
  public static final String CLUSTER = "cluster";

  /** How bad it is, the worst first. */
  public enum Severity {
    /** Something does not work. */
    PROBLEM("problem"),
    /** Something will not work soon, or not as well as it could. */
    WARNING("warning"),
    /** Could not be looked at. */
    UNKNOWN("unknown"),
    /** Looked at, and well. */
    WELL("well");

    private final String word;

    Severity(String word) {
      this.word = word;
    }

    /** For people and in JSON. */
    public String word() {
      return word;
    }
  }

  static Finding problem(String where, String what, String advice) {
    return new Finding(Severity.PROBLEM, where, what, advice);
  }

  static Finding warning(String where, String what, String advice) {
    return new Finding(Severity.WARNING, where, what, advice);
  }

  static Finding well(String where, String what) {
    return new Finding(Severity.WELL, where, what, "");
  }
}
