import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNginx } from "../../bench/nginx.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { isPresent } from "../../testing/is-present.ts";

export interface TestNginx {
  url: string;
  /** Sends nothing new to these, like an operator before a restart: the file is changed, and nginx reloaded. */
  leaveOut(gateways: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Whether nginx is installed (see `isPresent`). */
export const nginxPresent = (purpose: string): boolean =>
  isPresent(findNginx() !== undefined, `${purpose}: nginx not installed`);

/** A load balancer in front of several gateways, configured as docs/deploy.md and docs/scaling.md say: each in turn. */
export async function startNginx(gateways: readonly string[], attempts = 5): Promise<TestNginx> {
  const program = findNginx();
  if (program === undefined) throw new Error("nginx is not installed");
  const folder = mkdtempSync(join(tmpdir(), "trivium-nginx-"));
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration(port, gateways));
  const child = Bun.spawn([program, "-p", folder, "-c", file, "-g", "daemon off;"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  await eventually("nginx", async () => child.exitCode !== null || (await answers(url)));
  if (child.exitCode !== null) {
    const said = await child.stderr.text();
    rmSync(folder, { recursive: true, force: true });
    if (attempts > 1 && said.includes("bind()")) return startNginx(gateways, attempts - 1);
    throw new Error(`nginx ended at once: ${said}`);
  }
  return {
    url,
    leaveOut: async (down) => {
      writeFileSync(file, configuration(port, gateways, down));
      child.kill("SIGHUP");
      await Bun.sleep(RELOAD_MS);
    },
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** nginx does not report when its new workers have taken over. */
const RELOAD_MS = 1_000;

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/nginx`).then(
    () => true,
    () => false,
  );

function configuration(port: number, gateways: readonly string[], down: readonly string[] = []): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
${temporary.map((name) => `  ${name}_temp_path ${name}_temp;`).join("\n")}
  access_log off;
  map $http_upgrade $connection_upgrade {
    default upgrade;
    ""      "";
  }
  upstream gateways {
${gateways.map((gateway) => `    server ${new URL(gateway).host}${down.includes(gateway) ? " down" : ""};`).join("\n")}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /nginx { return 204; }
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Host 127.0.0.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_read_timeout 700s;
      client_max_body_size 64m;
    }
  }
}
`;
}
