import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../testing/free-port.ts";
import { answers } from "./answers.ts";
import type { Child, Processes } from "./processes.ts";

const PATHS = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx"];

export function findNginx(): string | undefined {
  return Bun.which("nginx") ?? PATHS.find((path) => Bun.which(path) !== null);
}

/** A reverse proxy written in C, as the lower bound of what the job costs. Runs in the foreground below `folder`. */
export function startNginx(processes: Processes, program: string, folder: string, upstreamUrl: string): Promise<Child> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configuration(port, new URL(upstreamUrl).host));
  return processes.start({
    name: "nginx",
    command: [program, "-p", folder, "-c", file, "-g", "daemon off;"],
    findUrl: async () => ((await answers(url)) ? url : undefined),
  });
}

/** Bodies stay in memory, connections stay open, chunks go out as they come: what a gateway does, too. */
function configuration(port: number, upstream: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${name}_temp;`)
    .join("\n");
  return `worker_processes 1;
worker_rlimit_nofile 16384;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 8192; }
http {
${temporary}
  access_log off;
  keepalive_requests 1000000;
  client_body_buffer_size 1m;
  client_max_body_size 8m;
  upstream bench {
    server ${upstream};
    keepalive 1024;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = / { return 204; }
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 120s;
    }
  }
}
`;
}
