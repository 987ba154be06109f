package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;

/** Refused creations of objects. */
public final class RefusedCreates {

  private static final String CONFLICT = "Conflict";

  /** Part of the API server's answer if a ResourceQuota of the namespace is used up. */
  private static final String QUOTA_USED_UP = "exceeded quota";

  private RefusedCreates() {}

  /** Returns the API server's own words, which the message of the exception only contains. */
  public static String sentence(KubernetesClientException refused) {
    Status status = refused.getStatus();
    String words = status == null ? null : status.getMessage();
    return words == null ? String.valueOf(refused.getMessage()) : words;
  }

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

  /**
   * Returns whether a ResourceQuota refuses every object of that kind in the namespace.
   *
   * @param sentence the API server's answer
   */
  public static boolean isQuotaUsedUp(String sentence) {
    return sentence.contains(QUOTA_USED_UP);
  }
}
