package dev.stasis.agent.daemon.remote;

import com.google.protobuf.ByteString;
import dev.stasis.agent.daemon.kubelet.NodeSocket;
import dev.stasis.api.v1beta1.store.Kms;
import dev.stasis.store.KeyService;
import dev.stasis.store.StoreException;
import dev.stasis.store.WrappedKey;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import k8s.kms.v2.DecryptRequest;
import k8s.kms.v2.EncryptRequest;
import k8s.kms.v2.EncryptResponse;
import k8s.kms.v2.KeyManagementServiceGrpc;
import k8s.kms.v2.KeyManagementServiceGrpc.KeyManagementServiceBlockingStub;
import k8s.kms.v2.StatusRequest;
import k8s.kms.v2.StatusResponse;

/**
 * A plugin of this node with Kubernetes' KMS v2 API. Each call opens a connection of its own: calls
 * are rare, and a plugin that was restarted has another socket. What the plugin answers may be
 * hostile.
 */
record KmsPlugin(Kms settings) implements KeyService {

  /** The API server's default for these plugins; what takes longer does not work there either. */
  private static final long ANSWER_SECONDS = 3;

  /** Limits of the API: 1 KiB of ciphertext, 1 KiB of key_id, 32 KiB of annotations. */
  private static final int LARGEST_ANSWER = 64 << 10;

  /** A condition must stay readable. */
  private static final int SHOWN = 200;

  private static final HexFormat HEX = HexFormat.of();

  @Override
  public String currentKeyId() throws StoreException {
    StatusResponse status = healthyStatus();
    String keyId;
    try {
      keyId = WrappedKey.requireKeyId(status.getKeyId());
    } catch (IllegalArgumentException e) {
      throw invalid("Status", e);
    }
    String expected = settings.keyId();
    if (expected != null && !expected.equals(keyId)) {
      throw new StoreException.KmsKeyMismatch(
          "%s: expected key_id %s (encryption.kms.keyId), got %s"
              .formatted(call("Status"), shown(expected), shown(keyId)));
    }
    return keyId;
  }

  @Override
  public WrappedKey wrap(byte[] key) throws StoreException {
    EncryptRequest request =
        EncryptRequest.newBuilder().setPlaintext(ByteString.copyFrom(key)).setUid(uid()).build();
    EncryptResponse answer;
    try {
      answer = ask("Encrypt", stub -> stub.encrypt(request));
    } catch (StatusRuntimeException e) {
      throw unhealthy("Encrypt", e);
    }
    TreeMap<String, String> annotations = new TreeMap<>();
    answer
        .getAnnotationsMap()
        .forEach((name, value) -> annotations.put(name, HEX.formatHex(value.toByteArray())));
    try {
      return new WrappedKey(
          answer.getKeyId(), HEX.formatHex(answer.getCiphertext().toByteArray()), annotations);
    } catch (IllegalArgumentException e) {
      throw invalid("Encrypt", e);
    }
  }

  @Override
  public byte[] unwrap(WrappedKey wrapped) throws StoreException {
    DecryptRequest.Builder request =
        DecryptRequest.newBuilder()
            .setCiphertext(bytes(wrapped.ciphertext()))
            .setKeyId(wrapped.keyId())
            .setUid(uid());
    for (Map.Entry<String, String> annotation : wrapped.annotations().entrySet()) {
      request.putAnnotations(annotation.getKey(), bytes(annotation.getValue()));
    }
    DecryptRequest built = request.build();
    try {
      return ask("Decrypt", stub -> stub.decrypt(built)).getPlaintext().toByteArray();
    } catch (StatusRuntimeException e) {
      throw undecrypted(wrapped.keyId(), e);
    }
  }

  /** The API has no codes: only a healthy plugin is believed that a key cannot be decrypted. */
  private StoreException undecrypted(String keyId, StatusRuntimeException e) throws StoreException {
    Status.Code code = e.getStatus().getCode();
    if (code == Status.Code.RESOURCE_EXHAUSTED) {
      return unhealthy("Decrypt", e);
    }
    var unused = healthyStatus();
    String message =
        "%s: expected the plugin to decrypt a key that key_id %s has encrypted, got %s"
            .formatted(call("Decrypt"), shown(keyId), words(e));
    return code == Status.Code.NOT_FOUND
        ? new StoreException.MissingKey(message)
        : new StoreException.WrongKey(message);
  }

  private StatusResponse healthyStatus() throws StoreException {
    StatusResponse status;
    try {
      status = ask("Status", stub -> stub.status(StatusRequest.getDefaultInstance()));
    } catch (StatusRuntimeException e) {
      throw unhealthy("Status", e);
    }
    if (!status.getHealthz().equals("ok")) {
      throw new StoreException.KmsUnhealthy(
          "%s: expected healthz ok, got %s".formatted(call("Status"), shown(status.getHealthz())),
          null);
    }
    // Plugins of Kubernetes 1.27 and 1.28 report the same API as v2beta1.
    if (!status.getVersion().equals("v2") && !status.getVersion().equals("v2beta1")) {
      throw new StoreException.KmsInvalidResponse(
          "%s: expected version v2, got %s".formatted(call("Status"), shown(status.getVersion())),
          null);
    }
    return status;
  }

  /**
   * Makes a call.
   *
   * @throws StoreException.KmsUnreachable if there is no answer
   * @throws StatusRuntimeException if the answer is an error
   */
  private <T> T ask(String what, Function<KeyManagementServiceBlockingStub, T> call)
      throws StoreException {
    try (NodeSocket socket = new NodeSocket(settings.socket(), LARGEST_ANSWER)) {
      return call.apply(
          KeyManagementServiceGrpc.newBlockingStub(socket.channel())
              .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS));
    } catch (StatusRuntimeException e) {
      switch (e.getStatus().getCode()) {
        case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED ->
            throw new StoreException.KmsUnreachable(
                "%s: expected a response within %d s, got %s"
                    .formatted(call(what), ANSWER_SECONDS, words(e)),
                e);
        default -> throw e;
      }
    }
  }

  private StoreException unhealthy(String what, StatusRuntimeException e) {
    return new StoreException.KmsUnhealthy(
        "%s: expected a response, got %s".formatted(call(what), words(e)), e);
  }

  private StoreException invalid(String what, IllegalArgumentException e) {
    return new StoreException.KmsInvalidResponse(call(what) + ": " + e.getMessage(), e);
  }

  private String call(String what) {
    return "KMS plugin " + settings.endpoint() + " " + what;
  }

  private static String words(StatusRuntimeException e) {
    String why = e.getStatus().getDescription();
    return e.getStatus().getCode() + (why == null ? "" : ": " + shown(why));
  }

  private static String shown(String text) {
    String cut = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
    return "\"" + cut.replaceAll("\\p{Cntrl}", " ") + "\"";
  }

  private static ByteString bytes(String hex) {
    return ByteString.copyFrom(HEX.parseHex(hex));
  }

  private static String uid() {
    return UUID.randomUUID().toString();
  }
}
