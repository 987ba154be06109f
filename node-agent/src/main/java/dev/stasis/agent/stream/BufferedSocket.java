package dev.stasis.agent.stream;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/**
 * The plain connection below TLS, with its own buffers. TLS reads and writes records of 16 KiB,
 * their headers separately. Each of these would be a system call and wake the other end, which
 * costs several times as much as the encryption.
 */
final class BufferedSocket extends Socket {

  /** A few records at a time fit into a second-level cache; more gain nothing. */
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

  /** Buffers writes from now on; without this every write is sent immediately. */
  void hold() throws IOException {
    out().held = true;
  }

  /** Sends what was buffered. */
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

    /** TLS flushes after each record. */
    @Override
    public void flush() throws IOException {
      if (!held) {
        super.flush();
      }
    }
  }

  /** Accepts connections with buffers. */
  static final class LineServer extends ServerSocket {
    LineServer() throws IOException {}

    @Override
    public Socket accept() throws IOException {
      BufferedSocket line = new BufferedSocket();
      implAccept(line);
      return line;
    }
  }
}
