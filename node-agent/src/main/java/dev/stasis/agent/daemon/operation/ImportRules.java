package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.ExpectedWorkload;
import dev.stasis.api.v1alpha1.store.ImportPolicy;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.SigningKeys;
import java.security.GeneralSecurityException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which artifacts of a store may be imported, as its administrator says it.
 *
 * @param policy of the store; null: the defaults
 */
record ImportRules(@Nullable ImportPolicy policy) {

  /** The keys, any of which may have signed the manifest; null: it needs no signature. */
  @Nullable SigningKeys keys() throws Refused {
    if (policy == null || policy.publicKeys() == null) {
      return null;
    }
    try {
      return SigningKeys.ofPem(policy.publicKeys());
    } catch (GeneralSecurityException e) {
      throw new Refused(
          Faults.of(
              ImportJob.REFUSED,
              "imports.publicKeys of the store",
              "ECDSA keys on P-256 in PEM",
              String.valueOf(e.getMessage())));
    }
  }

  /**
   * It was made in the namespace of the request. Namespaces are deleted and their names given to
   * others, so the name alone proves nothing.
   */
  void requireNamespace(
      ArtifactReference reference, ExpectedWorkload expected, Manifest.Origin origin)
      throws Refused {
    String name = origin.namespace();
    if (!reference.namespace().equals(name)) {
      throw otherNamespace(
          "namespace of artifact " + reference.location(), reference.namespace(), name);
    }
    boolean any = policy != null && policy.allowsAnyNamespaceUid();
    String uid = expected.namespaceUid();
    if (!any && (uid == null || !uid.equals(origin.namespaceUid()))) {
      throw otherNamespace(
          "namespace uid of artifact " + reference.location(),
          Objects.requireNonNullElse(uid, "one in the order")
              + ", or imports.anyNamespaceUid in the store",
          origin.namespaceUid());
    }
  }

  private static Refused otherNamespace(String property, String wanted, @Nullable String found) {
    return new Refused(
        Faults.of("OtherNamespace", property, wanted, Objects.requireNonNullElse(found, "none")));
  }
}
