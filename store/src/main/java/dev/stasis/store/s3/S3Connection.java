package dev.stasis.store.s3;

import dev.stasis.store.StoreException;
import dev.stasis.store.s3.S3Settings.Credentials;
import dev.stasis.store.s3.S3Settings.Encryption;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;

/** How the client is made, with its deadlines. */
final class S3Connection {
  /** A store works with at most 16 chunks or eight parts at a time. */
  private static final int CONNECTIONS = 16;

  /** A handshake with a server in another region takes less than a second. */
  private static final Duration CONNECT = Duration.ofSeconds(10);

  /** Without a byte: servers answer a completed upload of 256 MiB within a few seconds. */
  private static final Duration SILENCE = Duration.ofSeconds(30);

  /** One try of one call: 8 MiB at 140 KiB a second. */
  static final Duration TRY = Duration.ofSeconds(60);

  /** A call with the client's own three tries. */
  private static final Duration CALL = Duration.ofSeconds(150);

  private S3Connection() {}

  static S3Client client(S3Settings settings) throws StoreException {
    ApacheHttpClient.Builder http =
        ApacheHttpClient.builder()
            .maxConnections(CONNECTIONS)
            .expectContinueEnabled(false)
            .connectionTimeout(CONNECT)
            .connectionAcquisitionTimeout(CALL)
            .socketTimeout(SILENCE);
    String ca = settings.caPem();
    if (ca != null) {
      TrustManager[] trusted = trust(ca);
      http.tlsTrustManagersProvider(() -> trusted);
    }
    S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.of(settings.region()))
            .forcePathStyle(settings.pathStyle())
            // Signing a body in pieces copies it: more than half of the garbage of an upload.
            .serviceConfiguration(config -> config.chunkedEncodingEnabled(false))
            .credentialsProvider(credentials(settings.credentials()))
            // Each body has its MD5; servers other than AWS refuse checksums in trailers.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .overrideConfiguration(
                config ->
                    config
                        .apiCallAttemptTimeout(TRY)
                        .apiCallTimeout(CALL)
                        .addExecutionInterceptor(new WithoutExpect()))
            .httpClientBuilder(http);
    if (settings.endpoint() != null) {
      builder.endpointOverride(settings.endpoint());
    }
    return builder.build();
  }

  static PutObjectRequest.Builder encrypted(
      PutObjectRequest.Builder request, Encryption encryption) {
    if (encryption instanceof S3Settings.ServerKey) {
      request.serverSideEncryption(ServerSideEncryption.AES256);
    } else if (encryption instanceof S3Settings.KmsKey kms) {
      request.serverSideEncryption(ServerSideEncryption.AWS_KMS).ssekmsKeyId(kms.keyId());
    }
    return request;
  }

  static CreateMultipartUploadRequest.Builder encrypted(
      CreateMultipartUploadRequest.Builder request, Encryption encryption) {
    if (encryption instanceof S3Settings.ServerKey) {
      request.serverSideEncryption(ServerSideEncryption.AES256);
    } else if (encryption instanceof S3Settings.KmsKey kms) {
      request.serverSideEncryption(ServerSideEncryption.AWS_KMS).ssekmsKeyId(kms.keyId());
    }
    return request;
  }

  private static AwsCredentialsProvider credentials(Credentials credentials) {
    if (credentials instanceof S3Settings.StaticKey key) {
      String token = key.sessionToken();
      return StaticCredentialsProvider.create(
          token == null
              ? AwsBasicCredentials.create(key.accessKeyId(), key.secretKey())
              : AwsSessionCredentials.create(key.accessKeyId(), key.secretKey(), token));
    }
    if (credentials instanceof S3Settings.WebIdentity identity) {
      return WebIdentityTokenFileCredentialsProvider.builder()
          .roleArn(identity.roleArn())
          .roleSessionName("stasis")
          .webIdentityTokenFile(Path.of(identity.tokenFile()))
          .build();
    }
    return DefaultCredentialsProvider.builder().build();
  }

  private static TrustManager[] trust(String pem) throws StoreException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509")
              .generateCertificates(
                  new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)))) {
        store.setCertificateEntry("ca-" + number++, certificate);
      }
      if (number == 0) {
        throw new StoreException.Refused("CA: expected certificates in PEM, got none", null);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory.getTrustManagers();
    } catch (StoreException e) {
      throw e;
    } catch (GeneralSecurityException | IOException e) {
      throw new StoreException.Refused("CA: expected certificates in PEM, got other bytes", e);
    }
  }
}
