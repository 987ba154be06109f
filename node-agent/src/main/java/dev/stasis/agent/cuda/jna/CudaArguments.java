package dev.stasis.agent.cuda.jna;

import com.sun.jna.Memory;
import dev.stasis.agent.cuda.GpuPair;
import java.lang.ref.Reference;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * The 64 bytes of arguments of a checkpoint call and the data that they point to, kept in memory
 * until the call has returned.
 */
final class CudaArguments {

  private static final int SIZE = 64;
  private static final int UUID = 16;

  private CudaArguments() {}

  /** All defaults. */
  static int none(ToIntFunction<Memory> call) {
    return keeping(zeros(SIZE), call);
  }

  /** {@code timeoutMs} at 0. */
  static int timeout(int millis, ToIntFunction<Memory> call) {
    Memory arguments = zeros(SIZE);
    arguments.setInt(0, millis);
    return keeping(arguments, call);
  }

  /** {@code gpuPairs} at 0, {@code gpuPairsCount} at 8; a pair is the old and the new uuid. */
  static int pairs(List<GpuPair> map, ToIntFunction<Memory> call) {
    if (map.isEmpty()) {
      return none(call);
    }
    Memory pairs = zeros(2L * UUID * map.size());
    long at = 0;
    for (GpuPair pair : map) {
      pairs.write(at, pair.from().bytes(), 0, UUID);
      pairs.write(at + UUID, pair.to().bytes(), 0, UUID);
      at += 2 * UUID;
    }
    Memory arguments = zeros(SIZE);
    arguments.setPointer(0, pairs);
    arguments.setInt(8, map.size());
    try {
      return keeping(arguments, call);
    } finally {
      Reference.reachabilityFence(pairs);
    }
  }

  private static int keeping(Memory arguments, ToIntFunction<Memory> call) {
    try {
      return call.applyAsInt(arguments);
    } finally {
      Reference.reachabilityFence(arguments);
    }
  }

  private static Memory zeros(long size) {
    Memory memory = new Memory(size);
    memory.clear();
    return memory;
  }
}
