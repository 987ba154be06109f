package dev.stasis.operator.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("NullAway") // made before each test
class MountedKeyTest {

  private final Instant now = Instant.now();

  @TempDir private Path folder;
  private TestAuthority authority;

  @BeforeEach
  void open() throws Exception {
    authority = new TestAuthority(folder);
  }

  @Test
  void theCertificateIsServedWithTheIntermediateOnes() throws Exception {
    X509Certificate certificate = authority.issue(now.plus(Duration.ofDays(1)));

    ServingKeyManager served = new ServingKeyManager();
    served.serve(MountedKey.read(folder, now));

    assertThat(served.getCertificateChain(certificate.getSerialNumber().toString()))
        .hasSize(2)
        .startsWith(certificate);
  }

  @Test
  void aKeyOfAnotherCertificateIsRefused() throws Exception {
    authority.issue(now.plus(Duration.ofDays(1)));
    authority.mismatch();

    assertThatThrownBy(() -> MountedKey.read(folder, now))
        .hasMessage(
            "key in %s: expected that of the certificate beside it, got another one", folder);
  }

  @Test
  void anExpiredCertificateIsRefusedWithItsTime() throws Exception {
    X509Certificate certificate = authority.issue(now.minus(Duration.ofHours(1)));

    assertThatThrownBy(() -> MountedKey.read(folder, now))
        .hasMessage(
            "certificate in %s: expected one that is valid now, got one that expired at %s",
            folder, certificate.getNotAfter().toInstant());
  }

  @Test
  void aMissingFileIsNamed() {
    assertThatThrownBy(() -> MountedKey.read(folder, now))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("tls.key");
  }
}
