package dev.stasis.agent.tmpfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.Sh;
import dev.stasis.agent.testing.SmallTmpfs;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreInMemoryTest {

  @ParameterizedTest
  @CsvSource({"20, true", "100, true", "128, false", "4096, false"})
  void aTmpfsIsRefusedIfItTakesMoreThanAQuarterOfTheAgentsLimit(int limitMib, boolean refused)
      throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(32)) {
      OptionalLong limit = OptionalLong.of((long) limitMib << 20);
      assertThat(new StoreInMemory(limit).obstacle(tmpfs.file(".")).isPresent()).isEqualTo(refused);
    }
  }

  @Test
  void anAgentWithoutALimitFillsAnyFileSystem() throws Exception {
    try (SmallTmpfs tmpfs = SmallTmpfs.ofMib(32)) {
      assertThat(new StoreInMemory(OptionalLong.empty()).obstacle(tmpfs.file("."))).isEmpty();
    }
  }

  @Test
  void aFileSystemInMemoryWithoutASizeIsRefused(@TempDir Path folder) throws Exception {
    new Sh().must("mount", "-t", "ramfs", "ramfs", folder.toString());
    try {
      assertThat(new StoreInMemory(OptionalLong.of(1L << 40)).obstacle(folder))
          .hasValueSatisfying(why -> assertThat(why).contains("on ramfs", "1.0Ti"));
    } finally {
      new Sh().must("umount", folder.toString());
    }
  }

  @Test
  void aDiskIsAccepted() throws Exception {
    assertThat(new StoreInMemory(OptionalLong.of(1)).obstacle(Path.of("/var/tmp"))).isEmpty();
  }
}
