package dev.stasis.operator.cluster;

/** What the container does in the product. */
public final class ClusterParts {

  private ClusterParts() {}

  public static void stop(Informers informers) {
    informers.stop();
  }
}
