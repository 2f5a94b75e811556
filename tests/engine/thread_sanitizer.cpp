// What ThreadSanitizer is told by the tests that pass exceptions from thread to thread: libstdc++ counts the
// owners of an exception atomically, but in code that isn't instrumented, so it takes the last owner's
// clean-up for a race. The function must be visible to the sanitizer's library.

extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}
