#!/usr/bin/env bash
# A folder, and an archive of it, that a machine with a GPU runs as it is: the program, its CUDA side, the tests of devices with
# the small models that they use, the recipes, and the libraries that Debian has and another system may not. The GPU's driver and
# cuBLASLt are not in it. The build must be there: ./dev gpu bundle makes both.
#   scripts/gpu_bundle.sh BUILD [FOLDER]      default: build/gpu-bundle, and build/gpu-bundle.tar.gz
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'gpu_bundle: %s\n' "$*" >&2; exit 1; }
build=${1:?usage: scripts/gpu_bundle.sh BUILD [FOLDER]}
folder=${2:-build/gpu-bundle}
for file in hone libhone_cuda.so src/engine/hone_engine_test; do
  [ -f "$build/$file" ] || fail "$build/$file is not there; build it with: ./dev gpu bundle (which needs nvcc)"
done
# Only what this script made is replaced.
if [ -e "$folder" ] && [ ! -f "$folder/run-tests.sh" ]; then fail "$folder is there and is no bundle; name another folder"; fi
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

cmake --install "$build" --prefix "$folder" >/dev/null
rm -rf "$folder/share/doc" "$folder/share/man" "$folder/share/bash-completion" "$folder/share/zsh" "$folder/share/hone/comparisons"
cp "$build/src/engine/hone_engine_test" "$folder/bin/"
mkdir -p "$folder/golden" "$folder/lib/needed"
cp -r tests/golden/models "$folder/golden/"
cp scripts/device_tests.sh "$folder/"
# All that the linker finds. What belongs to the C library is used only where the system's own is older.
mkdir -p "$folder/lib/glibc"
programs=("$folder/bin/hone" "$folder/bin/hone_engine_test" "$folder/lib/hone/libhone_cuda.so")
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// {print $3} $1 ~ /ld-linux/ {print $1}' | sort -u >"$folder/found"
glibc='/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|nsl|anl))\.so[^/]*$'
grep -vE "$glibc" "$folder/found" | xargs cp -L -t "$folder/lib/needed"
for name in libdl.so.2 librt.so.1 libpthread.so.0; do  # what the GPU's driver asks for
  ls "$(dirname "$(grep -E '/libc\.so' "$folder/found")")/$name"
done | cat - <(grep -E "$glibc" "$folder/found") | xargs cp -L -t "$folder/lib/glibc"
rm "$folder/found"
chmod u+w "$folder"/bin/* "$folder"/lib/*/*
strip --strip-unneeded "$folder"/bin/* "$folder"/lib/hone/*.so "$folder"/lib/needed/*
oldest=$(objdump -T "${programs[@]}" "$folder"/lib/needed/* | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1)

cat >"$folder/start" <<SCRIPT
#!/usr/bin/env bash
# start PROGRAM ...: with the libraries of this folder, and with its C library where the system's is older than ${oldest#GLIBC_}.
here=\$(cd "\$(dirname "\$(readlink -f "\$0")")" && pwd)
export HONE_CUDA_LIBRARY=\$here/lib/hone/libhone_cuda.so
program=\$here/bin/\$1; shift
has=\$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
if [ -z "\${HONE_BUNDLE_GLIBC:-}" ] && [ "\$(printf '%s\n' ${oldest#GLIBC_} "\${has:-0}" | sort -V | head -1)" = ${oldest#GLIBC_} ]; then
  export LD_LIBRARY_PATH=\$here/lib/needed\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
  exec "\$program" "\$@"
fi
exec "\$here/lib/glibc/$(basename "$(ls "$folder"/lib/glibc/ld-linux*)")" \\
  --library-path "\$here/lib/glibc:\$here/lib/needed\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" "\$program" "\$@"
SCRIPT
cat >"$folder/hone" <<'SCRIPT'
#!/usr/bin/env bash
exec "$(dirname "$(readlink -f "$0")")/start" hone "$@"
SCRIPT
cat >"$folder/run-tests.sh" <<'SCRIPT'
#!/usr/bin/env bash
# What this machine has, and the tests of devices on it. Arguments are GoogleTest's: ./run-tests.sh --gtest_filter='DeviceCuda*'
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
"$here/start" hone doctor
HONE_FIXTURES=$here/golden exec "$here/device_tests.sh" "$here/start" hone_engine_test "$@"
SCRIPT
chmod +x "$folder/start" "$folder/hone" "$folder/run-tests.sh"
tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")"
printf '%s\n%s, %s\n' "$folder" "$folder.tar.gz" "$(du -h "$folder.tar.gz" | cut -f1)"
