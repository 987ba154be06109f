package dev.stasis.kubectl.doctor;

/**
 * A finding of the doctor.
 *
 * @param severity its severity
 * @param where the node, or {@code cluster}
 * @param what the problem, with the relevant values
 * @param advice what to do
 */
public record Finding(Severity severity, String where, String what, String advice) {

  /** Creates a finding about the whole cluster. */
  public static final String CLUSTER = "cluster";

  /** Severities, the worst first. */
  public enum Severity {
    /** A function does not work. */
    PROBLEM("problem"),
    /** A function will stop working soon, or is degraded. */
    WARNING("warning"),
    /** It could not be checked. */
    UNKNOWN("unknown"),
    /** It was checked without a problem. */
    WELL("well");

    private final String word;

    Severity(String word) {
      this.word = word;
    }

    /** The name for users and in JSON. */
    public String value() {
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
