/* move out and move in: what they promise when nobody is killed. */
#include "harness.h"

#include "../src/digest.c"
#include "by_hand.h"

static bool memory_goes_out_and_comes_back(void) {
  struct work w;
  bool good = begin(&w, 64 * MIB + 12288, 0) && stop(&w) && code_is(move(&w, "out"), 0);
  good = good && (resident_mib(&w) < 8
      || no("%llu MiB are still there", (unsigned long long)resident_mib(&w)));
  good = good && code_is(move(&w, "in"), 0) && goes_on(&w);
  end(&w);
  return good;
}

static bool it_works_with_many_threads_as_another_user(void) {
  struct work w;
  bool good = begin(&w, 40 * MIB, THREADS | UID1000) && stop(&w)
      && code_is(move(&w, "out", "--threads", "3"), 0) &&
              code_is(move(&w, "in", "--threads", "5"), 0) && goes_on(&w);
  end(&w);
  return good;
}

static bool it_works_again_and_again(void) {
  struct work w;
  bool good = begin(&w, 16 * MIB, THREADS | SLEEPER);
  unsigned long long blocked = good ? status(&w, "SigBlk:") : 0;
  for (int i = 0; good && i < 5; i++)
    good = stop(&w) && code_is(move(&w, "out"), 0) && code_is(move(&w, "in"), 0) &&
           (status(&w, "SigBlk:") == blocked || no("the signal mask changed")) && goes_on(&w);
  good = good && (!w.s->sleep_errors || no("a system call that was under way went wrong"));
  end(&w);
  return good;
}

static bool zeros_are_holes(void) {
  struct work w;
  struct stat st;
  char path[128];
  bool good = begin(&w, 64 * MIB, SPARSE) && stop(&w) && code_is(move(&w, "out"), 0);
  snprintf(path, sizeof path, "%s/stage", dir);
  good = good && !stat(path, &st)
      && (st.st_blocks * 512 <= 28 * (off_t)MIB || no("the stage holds %ld MiB", st.st_blocks / 2048));
  good = good && code_is(move(&w, "in"), 0) && goes_on(&w);
  end(&w);
  return good;
}

static bool without_drop_the_memory_stays(void) {
  struct work w;
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out", "--no-drop"), 0);
  good = good && (resident_mib(&w) >= 32 || no("memory went")) && goes_on(&w);
  end(&w);
  return good;
}

static bool a_filled_stage_is_punched(void) {
  struct work w;
  struct stat st;
  char path[128];
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0)
      && code_is(move(&w, "in", "--punch", "--huge"), 0);
  snprintf(path, sizeof path, "%s/stage", dir);
  good = good && !stat(path, &st)
      && (!st.st_blocks || no("the stage still holds %ld blocks", st.st_blocks)) && goes_on(&w);
  end(&w);
  return good;
}

static bool filling_again_changes_nothing(void) {
  struct work w;
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0)
      && code_is(move(&w, "in"), 0) && code_is(move(&w, "in"), 0) && goes_on(&w);
  good = good && code_is(move(&w, "in"), 0); /* whole: not even stopped it need be */
  end(&w);
  return good;
}

static bool leader_is(const struct work *w, char wanted) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", w->pid);
  for (int i = 0; i < 20000 && state != wanted; i++, nap(1)) {
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    if (f) fclose(f);
  }
  return state == wanted || no("its main thread is %c", state);
}

/* In its loop of 32-bit code: only there it uses a tenth of a second of the processor. */
static bool spins(const struct work *w) {
  char path[64];
  unsigned long first = 0, ticks = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", w->pid, w->pid);
  for (int i = 0; i < 20000 && ticks < first + 10; i++, nap(1)) {
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks) == 1 && !i) first = ticks;
    if (f) fclose(f);
  }
  return ticks >= first + 10 || no("it does not spin");
}

static bool refused(int flags, int change, int wanted) {
  struct work w;
  bool good = begin(&w, 16 * MIB, flags);
  if (!(flags & LEADER_DIES)) good = good && stop(&w);
  else good = good && leader_is(&w, 'Z') && stop(&w);
  if (flags & BITS32) kill(w.pid, SIGCONT), good = good && spins(&w) && stop(&w);
  if (change == 'r') kill(w.pid, SIGCONT), nap(20);
  if (change == 't') good = good && (!ptrace(PTRACE_SEIZE, w.pid, 0, 0) || no("cannot trace"));
  if (change == 's') w.start++;
  good = good && code_is(move(&w, "out"), wanted)
      && (change == 't' || resident_mib(&w) >= 16 || flags & LEADER_DIES || no("memory went"));
  if (change == 't') ptrace(PTRACE_DETACH, w.pid, 0, 0);
  end(&w);
  return good;
}
static bool a_reused_pid_is_never_touched(void) { return refused(0, 's', 3); }
static bool a_running_process_is_refused(void) { return refused(0, 'r', 6); }
static bool a_traced_process_is_refused(void) { return refused(0, 't', 6); }
static bool a_dead_main_thread_is_refused(void) { return refused(LEADER_DIES, 0, 6); }
static bool a_32_bit_process_is_refused(void) { return refused(BITS32, 0, 6); }
static bool a_process_that_is_gone_is_said_to_be(void) {
  struct work w;
  bool good = begin(&w, 8 * MIB, 0);
  end(&w);
  return good && code_is(move(&w, "out"), 3);
}

static void flip(uint64_t offset) {
  char path[128], byte;
  snprintf(path, sizeof path, "%s/stage", dir);
  int fd = open(path, O_RDWR);
  if (pread(fd, &byte, 1, (off_t)offset) == 1) byte ^= 1;
  if (pwrite(fd, &byte, 1, (off_t)offset) != 1) no("the stage cannot be changed");
  close(fd);
}

static bool a_wrong_digest_is_named_and_never_written(void) {
  struct work w;
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0);
  flip(17 * MIB);
  good = good && code_is(move(&w, "in", "--threads", "1"), 4)
      && (strstr(said(), "chunk 2") || no("said %s", said()));
  good = good && (resident_mib(&w) < 20 || no("a wrong chunk was written"));
  flip(17 * MIB);
  good = good && code_is(move(&w, "in"), 0) && goes_on(&w);
  end(&w);
  return good;
}

static bool a_stage_that_cannot_be_read_is_said(void) {
  struct work w;
  char path[128];
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0);
  snprintf(path, sizeof path, "%s/stage", dir);
  good = good && !truncate(path, 20 * MIB) && code_is(move(&w, "in", "--threads", "1"), 4)
      && (strstr(said(), "chunk 2") || no("said %s", said()));
  end(&w);
  return good;
}

static bool a_full_stage_loses_nothing(void) {
  struct work w;
  char path[128], stage[140];
  snprintf(path, sizeof path, "%s/small", dir);
  snprintf(stage, sizeof stage, "%s/stage", path);
  bool good = begin(&w, 64 * MIB, 0) && stop(&w);
  good = good && ((!mkdir(path, 0700) && !mount("none", path, "tmpfs", 0, "size=44m")) || no("no tmpfs"));
  good = good && code_is(move(&w, "out", "--stage", stage), 5)
      && (resident_mib(&w) < 64 || no("nothing was dropped before"));
  good = good && code_is(move(&w, "in"), 0) && goes_on(&w);
  umount2(path, MNT_DETACH);
  rmdir(path);
  end(&w);
  return good;
}

static bool edit_journal(const char *program) {
  char command[400];
  snprintf(command, sizeof command, "sed -i '%s' %s/journal", program, dir);
  return !system(command) || no("sed");
}

static bool a_journal_of_another_boot_or_process_is_refused(void) {
  struct work w;
  bool good = begin(&w, 16 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0);
  good = good && edit_journal("1s/boot=./boot=x/") && code_is(move(&w, "in"), 3)
      && (strstr(said(), "lost") || no("said %s", said()));
  good = good && edit_journal("1s/start=/start=1/") && code_is(move(&w, "in"), 3);
  end(&w);
  return good;
}

static bool a_torn_last_line_says_nothing(void) {
  struct work w;
  char path[128];
  snprintf(path, sizeof path, "%s/journal", dir);
  bool good = begin(&w, 32 * MIB, 0) && stop(&w) && code_is(move(&w, "out"), 0);
  FILE *f = fopen(path, "a");
  fprintf(f, "F 1");
  fclose(f);
  good = good && code_is(move(&w, "in"), 0) && goes_on(&w);
  end(&w);
  return good;
}

/* As the engine begins a journal for a restore from an artifact of format 1: another process, the
 * SHA-256 of each chunk, everything missing. */
static bool a_restored_process_is_filled_and_stale_pages_become_zero(void) {
  struct work w;
  bool good = begin(&w, 64 * MIB, SPARSE) && stop(&w) && code_is(move(&w, "out"), 0);
  /* Chunk 2 is zero: something stale is put there by hand. */
  char path[64], junk[8192];
  memset(junk, 7, sizeof junk);
  snprintf(path, sizeof path, "/proc/%d/mem", w.pid);
  int fd = open(path, O_RDWR);
  good = good && (pwrite(fd, junk, sizeof junk, (off_t)(w.at + 17 * MIB)) == sizeof junk || no("mem"));
  close(fd);
  char command[800];
  snprintf(command, sizeof command,
           "cd %s && while read -r k i a n o c; do if [ \"$k\" = C ] && [ \"$c\" != zero ]; then "
           "echo \"C $i $a $n $o $c $(dd if=stage bs=1M iflag=skip_bytes,count_bytes skip=$o count=$n 2>/dev/null | sha256sum | cut -d' ' -f1)\"; "
           "else echo \"$k $i $a $n $o $c\" | sed 's/ *$//'; fi; done <journal >j2 && mv j2 journal",
               dir);
  good = good && (!system(command) || no("digests"));
  good = good && code_is(move(&w, "in", "--verify", "sha256"), 0) && goes_on(&w);
  end(&w);
  return good;
}

/* Each chunk's digest in the journal, by hand: how many there are, or -1 when one is wrong. */
static int right_digests(void) {
  static uint8_t bytes[CHUNK];
  char path[128], line[300], word[80], wanted[80];
  uint8_t digest[32];
  snprintf(path, sizeof path, "%s/stage", dir);
  int stage = open(path, O_RDONLY), n = 0;
  snprintf(path, sizeof path, "%s/journal", dir);
  FILE *journal = fopen(path, "r");
  while (journal && n >= 0 && fgets(line, sizeof line, journal)) {
    size_t length, offset;
    if (sscanf(line, "C %*u %*x %zu %zu %*8[0-9a-f] %79s", &length, &offset, word) != 3) continue;
    if (length > sizeof bytes || pread(stage, bytes, length, (off_t)offset) != (ssize_t)length) n = -2;
    lanes_by_hand(bytes, length, digest);
    int at = sprintf(wanted, "16x");
    for (int i = 0; i < 32; i++) at += sprintf(wanted + at, "%02x", digest[i]);
    n = n < 0 || strcmp(word, wanted) ? -1 : n + 1;
  }
  if (journal) fclose(journal);
  close(stage);
  return n;
}

/* Zeros first and zeros last within a chunk: the regions begin in the middle of one of the pattern's. */
static bool asked_for_it_the_journal_has_the_digest_of_each_chunk(void) {
  struct work w;
  char command[800];
  bool good = begin(&w, 44 * MIB + 12288, SPARSE) && stop(&w);
  snprintf(command, sizeof command, "echo '%llx %llu' >%s/regions", (unsigned long long)w.at + 4 * MIB,
           (unsigned long long)w.length - 4 * MIB, dir);
  good = good && (!system(command) || no("regions")) && code_is(move(&w, "out", "--digest", "sha256"), 0);
  int right = right_digests();
  good = good && (right == 4 || no("expected 4 right digests, got %d", right));
  good = good && code_is(move(&w, "in", "--verify", "sha256"), 0) && goes_on(&w);
  end(&w);
  return good;
}

/* A stage whose bytes changed is not written into the process, whichever digest says so. */
static bool a_chunk_that_is_not_that_of_its_digest_is_refused(void) {
  struct work w;
  char path[128], byte = 0;
  bool good = begin(&w, 40 * MIB, 0) && stop(&w) && code_is(move(&w, "out", "--digest", "sha256"), 0);
  snprintf(path, sizeof path, "%s/stage", dir);
  int stage = open(path, O_RDWR);
  good = good && pread(stage, &byte, 1, 9 * MIB + 77) == 1;
  for (int i = 0; good && i < 2; i++, byte ^= 4)
    good = (pwrite(stage, &(char){byte ^ 4}, 1, 9 * MIB + 77) == 1 || no("stage"))
        && code_is(move(&w, "in", "--verify", "sha256"), i ? 0 : 4);
  close(stage);
  good = good && goes_on(&w);
  end(&w);
  return good;
}

static bool the_stages_and_journals_of_others_are_never_overwritten(void) {
  struct work w;
  char other[128];
  snprintf(other, sizeof other, "%s/regions", dir);
  bool good = begin(&w, 8 * MIB, 0) && stop(&w) && code_is(move(&w, "out", "--stage", other), 2);
  good = good && code_is(move(&w, "out", "--journal", other), 7) && goes_on(&w);
  end(&w);
  return good;
}

int main(int argc, char **argv) {
  tools = argc > 1 ? argv[1] : "target";
  PROMISE(memory_goes_out_and_comes_back);
  PROMISE(it_works_with_many_threads_as_another_user);
  PROMISE(it_works_again_and_again);
  PROMISE(zeros_are_holes);
  PROMISE(without_drop_the_memory_stays);
  PROMISE(a_filled_stage_is_punched);
  PROMISE(filling_again_changes_nothing);
  PROMISE(a_reused_pid_is_never_touched);
  PROMISE(a_running_process_is_refused);
  PROMISE(a_traced_process_is_refused);
  PROMISE(a_dead_main_thread_is_refused);
  PROMISE(a_32_bit_process_is_refused);
  PROMISE(a_process_that_is_gone_is_said_to_be);
  PROMISE(a_wrong_digest_is_named_and_never_written);
  PROMISE(a_stage_that_cannot_be_read_is_said);
  PROMISE(a_full_stage_loses_nothing);
  PROMISE(a_journal_of_another_boot_or_process_is_refused);
  PROMISE(a_torn_last_line_says_nothing);
  PROMISE(a_restored_process_is_filled_and_stale_pages_become_zero);
  PROMISE(asked_for_it_the_journal_has_the_digest_of_each_chunk);
  PROMISE(a_chunk_that_is_not_that_of_its_digest_is_refused);
  PROMISE(the_stages_and_journals_of_others_are_never_overwritten);
  return failed;
}
