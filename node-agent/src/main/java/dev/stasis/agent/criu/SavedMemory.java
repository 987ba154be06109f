package dev.stasis.agent.criu;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Region;

/**
 * Memory saved without criu: its mapping is dumped, its pages are not. Only the criu of bin/setup
 * supports this; another one also dumps the pages, which is slower but correct.
 */
public record SavedMemory(ProcessId process, Region region) {

  String external() {
    return "saved-memory[%d]:%x-%x".formatted(process.pid(), region.address(), region.end());
  }
}
