import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { serviceAccount } from "./service-account.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-account-"));
const file = join(folder, "account.json");
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
let requests = 0;
let answer: () => Response = () => Response.json({ access_token: `token-${requests}`, expires_in: 3600 });
let assertion = "";
const host = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    requests++;
    const form = new URLSearchParams(await request.text());
    assertion = form.get("assertion") ?? "";
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer")
      return new Response("", { status: 400 });
    return answer();
  },
});
const tokenUrl = `http://127.0.0.1:${host.port}/token`;

beforeAll(() => {
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  writeFileSync(file, JSON.stringify({ client_email: "robot@project.example", private_key: pem, token_uri: tokenUrl }));
});
afterAll(async () => {
  await host.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

describe("a service account signs in with a signed assertion (providers 1.4)", () => {
  test("the assertion carries the claims and verifies; calls at once share one token; it is kept until shortly before it expires", async () => {
    let now = 1_800_000_000_000;
    const authenticate = serviceAccount(file, { ...system.clock, wallMs: () => now });
    requests = 0;
    const [first, second] = await Promise.all([authenticate(), authenticate()]);
    expect(first).toEqual({ authorization: "Bearer token-1" });
    expect(second).toEqual(first);
    expect(requests).toBe(1);

    const [head = "", claims = "", signature = ""] = assertion.split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
      iss: "robot@project.example",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: tokenUrl,
      iat: 1_800_000_000,
      exp: 1_800_003_600,
    });
    expect(verify("RSA-SHA256", Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url"))).toBe(
      true,
    );

    now += 50 * 60_000;
    expect(await authenticate()).toEqual({ authorization: "Bearer token-1" });
    now += 6 * 60_000;
    expect(await authenticate()).toEqual({ authorization: "Bearer token-2" });
  });

  test("a refusal is the provider's fault, not the caller's, and the next call tries again", async () => {
    const authenticate = serviceAccount(file, system.clock);
    answer = () => Response.json({ error: "invalid_grant" }, { status: 400 });
    await expect(authenticate()).rejects.toMatchObject({ kind: "upstream_credentials" });
    answer = () => Response.json({ access_token: "later", expires_in: 60 });
    expect(await authenticate()).toEqual({ authorization: "Bearer later" });
  });

  test("a file that is not an account is refused when it is read", () => {
    const other = join(folder, "other.json");
    writeFileSync(other, "{}");
    expect(() => serviceAccount(other, system.clock)).toThrow("client_email or private_key is missing");
    expect(() => serviceAccount(join(folder, "none.json"), system.clock)).toThrow(
      /none\.json: the file does not exist$/,
    );
    expect(() => serviceAccount(folder, system.clock)).toThrow(/: cannot read the file \(EISDIR\)$/);
  });

  test("docs/configuration.md, Mistakes: a key that cannot sign is refused when it is read, and not repeated", () => {
    const damaged = join(folder, "damaged.json");
    const withKey = (private_key: unknown) => {
      writeFileSync(damaged, JSON.stringify({ client_email: "robot@project.example", private_key }));
      return () => serviceAccount(damaged, system.clock);
    };
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    for (const broken of [pem.replace(/\n.{64}\n/, "\n"), pem.replace("BEGIN PRIVATE", "BEGIN"), "hidden-key"]) {
      expect(withKey(broken)).toThrow(new Error(`${damaged}: private_key is not a PEM key`));
    }
    const { privateKey: other } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    expect(withKey(other.export({ type: "pkcs8", format: "pem" }))).toThrow("private_key is not an RSA key");
    expect(withKey(privateKey.export({ type: "pkcs1", format: "pem" }))).not.toThrow();
  });

  test("choices 4: a token service whose response is interrupted is upstream_credentials", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n";
    const breaking = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => {
          socket.end(`${head}{"access_token":`);
        },
      },
    });
    const broken = join(folder, "broken.json");
    const account = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(broken, JSON.stringify({ ...account, token_uri: `http://127.0.0.1:${breaking.port}/token` }));
    await expect(serviceAccount(broken, system.clock)()).rejects.toMatchObject({ kind: "upstream_credentials" });
    breaking.stop(true);
  });
});
