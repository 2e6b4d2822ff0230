# A small disk of memory in a mount namespace of its own, which ends with the last process in it. Then
# runs the arguments as a command, with the disk as the place of temporary files.
set -eu

disk="$(mktemp -d)"
mount -t tmpfs -o "size=$1" none "$disk"
shift

echo "the disk is ready"
export TMPDIR="$disk"
exec "$@"
