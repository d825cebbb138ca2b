"""Machine code from programs: passes, LLVM IR, object code and PTX."""
