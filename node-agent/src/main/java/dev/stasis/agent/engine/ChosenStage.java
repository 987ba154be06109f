package dev.stasis.agent.engine;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The first destination of copied memory, and how it is copied. Chosen before the freeze.
 *
 * @param folder the artifact's folder for regions, or one on a tmpfs of the host
 * @param inMemory whether the folder's file system is in memory
 * @param storeInMemory whether that of the store is, which then never makes its writers wait
 * @param stagedBytes host memory that the stage takes in addition to that of the processes
 * @param hostToo whether the mover also copies other large memory, or criu writes it
 * @param lowMemory why copied memory is dropped in the process, so that the stage holds the only
 *     copy; null if the process keeps it
 */
record ChosenStage(
    Path folder,
    boolean inMemory,
    boolean storeInMemory,
    long stagedBytes,
    boolean hostToo,
    @Nullable String lowMemory) {}
