package dev.stasis.api.v1beta1.common;

/** Patterns of names for the schemas. */
public final class Names {
  /** Name of most Kubernetes objects: a DNS subdomain. */
  public static final String SUBDOMAIN =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

  /** Name of a container or a namespace: a DNS label. */
  public static final String LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

  /** A reason in CamelCase. */
  public static final String WORD = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

  /** Type of a condition, with an optional prefix. */
  public static final String CONDITION_TYPE =
      "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$";

  /** Five cron fields or a predefined schedule. The operator validates the rest. */
  public static final String CRON =
      "^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)"
          + "|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4})$";

  /** Absolute path without dot segments, empty segments or a trailing slash. */
  public static final String ABSOLUTE_PATH = "^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$";

  /** Relative path without dot segments. */
  public static final String PATH_BELOW =
      "^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$";

  /** Location of an artifact: NAMESPACE/NAME. */
  public static final String ARTIFACT_LOCATION =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";

  /** Name of a bucket. */
  public static final String BUCKET = "^[a-z0-9][a-z0-9.-]*[a-z0-9]$";

  private Names() {}
}
