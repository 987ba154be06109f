package dev.stasis.agent.criu;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;

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
}
