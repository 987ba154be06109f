package dev.stasis.agent.process;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * A bound or connected socket: a line of {@code /proc/PID/net/tcp} and the similar tables.
 *
 * @param protocol the table's name: {@code tcp}, {@code tcp6}, {@code udp}, ...
 * @param state the kernel's number of the TCP state; 1 is established, 10 is listening
 * @param inode the inode shown by the descriptors that hold it, 0 if none does
 */
public record InetSocket(
    String protocol,
    InetAddress local,
    int localPort,
    InetAddress remote,
    int remotePort,
    int state,
    long inode) {

  private static final int ESTABLISHED = 1;

  /** Returns whether it is a TCP connection, in any state. */
  public boolean isConnection() {
    return protocol.startsWith("tcp") && remotePort != 0;
  }

  public boolean isEstablished() {
    return isConnection() && state == ESTABLISHED;
  }

  /** Returns whether the other socket is the other end of the same connection. */
  public boolean isPeerOf(InetSocket other) {
    return localPort == other.remotePort
        && remotePort == other.localPort
        && local.equals(other.remote)
        && remote.equals(other.local);
  }

  static InetSocket parse(String protocol, String line) {
    String[] field = line.trim().split(" +");
    if (field.length < 10) {
      throw new IllegalArgumentException(
          "net/" + protocol + ": expected at least 10 fields, got " + line);
    }
    String[] local = field[1].split(":");
    String[] remote = field[2].split(":");
    return new InetSocket(
        protocol,
        address(local[0]),
        Integer.parseInt(local[1], 16),
        address(remote[0]),
        Integer.parseInt(remote[1], 16),
        Integer.parseInt(field[3], 16),
        Long.parseLong(field[9]));
  }

  /** The kernel prints the address as 32-bit words in the machine's byte order. */
  private static InetAddress address(String hex) {
    byte[] printed = HexFormat.of().parseHex(hex);
    ByteBuffer words = ByteBuffer.wrap(printed);
    ByteBuffer bytes = ByteBuffer.allocate(printed.length).order(ByteOrder.nativeOrder());
    while (words.hasRemaining()) {
      bytes.putInt(words.getInt());
    }
    try {
      // Converts an IPv4-mapped IPv6 address to IPv4.
      return InetAddress.getByAddress(bytes.array());
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("address: expected 4 or 16 bytes, got " + hex, e);
    }
  }
}
