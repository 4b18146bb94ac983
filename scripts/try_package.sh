#!/usr/bin/env bash
# Installs the Debian package on a bare Debian 12 and uses it as a newcomer would: doctor, plan, a short training run, manual
# pages, completion. The bare system is a folder that debootstrap fills; needs root, debootstrap, and a mirror of Debian as this
# machine's apt has it. Safe to run again; a whole run takes some minutes.
#   scripts/try_package.sh [PACKAGE [FOLDER]]      default: the newest of build/release/package, and a folder that is removed
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'try_package: %s\n' "$*" >&2; exit 1; }
package=${1:-$(ls -t build/release/package/*.deb 2>/dev/null | head -1)}
[ -f "$package" ] || fail "there is no package; make it with: ./dev package"
[ "$(id -u)" -eq 0 ] || fail "chroot needs root; try: sudo $0"
command -v debootstrap >/dev/null || fail "debootstrap is missing; install it with: apt-get install debootstrap"
root=${2:-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap 'rm -rf --one-file-system "$root"' EXIT
fi

# In the bare system, with nothing of this shell's environment.
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb "$@"; }
step() { printf '\n== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; inside bash -c "cd /root && $*"; }

step "A bare Debian 12"
if [ ! -e "$root/bin/bash" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Component: main' 2>/dev/null | head -1)
  debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
    { tail -5 "$root.log" >&2; fail "debootstrap failed (log: $root.log)"; }
  rm -f "$root.log"
fi
# As this machine reaches its mirror: settings of apt, certificates, names.
rm -rf "$root/etc/apt"; cp -a /etc/apt "$root/etc/apt"
for one in /etc/resolv.conf /etc/hosts /etc/ssl /usr/local/share/ca-certificates /usr/share/keyrings; do
  [ -e "$one" ] && mkdir -p "$root$(dirname "$one")" && cp -aLr "$one" "$root$(dirname "$one")/" 2>/dev/null || true
done
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; [ -n "${2:-}" ] || rm -rf --one-file-system "$root"' EXIT
inside bash -c '! command -v hone && dpkg-query -W | wc -l' | sed 's/$/ packages, none of them Hone/'

step "The package"
cp "$package" "$root/root/"
inside apt-get update -qq >/dev/null
# man-db and bash-completion are what a person's Debian has and a minimal one has not.
show "apt-get install -y --no-install-recommends ./$(basename "$package") man-db bash-completion >/tmp/apt.log 2>&1 &&
  dpkg-query -W -f '\${Package} \${Version} \${Installed-Size} KiB\n' hone"

step "What it says of itself"
show "hone version"
show "hone doctor"
show "hone recipes list | sed -n 1,5p"

step "The quickstart's recipe"
show "hone train recipes/quickstart.toml --plan"
show "hone train recipes/quickstart.toml run.name=short stage.0.steps=4 stage.1.steps=4 stage.2.steps=2 evaluation.dev_tasks=8 \
evaluation.test_tasks=8 evaluation.more=[] | tail -20"
show "hone show runs/short | sed -n 1,4p"

step "Manual pages"
show "man hone | sed -n 1,12p"
show "man hone-train | sed -n 1,12p"
show "man -w hone-compare"

step "Completion"
show 'source /usr/share/bash-completion/bash_completion; source /usr/share/bash-completion/completions/hone
  COMP_WORDS=(hone tr) COMP_CWORD=1; _hone; echo "hone tr[Tab]: ${COMPREPLY[*]}"
  COMP_WORDS=(hone model c) COMP_CWORD=2; _hone; echo "hone model c[Tab]: ${COMPREPLY[*]}"
  COMP_WORDS=(hone train --pl) COMP_CWORD=2; _hone; echo "hone train --pl[Tab]: ${COMPREPLY[*]}"'

step "Gone again"
show "apt-get purge -y hone >/dev/null 2>&1 && ! command -v hone && ! ls /usr/share/hone 2>/dev/null && echo removed without a rest"
