#!/bin/sh
# Builds the OCI image from scratch with buildah. It contains only the program, the C library it needs, and certificates.
#
#   npm run build:binary -- --out dist && deploy/image/build.sh dist/trivium-0.1.0-linux-x64 oci:dist/image:trivium
#
# BUILDAH can include options, such as those for another storage. The destination is anything that `buildah commit` accepts: oci:FOLDER:TAG, docker-archive:FILE, docker://registry/name:tag.
set -eu
program="$1"
destination="$2"
version="$("$program" version)"
revision="${REVISION:-$(git -C "$(dirname "$0")" rev-parse HEAD 2>/dev/null || echo unknown)}"

container="$(${BUILDAH:-buildah} from scratch)"
trap '${BUILDAH:-buildah} rm "$container" >/dev/null' EXIT
root="$(${BUILDAH:-buildah} mount "$container")"

install -D -m 755 "$program" "$root/app/trivium"
# The libraries that the program is linked with, at the paths where it looks for them.
ldd "$program" | grep -o '/[^ ]*' | sort -u | while read -r library; do
  install -D -m 755 "$library" "$root$library"
done
# Libraries for name resolution, which are loaded at run time.
for library in libnss_dns.so.2 libnss_files.so.2 libresolv.so.2; do
  found="$(dirname "$(ldd "$program" | grep -o '/[^ ]*libc\.so\.6')")/$library"
  if [ -e "$found" ]; then install -D -m 755 "$found" "$root$found"; fi
done
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
mkdir -p "$root/etc/trivium" "$root/data" "$root/files"
# A default; mount your own file over it.
echo "data_dir: /data" >"$root/etc/trivium/trivium.yaml"
echo "trivium:x:65532:65532::/data:/sbin/nologin" >"$root/etc/passwd"
echo "trivium:x:65532:" >"$root/etc/group"
echo "hosts: files dns" >"$root/etc/nsswitch.conf"
# A new volume there belongs to the program's user.
chown 65532:65532 "$root/data" "$root/files"
chmod 700 "$root/data" "$root/files"
# Fixed timestamps make the layer reproducible.
epoch="${SOURCE_DATE_EPOCH:-0}"
find "$root" -exec touch -h -d "@$epoch" {} +

${BUILDAH:-buildah} umount "$container" >/dev/null
${BUILDAH:-buildah} config \
  --user 65532:65532 --workingdir /data --port 8787 --port 8788 --volume /data --stop-signal SIGTERM \
  --env TRIVIUM_CONFIG=/etc/trivium/trivium.yaml --env MIMALLOC_PURGE_HOLES_MIN_INTERVAL=10000 \
  --entrypoint '["/app/trivium"]' --cmd 'serve --host 0.0.0.0' \
  --label org.opencontainers.image.title=trivium \
  --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.revision=$revision" \
  --label org.opencontainers.image.licenses=Apache-2.0 \
  "$container"
${BUILDAH:-buildah} commit --quiet --timestamp "$epoch" "$container" "$destination"
