import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { programsPresent } from "../testing/is-present.ts";
import { childrenOf } from "./support/program.ts";

const root = new URL("..", import.meta.url).pathname;

/** A separate root needs rights that not every sandbox grants. */
function mayMount(): boolean {
  if (process.getuid?.() === 0 && Bun.spawnSync(["unshare", "--mount", "--pid", "--fork", "true"]).exitCode === 0) {
    return true;
  }
  console.log("skipped: the image is not run: this user may not create a separate root");
  return false;
}

const isPossible = programsPresent("the image", "buildah", "unshare", "chroot") && mayMount();
/** In small letters: an image is named by its path. */
const folder = join(tmpdir(), `trivium-image-${crypto.randomUUID()}`);
if (isPossible) mkdirSync(folder);
const buildah = [
  "buildah",
  "--root",
  join(folder, "store"),
  "--runroot",
  join(folder, "run"),
  "--storage-driver",
  "vfs",
];
let running: Bun.Subprocess | undefined;
afterAll(async () => {
  running?.kill("SIGKILL");
  await running?.exited;
  if (!isPossible) return;
  Bun.spawnSync([...buildah, "rm", "-a"]);
  rmSync(folder, { recursive: true, force: true });
});

function run(command: readonly string[], environment: Record<string, string> = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

/** What every container runtime provides: /proc, a few devices, one writable folder and a read-only root. */
const CONTAINER = `set -e
mount --bind "$1" "$1"
mkdir -p "$1/proc" "$1/dev"
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero random urandom; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done
mount -t tmpfs -o mode=700,uid=65532,gid=65532 tmpfs "$1/data"
mount -o remount,bind,ro "$1"
shift_root="$1"; shift
exec chroot --userspec=65532:65532 "$shift_root" "$@"
`;

/** The binary built by `npm test`, or one built here. */
function builtProgram(): string {
  const made = process.env["TRIVIUM_TEST_PROGRAM"];
  if (made !== undefined) return made;
  const dist = join(folder, "dist");
  run([process.execPath, "scripts/build/binary.ts", "--out", dist]);
  return join(dist, readdirSync(dist).find((name) => name.startsWith("trivium-")) ?? "");
}

test.skipIf(!isPossible)(
  "the image runs as a non-root user, as PID 1, with a read-only root; it serves and drains",
  async () => {
    const program = builtProgram();
    run(["deploy/image/build.sh", program, `oci:${folder}/image:trivium`], {
      BUILDAH: buildah.join(" "),
    });

    // The image defines how to run it.
    const blob = (digest: string) =>
      JSON.parse(readFileSync(join(folder, "image/blobs", digest.replace(":", "/")), "utf8")) as Record<string, never>;
    const index = JSON.parse(readFileSync(join(folder, "image/index.json"), "utf8")) as {
      manifests: { digest: string }[];
    };
    const manifest = blob(index.manifests[0]?.digest ?? "") as unknown as {
      config: { digest: string };
      layers: object[];
    };
    const { config } = blob(manifest.config.digest) as unknown as { config: Record<string, unknown> };
    expect(manifest.layers).toHaveLength(1);
    expect(config).toMatchObject({
      User: "65532:65532",
      Entrypoint: ["/app/trivium"],
      Cmd: ["serve", "--host", "0.0.0.0"],
      WorkingDir: "/data",
      StopSignal: "SIGTERM",
      ExposedPorts: { "8787": {}, "8788": {} },
    });

    const container = run([...buildah, "from", `oci:${folder}/image:trivium`]);
    const mounted = run([...buildah, "mount", container]);
    writeFileSync(join(folder, "container.sh"), CONTAINER);
    const [port, adminPort] = [freePort(), freePort()];
    const inside = [
      "/app/trivium",
      "serve",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--admin-port",
      String(adminPort),
    ];
    const environment = { TRIVIUM_CONFIG: "/etc/trivium/trivium.yaml", PATH: process.env["PATH"] ?? "" };
    const started = Bun.spawn(
      ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", join(folder, "container.sh"), mounted, ...inside],
      { cwd: "/", env: environment, stdout: "ignore", stderr: "ignore" },
    );
    running = started;
    const url = `http://127.0.0.1:${port}`;
    await eventually("the image to start", () => {
      if (started.exitCode !== null) throw new Error("the image did not start");
      return fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    const [pid = 0] = childrenOf(started.pid);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    expect(/^Uid:\s+(.*)$/m.exec(status)?.[1]).toBe("65532\t65532\t65532\t65532");
    expect(/^NSpid:\s+\d+\s+(\d+)$/m.exec(status)?.[1]).toBe("1");
    expect(() => writeFileSync(join(`/proc/${pid}`, "root", "etc/written"), "")).toThrow("EROFS");
    expect(run([program, "health", "--ready", "--url", url])).toBe("ready");

    process.kill(pid, "SIGTERM");
    expect(await started.exited).toBe(0);
    run([...buildah, "umount", container]);
  },
);
