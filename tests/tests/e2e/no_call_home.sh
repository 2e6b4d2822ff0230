# A network namespace of its own, in which every packet that is not for this machine goes to the
# device `out` and is counted there: nobody is behind it. Then runs the arguments as a command.
set -eu

ip link set lo up
# Where the kernel has no dummy devices, a pair of which nobody reads the other end.
ip link add out type dummy 2>/dev/null || ip link add out type veth peer name unread
for device in out unread; do
    settings="/proc/sys/net/ipv6/conf/$device"
    [ -d "$settings" ] || continue
    # The kernel itself must say nothing: no neighbours are looked for, no routers and no groups.
    for setting in accept_ra=0 router_solicitations=0 dad_transmits=0 addr_gen_mode=1; do
        echo "${setting#*=}" > "$settings/${setting%=*}"
    done
    [ "$device" = out ] || echo 1 > "$settings/disable_ipv6"
    ip link set "$device" up arp off multicast off
done
ip address add 198.51.100.2/24 dev out
ip route add default dev out
ip -6 address add 2001:db8::2/64 dev out nodad
ip -6 route add default dev out

# Names are asked for out there too.
resolver="$(mktemp)"
printf 'nameserver 198.51.100.1\noptions timeout:1 attempts:1\n' > "$resolver"
mount --bind "$resolver" /etc/resolv.conf
rm -f "$resolver"

echo "the namespace is ready"
exec "$@"
