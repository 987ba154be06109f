package dev.stasis.agent.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A native layer that notes its calls and gives the answers that it was told. */
final class FakeDriver implements NativeDriver {

  final List<String> calls = new ArrayList<>();
  DriverAvailability availability = new DriverAvailability.Present("fake", 13000);
  boolean persistence = true;
  int initResult = CudaResult.SUCCESS;
  Reading state = new Reading(CudaResult.SUCCESS, CudaState.RUNNING.code());
  int result = CudaResult.SUCCESS;
  GpuMemory memory = new GpuMemory(availability, Map.of());
  RuntimeException broken = new RuntimeException();
  boolean breaks;

  @Override
  public DriverAvailability availability() {
    return availability;
  }

  @Override
  public String resultName(int code) {
    return "NAME_" + code;
  }

  @Override
  public int init() {
    calls.add("init");
    return initResult;
  }

  @Override
  public Reading state(int pid) {
    calls.add("state");
    return state;
  }

  @Override
  public Reading restoreThread(int pid) {
    calls.add("restoreThread");
    return new Reading(result, 77);
  }

  @Override
  public int lock(int pid, int timeoutMillis) {
    return note("lock " + timeoutMillis);
  }

  @Override
  public int checkpoint(int pid) {
    return note("checkpoint");
  }

  @Override
  public int restore(int pid, List<GpuPair> map) {
    return note("restore " + map);
  }

  @Override
  public int unlock(int pid) {
    return note("unlock");
  }

  @Override
  public boolean persistence() {
    return persistence;
  }

  @Override
  public NodeGpus gpus() {
    return NodeGpus.none(availability);
  }

  @Override
  public GpuMemory memoryOf(int pid) {
    return memory;
  }

  private int note(String call) {
    calls.add(call);
    if (breaks) {
      throw broken;
    }
    return result;
  }
}
