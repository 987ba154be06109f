package dev.stasis.operator.testing;

import dev.stasis.operator.config.StasisConfig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Settings for a test: what waits in the product waits here too, but shorter unless told. */
public record TestConfig(String namespace, Duration lookAgainEvery, Duration verifyEvery)
    implements StasisConfig {

  public TestConfig(String namespace) {
    this(namespace, Duration.ofSeconds(1));
  }

  public TestConfig(String namespace, Duration lookAgainEvery) {
    this(namespace, lookAgainEvery, Duration.ofDays(7));
  }

  /** With the product's own waits. */
  public static TestConfig usual() {
    return new TestConfig("stasis-system", Duration.ofSeconds(15));
  }

  @Override
  public String identity() {
    return "test";
  }

  @Override
  public String leaseName() {
    return "stasis-operator";
  }

  @Override
  public List<String> gpuResources() {
    return List.of("nvidia.com/gpu", "nvidia.com/gpu.shared");
  }

  @Override
  public Duration orphanAfter() {
    return Duration.ofMinutes(15);
  }

  @Override
  public Duration progressEvery() {
    return Duration.ofSeconds(1);
  }

  @Override
  public int checkpointsPerNode() {
    return 8;
  }

  @Override
  public int checkpointsPerNamespace() {
    return 4;
  }

  @Override
  public Optional<String> tracesEndpoint() {
    return Optional.empty();
  }

  @Override
  public Migrations migrations() {
    return new Migrations() {
      @Override
      public int perCluster() {
        return 4;
      }

      @Override
      public int perNamespace() {
        return 3;
      }

      @Override
      public int perSourceNode() {
        return 2;
      }

      @Override
      public int perTargetNode() {
        return 2;
      }
    };
  }

  @Override
  public Holder holder() {
    return new Holder() {
      @Override
      public String image() {
        return "stasis/runtime:test";
      }

      @Override
      public List<String> command() {
        return List.of("/stasis-runtime", "install", "--dir", "/.stasis");
      }

      @Override
      public Set<String> injected() {
        return Set.of("istio-proxy");
      }
    };
  }
}
