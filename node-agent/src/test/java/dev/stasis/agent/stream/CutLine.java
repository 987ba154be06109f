package dev.stasis.agent.stream;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** A line between two ends that can be cut: passes bytes on, and breaks when told, or by itself. */
final class CutLine implements AutoCloseable {
  private final ServerSocket server;
  private final int target;
  private final long bytesEach;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicLong cuts = new AtomicLong();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final long mostCuts;
  private volatile boolean stalls;

  /**
   * @param bytesEach after so many bytes a connection breaks, the first {@code mostCuts} times
   */
  CutLine(int target, long bytesEach, long mostCuts) throws IOException {
    this.target = target;
    this.bytesEach = bytesEach;
    this.mostCuts = mostCuts;
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  /** Instead of breaking, a connection stays open and nothing passes any more. */
  CutLine stalling() {
    stalls = true;
    return this;
  }

  InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort());
  }

  long cuts() {
    return cuts.get();
  }

  void cutAll() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket here = server.accept();
        Socket there = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(here);
        sockets.add(there);
        start(() -> pass(here, there, true));
        start(() -> pass(there, here, false));
      } catch (IOException e) {
        // Closed, or the target is: the next one tells.
      }
    }
  }

  private void pass(Socket from, Socket to, boolean counted) {
    byte[] buffer = new byte[1 << 16];
    long left = bytesEach;
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        left -= n;
        if (counted && left < 0 && cuts.incrementAndGet() <= mostCuts) {
          if (stalls) {
            closed.await();
          }
          return;
        }
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // That is what it is for.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    server.close();
    cutAll();
  }
}
