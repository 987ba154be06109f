package dev.stasis.agent.engine;

import java.nio.file.Path;

/**
 * Where the engine finds and keeps things on this node.
 *
 * @param stateDir journals and locks; on a tmpfs of the host
 * @param memoryStage where regions are staged in memory; on a tmpfs of the host
 * @param bundleDir where criu is made ready to go into containers; a file system that lets programs
 *     run
 * @param runtime the program {@code stasis-runtime}
 * @param criu a static criu; where there is none at that place, only a thaw is possible
 * @param criuVersion what it says of itself
 * @param threads copying and hashing threads
 * @param restoreWithoutAppArmor whether a workload may be restored without the AppArmor profile of
 *     its container, which cannot be applied
 */
public record EngineSettings(
    Path stateDir,
    Path memoryStage,
    Path bundleDir,
    Path runtime,
    Path criu,
    String criuVersion,
    int threads,
    boolean restoreWithoutAppArmor) {}
