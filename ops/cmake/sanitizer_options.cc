// Part of every program of a build with the address sanitizer. The leak check at exit stops the
// process by ptrace, which a sandboxed child may not do and would die of; so programs leave it out,
// unless ASAN_OPTIONS asks for it. The tests of the modules keep it.
extern "C" const char* __asan_default_options();

extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
