package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterfaceAddressTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost",
        "10.0.0",
        "10.0.0.1]:10.0.0.2",
        "fd00::1%eth0",
        "deadbeef",
        "a b::"
      })
  void onlyAnAddressIsOne(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> new InterfaceAddress("eth0", text));
  }

  @Test
  void familyAndScopeAreThoseOfTheText() {
    assertThat(new InterfaceAddress("eth0", "10.0.0.1").isIpv6()).isFalse();
    assertThat(new InterfaceAddress("eth0", "fd00::1").isIpv6()).isTrue();
    assertThat(new InterfaceAddress("eth0", "fe80::1").isLinkLocal()).isTrue();
    assertThat(new InterfaceAddress("eth0", "fd00::1").isLinkLocal()).isFalse();
  }
}
