package dev.stasis.agent.daemon.kubelet;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import k8s.cri.v1.ExecSyncRequest;
import k8s.cri.v1.ExecSyncResponse;
import k8s.cri.v1.RuntimeServiceGrpc;

/** Runs commands in containers through the container runtime. */
public final class CriExec implements ContainerExec {

  /** Additional time for the runtime to kill an overdue command and to report it. */
  private static final long GRACE_SECONDS = 10;

  private static final int KEPT_BYTES = 4096;

  private final NodeSocket socket;
  private final LongSupplier nanoTime;

  /**
   * Uses that runtime.
   *
   * @param nanoTime a monotonic clock
   */
  public CriExec(NodeSocket socket, LongSupplier nanoTime) {
    this.socket = socket;
    this.nanoTime = nanoTime;
  }

  @Override
  public Result run(String containerId, List<String> command, Duration deadline)
      throws NodeApiException {
    // 0 would mean forever.
    long seconds = Math.max(1, deadline.toSeconds());
    ExecSyncRequest request =
        ExecSyncRequest.newBuilder()
            .setContainerId(containerId)
            .addAllCmd(command)
            .setTimeout(seconds)
            .build();
    long begun = nanoTime.getAsLong();
    try {
      ExecSyncResponse answer =
          RuntimeServiceGrpc.newBlockingStub(socket.channel())
              .withDeadlineAfter(seconds + GRACE_SECONDS, TimeUnit.SECONDS)
              .execSync(request);
      return new Result.Exited(
          answer.getExitCode(), tail(answer.getStdout().concat(answer.getStderr())));
    } catch (StatusRuntimeException e) {
      Status status = e.getStatus();
      return switch (status.getCode()) {
        case UNAVAILABLE, CANCELLED -> throw socket.unanswered("ExecSync", e);
        case DEADLINE_EXCEEDED -> {
          long took = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - begun);
          if (took >= seconds + GRACE_SECONDS) {
            // Our own deadline passed: it is unknown whether the command still runs.
            throw socket.unanswered("ExecSync", e);
          }
          yield new Result.TimedOut(Duration.ofSeconds(seconds));
        }
        default ->
            new Result.NotStarted(
                status.getDescription() == null
                    ? status.getCode().name()
                    : status.getDescription());
      };
    }
  }

  private static String tail(ByteString output) {
    return output.substring(Math.max(0, output.size() - KEPT_BYTES)).toStringUtf8();
  }
}
