"""How a program becomes machine code: passes, LLVM IR, object code and PTX."""
