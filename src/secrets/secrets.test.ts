import { afterAll, describe, expect, test } from "bun:test";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { findService, isPresent } from "../../testing/is-present.ts";
import { system } from "../base/system.ts";
import { Secrets } from "./secrets.ts";

const { clock } = system;
const folder = mkdtempSync(join(tmpdir(), "trivium-secrets-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Handle = (request: Request) => Response | Promise<Response>;

/** A store on loopback. */
async function atStore(handle: Handle, run: (url: string) => Promise<void>): Promise<void> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handle });
  try {
    await run(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop(true);
  }
}

const readOne = async (secrets: Secrets, reference: string) => {
  await secrets.refresh([reference]);
  return secrets.read(reference);
};

describe("choices 18: secrets of Vault", () => {
  const asked: { path: string; token: string | null; namespace: string | null }[] = [];
  const vault: Handle = (request) => {
    const { pathname } = new URL(request.url);
    asked.push({
      path: pathname,
      token: request.headers.get("x-vault-token"),
      namespace: request.headers.get("x-vault-namespace"),
    });
    if (request.headers.get("x-vault-token") !== "root")
      return Response.json({ errors: ["permission denied"] }, { status: 403 });
    if (pathname === "/v1/secret/data/app")
      return Response.json({
        data: { data: { key: "sk-one", number: 7, empty: "", list: [1] }, metadata: { version: 3 } },
      });
    if (pathname === "/v1/old/app") return Response.json({ data: { key: "sk-old" } });
    if (pathname === "/v1/odd") return new Response("<html>secret-of-the-page</html>");
    return Response.json({ errors: [] }, { status: 404 });
  };

  test("versions 1 and 2 of the engine, a field, and what is missing", () =>
    atStore(vault, async (url) => {
      const secrets = new Secrets({
        environment: { VAULT_ADDR: `${url}/`, VAULT_TOKEN: "root", VAULT_NAMESPACE: "team" },
        clock,
      });
      expect(await readOne(secrets, "vault:secret/data/app#key")).toEqual({ value: "sk-one" });
      expect(asked.at(-1)).toEqual({ path: "/v1/secret/data/app", token: "root", namespace: "team" });
      expect(await readOne(secrets, "vault:secret/data/app#number")).toEqual({ value: "7" });
      expect(await readOne(secrets, "vault:old/app#key")).toEqual({ value: "sk-old" });
      for (const [reference, problem] of [
        ["vault:secret/data/app", "a field is missing"],
        ["vault:secret/data/app#none", "no text field none"],
        ["vault:secret/data/app#empty", "is empty"],
        ["vault:secret/data/app#list", "no text field list"],
        ["vault:secret/data/app#constructor", "no text field constructor"],
        ["vault:secret/data/gone#key", "no such secret (404)"],
        ["vault:odd#key", "did not answer like Vault"],
        ["chest:x", "is not a secret store; use vault, aws-sm, gcp-sm"],
      ] as const)
        expect(await readOne(secrets, reference)).toEqual({ problem: expect.stringContaining(problem) });
      const wrong = new Secrets({ environment: { VAULT_ADDR: url, VAULT_TOKEN: "other" }, clock });
      expect(await readOne(wrong, "vault:secret/data/app#key")).toEqual({ problem: "the store denies access (403)" });
      const none = new Secrets({ environment: {}, clock });
      expect(await readOne(none, "vault:secret/data/app#key")).toEqual({ problem: "VAULT_ADDR is not set" });
    }));

  test("H29: a store that does not answer times out; an unreachable store or a redirect is reported", async () => {
    const never = atStore(
      () => new Promise<Response>(() => {}),
      async (url) => {
        const secrets = new Secrets({ environment: { VAULT_ADDR: url, VAULT_TOKEN: "root" }, clock, limitMs: 50 });
        const references = Array.from({ length: 20 }, (_, at) => `vault:secret/data/app#k${at}`);
        await secrets.refresh(references);
        expect(secrets.read("vault:secret/data/app#k19")).toEqual({
          problem: "the store did not answer within 0.05 s",
        });
      },
    );
    await never;
    const gone = new Secrets({
      environment: { VAULT_ADDR: "http://127.0.0.1:1", VAULT_TOKEN: "root" },
      clock,
    });
    expect(await readOne(gone, "vault:a#b")).toEqual({ problem: "the store cannot be reached" });
    await atStore(
      () => Response.redirect("http://127.0.0.1:1/elsewhere"),
      async (url) => {
        const secrets = new Secrets({ environment: { VAULT_ADDR: url, VAULT_TOKEN: "root" }, clock });
        expect(await readOne(secrets, "vault:a#b")).toEqual({ problem: "the store answered with status 302" });
      },
    );
  });

  test("an old value stays while its store fails, and a new one is noticed", async () => {
    let answer: () => Response = () => Response.json({ data: { key: "first" } });
    await atStore(
      () => answer(),
      async (url) => {
        const secrets = new Secrets({ environment: { VAULT_ADDR: url, VAULT_TOKEN: "root" }, clock });
        const references = ["vault:app#key"];
        expect(await secrets.refresh(references)).toMatchObject({ hasChanged: true });
        expect(await secrets.refresh(references)).toEqual({ hasChanged: false, failed: [], recovered: [] });
        answer = () => new Response("", { status: 503 });
        const failed = [{ reference: "vault:app#key", problem: "the store is sealed or unavailable (503)" }];
        expect(await secrets.refresh(references)).toEqual({ hasChanged: false, failed, recovered: [] });
        // Reported once.
        expect(await secrets.refresh(references)).toEqual({ hasChanged: false, failed: [], recovered: [] });
        expect(secrets.read("vault:app#key")).toEqual({ value: "first" });
        answer = () => Response.json({ data: { key: "second" } });
        expect(await secrets.refresh(references)).toEqual({ hasChanged: true, failed: [], recovered: references });
        expect(secrets.read("vault:app#key")).toEqual({ value: "second" });
        expect(await secrets.refresh([])).toMatchObject({ hasChanged: false });
        expect(secrets.read("vault:app#key")).toEqual({ problem: "it has not been read yet" });
      },
    );
  });
});

const moto = findService("moto_server");

describe("choices 18: secrets of AWS", () => {
  test.skipIf(!isPresent(moto !== undefined, 'secrets of AWS on moto (pip install "moto[secretsmanager,server]")'))(
    "Secrets Manager of moto: text, a field of JSON, bytes, and what is missing",
    async () => {
      const port = freePort();
      const server = Bun.spawn([moto ?? "", "-H", "127.0.0.1", "-p", String(port)], {
        stdout: "ignore",
        stderr: "ignore",
      });
      const url = `http://127.0.0.1:${port}`;
      try {
        await eventually("moto", () => fetch(url).catch(() => undefined));
        const create = async (body: object) => {
          const headers = {
            "content-type": "application/x-amz-json-1.1",
            "x-amz-target": "secretsmanager.CreateSecret",
            authorization:
              "AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/secretsmanager/aws4_request, SignedHeaders=host, Signature=x",
          };
          const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
          return (await answer.json()) as { ARN: string };
        };
        await create({ Name: "prod/key", SecretString: "sk-aws\n" });
        const { ARN } = await create({ Name: "prod/json", SecretString: '{"api_key":"sk-json"}' });
        await create({ Name: "prod/bytes", SecretBinary: Buffer.from("sk-bytes").toString("base64") });
        const environment = {
          AWS_ENDPOINT_URL: url,
          AWS_ACCESS_KEY_ID: "test",
          AWS_SECRET_ACCESS_KEY: "test",
          AWS_REGION: "eu-west-1",
        };
        const secrets = new Secrets({ environment, clock });
        expect(await readOne(secrets, "aws-sm:prod/key")).toEqual({ value: "sk-aws" });
        expect(await readOne(secrets, "aws-sm:prod/json#api_key")).toEqual({ value: "sk-json" });
        expect(await readOne(secrets, "aws-sm:prod/bytes")).toEqual({ value: "sk-bytes" });
        // 400 at AWS.
        expect(await readOne(secrets, "aws-sm:gone")).toEqual({ problem: expect.stringMatching(/\(40[04]\)$/) });
        expect(await readOne(secrets, "aws-sm:prod/key#api_key")).toEqual({
          problem: expect.stringContaining("not a JSON object"),
        });
        const { AWS_REGION: _region, ...elsewhere } = environment;
        const byArn = new Secrets({ environment: elsewhere, clock });
        expect(await readOne(byArn, `aws-sm:${ARN}#api_key`)).toEqual({ value: "sk-json" });
        expect(await readOne(byArn, "aws-sm:prod/key")).toEqual({
          problem: "AWS_REGION or AWS_DEFAULT_REGION is not set",
        });
      } finally {
        server.kill();
        await server.exited;
      }
    },
    60_000,
  );

  test("the request is signed for the region and names the secret", async () => {
    let seen: { authorization: string; target: string; body: string } | undefined;
    await atStore(
      async (request) => {
        const { headers } = request;
        seen = {
          authorization: headers.get("authorization") ?? "",
          target: headers.get("x-amz-target") ?? "",
          body: await request.text(),
        };
        return Response.json({ SecretString: "value" });
      },
      async (url) => {
        const environment = {
          AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
          AWS_ACCESS_KEY_ID: "AKIA",
          AWS_SECRET_ACCESS_KEY: "s",
          AWS_DEFAULT_REGION: "us-east-1",
        };
        expect(await readOne(new Secrets({ environment, clock }), "aws-sm:a/b")).toEqual({ value: "value" });
      },
    );
    expect(seen?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/us-east-1\/secretsmanager\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=[0-9a-f]{64}$/,
    );
    expect(seen).toMatchObject({ target: "secretsmanager.GetSecretValue", body: '{"SecretId":"a/b"}' });
  });
});

describe("choices 18: secrets of Google Cloud", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const paths: string[] = [];
  const google: Handle = async (request) => {
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    if (pathname === "/token") {
      const assertion = new URLSearchParams(await request.text()).get("assertion") ?? "";
      const [head = "", claims = "", signature = ""] = assertion.split(".");
      const isSigned = verify(
        "RSA-SHA256",
        Buffer.from(`${head}.${claims}`),
        createPublicKey(publicKey),
        Buffer.from(signature, "base64url"),
      );
      return isSigned
        ? Response.json({ access_token: "of-account", expires_in: 3600 })
        : new Response("", { status: 400 });
    }
    if (pathname.startsWith("/computeMetadata/"))
      return request.headers.get("metadata-flavor") === "Google"
        ? Response.json({ access_token: "of-machine", expires_in: 3600 })
        : new Response("", { status: 403 });
    const data = Buffer.from('{"key":"sk-google"}').toString("base64");
    return /^Bearer of-(account|machine)$/.test(request.headers.get("authorization") ?? "")
      ? Response.json({ payload: { data } })
      : new Response("", { status: 401 });
  };

  test("a service account, or the metadata server of the machine", () =>
    atStore(google, async (url) => {
      const file = join(folder, "account.json");
      writeFileSync(file, JSON.stringify({ client_email: "a@b", private_key: privateKey, token_uri: `${url}/token` }));
      const common = { CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER: `${url}/`, GOOGLE_CLOUD_PROJECT: "own" };
      const account = new Secrets({ environment: { ...common, GOOGLE_APPLICATION_CREDENTIALS: file }, clock });
      expect(await readOne(account, "gcp-sm:prod#key")).toEqual({ value: "sk-google" });
      expect(paths.at(-1)).toBe("/v1/projects/own/secrets/prod/versions/latest:access");
      expect(await readOne(account, "gcp-sm:projects/other/secrets/prod/versions/3#key")).toEqual({
        value: "sk-google",
      });
      expect(paths.at(-1)).toBe("/v1/projects/other/secrets/prod/versions/3:access");
      expect(paths.filter((path) => path === "/token")).toHaveLength(1);
      const machine = new Secrets({
        environment: { ...common, GCE_METADATA_HOST: url.slice("http://".length) },
        clock,
      });
      expect(await readOne(machine, "gcp-sm:prod#key")).toEqual({ value: "sk-google" });
      const lost = new Secrets({
        environment: { ...common, GOOGLE_APPLICATION_CREDENTIALS: join(folder, "none.json") },
        clock,
      });
      expect(await readOne(lost, "gcp-sm:prod#key")).toEqual({
        problem: expect.stringContaining("the file does not exist"),
      });
    }));
});
