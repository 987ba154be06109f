package dev.stasis.store;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A failure of a store. Its class is the cause that a condition names. */
public abstract sealed class StoreException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean isTransient;

  private StoreException(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private StoreException(String message, @Nullable Throwable cause, boolean isTransient) {
    super(message, cause);
    this.isTransient = isTransient;
  }

  /** Returns the cause as one word for a condition: the name of the class. */
  public final String reason() {
    return getClass().getSimpleName();
  }

  /** Returns whether the same call can succeed later without a change by a user. */
  public final boolean isTransient() {
    return isTransient;
  }

  /** The server does not know the credentials, or they are expired. */
  public static final class WrongCredentials extends StoreException {
    private static final long serialVersionUID = 1L;

    public WrongCredentials(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The server knows the credentials, and they do not allow the call. */
  public static final class AccessDenied extends StoreException {
    private static final long serialVersionUID = 1L;

    public AccessDenied(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The artifact, blob, folder or bucket does not exist. */
  public static final class NotFound extends StoreException {
    private static final long serialVersionUID = 1L;

    public NotFound(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The store has no space left, or its quota is used up. */
  public static final class Full extends StoreException {
    private static final long serialVersionUID = 1L;

    public Full(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The server did not answer in time, or answered that it cannot at the moment. */
  public static final class Unreachable extends StoreException {
    private static final long serialVersionUID = 1L;

    public Unreachable(String message, @Nullable Throwable cause) {
      super(message, cause, true);
    }
  }

  /** The server or the file system refused the call for a reason of its own. */
  public static final class Refused extends StoreException {
    private static final long serialVersionUID = 1L;

    public Refused(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Stored bytes are not those that were written. The message names artifact, file and chunk. */
  public static final class Damaged extends StoreException {
    private static final long serialVersionUID = 1L;

    public Damaged(String message) {
      super(message, null);
    }

    public Damaged(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** A newer Stasis wrote this. */
  public static final class Newer extends StoreException {
    private static final long serialVersionUID = 1L;

    public Newer(String message) {
      super(message, null);
    }
  }

  /** The artifact in the store is not the one that was asked for. */
  public static final class Foreign extends StoreException {
    private static final long serialVersionUID = 1L;

    public Foreign(String message) {
      super(message, null);
    }
  }

  /** A key with the expected name does not decrypt the namespace's data key. */
  public static final class WrongKey extends StoreException {
    private static final long serialVersionUID = 1L;

    public WrongKey(String message) {
      super(message, null);
    }
  }

  /** The namespace is encrypted, and none of its keys is at hand. */
  public static final class MissingKey extends StoreException {
    private static final long serialVersionUID = 1L;

    public MissingKey(String message) {
      super(message, null);
    }
  }

  /** The KMS plugin did not answer in time. */
  public static final class KmsUnreachable extends StoreException {
    private static final long serialVersionUID = 1L;

    public KmsUnreachable(String message, @Nullable Throwable cause) {
      super(message, cause, true);
    }
  }

  /** The KMS plugin answered that it cannot work at the moment. */
  public static final class KmsUnhealthy extends StoreException {
    private static final long serialVersionUID = 1L;

    public KmsUnhealthy(String message, @Nullable Throwable cause) {
      super(message, cause, true);
    }
  }

  /** The KMS plugin uses another key than the expected one. During a rotation this passes. */
  public static final class KmsKeyMismatch extends StoreException {
    private static final long serialVersionUID = 1L;

    public KmsKeyMismatch(String message) {
      super(message, null, true);
    }
  }

  /** The KMS plugin answered something that the KMS v2 API does not allow. */
  public static final class KmsInvalidResponse extends StoreException {
    private static final long serialVersionUID = 1L;

    public KmsInvalidResponse(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** Encryption is required, and the namespace's data key in the store is not encrypted. */
  public static final class NotEncrypted extends StoreException {
    private static final long serialVersionUID = 1L;

    public NotEncrypted(String message) {
      super(message, null);
    }
  }

  /** The artifact exceeds a limit of the format. */
  public static final class TooLarge extends StoreException {
    private static final long serialVersionUID = 1L;

    public TooLarge(String message) {
      super(message, null);
    }
  }

  /** The writer could not renew its lease in time, so a collection may have deleted its chunks. */
  public static final class LeaseLost extends StoreException {
    private static final long serialVersionUID = 1L;

    public LeaseLost(String message) {
      super(message, null, true);
    }
  }

  /** Bytes of an upload did not reach the store. The upload cannot continue; a new one can. */
  public static final class WriteLost extends StoreException {
    private static final long serialVersionUID = 1L;

    public WriteLost(String message, @Nullable Throwable cause) {
      super(message, cause, true);
    }
  }
}
