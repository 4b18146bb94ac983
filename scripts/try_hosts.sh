#!/usr/bin/env bash
# One run on several hosts, which are network namespaces of this machine, against the same run in one process: the weights must
# be equal. Needs root, iproute2 and openmpi-bin.
#
#   scripts/try_hosts.sh HONE RECIPE [KEY=VALUE...]
#   scripts/try_hosts.sh build/release/hone recipes/quickstart.toml stage.0.slices=4 stage.2.slices=4
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7p' "$0" | sed 's/^# \{0,1\}//'; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "try_hosts.sh: network namespaces want root" >&2; exit 1; }
command -v mpirun >/dev/null || { echo "try_hosts.sh: apt-get install openmpi-bin" >&2; exit 1; }
hone=$(realpath "$1") recipe=$(realpath "$2"); shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d) bridge=honebr$$
hosts=(hone$$a hone$$b hone$$c)

clean() {
  for host in "${hosts[@]}"; do ip netns del "$host" 2>/dev/null || true; rm -rf "/etc/netns/$host"; done
  ip link del "$bridge" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT

ip link add "$bridge" type bridge
ip link set "$bridge" up
for i in "${!hosts[@]}"; do
  host=${hosts[$i]}
  ip netns add "$host"
  ip link add "hv$$$i" type veth peer name eth0 netns "$host"
  ip link set "hv$$$i" master "$bridge" up
  ip netns exec "$host" ip addr add "10.77.0.1$i/24" dev eth0
  ip netns exec "$host" ip link set eth0 up
  ip netns exec "$host" ip link set lo up
  mkdir -p "/etc/netns/$host"
  { echo "127.0.0.1 localhost"; for j in "${!hosts[@]}"; do echo "10.77.0.1$j ${hosts[$j]}"; done; } >"/etc/netns/$host/hosts"
done
# What mpirun uses for ssh.
cat >"$work/remote" <<'REMOTE'
#!/bin/sh
host=$1; shift
exec ip netns exec "$host" unshare -u sh -c "hostname $host; $*"
REMOTE
chmod +x "$work/remote"

# The weights that a command ends with.
weights() { "$@" | tee "$work/log" | grep -o '"weights":"[0-9a-f]*"' | tail -1 || { cat "$work/log" >&2; return 1; }; }
options() { echo "run.out=$work/$1 run.cache=$work/$1/cache run.threads=1 --json"; }
alone=$(weights "$hone" train "$recipe" "$@" $(options alone))
echo "one process:  $alone"
for count in 2 3; do
  chosen=$(IFS=,; echo "${hosts[*]:0:$count}")
  together=$(weights ip netns exec "${hosts[0]}" unshare -u sh -c 'hostname "$0"; exec "$@"' "${hosts[0]}" \
    mpirun --mca plm_rsh_agent "$work/remote" --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 --host "$chosen" -n "$count" \
    "$hone" train "$recipe" "$@" $(options "$count"))
  echo "$count hosts:      $together"
  [ "$together" = "$alone" ] || { echo "try_hosts.sh: other weights" >&2; exit 1; }
done
