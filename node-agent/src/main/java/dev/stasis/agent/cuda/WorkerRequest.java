package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.stasis.agent.process.ProcessId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line to the worker.
 *
 * @param id matches the answer to the request
 * @param pid 0 for a call that concerns no process
 * @param start the process's start time
 * @param timeoutMillis for lock
 * @param gpuPairs for restore
 */
@JsonInclude(JsonInclude.Include.NON_DEFAULT)
@JsonIgnoreProperties(ignoreUnknown = true)
record WorkerRequest(
    long id,
    WorkerCall call,
    int pid,
    long start,
    int timeoutMillis,
    @Nullable List<GpuPair> gpuPairs) {

  static WorkerRequest of(WorkerCall call) {
    return new WorkerRequest(0, call, 0, 0, 0, null);
  }

  static WorkerRequest of(WorkerCall call, ProcessId process) {
    return new WorkerRequest(0, call, process.pid(), process.startTime(), 0, null);
  }

  WorkerRequest withId(long newId) {
    return new WorkerRequest(newId, call, pid, start, timeoutMillis, gpuPairs);
  }

  WorkerRequest withTimeout(int millis) {
    return new WorkerRequest(id, call, pid, start, millis, gpuPairs);
  }

  WorkerRequest withMap(List<GpuPair> map) {
    return new WorkerRequest(id, call, pid, start, timeoutMillis, List.copyOf(map));
  }

  /** The process; only for calls that concern one. */
  @JsonIgnore
  ProcessId process() {
    return new ProcessId(pid, start);
  }

  @JsonIgnore
  List<GpuPair> map() {
    return gpuPairs == null ? List.of() : gpuPairs;
  }
}
