package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;

/**
 * Answers one kind of webhook request. Every replica of the operator receives requests, not only
 * the leader, so a hook reads and writes the API server directly.
 */
public interface AdmissionHook {

  /** First part of the webhook's name, and its path: {@code evict} of evict.stasis.dev. */
  String path();

  /**
   * Answers a request. An exception becomes a 500, and the failurePolicy of the webhook decides. It
   * may be called twice, if a connection to the API server was closed before the answer arrived.
   *
   * @param request the request of the API server; a dry run must not have any effect
   */
  Verdict review(AdmissionRequest request);
}
