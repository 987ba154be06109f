package dev.stasis.e2e.bench;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Measures network and files alone: parts of a file over plain TCP connections, sent by sendfile
 * and written at their offsets. Nothing is encrypted, checked or acknowledged.
 */
final class PlainCopy implements AutoCloseable {

  private static final int BUFFER = 1 << 20;

  private final int streams;
  private final ServerSocketChannel server;
  private final List<SocketChannel> senders = new ArrayList<>();
  private final List<SocketChannel> receivers = new ArrayList<>();
  private final ExecutorService threads;

  PlainCopy(int streams) throws IOException {
    this.streams = streams;
    this.threads = Executors.newFixedThreadPool(2 * streams);
    this.server =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    for (int i = 0; i < streams; i++) {
      senders.add(SocketChannel.open(server.getLocalAddress()));
      receivers.add(server.accept());
    }
  }

  /** Returns the file's length. */
  long file(Path from, Path to) throws IOException, InterruptedException {
    try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
        FileChannel out =
            FileChannel.open(to, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      long size = in.size();
      long share = (size + streams - 1) / streams;
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        SocketChannel sender = senders.get(i);
        SocketChannel receiver = receivers.get(i);
        long begin = Math.min(size, i * share);
        long end = Math.min(size, begin + share);
        work.add(threads.submit(() -> send(in, begin, end, sender)));
        work.add(threads.submit(() -> receive(receiver, out, begin, end)));
      }
      for (Future<?> piece : work) {
        piece.get();
      }
      return size;
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
  }

  private static long send(FileChannel in, long begin, long end, SocketChannel to)
      throws IOException {
    long at = begin;
    while (at < end) {
      at += in.transferTo(at, end - at, to);
    }
    return at;
  }

  private static long receive(SocketChannel from, FileChannel out, long begin, long end)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
    long at = begin;
    while (at < end) {
      buffer.clear().limit((int) Math.min(BUFFER, end - at));
      if (from.read(buffer) < 0) {
        throw new EOFException("expected %d bytes, got the end".formatted(end - at));
      }
      buffer.flip();
      while (buffer.hasRemaining()) {
        at += out.write(buffer, at);
      }
    }
    return at;
  }

  @Override
  public void close() throws IOException {
    threads.shutdownNow();
    for (SocketChannel socket : senders) {
      socket.close();
    }
    for (SocketChannel socket : receivers) {
      socket.close();
    }
    server.close();
  }
}
