package dev.stasis.agent.direct;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * Settings of the keeper.
 *
 * @param program {@code stasis-keeper}; if it does not exist, every workload takes the driver's
 *     path
 * @param anchorGrace how long the {@link GpuAnchor} stays after its agent has gone
 * @param environment variables added to the agent's own
 */
public record KeeperSettings(Path program, Duration anchorGrace, Map<String, String> environment) {

  /** The path in the agent's image. */
  public static final Path PROGRAM = Path.of("/usr/libexec/stasis/stasis-keeper");

  /** An agent is replaced within this time. The driver cannot be unloaded before it has passed. */
  public static final Duration ANCHOR_GRACE = Duration.ofMinutes(2);

  public KeeperSettings {
    environment = Map.copyOf(environment);
  }

  /** The default settings of a program at that path. */
  public static KeeperSettings of(Path program) {
    return new KeeperSettings(program, ANCHOR_GRACE, Map.of());
  }
}
