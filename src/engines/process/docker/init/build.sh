#!/bin/sh
# Builds the two programs from hotcell-init.c: Debian 12 with musl-tools, gcc-aarch64-linux-gnu and musl-dev:arm64 unpacked
# in $MUSL_ARM64 (dpkg -x). The same sources and compilers give the same bytes.
set -eu
cd "$(dirname "$0")"
flags="-Os -static -Wall -Wextra -Werror -fno-asynchronous-unwind-tables -fno-stack-protector -ffunction-sections -Wl,--gc-sections,--build-id=none -s"
musl-gcc $flags -o hotcell-init-x64 hotcell-init.c
if [ -n "${MUSL_ARM64:-}" ]; then
  lib="$MUSL_ARM64/usr/lib/aarch64-linux-musl"
  aarch64-linux-gnu-gcc $flags -mno-outline-atomics -nostdinc -isystem "$MUSL_ARM64/usr/include/aarch64-linux-musl" -nostdlib \
    "$lib/crt1.o" "$lib/crti.o" hotcell-init.c "$lib/libc.a" -lgcc "$lib/crtn.o" -o hotcell-init-arm64
fi
