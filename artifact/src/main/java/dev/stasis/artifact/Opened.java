package dev.stasis.artifact;

/** What came of opening an artifact. */
public sealed interface Opened {
  /** It is what its manifest says. */
  record Verified(Artifact artifact) implements Opened {}

  /** It must not be used. */
  record Refused(Kind kind, String property, String wanted, String found) implements Opened {
    /** The refusal in one sentence. */
    public String message() {
      return "%s: wanted %s, found %s".formatted(property, wanted, found);
    }
  }

  /** Why an artifact is refused. */
  enum Kind {
    /** There is nothing at the path. */
    MISSING,
    /** What is there is no artifact: it has no manifest. */
    NOT_AN_ARTIFACT,
    /** A newer Stasis wrote it. */
    NEWER,
    /** Another user owns it, others may write to it, or it is not the one that was asked for. */
    FOREIGN,
    /** Something in it is not as it was sealed. */
    DAMAGED
  }
}
