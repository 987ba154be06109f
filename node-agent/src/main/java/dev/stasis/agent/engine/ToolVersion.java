package dev.stasis.agent.engine;

/** The version of Stasis that is running, as its jar says. */
public final class ToolVersion {

  private ToolVersion() {}

  /** As the jar says; {@code development} outside of one. */
  public static String current() {
    String version = ToolVersion.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
