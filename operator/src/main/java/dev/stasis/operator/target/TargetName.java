package dev.stasis.operator.target;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What the target is called: as it is asked for, else the old name if it is free, else the first
 * name with a suffix: that of the pod with which it began, so that a workload that moves again and
 * again keeps a name of that length. The suffix follows from object and attempt, so that an
 * operator that is started again finds the target that it made.
 */
record TargetName(String oldName, String noted, Wish wish) {

  private static final int SUFFIX = 5;

  /** Long enough for what generateName would make too. */
  private static final int LONGEST = 63;

  /** As Kubernetes has it: no vowels, so no words; nothing that looks like another. */
  private static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";

  Optional<Refusal> refusal() {
    String wanted = wish.target().podName();
    return wanted != null && wish.takenNames().contains(wanted)
        ? Optional.of(
            new Refusal(
                Reason.TARGET_TAKEN, "target.podName", "a free name", wanted + ", which is taken"))
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

  /** Of a pod that was perhaps moved before: what it says of its first name is noted on it. */
  static TargetName of(ObjectMeta was, Wish wish) {
    return new TargetName(
        was.getName(),
        Objects.requireNonNullElse(was.getAnnotations(), Map.<String, String>of())
            .getOrDefault(Api.FIRST_NAME_ANNOTATION, was.getName()),
        wish);
  }

  /** What is to be noted on the target; empty where its name says it. */
  Optional<String> note() {
    String name = name();
    return name.equals(first()) || !name.startsWith(head(first()) + "-")
        ? Optional.empty()
        : Optional.of(first());
  }

  /** A pod that was called otherwise meanwhile, by its user's wish, begins anew. */
  private String first() {
    return oldName.startsWith(head(noted) + "-") ? noted : oldName;
  }

  private static String head(String name) {
    String head = name.substring(0, Math.min(name.length(), LONGEST - SUFFIX - 1));
    return head.replaceAll("[^a-z0-9]+$", "");
  }

  private String suffix(int round) {
    String seed = wish.requesterUid() + "/" + wish.attempt() + "/" + round;
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(seed.getBytes(StandardCharsets.UTF_8));
      BigInteger number = new BigInteger(1, digest);
      BigInteger base = BigInteger.valueOf(LETTERS.length());
      StringBuilder suffix = new StringBuilder(SUFFIX);
      for (int i = 0; i < SUFFIX; i++) {
        suffix.append(LETTERS.charAt(number.mod(base).intValue()));
        number = number.divide(base);
      }
      return suffix.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is part of every Java platform", e);
    }
  }
}
