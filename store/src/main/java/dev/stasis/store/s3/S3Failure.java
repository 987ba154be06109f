package dev.stasis.store.s3;

import dev.stasis.store.StoreException;
import java.security.GeneralSecurityException;
import java.util.Locale;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Tells what a failure of a call to S3 means for its user. */
final class S3Failure {
  private static final Set<String> CREDENTIALS =
      Set.of(
          "InvalidAccessKeyId",
          "SignatureDoesNotMatch",
          "ExpiredToken",
          "ExpiredTokenException",
          "InvalidToken",
          "InvalidIdentityToken",
          "TokenRefreshRequired",
          "InvalidClientTokenId",
          // The clocks of the node and of the server differ too much for a signature.
          "RequestTimeTooSkewed");

  private static final Set<String> FULL =
      Set.of(
          "QuotaExceeded",
          "InsufficientCapacity",
          "XMinioStorageFull",
          "XMinioAdminBucketQuotaExceeded");

  private static final int INSUFFICIENT_STORAGE = 507;

  private S3Failure() {}

  /** Returns the HTTP status of a failure; -1 when there was no answer. */
  static int status(SdkException failure) {
    return failure instanceof AwsServiceException service ? service.statusCode() : -1;
  }

  /** Returns the server's word for a failure; empty when there is none. */
  static String code(SdkException failure) {
    if (failure instanceof AwsServiceException service
        && service.awsErrorDetails() != null
        && service.awsErrorDetails().errorCode() != null) {
      return service.awsErrorDetails().errorCode();
    }
    return "";
  }

  static StoreException of(String key, SdkException failure) {
    if (failure instanceof AwsServiceException service) {
      return answered(key, service);
    }
    String message = "%s: %s".formatted(key, failure.getMessage());
    String words = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    if (words.contains("credentials")) {
      return new StoreException.WrongCredentials(message, failure);
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof GeneralSecurityException) {
        return new StoreException.Refused(
            "%s: expected a certificate signed by the CA, got a different one: %s"
                .formatted(key, cause.getMessage()),
            failure);
      }
    }
    return new StoreException.Unreachable(message, failure);
  }

  private static StoreException answered(String key, AwsServiceException failure) {
    int status = failure.statusCode();
    String code = code(failure);
    String message = "%s: %s".formatted(key, failure.getMessage());
    if (CREDENTIALS.contains(code) || status == 401) {
      return new StoreException.WrongCredentials(message, failure);
    }
    if (FULL.contains(code) || status == INSUFFICIENT_STORAGE) {
      return new StoreException.Full(message, failure);
    }
    if (status == 403) {
      return new StoreException.AccessDenied(message, failure);
    }
    if (status == 404) {
      return new StoreException.NotFound(message, failure);
    }
    // 408 and 429: too slow, too many. 409: another call to the same key is in progress.
    if (status >= 500 || status == 408 || status == 409 || status == 429) {
      return new StoreException.Unreachable(message, failure);
    }
    if (status == 416) {
      return new StoreException.Damaged(
          key + ": expected a blob that contains the range, got a shorter one", failure);
    }
    return new StoreException.Refused(message, failure);
  }
}
