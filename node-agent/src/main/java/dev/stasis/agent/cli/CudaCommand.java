package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.CudaCall;
import dev.stasis.agent.cuda.CudaResult;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.GpuPair;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.engine.HandOutcome;
import dev.stasis.agent.engine.ManualDriverControl;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** One driver call on one process. */
@Command(
    sortOptions = false,
    description = "One call of the CUDA driver on one process, or two for toggle.")
final class CudaCommand extends NodeCommand {

  /** The calls, with the names of NVIDIA's cuda-checkpoint. */
  enum Action {
    STATE("state", "Shows the state of the process"),
    RESTORE_THREAD("restore-thread", "Shows which of its threads runs the driver's code"),
    LOCK("lock", "RUNNING to LOCKED: CUDA calls block after the submitted work has finished"),
    CHECKPOINT("checkpoint", "LOCKED to CHECKPOINTED: device memory is copied into the process"),
    RESTORE("restore", "CHECKPOINTED to LOCKED: device memory is restored"),
    UNLOCK("unlock", "LOCKED to RUNNING"),
    TOGGLE("toggle", "RUNNING to CHECKPOINTED, or CHECKPOINTED to RUNNING");

    private final String word;
    private final String meaning;

    Action(String word, String meaning) {
      this.word = word;
      this.meaning = meaning;
    }

    String value() {
      return word;
    }

    String meaning() {
      return meaning;
    }
  }

  private final Action action;

  @Parameters(paramLabel = "PID", description = "The process, by its pid on the host")
  private int pid;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "30s",
      description = "lock, toggle: how long running kernels may take to finish. Default: 30s")
  private Span timeout = new Span(Duration.ofSeconds(30));

  @Option(
      names = "--device-map",
      split = ",",
      paramLabel = "OLD=NEW",
      description =
          "restore, toggle: the new GPU for each GPU that the process used, by UUID; requires"
              + " driver 580 or newer")
  private List<GpuPair> map = List.of();

  @Option(
      names = "--device-bytes",
      paramLabel = "BYTES",
      description =
          "restore, toggle: the free memory that each GPU must have (16GiB). Default: the device"
              + " memory that the process had when stasis-node checkpointed it, else all of"
              + " its anonymous memory")
  private @Nullable Bytes deviceBytes;

  @Option(
      names = "--wait",
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "restore, toggle: how long to wait for that memory. Default: 10s")
  private Span wait = new Span(Duration.ofSeconds(10));

  @Option(
      names = "--in-hand",
      description = "Also on a workload that stasis-node frozen lists; prefer stasis-node thaw")
  private boolean inHand;

  CudaCommand(Environment environment, Action action) {
    super(environment);
    this.action = action;
  }

  @Override
  Report report() throws IOException, InterruptedException {
    try (DriverWorker worker = worker()) {
      ManualDriverControl driver = new ManualDriverControl(stateDir(), worker);
      ManualDriverControl.How how =
          new ManualDriverControl.How(
              timeout.length(),
              map,
              Optional.ofNullable(deviceBytes).map(Bytes::count),
              wait.length(),
              inHand);
      return tell(
          switch (action) {
            case STATE -> driver.state(pid);
            case RESTORE_THREAD -> driver.restoreThread(pid);
            case LOCK -> driver.lock(pid, how);
            case CHECKPOINT -> driver.checkpoint(pid, how);
            case RESTORE -> driver.restore(pid, how);
            case UNLOCK -> driver.unlock(pid, how);
            case TOGGLE -> driver.toggle(pid, how);
          });
    }
  }

  private Report tell(HandOutcome outcome) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("call", action.value());
    json.put("pid", pid);
    if (outcome instanceof HandOutcome.Refused refused) {
      json.put("outcome", "Refused");
      json.put("message", refused.why());
      return new Report(
          ExitCode.REFUSED, json, List.of(), List.of("stasis-node: refused: " + refused.why()));
    }
    if (outcome instanceof HandOutcome.InDoubt doubt) {
      json.put("outcome", "InDoubt");
      json.put("message", doubt.why());
      return new Report(
          ExitCode.ACT,
          json,
          List.of(),
          List.of(
              "stasis-node: " + doubt.why(),
              "  the driver may still execute it: do not repeat it; check: stasis-node cuda state "
                  + pid));
    }
    return answered(((HandOutcome.Answered) outcome).call(), json);
  }

  private Report answered(CudaCall call, Map<String, Object> json) {
    json.put("outcome", call.succeeded() ? "Done" : "Failed");
    json.put("result", call.result().code());
    json.put("resultName", call.result().name());
    json.put("state", call.stateAfter().map(Enum::name).orElse(null));
    if (action == Action.RESTORE_THREAD) {
      json.put(
          "restoreThread",
          call.restoreThread().isPresent() ? call.restoreThread().getAsInt() : null);
    }
    json.put("microseconds", call.took().toNanos() / 1000);
    if (call.succeeded()) {
      String found =
          action == Action.RESTORE_THREAD
              ? Integer.toString(call.restoreThread().orElse(0))
              : call.stateAfter().map(Enum::name).orElse("unknown");
      return new Report(ExitCode.DONE, json, List.of(found), List.of());
    }
    List<String> errors = new ArrayList<>();
    errors.add(
        "stasis-node: %s of process %d: the driver returned %s%s"
            .formatted(
                action.value(),
                pid,
                call.result(),
                call.stateAfter().map(state -> "; the process is " + state).orElse("")));
    advice(call).ifPresent(errors::add);
    return new Report(ExitCode.FAILED, json, List.of(), errors);
  }

  private Optional<String> advice(CudaCall call) {
    return switch (call.result().code()) {
      case CudaResult.NOT_INITIALIZED, CudaResult.INVALID_VALUE ->
          Optional.of("  it does not use CUDA");
      case CudaResult.NOT_READY ->
          Optional.of(
              "  a kernel is still running, or the process waits for another one; try a longer"
                  + " --timeout");
      case CudaResult.ILLEGAL_STATE -> Optional.of("  the call is not allowed in this state");
      case CudaResult.NOT_SUPPORTED ->
          Optional.of(
              action == Action.RESTORE
                  ? "  a GPU or its device node is missing, or memory is shared with a peer"
                  : "  it holds managed memory or memory shared with another process");
      case CudaResult.OPERATING_SYSTEM ->
          Optional.of("  the process has ended, or an earlier failure left it unusable");
      default -> Optional.empty();
    };
  }

  /** {@code GPU-old=GPU-new}. */
  static final class PairConverter implements ITypeConverter<GpuPair> {
    @Override
    public GpuPair convert(String text) {
      String[] both = text.split("=", -1);
      if (both.length != 2) {
        throw new TypeConversionException("expected OLD=NEW, two GPU uuids, got \"" + text + "\"");
      }
      try {
        return new GpuPair(GpuUuid.parse(both[0]), GpuUuid.parse(both[1]));
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
