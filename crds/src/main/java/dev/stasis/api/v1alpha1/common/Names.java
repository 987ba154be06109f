package dev.stasis.api.v1alpha1.common;

/** Patterns of names, as the schemas use them. */
public final class Names {
  /** Name of most objects of Kubernetes. */
  public static final String SUBDOMAIN =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

  /** Name of a container or a namespace. */
  public static final String LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

  /** A word in CamelCase. */
  public static final String WORD = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

  /** Type of a condition, which may have a prefix. */
  public static final String CONDITION_TYPE =
      "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$";

  /** Five fields of cron, or one of its short forms; the operator reads it more closely. */
  public static final String CRON =
      "^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)"
          + "|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4})$";

  /** Absolute path without dots, empty parts or a slash at its end. */
  public static final String ABSOLUTE_PATH = "^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$";

  /** Relative path that cannot leave its root. */
  public static final String PATH_BELOW =
      "^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$";

  /** An artifact below the root of a store: its namespace, and its folder in that. */
  public static final String ARTIFACT_LOCATION =
      "^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";

  /** Name of a bucket. */
  public static final String BUCKET = "^[a-z0-9][a-z0-9.-]*[a-z0-9]$";

  private Names() {}
}
