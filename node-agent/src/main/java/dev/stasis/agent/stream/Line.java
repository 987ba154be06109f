package dev.stasis.agent.stream;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/**
 * The plain connection below TLS, with buffers of its own. TLS reads and writes a record of 16 KiB
 * at a time, its head apart; each of these would be a call of the kernel and wake the other end,
 * which costs several times what the encryption does.
 */
final class Line extends Socket {

  /** Some records at a time: a second-level cache holds it, and more of them gain nothing. */
  private static final int BUFFER = 256 << 10;

  private @Nullable InputStream in;
  private @Nullable Out out;

  @Override
  public synchronized InputStream getInputStream() throws IOException {
    InputStream open = in;
    if (open == null) {
      open = new BufferedInputStream(super.getInputStream(), BUFFER);
      in = open;
    }
    return open;
  }

  @Override
  public synchronized OutputStream getOutputStream() throws IOException {
    return out();
  }

  private synchronized Out out() throws IOException {
    Out open = out;
    if (open == null) {
      open = new Out(super.getOutputStream());
      out = open;
    }
    return open;
  }

  /** Collects what is written from now on; without this everything goes at once. */
  void hold() throws IOException {
    out().held = true;
  }

  /** Lets go what was collected. */
  void release() throws IOException {
    Out open = out();
    open.held = false;
    open.flush();
  }

  private static final class Out extends BufferedOutputStream {
    private volatile boolean held;

    Out(OutputStream to) {
      super(to, BUFFER);
    }

    @Override
    public void write(byte[] data, int from, int length) throws IOException {
      super.write(data, from, length);
      flush();
    }

    @Override
    public void write(int data) throws IOException {
      super.write(data);
      flush();
    }

    /** TLS asks for it after each record. */
    @Override
    public void flush() throws IOException {
      if (!held) {
        super.flush();
      }
    }
  }
}
