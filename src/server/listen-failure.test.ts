import { describe, expect, test } from "bun:test";
import { listenFailure } from "./listen-failure.ts";

const fields = { host: "server.host", port: "server.port" };
const thrown = (code: string) => Object.assign(new Error("listen"), { code });
const messageOf = (code: string, host: string) => {
  const failure = listenFailure(thrown(code), { host, port: 81, fields });
  return failure instanceof Error ? failure.message : failure;
};

describe("choices 7: a failed start explains how to fix it", () => {
  test("a privileged port, and a port in use", () => {
    expect(messageOf("EACCES", "127.0.0.1")).toBe(
      "Port 81 on 127.0.0.1 requires elevated privileges. Use a port from 1024 up.",
    );
    expect(messageOf("EADDRINUSE", "127.0.0.1")).toBe(
      "Port 81 on 127.0.0.1 is in use by another process. Stop it, or set server.port to a free port.",
    );
  });

  test.skipIf(process.platform !== "linux")("the process that holds the port, where the system says so", () => {
    const holder = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    const { port } = holder;
    const failure = listenFailure(thrown("EADDRINUSE"), { host: "127.0.0.1", port, fields });
    expect(String(failure)).toContain(
      `Port ${port} on 127.0.0.1 is in use by process ${process.pid} (${process.argv0}`,
    );
    holder.stop(true);
  });

  test("a host that is not on this machine, whatever code the runtime reports", () => {
    for (const code of ["EADDRNOTAVAIL", "EADDRINUSE", "EINVAL", "EACCES"]) {
      expect(messageOf(code, "nohost.invalid")).toBe("server.host: this machine has no address nohost.invalid.");
      expect(messageOf(code, "1.2.3.4")).toBe("server.host: this machine has no address 1.2.3.4.");
    }
  });

  test("an error that a person cannot fix is unchanged", () => {
    const unknown = thrown("EMFILE");
    expect(listenFailure(unknown, { host: "127.0.0.1", port: 81, fields })).toBe(unknown);
  });
});
