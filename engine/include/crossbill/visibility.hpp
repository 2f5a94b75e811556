// CROSSBILL_API marks what a shared library exports; all else is hidden.
#pragma once

#if defined(__GNUC__)
#define CROSSBILL_API __attribute__((visibility("default")))
#else
#define CROSSBILL_API
#endif
