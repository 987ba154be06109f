package dev.stasis.agent.engine;

import dev.stasis.agent.criu.CriuBundle;
import java.nio.file.Path;

/**
 * The programs that the engine runs.
 *
 * @param runtime {@code stasis-runtime}
 * @param bundle criu, as it goes into containers too
 * @param criuVersion what criu says of itself
 */
public record Tools(Path runtime, CriuBundle bundle, String criuVersion) {}
