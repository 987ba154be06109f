package dev.stasis.store.s3;

import dev.stasis.store.BlobUpload;
import dev.stasis.store.StoreException;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/** An object that is uploaded in parts; one of less than a part is uploaded by a single call. */
final class S3Upload implements BlobUpload {
  private static final int NOT_FOUND = 404;

  /**
   * A part is missing. rclone answers so when it still writes a part whose request the client has
   * repeated, and drops the upload.
   */
  private static final String INVALID_PART = "InvalidPart";

  private final S3Client client;
  private final S3Settings settings;
  private final String key;
  private final Map<Integer, CompletedPart> parts = new TreeMap<>();
  private final Set<String> md5s = new HashSet<>();
  private byte @Nullable [] only;
  private @Nullable String uploadId;
  private boolean committed;

  S3Upload(S3Client client, S3Settings settings, String key) {
    this.client = client;
    this.settings = settings;
    this.key = key;
  }

  @Override
  public void part(int number, ByteBuffer bytes) throws StoreException {
    int length = bytes.remaining();
    if (number == 0 && length < S3Blobs.LIMITS.partBytes()) {
      byte[] body = new byte[length];
      bytes.get(body);
      synchronized (this) {
        only = body;
      }
      return;
    }
    String id = begun();
    String md5 = S3Blobs.md5(bytes.duplicate());
    // Not copied: with one copy by this class and one by the client, the parts of an upload took
    // three times their size.
    RequestBody body =
        RequestBody.fromContentProvider(
            () ->
                new ByteArrayInputStream(
                    bytes.array(), bytes.arrayOffset() + bytes.position(), length),
            length,
            "application/octet-stream");
    String etag =
        S3Blobs.call(
            key,
            () ->
                client
                    .uploadPart(
                        request ->
                            request
                                .bucket(settings.bucket())
                                .key(key)
                                .uploadId(id)
                                .partNumber(number + 1)
                                .contentMD5(md5),
                        body)
                    .eTag());
    synchronized (this) {
      parts.put(number, CompletedPart.builder().partNumber(number + 1).eTag(etag).build());
      md5s.add(hex(md5));
    }
  }

  private synchronized String begun() throws StoreException {
    String id = uploadId;
    if (id == null) {
      CreateMultipartUploadRequest.Builder request =
          CreateMultipartUploadRequest.builder().bucket(settings.bucket()).key(key);
      id =
          S3Blobs.call(
              key,
              () ->
                  client
                      .createMultipartUpload(
                          S3Connection.encrypted(request, settings.encryption()).build())
                      .uploadId());
      uploadId = id;
    }
    return id;
  }

  /** May be repeated when its answer was lost. */
  @Override
  public synchronized void commit(int count, long size) throws StoreException {
    if (committed) {
      return;
    }
    byte[] body = only;
    if (body != null) {
      PutObjectRequest.Builder request =
          PutObjectRequest.builder()
              .bucket(settings.bucket())
              .key(key)
              .contentMD5(S3Blobs.md5(ByteBuffer.wrap(body)));
      S3Blobs.call(
          key,
          () ->
              client.putObject(
                  S3Connection.encrypted(request, settings.encryption()).build(),
                  RequestBody.fromBytes(body)));
      committed = true;
      return;
    }
    if (parts.size() != count) {
      throw new StoreException.Damaged(
          "%s: expected %d parts, got %d".formatted(key, count, parts.size()));
    }
    try {
      client.completeMultipartUpload(
          request ->
              request
                  .bucket(settings.bucket())
                  .key(key)
                  .uploadId(uploadId)
                  .multipartUpload(upload -> upload.parts(parts.values())));
    } catch (SdkException e) {
      requireCompleted(size, e);
    }
    uploadId = null;
    committed = true;
  }

  /** An earlier call may have completed it, and only its answer was lost. */
  private void requireCompleted(long size, SdkException failure) throws StoreException {
    boolean dropped = S3Failure.code(failure).equals(INVALID_PART);
    if ((dropped || S3Failure.status(failure) == NOT_FOUND) && isStored(size)) {
      return;
    }
    throw dropped
        ? new StoreException.WriteLost("%s: %s".formatted(key, failure.getMessage()), failure)
        : S3Failure.of(key, failure);
  }

  private boolean isStored(long size) throws StoreException {
    try {
      HeadObjectResponse head =
          S3Blobs.call(
              key, () -> client.headObject(request -> request.bucket(settings.bucket()).key(key)));
      return head.contentLength() == size && !isOfOtherParts(unquoted(head.eTag()));
    } catch (StoreException.NotFound e) {
      return false;
    }
  }

  /**
   * Returns whether that is the ETag of an object that was joined from other parts: it is the MD5
   * of those of the parts, and their number. Some servers have other ETags, which say nothing.
   */
  private boolean isOfOtherParts(String etag) {
    List<String> own = parts.values().stream().map(part -> unquoted(part.eTag())).toList();
    if (!etag.matches("[0-9a-f]{32}-\\d+") || !own.stream().allMatch(md5s::contains)) {
      return false;
    }
    byte[] all = HexFormat.of().parseHex(String.join("", own));
    return !etag.equals(hex(S3Blobs.md5(ByteBuffer.wrap(all))) + "-" + own.size());
  }

  private static String hex(String base64) {
    return HexFormat.of().formatHex(Base64.getDecoder().decode(base64));
  }

  private static String unquoted(@Nullable String etag) {
    return etag == null ? "" : etag.replace("\"", "");
  }

  @Override
  public synchronized void abort() throws StoreException {
    String id = uploadId;
    if (id != null) {
      uploadId = null;
      S3Blobs.call(
          key,
          () ->
              client.abortMultipartUpload(
                  request -> request.bucket(settings.bucket()).key(key).uploadId(id)));
    }
  }
}
