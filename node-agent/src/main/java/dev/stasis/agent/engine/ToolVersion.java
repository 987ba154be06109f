package dev.stasis.agent.engine;

/** The version of the running Stasis, from its jar. */
public final class ToolVersion {

  private ToolVersion() {}

  /** The version in the jar; {@code development} outside of one. */
  public static String current() {
    String version = ToolVersion.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
