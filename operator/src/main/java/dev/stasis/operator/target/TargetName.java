package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.request.DerivedName;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.math.BigInteger;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The name of the target: the requested one, else the old name if it is free, else the first name
 * with a suffix. The first name is that of the original pod, so that repeated moves do not lengthen
 * the name. The suffix is derived from object and attempt, so that a restarted operator finds the
 * target that it created.
 */
record TargetName(String oldName, String noted, Wish wish) {

  private static final int SUFFIX = 5;

  /** The length that generateName uses. */
  private static final int LONGEST = 63;

  /** Kubernetes' alphabet: no vowels, so no words, and no similar characters. */
  private static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";

  Optional<Fault> refusal() {
    String wanted = wish.target().podName();
    return wanted != null && wish.takenNames().contains(wanted)
        ? Optional.of(
            Reason.TARGET_TAKEN.misfit(
                "target.podName", "an unused name", wanted + ", which is in use"))
        : Optional.empty();
  }

  String name() {
    if (wish.target().podName() != null) {
      return wish.target().podName();
    }
    Set<String> taken = wish.takenNames();
    String name = oldName;
    for (int round = 0; taken.contains(name); round++) {
      name = head(first()) + "-" + suffix(round);
    }
    return name;
  }

  /** Returns the first name of a pod that may have been moved before, from its annotation. */
  static TargetName of(ObjectMeta was, Wish wish) {
    return new TargetName(
        was.getName(),
        Objects.requireNonNullElse(was.getAnnotations(), Map.<String, String>of())
            .getOrDefault(Api.FIRST_NAME_ANNOTATION, was.getName()),
        wish);
  }

  /** Returns the annotation for the target; empty if its name is sufficient. */
  Optional<String> note() {
    String name = name();
    return name.equals(first()) || !name.startsWith(head(first()) + "-")
        ? Optional.empty()
        : Optional.of(first());
  }

  /** A pod that its user renamed meanwhile starts with that name. */
  private String first() {
    return oldName.startsWith(head(noted) + "-") ? noted : oldName;
  }

  private static String head(String name) {
    String head = name.substring(0, Math.min(name.length(), LONGEST - SUFFIX - 1));
    return head.replaceAll("[^a-z0-9]+$", "");
  }

  private String suffix(int round) {
    String seed = wish.requesterUid() + "/" + wish.attempt() + "/" + round;
    BigInteger number = new DerivedName(seed).number();
    BigInteger base = BigInteger.valueOf(LETTERS.length());
    StringBuilder suffix = new StringBuilder(SUFFIX);
    for (int i = 0; i < SUFFIX; i++) {
      suffix.append(LETTERS.charAt(number.mod(base).intValue()));
      number = number.divide(base);
    }
    return suffix.toString();
  }
}
