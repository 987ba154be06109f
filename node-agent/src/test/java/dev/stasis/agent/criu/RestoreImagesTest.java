package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.stasis.agent.process.ThreadRights;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Images are read as criu reads them, and bytes that make no sense are a fault with a name. */
class RestoreImagesTest {

  private static final int PSTREE = 0x50273030;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path folder;

  private static UnknownFieldSet.Builder numbers(
      UnknownFieldSet.Builder to, int field, long... values) {
    UnknownFieldSet.Field.Builder numbers = UnknownFieldSet.Field.newBuilder();
    for (long value : values) {
      numbers.addVarint(value);
    }
    return to.mergeField(field, numbers.build());
  }

  private static UnknownFieldSet.Builder message(
      UnknownFieldSet.Builder to, int field, UnknownFieldSet.Builder inner) {
    return to.mergeField(
        field,
        UnknownFieldSet.Field.newBuilder()
            .addLengthDelimited(inner.build().toByteString())
            .build());
  }

  private static UnknownFieldSet.Builder empty() {
    return UnknownFieldSet.newBuilder();
  }

  private static byte[] image(int[] magic, UnknownFieldSet.Builder... entries) {
    ByteBuffer image = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
    for (int word : magic) {
      image.putInt(word);
    }
    for (UnknownFieldSet.Builder entry : entries) {
      byte[] bytes = entry.build().toByteArray();
      image.putInt(bytes.length).put(bytes);
    }
    byte[] whole = new byte[image.position()];
    image.flip().get(whole);
    return whole;
  }

  private void write(String name, int magic, UnknownFieldSet.Builder... entries)
      throws IOException {
    int[] words =
        name.equals("inventory.img") ? new int[] {magic} : new int[] {CriuImage.COMMON, magic};
    Files.write(folder.resolve(name), image(words, entries));
  }

  private static UnknownFieldSet.Builder credentials() {
    UnknownFieldSet.Builder credentials = empty();
    for (int field = 1; field <= 8; field++) {
      numbers(credentials, field, 1000);
    }
    return numbers(credentials, 12, 5, 1);
  }

  private static UnknownFieldSet.Builder core(UnknownFieldSet.Builder thread) {
    return message(message(empty(), 3, numbers(empty(), 1, 1)), 5, thread);
  }

  private static UnknownFieldSet.Builder filter() {
    return empty()
        .mergeField(
            1,
            UnknownFieldSet.Field.newBuilder()
                .addLengthDelimited(ByteString.fromHex("060000000000ff7f"))
                .build());
  }

  @BeforeEach
  void oneProcessOfTwoThreads() throws IOException {
    write("inventory.img", IdsImage.INVENTORY_MAGIC, message(empty(), 3, numbers(empty(), 10, 7)));
    write("pstree.img", PSTREE, numbers(numbers(empty(), 1, 1), 5, 1, 2));
    write("core-1.img", CoreImage.MAGIC, core(message(empty(), 10, credentials())));
    write(
        "core-2.img",
        CoreImage.MAGIC,
        message(empty(), 5, message(empty(), 10, numbers(credentials(), 18, 1))));
  }

  private List<ImageThread> threads() throws IOException {
    List<ImageThread> threads = new ArrayList<>();
    new RestoreImages(folder).threads(threads::add);
    return threads;
  }

  private void isRefused(String expected) {
    assertThatThrownBy(this::threads).isInstanceOf(ImageFault.class).hasMessageContaining(expected);
  }

  @Test
  void eachThreadHasItsOwnRights() throws Exception {
    assertThat(threads()).extracting(ImageThread::tid).containsExactly(1, 2);
    ThreadRights second = threads().get(1).rights();
    assertThat(second.noNewPrivileges()).isTrue();
    assertThat(threads().get(0).rights().noNewPrivileges()).isFalse();
    assertThat(second.capabilities().bounding()).isEqualTo(0x1_0000_0005L);
    assertThat(second.uids().saved()).isEqualTo(1000);
  }

  @Test
  void eachInotifyInstanceIsCountedWithItsWatches() throws Exception {
    write(
        ImageWatches.FILE,
        ImageWatches.MAGIC,
        numbers(empty(), 1, 1),
        message(numbers(empty(), 1, 8), 13, message(message(empty(), 5, empty()), 5, empty())),
        message(numbers(empty(), 1, 8), 13, numbers(empty(), 1, 4)));

    assertThat(new RestoreImages(folder).watches()).isEqualTo(new ImageWatches(2, 2));
  }

  /** criu takes both forms of a repeated number. */
  @Test
  void packedCapabilitiesAreSeenToo() throws Exception {
    UnknownFieldSet.Builder packed =
        credentials()
            .mergeField(
                11,
                UnknownFieldSet.Field.newBuilder()
                    .addLengthDelimited(ByteString.copyFrom(new byte[] {4, 1}))
                    .build());
    write("core-1.img", CoreImage.MAGIC, core(message(empty(), 10, packed)));

    assertThat(threads().get(0).rights().capabilities().effective()).isEqualTo(0x1_0000_0004L);
  }

  /** criu merges them. */
  @Test
  void credentialsInTwoPartsAreOne() throws Exception {
    UnknownFieldSet.Builder thread = message(empty(), 10, credentials());
    message(thread, 10, numbers(empty(), 11, 3));
    write("core-1.img", CoreImage.MAGIC, core(thread));

    assertThat(threads().get(0).rights().capabilities().effective()).isEqualTo(3);
  }

  @Test
  void filtersOfTheMainThreadAreThoseOfAllWhenItGivesThem() throws Exception {
    UnknownFieldSet.Builder main = message(empty(), 10, credentials());
    write("core-1.img", CoreImage.MAGIC, core(numbers(numbers(main, 11, 2), 12, 1)));
    UnknownFieldSet.Builder first = numbers(filter(), 3, 1);
    UnknownFieldSet.Builder second = numbers(numbers(filter(), 2, 0), 3, 1);
    write("seccomp.img", SeccompImage.MAGIC, message(message(empty(), 1, first), 1, second));

    assertThat(threads()).extracting(each -> each.rights().seccompFilters()).containsExactly(2, 2);

    write(
        "seccomp.img",
        SeccompImage.MAGIC,
        message(message(empty(), 1, filter()), 1, numbers(filter(), 2, 0)));
    assertThat(threads()).extracting(each -> each.rights().seccompFilters()).containsExactly(2, 0);
  }

  @Test
  void aCircleOfFiltersIsRefused() throws Exception {
    write("seccomp.img", SeccompImage.MAGIC, message(empty(), 1, numbers(filter(), 2, 0)));
    isRefused("a filter before number 0");
  }

  @Test
  void aFilterThatIsNotThereIsRefused() throws Exception {
    UnknownFieldSet.Builder main = message(empty(), 10, credentials());
    write("core-1.img", CoreImage.MAGIC, core(numbers(numbers(main, 11, 2), 12, 3)));
    isRefused("seccomp.img");
  }

  /** criu would take this one, and the thread's own would be nothing. */
  @Test
  void aSeccompModeOfTheWholeProcessIsRefused() throws Exception {
    UnknownFieldSet.Builder task = numbers(numbers(empty(), 1, 1), 11, 0);
    write(
        "core-1.img",
        CoreImage.MAGIC,
        message(message(empty(), 3, task), 5, message(empty(), 10, credentials())));
    isRefused("a seccomp mode of each thread");
  }

  @Test
  void aUserNamespaceOfItsOwnIsSeen() throws Exception {
    write("ids-1.img", IdsImage.MAGIC, numbers(empty(), 10, 8));
    assertThat(threads()).allMatch(ImageThread::userNamespace);
    write("ids-1.img", IdsImage.MAGIC, numbers(empty(), 10, 7));
    assertThat(threads()).noneMatch(ImageThread::userNamespace);
  }

  @Test
  void aThreadWithoutImageOrCredentialsIsRefused() throws Exception {
    write("core-2.img", CoreImage.MAGIC, message(empty(), 5, empty()));
    isRefused("core-2.img: expected the credentials");
    Files.delete(folder.resolve("core-2.img"));
    isRefused("core-2.img: expected one, got none");
  }

  @Test
  void aZombieHasNoRightsToCompare() throws Exception {
    write("pstree.img", PSTREE, numbers(numbers(empty(), 1, 1), 5, 1));
    write("core-1.img", CoreImage.MAGIC, message(empty(), 3, numbers(empty(), 1, 2)));
    assertThat(threads()).isEmpty();
  }

  /** Neither an endless wait, nor memory, nor another exception. */
  @Test
  void anyChangedByteIsReadOrAFault() throws Exception {
    byte[] good = Files.readAllBytes(folder.resolve("core-1.img"));
    Random random = new Random(18);
    int faults = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bad = good.clone();
      for (int n = random.nextInt(3); n >= 0; n--) {
        bad[8 + random.nextInt(bad.length - 8)] = (byte) random.nextInt(256);
      }
      faults += isFault(new ByteArrayInputStream(bad)) ? 1 : 0;
    }
    for (int length = 0; length < good.length; length++) {
      assertThat(isFault(new ByteArrayInputStream(good, 0, length))).isTrue();
    }
    assertThat(faults).isGreaterThan(1000);
  }

  private static boolean isFault(InputStream in) throws IOException {
    try {
      CoreImage core = new CoreImage(1).read(in);
      if (!core.isDead()) {
        core.rights(0, 0);
      }
      return false;
    } catch (ImageFault e) {
      return true;
    }
  }

  @Test
  void aLengthWithoutBytesBehindItCostsNoMemory() throws Exception {
    ByteBuffer image = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    image.putInt(CriuImage.COMMON).putInt(PSTREE).putInt(Integer.MAX_VALUE).putInt(0x08);
    Files.write(folder.resolve("pstree.img"), image.array());
    isRefused("whole entries");
  }
}
