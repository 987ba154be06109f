package dev.stasis.artifact;

/** The result of opening an artifact. */
public sealed interface Opened {
  /** It matches its manifest. */
  record Verified(Artifact artifact) implements Opened {}

  /** It must not be used. */
  record Refused(Kind kind, String property, String wanted, String found) implements Opened {
    /** Returns the refusal in one sentence. */
    public String message() {
      return "%s: expected %s, got %s".formatted(property, wanted, found);
    }
  }

  /** Why an artifact is refused. */
  enum Kind {
    /** The path does not exist. */
    MISSING,
    /** The folder is not an artifact: it has no manifest. */
    NOT_AN_ARTIFACT,
    /** A newer version of Stasis wrote it. */
    NEWER,
    /** Another user owns it, others may write to it, or it is not the requested one. */
    FOREIGN,
    /** Its content differs from its sealed state. */
    DAMAGED
  }
}
