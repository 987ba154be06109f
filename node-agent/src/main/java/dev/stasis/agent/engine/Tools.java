package dev.stasis.agent.engine;

import dev.stasis.agent.criu.CriuBundle;
import java.nio.file.Path;

/**
 * The programs that the engine runs.
 *
 * @param runtime {@code stasis-runtime}
 * @param bundle criu, in a form that also runs in containers
 * @param criuVersion its reported version
 */
public record Tools(Path runtime, CriuBundle bundle, String criuVersion) {}
