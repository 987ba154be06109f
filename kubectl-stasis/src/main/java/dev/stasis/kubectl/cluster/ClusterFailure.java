package dev.stasis.kubectl.cluster;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The cluster refused the request or did not answer: its message, and advice. */
public final class ClusterFailure extends RuntimeException {

  private static final long serialVersionUID = 1;

  private static final Pattern FORBIDDEN =
      Pattern.compile("cannot (\\w+) resource \"([^\"]+)\"", Pattern.CASE_INSENSITIVE);

  /** The kind of failure, as far as the program handles it. */
  public enum Why {
    /** The object does not exist. */
    NOT_FOUND,
    /** Stasis is not installed. */
    NOT_INSTALLED,
    /** The user lacks the right. */
    FORBIDDEN,
    /** The API server rejected the object. */
    REFUSED,
    /** The server did not answer. */
    UNREACHABLE
  }

  private final Why why;
  private final String advice;

  /** One sentence of advice; empty if the message contains it. */
  public ClusterFailure(Why why, String message, String advice) {
    super(message);
    this.why = why;
    this.advice = advice;
  }

  /** Returns the kind of failure. */
  public Why why() {
    return why;
  }

  /** Returns the advice; empty if the message contains it. */
  public String advice() {
    return advice;
  }

  /** Parses kubectl's message. */
  static ClusterFailure of(String said) {
    String text = firstLines(said);
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.contains("doesn't have a resource type") || lower.contains("no matches for kind")) {
      return new ClusterFailure(
          Why.NOT_INSTALLED,
          "Stasis is not installed in this cluster: " + text,
          "install it: helm install stasis helm/stasis --namespace stasis-system --create-namespace"
              + " --set image.registry=REGISTRY; for another cluster: --context");
    }
    if (lower.contains("(forbidden)") && lower.contains("cannot")) {
      Matcher right = FORBIDDEN.matcher(text);
      String wanted =
          right.find() ? right.group(1) + " on " + right.group(2) : "the permission named above";
      return new ClusterFailure(
          Why.FORBIDDEN, text, "ask an administrator for " + wanted + " (docs/security.md)");
    }
    if (lower.contains("(notfound)")) {
      return new ClusterFailure(
          Why.NOT_FOUND,
          text,
          "list what exists: kubectl stasis list, kubectl get pods; for another namespace: -n");
    }
    if (isUnreachable(lower)) {
      return new ClusterFailure(
          Why.UNREACHABLE,
          text,
          "check which cluster is selected: kubectl config get-contexts, kubectl cluster-info");
    }
    return new ClusterFailure(Why.REFUSED, text, "");
  }

  private static boolean isUnreachable(String lower) {
    return List.of(
            "connection to the server",
            "unable to connect",
            "i/o timeout",
            "connection refused",
            "no such host",
            "must be logged in",
            "unauthorized",
            "does not exist", // a context, cluster or user of the kubeconfig
            "no configuration has been provided",
            "error loading config",
            "error in configuration")
        .stream()
        .anyMatch(lower::contains);
  }

  private static String firstLines(String said) {
    String text = said.strip();
    return text.replaceFirst("^(?i)error( from server)?: ", "").replaceAll("\\s*\\n\\s*", "; ");
  }
}
