package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CriuLogTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Can't dump file 5 of that type [20666] (chr 195:255)|UNSUPPORTED_FILE|chr 195:255",
        "Can't dump file 12 of that type [600] (anon_inode:[perf_event])|UNSUPPORTED_FILE|anon_inode:[perf_event]",
        "uring: Can't dump io_uring 4 of 77: operations in flight|UNSUPPORTED_FILE|io_uring 4 of 77: operations in flight",
        "Can't dump ghost file /tmp/x y of 9 size, increase limit|DELETED_FILE_TOO_LARGE|/tmp/x y",
        "Can't link remap to /data/linked: File exists|LEFT_OVER_LINK|/data/linked",
        "File tmp/log has bad size 6 (expect 4)|FILE_CHANGED|tmp/log",
        "File bin/x has bad mode 0100644 (expect 0100755)|FILE_CHANGED|bin/x",
        "File lib/x.so has bad build-ID|FILE_CHANGED|lib/x.so",
        "Can't open file data/log on restore: No such file or directory|FILE_MISSING|data/log",
        "mnt: No mapping for 132:/data mountpoint|MOUNT_UNKNOWN|/data",
        "mnt: 193:./etc/resolv.conf doesn't have a proper root mount|MOUNT_UNKNOWN|./etc/resolv.conf",
        "mnt-v2: Failed to open_tree /x/y: Invalid argument|MOUNT_FAILED|/x/y",
        "Can't fork for 17: File exists|PID_TAKEN|17",
        "Can't write page: No space left on device|NO_SPACE|Can't write page",
        "Can't mmap: Cannot allocate memory|NO_MEMORY|Can't mmap",
        "Timeout reached. Try to interrupt: 1|SEIZE_TIMEOUT|Timeout reached. Try to interrupt: 1",
        "SEIZE 77: can't wait task: No child processes|NOT_SEIZED|77",
        "Can't get rlimit 0: Operation not permitted|NOT_PERMITTED|Can't get rlimit 0",
        "CPU capabilities do not match run time|CPU_DIFFERS|CPU capabilities do not match run time",
        "sk unix: Can't dump half of stream unix connection. name: @a; peer name: (null)|OUTSIDE_SOCKET|@a; peer name: (null)",
        "A session leader of 77(5) is outside of its pid namespace|OUTSIDE_SESSION|77(5)",
        "Unexpected EOF on (empty-image)|IMAGES_DAMAGED|Unexpected EOF on (empty-image)",
        "Something new|OTHER|''"
      })
  void anErrorIsToldByItsKindAndItsThing(String message, CriuFault.Kind kind, String subject) {
    CriuFault fault = log(message).fault();

    assertThat(fault).isEqualTo(new CriuFault(kind, subject, message));
  }

  @Test
  void theFirstErrorIsReportedAndErrorsOfSuccessfulRunsAreIgnored() {
    CriuLog log =
        CriuLog.of(
            "(00.001185) Error (criu/tun.c:85): tun: Unable to create tun: No such file\n"
                + "(00.013729) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for"
                + " self: Operation not permitted\n"
                + "(00.017399) Warn  (criu/files-reg.c:1881): Can't link  -> ./data/link_remap.7\n"
                + "(00.017402) Error (criu/files-reg.c:1159): Can't link remap to /data/linked:"
                + " File exists\n"
                + "(00.017423) Error (criu/cr-dump.c:1545): Dump files (pid: 9) failed with -1\n"
                + "(00.017851) Error (criu/cr-dump.c:1975): Dumping FAILED.\n");

    assertThat(log.fault().kind()).isEqualTo(CriuFault.Kind.LEFT_OVER_LINK);
    assertThat(log.fault()).hasToString("a link of an earlier dump is in the way: /data/linked");
  }

  @Test
  void linesOfTheRestoredProcessesAreReadToo() {
    assertThat(
            CriuLog.of(
                    "(00.1)     17: Error (criu/files-reg.c:2175): File data/log has bad size 6"
                        + " (expect 4)\n")
                .fault()
                .subject())
        .isEqualTo("data/log");
  }

  @Test
  void anEmptyLogNamesNoError() {
    assertThat(CriuLog.of("").fault().line()).isEqualTo("criu's log holds no error");
  }

  private static CriuLog log(String message) {
    return CriuLog.of("(00.017402) Error (criu/x.c:1): " + message + "\n");
  }
}
