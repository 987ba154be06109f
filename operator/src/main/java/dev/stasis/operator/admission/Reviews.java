package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponseBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReview;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Parses and formats AdmissionReviews. */
final class Reviews {

  private static final int TOO_MANY_REQUESTS = 429;

  private final KubernetesSerialization serialization;

  Reviews(KubernetesSerialization serialization) {
    this.serialization = serialization;
  }

  /**
   * Parses a request.
   *
   * @throws IllegalArgumentException if it is not a request
   */
  AdmissionRequest read(byte[] body) {
    AdmissionReview review =
        serialization.unmarshal(new String(body, StandardCharsets.UTF_8), AdmissionReview.class);
    if (review == null || review.getRequest() == null || review.getRequest().getUid() == null) {
      throw new IllegalArgumentException(
          "body: expected an AdmissionReview of admission.k8s.io/v1 with a request, got none");
    }
    return review.getRequest();
  }

  /** Formats the answer. */
  byte[] write(AdmissionRequest request, Verdict verdict) {
    AdmissionResponseBuilder response = new AdmissionResponseBuilder().withUid(request.getUid());
    if (verdict instanceof Verdict.Allowed allowed) {
      response.withAllowed(true).withWarnings(allowed.warnings());
    } else if (verdict instanceof Verdict.NotNow notNow) {
      denied(response, TOO_MANY_REQUESTS, "TooManyRequests", notNow.sentence());
    } else if (verdict instanceof Verdict.Denied denied) {
      denied(response, HttpURLConnection.HTTP_FORBIDDEN, "Forbidden", denied.sentence());
    } else if (verdict instanceof Verdict.Changed changed) {
      response
          .withAllowed(true)
          .withPatchType("JSONPatch")
          .withPatch(
              Base64.getEncoder().encodeToString(changed.patch().getBytes(StandardCharsets.UTF_8)));
    }
    AdmissionReview review = new AdmissionReview();
    review.setResponse(response.build());
    return serialization.asJson(review).getBytes(StandardCharsets.UTF_8);
  }

  private static void denied(
      AdmissionResponseBuilder response, int code, String reason, String sentence) {
    response
        .withAllowed(false)
        .withStatus(
            new StatusBuilder()
                .withStatus("Failure")
                .withCode(code)
                .withReason(reason)
                .withMessage(sentence)
                .build());
  }
}
