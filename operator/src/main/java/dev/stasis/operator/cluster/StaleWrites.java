package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import org.jspecify.annotations.Nullable;

/** Refused writes to an object that was deleted or recreated after it was read. */
public final class StaleWrites {

  private static final int INVALID = 422;

  private StaleWrites() {}

  /** Performs a write that has no effect if it is refused as stale. */
  public static void ignore(Runnable write) {
    try {
      write.run();
    } catch (KubernetesClientException e) {
      if (!isStale(e)) {
        throw e;
      }
    }
  }

  /**
   * Returns whether the object is gone, was changed meanwhile, or another object has its name. The
   * API server answers a patch that carries the uid of a former object with 422, a delete with 409.
   */
  public static boolean isStale(KubernetesClientException refused) {
    return refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND
        || refused.getCode() == HttpURLConnection.HTTP_CONFLICT
        || refused.getCode() == INVALID && namesUid(refused.getStatus());
  }

  private static boolean namesUid(@Nullable Status status) {
    return status != null
        && status.getDetails() != null
        && status.getDetails().getCauses().stream()
            .anyMatch(cause -> "metadata.uid".equals(cause.getField()));
  }
}
