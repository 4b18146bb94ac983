// A shared object that says of itself what libhone_cuda.so of another version of Hone would say.

#include <cstdint>

extern "C" const void* hone_device_api(uint32_t version);
extern "C" const void* hone_device_api(uint32_t) { return nullptr; }
