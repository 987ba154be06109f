package dev.stasis.agent.process;

/**
 * A connected Unix socket.
 *
 * @param inode its own inode
 * @param peer the inode of the socket at the other end
 * @param type the number for socket(2): 1 is a stream, 2 a datagram, 5 a sequence of packets
 * @param peerIsNamed whether the other end is bound to a path or an abstract name
 */
public record UnixConnection(long inode, long peer, int type, boolean peerIsNamed) {

  private static final int DATAGRAM = 2;

  public boolean isDatagram() {
    return type == DATAGRAM;
  }
}
