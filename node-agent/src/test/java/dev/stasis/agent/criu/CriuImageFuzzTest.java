package dev.stasis.agent.criu;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;

/** What root on another node may have written into the images of an artifact. */
class CriuImageFuzzTest {

  @FuzzTest
  void anyCoreIsReadOrRefused(byte[] image) {
    try {
      new CoreImage(7).read(new ByteArrayInputStream(image));
    } catch (IOException refused) {
      return;
    }
  }

  @FuzzTest
  void anyFiltersAreReadOrRefused(byte[] image) {
    try {
      new SeccompImage().read(new ByteArrayInputStream(image));
    } catch (IOException refused) {
      return;
    }
  }

  @FuzzTest
  void anyInventoryIsReadOrRefused(byte[] image) {
    try {
      new IdsImage().ofInventory(new ByteArrayInputStream(image));
    } catch (IOException refused) {
      return;
    }
  }

  @FuzzTest
  void anyOpenFilesAreReadOrRefused(byte[] image) {
    try {
      ImageWatches.read(new ByteArrayInputStream(image));
    } catch (IOException refused) {
      return;
    }
  }

  @FuzzTest
  void anyProgramsAreComparedOrRefused(byte[] programs) {
    int middle = programs.length / 2 & -SeccompProgram.INSTRUCTION;
    try {
      SeccompProgram first = SeccompProgram.of(Arrays.copyOf(programs, middle));
      SeccompProgram second =
          SeccompProgram.of(Arrays.copyOfRange(programs, middle, programs.length));
      new SeccompComparison(first, second).isNoLaxer();
    } catch (IOException refused) {
      return;
    }
  }
}
