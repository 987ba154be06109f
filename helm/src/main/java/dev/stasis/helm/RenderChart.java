package dev.stasis.helm;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code bin/render-chart}: prints the chart's manifests. */
public final class RenderChart {
  private static final int USAGE = 2;

  private RenderChart() {}

  /** Arguments: the chart's folder, then options as shown by {@code bin/render-chart --help}. */
  public static void main(String[] arguments) {
    try {
      System.out.println(render(arguments));
    } catch (IllegalArgumentException wrong) {
      System.err.println("render-chart: " + wrong.getMessage());
      System.exit(USAGE);
    } catch (IllegalStateException refused) {
      System.err.println("render-chart: " + refused.getMessage());
      System.exit(1);
    }
  }

  private static String render(String... arguments) {
    Iterator<String> rest = Arrays.asList(arguments).iterator();
    Chart chart = new Chart(Path.of(rest.next()));
    String release = "stasis";
    String namespace = "stasis-system";
    Map<String, String> values = new LinkedHashMap<>();
    // The library prints no hooks.
    values.put("crds.known", "true");
    List<Path> files = new ArrayList<>();
    while (rest.hasNext()) {
      String option = rest.next();
      if (!rest.hasNext()) {
        throw new IllegalArgumentException(option + ": expected a value, got none");
      }
      String value = rest.next();
      switch (option) {
        case "--name" -> release = value;
        case "--namespace" -> namespace = value;
        case "--values" -> files.add(Path.of(value).toAbsolutePath());
        case "--set" -> {
          int equals = value.indexOf('=');
          if (equals < 1) {
            throw new IllegalArgumentException("--set: expected NAME=VALUE, got " + value);
          }
          values.put(value.substring(0, equals), value.substring(equals + 1));
        }
        default -> throw new IllegalArgumentException("unknown option " + option);
      }
    }
    return chart.render(release, namespace, values, files);
  }
}
