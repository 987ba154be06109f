package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;

/**
 * Answers one kind of question of the API server. Every replica of the operator is asked, also one
 * that does not lead: what it decides it reads from the API server and writes there.
 */
public interface AdmissionHook {

  /** First part of the name of its webhook, and its path: {@code evict} of evict.stasis.dev. */
  String path();

  /**
   * Answers. What it throws becomes a 500, and the failurePolicy of the webhook decides. It may be
   * asked twice, when a connection to the API server was closed before the answer came.
   *
   * @param request as the API server sent it; a dry run is answered without any effect
   */
  Verdict review(AdmissionRequest request);
}
