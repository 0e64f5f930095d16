import { describe, expect, test } from "bun:test";
import { listenFailure } from "./listen-failure.ts";

const fields = { host: "server.host", port: "server.port" };
const thrown = (code: string) => Object.assign(new Error("listen"), { code });
const messageOf = (code: string, host: string) => {
  const failure = listenFailure(thrown(code), { host, port: 81, fields });
  return failure instanceof Error ? failure.message : failure;
};

describe("choices 7: a start that fails says what would be right", () => {
  test("a port without rights, and a port in use", () => {
    expect(messageOf("EACCES", "127.0.0.1")).toBe("Port 81 of 127.0.0.1 needs more rights; take one from 1024 on.");
    expect(messageOf("EADDRINUSE", "127.0.0.1")).toBe(
      "Port 81 of 127.0.0.1 is in use. Is another Trivium running? Set server.port to a free one.",
    );
  });

  test("a host that is not this machine's, whatever code the runtime gives for it", () => {
    for (const code of ["EADDRNOTAVAIL", "EADDRINUSE", "EINVAL", "EACCES"]) {
      expect(messageOf(code, "nohost.invalid")).toBe("server.host: this machine has no address nohost.invalid.");
      expect(messageOf(code, "1.2.3.4")).toBe("server.host: this machine has no address 1.2.3.4.");
    }
  });

  test("an error that a person cannot fix stays as it was", () => {
    const unknown = thrown("EMFILE");
    expect(listenFailure(unknown, { host: "127.0.0.1", port: 81, fields })).toBe(unknown);
  });
});
