package dev.stasis.agent.daemon.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A unix socket of this node that serves gRPC. It is connected by the first call and, after its
 * server was restarted, by the next one.
 */
public final class NodeSocket implements AutoCloseable {

  /** The answer to exec holds up to 16 MiB of each stream (the limit of containerd and CRI-O). */
  private static final int LARGEST_ANSWER = 33 << 20;

  /** No call is running when the agent ends; this only waits for two threads. */
  private static final long CLOSE_SECONDS = 2;

  private final Path path;
  private final EventLoopGroup threads;
  private final ManagedChannel channel;

  /**
   * Creates a client; the first call shows whether a server listens.
   *
   * @param path the socket's file
   */
  public NodeSocket(Path path) {
    this(path, LARGEST_ANSWER);
  }

  /**
   * The same.
   *
   * @param largestAnswer how many bytes an answer may have
   */
  public NodeSocket(Path path, int largestAnswer) {
    this.path = path;
    this.threads = new EpollEventLoopGroup(1, new DefaultThreadFactory("node-socket", true));
    this.channel =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(path.toFile()))
            .eventLoopGroup(threads)
            .channelType(EpollDomainSocketChannel.class)
            // A path is not a hostname, and servers on unix sockets need none.
            .overrideAuthority("localhost")
            .usePlaintext()
            .maxInboundMessageSize(largestAnswer)
            .build();
  }

  /** Returns the channel, for calls with a deadline of their own. */
  public ManagedChannel channel() {
    return channel;
  }

  /**
   * Makes a call.
   *
   * @param what the name of the call, for messages: {@code "ListContainers"}
   */
  <T> T ask(String what, Supplier<T> call) throws NodeApiException {
    try {
      return call.get();
    } catch (StatusRuntimeException e) {
      throw unanswered(what, e);
    }
  }

  NodeApiException unanswered(String what, StatusRuntimeException e) {
    Status status = e.getStatus();
    String why = status.getDescription() == null ? "" : ": " + status.getDescription();
    return new NodeApiException(
        what + " at " + path + ": expected a response, got " + status.getCode() + why, e);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    threads
        .shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
