#pragma once

// Marks the symbols that libgraven.so exports, for users, the Python extension and machine code.
#define GRAVEN_API [[gnu::visibility("default")]]
