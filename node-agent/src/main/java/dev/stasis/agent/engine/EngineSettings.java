package dev.stasis.agent.engine;

import dev.stasis.agent.direct.KeeperSettings;
import java.nio.file.Path;

/**
 * The engine's paths on this node.
 *
 * @param stateDir folder of journals and locks; on a tmpfs of the host
 * @param memoryStage folder of stages in memory; on a tmpfs of the host
 * @param bundleDir folder in which criu is installed for containers; on a file system that allows
 *     programs
 * @param runtime the program {@code stasis-runtime}
 * @param criu a static criu; if it does not exist, only a thaw is possible
 * @param criuVersion its reported version
 * @param threads copying and hashing threads
 * @param restoreWithoutAppArmor whether restored processes get no AppArmor profile of their
 *     container
 * @param keeper settings of the direct data path's keepers
 */
public record EngineSettings(
    Path stateDir,
    Path memoryStage,
    Path bundleDir,
    Path runtime,
    Path criu,
    String criuVersion,
    int threads,
    boolean restoreWithoutAppArmor,
    KeeperSettings keeper) {}
