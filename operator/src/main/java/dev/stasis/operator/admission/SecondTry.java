package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.http.HttpClosedException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Asks a hook again, once and at once, when the API server closed a connection that the client kept
 * for its next request. The client finds that out with the request in hand, and tries again only
 * what it takes for an error of input and output, which this is none.
 */
final class SecondTry {

  private static final Logger LOG = System.getLogger(SecondTry.class.getName());

  /**
   * The time for it is the webhook's own: the API server waits no longer for the two than for one.
   */
  Verdict review(AdmissionHook hook, AdmissionRequest request) {
    try {
      return hook.review(request);
    } catch (KubernetesClientException e) {
      if (!isClosed(e)) {
        throw e;
      }
      LOG.log(Level.INFO, "webhook {0} looks again: {1}", hook.path(), e.getMessage());
      return hook.review(request);
    }
  }

  private static boolean isClosed(Throwable failure) {
    return failure instanceof HttpClosedException
        || failure.getCause() != null && isClosed(failure.getCause());
  }
}
