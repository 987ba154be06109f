package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import javax.crypto.AEADBadTagException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SealerTest {

  private static final int SEGMENT = Sealer.SEGMENT_BYTES;
  private static final int SEALED = SEGMENT + Sealer.TAG_BYTES;
  private static final byte[] NAME = {1, 2, 3};

  private final Sealer sealer = new Sealer(new byte[32]);

  @ParameterizedTest
  @ValueSource(ints = {0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 3 * SEGMENT, 2 << 20})
  void sealedBytesCanBeOpened(int length) throws Exception {
    byte[] plain = plain(length);

    assertThat(seal(plain)).hasSize(Sealer.sealedBytes(length));
    assertThat(sealer.open(7, NAME, seal(plain))).isEqualTo(plain);
  }

  @Test
  void aSegmentThatIsMovedOrMissingIsRefused() {
    byte[] sealed = seal(plain(3 * SEGMENT));
    byte[] swapped = sealed.clone();
    System.arraycopy(sealed, 0, swapped, SEALED, SEALED);
    System.arraycopy(sealed, SEALED, swapped, 0, SEALED);

    refused(swapped);
    refused(Arrays.copyOf(sealed, 2 * SEALED));
    refused(Arrays.copyOfRange(sealed, SEALED, 3 * SEALED));
    refused(Arrays.copyOf(sealed, 2 * SEALED + 3));
    refused(new byte[0]);
    refused(new byte[Sealer.TAG_BYTES - 1]);
  }

  @Test
  void anotherCounterOrAnyOtherBitIsRefused() {
    byte[] sealed = seal(plain(SEGMENT + 5));

    assertThatThrownBy(() -> sealer.open(8, NAME, sealed)).isInstanceOf(AEADBadTagException.class);
    for (int at : new int[] {0, SEGMENT, SEALED, sealed.length - 1}) {
      byte[] changed = sealed.clone();
      changed[at] ^= 1;
      refused(changed);
    }
  }

  @Test
  void chunksThatAreSealedOneAfterTheOtherCanBeOpened() throws Exception {
    Sealer.Workspace workspace = new Sealer.Workspace();
    for (int length : new int[] {3 * SEGMENT + 1, 5, SEGMENT}) {
      byte[] plain = plain(length);
      ByteArrayOutputStream sealed = new ByteArrayOutputStream();
      sealer.seal(
          length, NAME, plain, length, workspace, (bytes, count) -> sealed.write(bytes, 0, count));

      assertThat(sealer.open(length, NAME, sealed.toByteArray())).isEqualTo(plain);
    }
  }

  /** An array for each chunk would fill the heap between two collections. */
  @Test
  void chunksAreSealedIntoTheSameArray() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Sealer.Workspace workspace = new Sealer.Workspace();
    byte[] plain = plain(SEGMENT);
    sealer.seal(0, NAME, plain, SEGMENT, workspace, (bytes, count) -> {});

    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 1; i <= 100; i++) {
      sealer.seal(i, NAME, plain, SEGMENT, workspace, (bytes, count) -> {});
    }
    assertThat((threads.getCurrentThreadAllocatedBytes() - before) / 100)
        .as("bytes allocated for each chunk")
        .isLessThan(SEGMENT / 2);
  }

  private void refused(byte[] sealed) {
    assertThatThrownBy(() -> sealer.open(7, NAME, sealed)).isInstanceOf(AEADBadTagException.class);
  }

  private byte[] seal(byte[] plain) {
    return sealer.seal(7, NAME, plain);
  }

  private static byte[] plain(int length) {
    byte[] plain = new byte[length];
    new Random(length).nextBytes(plain);
    return plain;
  }
}
