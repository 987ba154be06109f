// preemption SECONDS_FILE: kernels as long as the file says, one after the other; 0: none. Prints each launch and each right result.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>

__global__ void work(unsigned long long nanos, unsigned *count) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < nanos);
  if (threadIdx.x == 0 && blockIdx.x == 0) (*count)++;
}

static double now() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(cudaError_t result, const char *call) {
  if (result == cudaSuccess) return;
  printf("%.3f failed %s: %s\n", now(), call, cudaGetErrorString(result));
  exit(3);
}
#define OK(call) check(call, #call)

static double seconds(const char *file) {
  double value = 0;
  FILE *f = fopen(file, "r");
  if (f && fscanf(f, "%lf", &value) != 1) value = 0;
  if (f) fclose(f);
  return value;
}

int main(int, char **arguments) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  unsigned *count, seen = 0;
  OK(cudaMalloc(&count, 4));
  OK(cudaMemset(count, 0, 4));
  printf("%.3f ready\n", now());
  for (unsigned step = 1;;) {
    double length = seconds(arguments[1]);
    if (length <= 0) {
      timespec pause = {0, 20000000};
      nanosleep(&pause, nullptr);
      continue;
    }
    printf("%.3f launch %u\n", now(), step);
    work<<<16, 256>>>((unsigned long long)(length * 1e9), count);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&seen, count, 4, cudaMemcpyDeviceToHost));
    printf("%.3f %s %u\n", now(), seen == step ? "step" : "wrong", step);
    step++;
  }
}
