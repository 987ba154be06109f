package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;

/** Refused creations of objects. */
public final class RefusedCreates {

  private static final String CONFLICT = "Conflict";

  private RefusedCreates() {}

  /**
   * Returns whether an object has the name already. A ResourceQuota whose usage changes at the same
   * moment refuses a creation with 409 too, but with the reason Conflict: then nothing exists, and
   * the creation must be retried.
   */
  public static boolean isNameTaken(KubernetesClientException refused) {
    Status status = refused.getStatus();
    return refused.getCode() == HttpURLConnection.HTTP_CONFLICT
        && (status == null || !CONFLICT.equals(status.getReason()));
  }
}
