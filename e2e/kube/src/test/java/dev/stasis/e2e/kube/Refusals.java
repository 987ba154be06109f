package dev.stasis.e2e.kube;

import io.fabric8.kubernetes.client.KubernetesClient;

/**
 * How many requests the API server has refused for want of a right, by its own count: of everybody,
 * since it does not count by user.
 *
 * @param requests so many
 */
record Refusals(long requests) {

  private static final String COUNTER = "authorization_attempts_total{";

  static Refusals now(KubernetesClient admin) {
    String metrics = admin.raw("/metrics");
    if (metrics == null) {
      throw new IllegalStateException("the API server's metrics: expected some, got none");
    }
    return new Refusals(
        metrics
            .lines()
            .filter(line -> line.startsWith(COUNTER) && !line.contains("result=\"allowed\""))
            .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .sum());
  }

  long since(Refusals before) {
    return requests - before.requests;
  }
}
