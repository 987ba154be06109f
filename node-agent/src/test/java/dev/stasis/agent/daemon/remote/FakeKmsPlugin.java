package dev.stasis.agent.daemon.remote;

import com.google.protobuf.ByteString;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import k8s.kms.v2.DecryptRequest;
import k8s.kms.v2.DecryptResponse;
import k8s.kms.v2.EncryptRequest;
import k8s.kms.v2.EncryptResponse;
import k8s.kms.v2.KeyManagementServiceGrpc;
import k8s.kms.v2.StatusRequest;
import k8s.kms.v2.StatusResponse;

/**
 * A KMS plugin on a unix socket. Its keys are made of their IDs, so that another process has the
 * same ones. What it answers can be falsified.
 */
public final class FakeKmsPlugin extends KeyManagementServiceGrpc.KeyManagementServiceImplBase
    implements AutoCloseable {
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final String ANNOTATION = "nonce.kms.example.com";

  private final SecureRandom random = new SecureRandom();
  private final Set<String> forgotten = ConcurrentHashMap.newKeySet();
  private final EventLoopGroup threads = new EpollEventLoopGroup(1);
  private final Server server;
  private volatile String current = "key-1";
  volatile UnaryOperator<StatusResponse> status = answer -> answer;
  volatile UnaryOperator<EncryptResponse> encrypted = answer -> answer;
  volatile UnaryOperator<DecryptResponse> decrypted = answer -> answer;

  /** Serves on a socket, in place of a file that is there. */
  public FakeKmsPlugin(Path socket) throws IOException {
    Files.deleteIfExists(socket);
    this.server =
        NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
            .channelType(EpollServerDomainSocketChannel.class)
            .bossEventLoopGroup(threads)
            .workerEventLoopGroup(threads)
            .addService(this)
            .build()
            .start();
  }

  /** Serves on a socket until the process is ended. */
  public static void main(String... socket) throws Exception {
    try (FakeKmsPlugin plugin = new FakeKmsPlugin(Path.of(socket[0]))) {
      plugin.server.awaitTermination();
    }
  }

  /** Makes a key the current one. */
  public void rotate(String keyId) {
    current = keyId;
  }

  /** Destroys a key. */
  public void forget(String keyId) {
    forgotten.add(keyId);
  }

  @Override
  public void status(StatusRequest request, StreamObserver<StatusResponse> observer) {
    answer(
        observer,
        () ->
            status.apply(
                StatusResponse.newBuilder()
                    .setVersion("v2")
                    .setHealthz("ok")
                    .setKeyId(current)
                    .build()));
  }

  @Override
  public void encrypt(EncryptRequest request, StreamObserver<EncryptResponse> observer) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    answer(
        observer,
        () ->
            encrypted.apply(
                EncryptResponse.newBuilder()
                    .setKeyId(current)
                    .setCiphertext(
                        crypt(Cipher.ENCRYPT_MODE, current, nonce, request.getPlaintext()))
                    .putAnnotations(ANNOTATION, ByteString.copyFrom(nonce))
                    .build()));
  }

  @Override
  public void decrypt(DecryptRequest request, StreamObserver<DecryptResponse> observer) {
    byte[] nonce = request.getAnnotationsOrDefault(ANNOTATION, ByteString.EMPTY).toByteArray();
    answer(
        observer,
        () ->
            decrypted.apply(
                DecryptResponse.newBuilder()
                    .setPlaintext(
                        crypt(
                            Cipher.DECRYPT_MODE,
                            request.getKeyId(),
                            nonce,
                            request.getCiphertext()))
                    .build()));
  }

  private static <T> void answer(StreamObserver<T> observer, Supplier<T> answer) {
    try {
      observer.onNext(answer.get());
      observer.onCompleted();
    } catch (StatusRuntimeException e) {
      observer.onError(e);
    }
  }

  private ByteString crypt(int mode, String keyId, byte[] nonce, ByteString input) {
    if (forgotten.contains(keyId)) {
      throw Status.NOT_FOUND.withDescription("no key " + keyId).asRuntimeException();
    }
    try {
      byte[] key =
          MessageDigest.getInstance("SHA-256").digest(keyId.getBytes(StandardCharsets.UTF_8));
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
      return ByteString.copyFrom(cipher.doFinal(input.toByteArray()));
    } catch (AEADBadTagException | IllegalArgumentException e) {
      throw Status.INVALID_ARGUMENT.withDescription("cannot be decrypted").asRuntimeException();
    } catch (GeneralSecurityException e) {
      // A nonce of the wrong length, for example.
      throw Status.UNKNOWN.withDescription(Arrays.toString(nonce)).asRuntimeException();
    }
  }

  @Override
  public void close() throws InterruptedException {
    server.shutdownNow().awaitTermination();
    var unused = threads.shutdownGracefully(0, 0, TimeUnit.SECONDS).await();
  }
}
