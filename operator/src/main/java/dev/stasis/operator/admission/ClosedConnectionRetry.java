package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.http.HttpClosedException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Calls a hook again after the API server closed a pooled connection. The client notices that only
 * with the next request, and does not retry it, because the exception is not an IOException.
 */
final class ClosedConnectionRetry {

  private static final Logger LOG = System.getLogger(ClosedConnectionRetry.class.getName());

  /** Both calls must fit into the timeout of the webhook. */
  Verdict review(AdmissionHook hook, AdmissionRequest request) {
    try {
      return hook.review(request);
    } catch (KubernetesClientException e) {
      if (!isClosed(e)) {
        throw e;
      }
      LOG.log(Level.INFO, "Retrying webhook {0}: {1}", hook.path(), e.getMessage());
      return hook.review(request);
    }
  }

  private static boolean isClosed(Throwable failure) {
    return failure instanceof HttpClosedException
        || failure.getCause() != null && isClosed(failure.getCause());
  }
}
