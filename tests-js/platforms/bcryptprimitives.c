// Stands in for a library that Wine 8 lacks and Rust needs for random numbers. It must lie in system32 of the Wine prefix: an addon
// is not looked up beside node.exe.
//   zig cc -target x86_64-windows-gnu -shared -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32
int __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, unsigned long long length) { return SystemFunction036(data, (unsigned long)length); }
