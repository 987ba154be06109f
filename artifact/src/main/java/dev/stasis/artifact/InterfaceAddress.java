package dev.stasis.artifact;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * An address of one of the pod's network interfaces, except the loopback.
 *
 * @param device the interface's name
 * @param address IPv4 or IPv6, in the format of {@code inet_ntop}
 */
public record InterfaceAddress(String device, String address) {

  /** Hostnames are excluded, because the JDK would resolve them. */
  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*");

  /** The longest text of an IPv6 address, without its terminating NUL. */
  private static final int LONGEST = 45;

  public InterfaceAddress {
    Objects.requireNonNull(device, "device");
    Objects.requireNonNull(address, "address");
    if (address.length() > LONGEST || !ADDRESS.matcher(address).matches()) {
      throw new IllegalArgumentException(
          "address: expected an IPv4 or IPv6 address, got "
              + address.substring(0, Math.min(LONGEST, address.length())));
    }
  }

  /** Returns the address; no name is resolved. */
  public InetAddress parsed() {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(address + " is an address", e);
    }
  }

  /** Whether this is an IPv6 address. */
  public boolean isIpv6() {
    return address.indexOf(':') >= 0;
  }

  /** Whether only neighbors on the same link can reach it. */
  public boolean isLinkLocal() {
    return address.startsWith("fe80:") || address.startsWith("169.254.");
  }
}
