// SPDX-License-Identifier: Apache-2.0
// The NVIDIA driver (or, with FAKE_NVRTC, its compiler) as a library that fails where the environment says so. Kernels
// do nothing. Memory is that of the process, and what was not freed is counted.
#include <stdlib.h>
#include <string.h>

static int setting(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text ? atoi(text) : otherwise;
}
// Fails at the n-th call, and ever after.
static int countdown(const char* name, int* calls) { return ++*calls >= setting(name, 1 << 30); }

#ifdef FAKE_NVRTC

int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 4, 0; }
int nvrtcGetNumSupportedArchs(int* n) { return *n = 3, 0; }
int nvrtcGetSupportedArchs(int* a) { return a[0] = 75, a[1] = 80, a[2] = 90, 0; }
int nvrtcCreateProgram(void** p, const char* text, const char* name, int n, const char* const* a,
                       const char* const* b) {
  return *p = strdup(text), 0;
}
int         nvrtcCompileProgram(void* p, int n, const char* const* options) { return setting("FAKE_COMPILE", 0); }
const char* log_text = "braintrace.cu(7): error: expected a ';'";
int         nvrtcGetProgramLogSize(void* p, size_t* n) { return *n = strlen(log_text) + 1, 0; }
int         nvrtcGetProgramLog(void* p, char* out) { return strcpy(out, log_text), 0; }
int         nvrtcGetCUBINSize(void* p, size_t* n) { return *n = 5, 0; }
int         nvrtcGetCUBIN(void* p, char* out) { return memcpy(out, "cubin", 5), 0; }
int         nvrtcDestroyProgram(void** p) { return free(*p), 0; }
#ifndef FAKE_OLD_NVRTC
const char* nvrtcGetErrorString(int r) { return r == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR"; }
#endif

#else

typedef unsigned long long address;
static int                 allocations, launches, lost;
int                        fake_not_freed;

static int state(int result) {
  if (result >= 700) lost = result;
  return lost ? lost : result;
}
int cuInit(unsigned f) { return setting("FAKE_INIT", 0); }
int cuDriverGetVersion(int* v) { return *v = setting("FAKE_VERSION", 12040), 0; }
int cuGetErrorName(int r, const char** s) {
  return *s = r == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : r == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OTHER", 0;
}
int cuGetErrorString(int r, const char** s) { return *s = "what it means", 0; }
int cuDeviceGetCount(int* n) { return *n = setting("FAKE_DEVICES", 1), 0; }
int cuDeviceGet(int* d, int i) { return *d = i, 0; }
int cuDeviceGetName(char* s, int n, int d) { return strncpy(s, "Fake GPU", (size_t)n), 0; }
int cuDeviceGetAttribute(int* v, int which, int d) {
  *v = which == 75 ? setting("FAKE_MAJOR", 9) : which == 76 ? 0 : which == 16 ? 4 : which == 97 ? 100000 : 1;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* n, int d) { return *n = (size_t)setting("FAKE_MEMORY", 1 << 30), 0; }
int cuDevicePrimaryCtxRetain(void** c, int d) { return *c = (void*)1, 0; }
int cuCtxSetCurrent(void* c) { return 0; }
int cuMemGetInfo_v2(size_t* f, size_t* t) {
  return *f = *t = (size_t)setting("FAKE_MEMORY", 1 << 30), 0;
}
int cuMemAlloc_v2(address* p, size_t n) {
  if (countdown("FAKE_ALLOCATION", &allocations)) return 2;
  ++fake_not_freed;
  *p = (address)aligned_alloc(256, (n + 255) / 256 * 256);
  return memset((void*)*p, 0, n), 0;
}
int cuMemFree_v2(address p) { return --fake_not_freed, free((void*)p), 0; }
int cuMemHostAlloc(void** p, size_t n, unsigned f) { return *p = malloc(n), 0; }
int cuMemFreeHost(void* p) { return free(p), 0; }
int cuMemcpyHtoDAsync_v2(address to, const void* from, size_t n, void* s) {
  return lost ? lost : (memcpy((void*)to, from, n), 0);
}
int cuMemcpyDtoHAsync_v2(void* to, address from, size_t n, void* s) {
  return lost ? lost : (memcpy(to, (void*)from, n), 0);
}
int cuMemcpyDtoDAsync_v2(address to, address from, size_t n, void* s) { return memcpy((void*)to, (void*)from, n), 0; }
int cuMemsetD8Async(address p, unsigned char c, size_t n, void* s) { return memset((void*)p, c, n), 0; }
int cuStreamCreate(void** s, unsigned f) { return *s = (void*)1, 0; }
int cuStreamSynchronize(void* s) { return lost; }
int cuEventCreate(void** e, unsigned f) { return *e = (void*)1, 0; }
int cuEventRecord(void* e, void* s) { return 0; }
int cuEventSynchronize(void* e) { return lost; }
int cuModuleLoadData(void** m, const void* code) { return *m = (void*)1, setting("FAKE_LOAD", 0); }
int cuModuleUnload(void* m) { return 0; }
int cuModuleGetFunction(void** f, void* m, const char* name) { return *f = (void*)1, 0; }
int cuFuncSetAttribute(void* f, int which, int v) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, void* f, int threads, size_t shared) { return *n = 2, 0; }
int cuLaunchKernel(void* f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, void* s,
                   void** args, void** extra) {
  return state(countdown("FAKE_LAUNCH", &launches) ? 719 : 0);
}
int cuLaunchCooperativeKernel(void* f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                              unsigned h, void* s, void** args) {
  return state(countdown("FAKE_LAUNCH", &launches) ? 719 : 0);
}
int cuStreamBeginCapture_v2(void* s, int mode) { return 0; }
int cuStreamEndCapture(void* s, void** g) { return *g = (void*)1, 0; }
int cuGraphInstantiateWithFlags(void** e, void* g, unsigned long long f) { return *e = (void*)1, 0; }
int cuGraphLaunch(void* e, void* s) { return state(countdown("FAKE_LAUNCH", &launches) ? 719 : 0); }
int cuGraphDestroy(void* g) { return 0; }
int cuGraphExecDestroy(void* e) { return 0; }

#endif
