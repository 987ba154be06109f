package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.RolledBack;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** What faults at phases came to, as a table of Markdown that grows as it goes. */
final class FaultTable {

  private final Path file;
  private final List<MigrationPhase> phases;
  private final Map<MigrationFault, Map<MigrationPhase, String>> seen =
      new EnumMap<>(MigrationFault.class);

  FaultTable(Path file, List<MigrationPhase> phases) {
    this.file = file;
    this.phases = List.copyOf(phases);
  }

  /** Every fault, or those that STASIS_E2E_FAULTS names, with commas, at every phase. */
  Stream<Arguments> cells(Predicate<MigrationFault> which) {
    String some = System.getenv("STASIS_E2E_FAULTS");
    Stream<MigrationFault> faults =
        some == null || some.isBlank()
            ? Stream.of(MigrationFault.values())
            : Stream.of(some.split(",", -1)).map(MigrationFault::valueOf);
    return faults
        .filter(which)
        .flatMap(fault -> phases.stream().map(phase -> Arguments.of(fault, phase)));
  }

  /** What it came to, in the words of the status. */
  static String cell(MigrationPhase during, GpuMigrationStatus struck, GpuMigrationStatus end) {
    String phase = end.getPhase() == null ? "?" : end.getPhase().value();
    String more =
        end.getPhase() == MigrationPhase.SUCCEEDED
            ? "was frozen for " + end.getDowntime()
            : Optional.ofNullable(end.getRolledBack())
                .map(RolledBack::reason)
                .orElseGet(() -> String.valueOf(end.getReason()));
    String late =
        struck.getPhase() == during || struck.getPhase() == null
            ? ""
            : "; struck in " + struck.getPhase().value();
    return "%s (%s%s)".formatted(phase, more, late);
  }

  /** Only what has passed stands in the table. */
  void write(MigrationFault fault, MigrationPhase during, String cell) {
    seen.computeIfAbsent(fault, key -> new EnumMap<>(MigrationPhase.class)).put(during, cell);
    System.out.println(fault + " at " + during + ": " + cell);
    List<String> lines = new ArrayList<>();
    lines.add(
        phases.stream()
            .map(MigrationPhase::value)
            .collect(Collectors.joining(" | ", "| what goes wrong | ", " |")));
    lines.add("|---|" + "---|".repeat(phases.size()));
    seen.forEach(
        (each, cells) ->
            lines.add(
                phases.stream()
                    .map(phase -> cells.getOrDefault(phase, "-"))
                    .collect(Collectors.joining(" | ", "| " + each.sentence() + " | ", " |"))));
    try {
      Files.writeString(file, String.join("\n", lines) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
