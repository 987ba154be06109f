package dev.stasis.store.s3;

import dev.stasis.store.Blob;
import dev.stasis.store.BlobStore;
import dev.stasis.store.BlobUpload;
import dev.stasis.store.StoreException;
import dev.stasis.store.UploadLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Blobs as objects of a bucket. Each body has its MD5 with it, so that the server refuses one that
 * changed on the way. Large ones are uploaded in parts, which the server joins at the end.
 */
public final class S3Blobs implements BlobStore {
  private static final int PRECONDITION_FAILED = 412;

  /**
   * 5 MiB is the smallest part that servers take. Eight connections reach 600 MiB a second where
   * each of them has 75, and their parts take 40 MiB of memory. While a server completes an object,
   * the parts of other ones are sent.
   */
  static final UploadLimits LIMITS = new UploadLimits(5 << 20, 8, 4);

  /** As much as one try may take {@link S3Connection#TRY} for. */
  private static final int BYTES_PER_TRY = 8 << 20;

  private final S3Settings settings;
  private final S3Client client;
  private final Duration attempt;
  private final String prefix;

  private S3Blobs(S3Settings settings, S3Client client, Duration attempt) {
    this.settings = settings;
    this.client = client;
    this.attempt = attempt;
    this.prefix = settings.prefix().isEmpty() ? "" : settings.prefix() + "/";
  }

  /** Connects; nothing is sent yet. */
  public static S3Blobs open(S3Settings settings) throws StoreException {
    return open(settings, S3Connection.TRY);
  }

  /**
   * As above.
   *
   * @param attempt how long the server may take to send the body of a response of up to 8 MiB
   */
  static S3Blobs open(S3Settings settings, Duration attempt) throws StoreException {
    return new S3Blobs(settings, S3Connection.client(settings), attempt);
  }

  @Override
  public Blob stat(String key) throws StoreException {
    try {
      HeadObjectResponse head =
          client.headObject(request -> request.bucket(bucket()).key(prefix + key));
      return new Blob(key, head.contentLength(), head.lastModified());
    } catch (SdkException e) {
      StoreException failure = S3Failure.of(key, e);
      if (failure instanceof StoreException.AccessDenied) {
        // The response to a HEAD has no body, and therefore no cause; only that of a GET has one.
        call(
            key,
            () ->
                client
                    .getObjectAsBytes(
                        request -> request.bucket(bucket()).key(prefix + key).range("bytes=0-0"))
                    .response());
      }
      throw failure;
    }
  }

  @Override
  public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
    if (length == 0) {
      return;
    }
    String range = "bytes=%d-%d".formatted(offset, offset + length - 1);
    try (ResponseInputStream<GetObjectResponse> body =
        client.getObject(request -> request.bucket(bucket()).key(prefix + key).range(range))) {
      Long size = body.response().contentLength();
      if (size == null || size != length) {
        body.abort();
        throw new StoreException.Damaged(
            "%s: expected %d bytes at %d, got %s".formatted(key, length, offset, size));
      }
      receive(key, body, offset, bytes, length);
    } catch (SdkException e) {
      throw S3Failure.of(key, e);
    } catch (StoreException e) {
      throw e;
    } catch (IOException e) {
      throw new StoreException.Unreachable(key + ": " + e.getMessage(), e);
    }
  }

  /** The deadlines of the client end with the headers of a response. */
  private void receive(
      String key,
      ResponseInputStream<GetObjectResponse> body,
      long offset,
      byte[] bytes,
      int length)
      throws IOException {
    long began = System.nanoTime();
    long most = attempt.toNanos() * (1 + length / BYTES_PER_TRY);
    for (int at = 0; at < length; ) {
      // Returns what has arrived, or fails when nothing arrives for 30 s.
      int count = body.read(bytes, at, length - at);
      if (count < 0) {
        throw new StoreException.Unreachable(
            "%s: expected %d bytes at %d, got the end after %d".formatted(key, length, offset, at),
            null);
      }
      at += count;
      if (at < length && System.nanoTime() - began > most) {
        // Otherwise the connection would be read to its end.
        body.abort();
        throw new StoreException.Unreachable(
            "%s: expected %d bytes at %d within %d ms, got %d"
                .formatted(key, length, offset, TimeUnit.NANOSECONDS.toMillis(most), at),
            null);
      }
    }
  }

  @Override
  public boolean putIfAbsent(String key, byte[] bytes) throws StoreException {
    try {
      client.putObject(request(key, bytes).ifNoneMatch("*").build(), RequestBody.fromBytes(bytes));
      return true;
    } catch (SdkException e) {
      if (S3Failure.status(e) == PRECONDITION_FAILED) {
        return false;
      }
      throw S3Failure.of(key, e);
    }
  }

  @Override
  public void put(String key, byte[] bytes) throws StoreException {
    call(key, () -> client.putObject(request(key, bytes).build(), RequestBody.fromBytes(bytes)));
  }

  @Override
  public UploadLimits uploadLimits() {
    return LIMITS;
  }

  @Override
  public BlobUpload upload(String key) {
    return new S3Upload(client, settings, prefix + key);
  }

  @Override
  public List<Blob> list(String folder) throws StoreException {
    return call(
        folder,
        () -> {
          List<Blob> blobs = new ArrayList<>();
          for (S3Object object :
              client
                  .listObjectsV2Paginator(
                      request -> request.bucket(bucket()).prefix(prefix + folder))
                  .contents()) {
            blobs.add(
                new Blob(
                    object.key().substring(prefix.length()), object.size(), object.lastModified()));
          }
          return blobs;
        });
  }

  @Override
  public void delete(String key) throws StoreException {
    call(key, () -> client.deleteObject(request -> request.bucket(bucket()).key(prefix + key)));
  }

  @Override
  public int deleteUnfinished(Instant before) throws StoreException {
    int deleted = 0;
    try {
      for (MultipartUpload upload :
          client
              .listMultipartUploadsPaginator(request -> request.bucket(bucket()).prefix(prefix))
              .uploads()) {
        if (upload.key().startsWith(prefix) && upload.initiated().isBefore(before)) {
          client.abortMultipartUpload(
              request -> request.bucket(bucket()).key(upload.key()).uploadId(upload.uploadId()));
          deleted++;
        }
      }
      return deleted;
    } catch (SdkException e) {
      // Another agent removed it, or there is none: some servers answer a list of none so.
      if (S3Failure.code(e).equals("NoSuchUpload")) {
        return deleted;
      }
      throw S3Failure.of(prefix, e);
    }
  }

  @Override
  public void close() {
    client.close();
  }

  private String bucket() {
    return settings.bucket();
  }

  private PutObjectRequest.Builder request(String key, byte[] bytes) {
    return S3Connection.encrypted(
        PutObjectRequest.builder()
            .bucket(bucket())
            .key(prefix + key)
            .contentMD5(md5(ByteBuffer.wrap(bytes))),
        settings.encryption());
  }

  static String md5(ByteBuffer bytes) {
    try {
      MessageDigest digest = MessageDigest.getInstance("MD5");
      digest.update(bytes);
      return Base64.getEncoder().encodeToString(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("MD5 is part of every Java platform", e);
    }
  }

  static <T> T call(String key, Supplier<T> call) throws StoreException {
    try {
      return call.get();
    } catch (SdkException e) {
      throw S3Failure.of(key, e);
    }
  }
}
