// What an artifact may not have, one at a time by FUSEFARM_VARIANT.
struct Args;
extern "C" void entry(const Args* args, long block);

#if FUSEFARM_VARIANT == 1  // runs at load
static volatile long started;

__attribute__((constructor)) static void start() { started = 1; }

extern "C" void entry(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = block + started;
}
#elif FUSEFARM_VARIANT == 2  // remembers
static long calls;

extern "C" void entry(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = block + ++calls;
}
#elif FUSEFARM_VARIANT == 3  // asks the system
extern "C" int getpid();

extern "C" void entry(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = block + getpid();
}
#elif FUSEFARM_VARIANT == 4  // exports what would interpose
extern "C" void* malloc(unsigned long) { return nullptr; }

extern "C" void entry(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = block;
}
#elif FUSEFARM_VARIANT == 5  // per-thread state
static thread_local long calls;

extern "C" void entry(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = block + ++calls;
}
#elif FUSEFARM_VARIANT == 6  // its own code decides at load what a symbol is
static void target(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = block;
}

extern "C" void* resolve() { return reinterpret_cast<void*>(target); }

extern "C" void entry(const Args* args, long block) __attribute__((ifunc("resolve")));
#elif FUSEFARM_VARIANT == 7  // the same, without a symbol that shows it
#define HIDDEN __attribute__((visibility("hidden")))

extern "C" HIDDEN long target(long block) { return block; }

static const volatile bool kNever = false;  // else the compiler resolves it itself

extern "C" HIDDEN void* resolve() { return kNever ? nullptr : reinterpret_cast<void*>(target); }

extern "C" HIDDEN long chosen(long block) __attribute__((ifunc("resolve")));

extern "C" void entry(const Args* args, long block) {
  *const_cast<long*>(reinterpret_cast<const long*>(args)) = chosen(block);
}
#endif
