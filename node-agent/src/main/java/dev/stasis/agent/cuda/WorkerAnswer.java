package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A line from the worker. It has one of result, refused, failed, unavailable, gpus and memory,
 * which gives the outcome of the call; the answer to ping has none.
 *
 * @param result and name: what the driver returned
 * @param before and state: see {@link CudaCall}
 * @param refused and why: no call was made
 * @param failed the call failed in a way that leaves the driver's actions unknown
 * @param unavailable no call was made, because there is no driver
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonIgnoreProperties(ignoreUnknown = true)
record WorkerAnswer(
    long id,
    @Nullable Integer result,
    @Nullable String name,
    @Nullable CudaState before,
    @Nullable CudaState state,
    @Nullable Integer thread,
    @Nullable Long micros,
    @Nullable Refusal refused,
    @Nullable String why,
    @Nullable String failed,
    @Nullable DriverAvailability unavailable,
    @Nullable NodeGpus gpus,
    @Nullable Map<GpuUuid, Long> memory) {

  /** An answer without a call. */
  private static WorkerAnswer bare(
      long id,
      @Nullable Refusal refused,
      @Nullable String why,
      @Nullable String failed,
      @Nullable DriverAvailability unavailable,
      @Nullable NodeGpus gpus,
      @Nullable Map<GpuUuid, Long> memory) {
    return new WorkerAnswer(
        id, null, null, null, null, null, null, refused, why, failed, unavailable, gpus, memory);
  }

  static WorkerAnswer pong(long id) {
    return bare(id, null, null, null, null, null, null);
  }

  static WorkerAnswer refused(long id, Refusal refusal, String why) {
    return bare(id, refusal, why, null, null, null, null);
  }

  static WorkerAnswer failed(long id, String why) {
    return bare(id, null, null, why, null, null, null);
  }

  static WorkerAnswer unavailable(long id, DriverAvailability why) {
    return bare(id, null, null, null, why, null, null);
  }

  static WorkerAnswer gpus(long id, NodeGpus gpus) {
    return bare(id, null, null, null, null, gpus, null);
  }

  static WorkerAnswer memory(long id, Map<GpuUuid, Long> memory) {
    return bare(id, null, null, null, null, null, memory);
  }

  static WorkerAnswer called(long id, CudaCall call) {
    return new WorkerAnswer(
        id,
        call.result().code(),
        call.result().name(),
        call.before(),
        call.state(),
        call.thread() == 0 ? null : call.thread(),
        call.took().toNanos() / 1000,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  /** The answer of a call on a process; null if it is another kind of answer. */
  @Nullable CudaCall call() {
    return result == null
        ? null
        : new CudaCall(
            new CudaResult(result, name == null ? "" : name),
            before,
            state,
            thread == null ? 0 : thread,
            Duration.ofNanos((micros == null ? 0 : micros) * 1000));
  }
}
