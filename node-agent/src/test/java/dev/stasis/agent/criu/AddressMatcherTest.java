package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.InterfaceAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddressMatcherTest {

  private static InterfaceAddress at(String device, String address) {
    return new InterfaceAddress(device, address);
  }

  @Test
  void eachAddressIsReplacedByThatOfTheSameInterfaceFamilyAndScope() {
    assertThat(
            new AddressMatcher()
                .match(
                    List.of(
                        at("eth0", "10.0.0.1"),
                        at("net1", "192.168.7.1"),
                        at("eth0", "fe80::1"),
                        at("eth0", "fd00::1")),
                    List.of(
                        at("net1", "192.168.7.2"),
                        at("eth0", "10.0.0.2"),
                        at("eth0", "fd00::2"),
                        at("eth0", "fe80::2"))))
        .containsExactly(
            new AddressPair("10.0.0.1", "10.0.0.2"),
            new AddressPair("192.168.7.1", "192.168.7.2"),
            new AddressPair("fe80::1", "fe80::2"),
            new AddressPair("fd00::1", "fd00::2"));
  }

  @Test
  void theOnlyAddressOfAnInterfaceWithAnotherNameWillDo() {
    assertThat(
            new AddressMatcher()
                .match(List.of(at("eth0", "10.0.0.1")), List.of(at("ens5", "10.0.0.2"))))
        .containsExactly(new AddressPair("10.0.0.1", "10.0.0.2"));
  }

  @Test
  void anAddressWithoutAMatchIsNotGuessed() {
    List<InterfaceAddress> source = List.of(at("eth0", "10.0.0.1"), at("eth0", "fd00::1"));

    assertThat(
            new AddressMatcher().match(source, List.of(at("a", "10.0.0.2"), at("b", "10.0.0.3"))))
        .isEmpty();
    assertThat(new AddressMatcher().match(source, List.of(at("eth0", "10.0.0.2"))))
        .containsExactly(new AddressPair("10.0.0.1", "10.0.0.2"));
    assertThat(new AddressMatcher().match(source, List.of())).isEmpty();
  }
}
