package dev.stasis.agent.engine;

/** The version of Stasis that is running, as its jar says. */
final class ToolVersion {

  private ToolVersion() {}

  static String current() {
    String version = ToolVersion.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
