import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";

const fixture = (name: string) => Bun.file(join(import.meta.dir, "fixtures", `${name}.pem`)).text();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A host with this certificate, and the plain text it has read. */
async function startHost(certificate: string) {
  const pem = await fixture(certificate);
  const host = { port: 0, text: "", serverName: "" };
  const server = Bun.listen<unknown>({
    hostname: "127.0.0.1",
    port: 0,
    tls: { key: pem, cert: pem },
    socket: {
      data: (socket, bytes) => {
        host.text += bytes.toString("latin1");
        if (!host.text.endsWith("hello")) return;
        host.serverName = String(socket.getServername());
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret");
      },
    },
  });
  host.port = server.port;
  stops.push(() => server.stop(true));
  return host;
}

async function callFromChild(url: string, authority = "authority"): Promise<string> {
  const NODE_EXTRA_CA_CERTS = join(import.meta.dir, "fixtures", `${authority}.pem`);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "send.child.ts"), url], {
    // The runtime's own client would trust every host with the second variable.
    env: { ...process.env, NODE_EXTRA_CA_CERTS, NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    stderr: "ignore",
  });
  return (await new Response(child.stdout).text()).trim();
}

test("S07: a host with a valid certificate is called, by name and by address", async () => {
  const host = await startHost("good");
  expect(await callFromChild(`https://localhost:${host.port}/v1`)).toBe("200 secret");
  expect(host.serverName).toBe("localhost");
  expect(host.text).toStartWith("POST /v1 HTTP/1.1\r\n");
  host.text = "";
  expect(await callFromChild(`https://127.0.0.1:${host.port}/v1`)).toBe("200 secret");
});

for (const [certificate, code] of [
  ["other-host", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ["expired", "CERT_HAS_EXPIRED"],
  ["self-signed", "DEPTH_ZERO_SELF_SIGNED_CERT"],
] as const) {
  test(`S07: a host with this certificate receives nothing: ${certificate}`, async () => {
    const host = await startHost(certificate);
    expect(await callFromChild(`https://localhost:${host.port}/v1`)).toBe(`connect ${code}`);
    expect(host.text).toBe("");
  });
}

test("S07: a host with an unknown authority or without TLS receives nothing", async () => {
  const host = await startHost("good");
  expect(await callFromChild(`https://localhost:${host.port}/v1`, "self-signed")).toStartWith("connect");
  expect(host.text).toBe("");
  const plain = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end("HTTP/1.1 200 OK\r\n\r\n") },
  });
  stops.push(() => plain.stop(true));
  expect(await callFromChild(`https://localhost:${plain.port}/v1`)).toStartWith("connect");
});
