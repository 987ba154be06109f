package dev.stasis.kubectl.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of the build, from the jar's manifest. */
final class BuildVersion implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = BuildVersion.class.getPackage().getImplementationVersion();
    return new String[] {"kubectl-stasis " + (version == null ? "from a checkout" : version)};
  }
}
