#pragma once

// Marks what libgraven.so exports: what users, the Python extension and machine code call.
#define GRAVEN_API [[gnu::visibility("default")]]
