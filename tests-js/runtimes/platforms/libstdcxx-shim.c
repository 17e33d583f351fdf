// Two functions that Bun for musl names and the libstdc++ of the wheel contourpy 1.2.0 (musllinux_1_1) lacks. Both are about errors
// that end the program. A newer libstdc++ needs relocations (RELR) that the loader of Debian 12, musl 1.2.3, does not have.
//   zig cc -target x86_64-linux-musl -nostdlib -shared -fPIC -o libshim.so libstdcxx-shim.c
void throw_length(void) __asm__("_ZSt28__throw_bad_array_new_lengthv");
void throw_length(void) { __builtin_trap(); }
void assert_fail(void) __asm__("_ZSt21__glibcxx_assert_failPKciS0_S0_");
void assert_fail(void) { __builtin_trap(); }
