import { beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPair, SignJWT } from "jose";
import { fetchFrom, TokenIssuer } from "../../testing/token-issuer.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { TokenIssuerSettings } from "../access/people/verified-token.ts";
import { Secret } from "../base/secret.ts";
import { GatewayError } from "../canon/error.ts";
import { IssuerTokens } from "./issuer-tokens.ts";

let clock: VirtualClock;
let issuer: TokenIssuer;
let troubles: string[];

const settings = (changes: Partial<TokenIssuerSettings> = {}): TokenIssuerSettings => ({
  issuer: issuer.url,
  audience: "trivium",
  project: "red",
  models: ["*"],
  limits: {},
  ...changes,
});

function verifierOf(all: readonly TokenIssuerSettings[], fetch = issuer.fetch): IssuerTokens {
  const verifier = new IssuerTokens({ clock, fetch, onTrouble: (_issuer, message) => troubles.push(message) });
  verifier.reconfigure(all);
  return verifier;
}

const verify = (token: string, changes: Partial<TokenIssuerSettings> = {}) =>
  verifierOf([settings(changes)]).verify(token);

/** Why the token was refused. No message contains it (S10). */
async function refusal(work: Promise<unknown>, token = ""): Promise<[kind: string, message: string]> {
  try {
    await work;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    if (token.length > 20) expect(thrown.message).not.toContain(token.slice(-20));
    return [thrown.kind, thrown.message];
  }
  return ["accepted", ""];
}

const refused = async (token: string, changes: Partial<TokenIssuerSettings> = {}) => {
  const [kind, message] = await refusal(verify(token, changes), token);
  expect([kind, message]).toEqual(["unauthenticated", expect.stringMatching(/^This token is not valid: /)]);
  return message.slice("This token is not valid: ".length);
};

const base64url = (value: object | string) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

beforeEach(async () => {
  clock = new VirtualClock();
  troubles = [];
  issuer = await TokenIssuer.start(clock.wallMs);
});

describe("decision 0121: a client's token", () => {
  test("says who calls, for which project, and until when", async () => {
    const nowMs = clock.wallMs();
    const token = await issuer.sign({ email: "alice@example.com" });
    expect(await verify(token, { userClaim: "email" })).toMatchObject({
      subject: "alice",
      project: "red",
      name: "alice@example.com",
      user: "alice@example.com",
      issuedAtMs: nowMs,
      expiresAtMs: nowMs + 3_600_000 + 30_000,
    });
    expect(await verify(token)).toMatchObject({ name: "alice", user: undefined });
  });

  test("names its project in a claim, which may be nested", async () => {
    const token = await issuer.sign({ "https://example.com/team": "blue", trivium: { "a/b": "green" } });
    const project = async (projectClaim: string) =>
      (await verifierOf([{ ...withoutProject(), projectClaim }]).verify(token)).project;
    expect(await project("https://example.com/team")).toBe("blue");
    expect(await project("/trivium/a~1b")).toBe("green");
    for (const claim of ["none", "/trivium", "/trivium/none/deeper", "toString", "/trivium/constructor/name"]) {
      const [kind, message] = await refusal(project(claim));
      expect([claim, kind, message]).toEqual([claim, "forbidden", expect.stringContaining("names no project")]);
    }
  });

  test.each(["RS256", "PS256", "ES256", "ES384", "EdDSA"])("may be signed with %s", async (alg) => {
    await issuer.rotate(`key of ${alg}`, alg);
    expect((await verify(await issuer.sign())).subject).toBe("alice");
  });

  test("has a leeway of thirty seconds at both ends", async () => {
    const now = Math.floor(clock.wallMs() / 1000);
    await verify(await issuer.sign({ exp: now - 29 }));
    expect(await refused(await issuer.sign({ exp: now - 30 }))).toBe("it has expired.");
    await verify(await issuer.sign({ nbf: now + 30 }));
    expect(await refused(await issuer.sign({ nbf: now + 31 }))).toBe("it is not valid yet (`nbf`).");
    await verify(await issuer.sign({ iat: now + 30 }));
    expect(await refused(await issuer.sign({ iat: now + 31 }))).toBe("it was issued in the future (`iat`).");
  });

  test("is refused without an end, a subject or an audience", async () => {
    expect(await refused(await issuer.sign({ exp: undefined }))).toBe("it has no `exp` claim.");
    expect(await refused(await issuer.sign({ sub: undefined }))).toBe("it has no `sub` claim.");
    expect(await refused(await issuer.sign({ aud: undefined }))).toBe("it has no `aud` claim.");
  });

  test("of another audience, or of another issuer, is refused", async () => {
    expect(await refused(await issuer.sign({ aud: "another" }))).toBe('its audience (`aud`) must be "trivium".');
    expect(await refused(await issuer.sign({ aud: ["another", "trivium "] }))).toContain("its audience");
    await verify(await issuer.sign({ aud: ["another", "trivium"] }));
    for (const iss of ["https://evil.test", `${issuer.url}/`, issuer.url.toUpperCase(), "", undefined])
      expect(await refused(await issuer.sign({ iss }))).toContain("its issuer (`iss`) is not one");
  });

  test("may only use the algorithms that are listed", async () => {
    const token = await issuer.sign();
    expect(await refused(token, { algorithms: ["RS256"] })).toBe("its algorithm (`alg`) is not allowed.");
    await verify(token, { algorithms: ["ES256"] });
  });

  test("may be signed with a shared secret if that is configured, and then with nothing else", async () => {
    const secret = "a-shared-secret-of-at-least-32-bytes";
    const shared = { algorithms: ["HS256"], secret: new Secret(secret) };
    const sign = (key: string) =>
      new SignJWT(issuer.claims()).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(key));
    await verify(await sign(secret), shared);
    expect(issuer.asked).toEqual([]);
    expect(await refused(await sign(`${secret}.`), shared)).toBe("its signature is wrong.");
    expect(await refused(await issuer.sign(), shared)).toBe("its algorithm (`alg`) is not allowed.");
    expect(await refused(await sign(secret))).toBe("its algorithm (`alg`) is not allowed.");
  });
});

const withoutProject = (): TokenIssuerSettings => {
  const { project, ...rest } = settings();
  return rest;
};

describe("S02, S05: attacks with a token", () => {
  test.each(["none", "None", "NONE", "nOnE", ""])("an unsigned token with the algorithm %p is refused", async (alg) => {
    const unsigned = `${base64url({ alg, typ: "JWT" })}.${base64url(issuer.claims())}`;
    for (const token of [`${unsigned}.`, `${unsigned}.AAAA`, unsigned]) await refused(token);
  });

  test("the issuer's public key is not taken for a shared secret", async () => {
    const pem = await issuer.publicPem();
    const keys = [pem, pem.trim(), JSON.stringify(issuer.key.jwk), String(issuer.key.jwk.x)];
    for (const alg of ["HS256", "HS384", "HS512"]) {
      for (const key of keys) {
        const bytes = new TextEncoder().encode(key.padEnd(64, "\0"));
        const header = { alg, kid: issuer.key.kid };
        const token = await new SignJWT(issuer.claims()).setProtectedHeader(header).sign(bytes);
        expect(await refused(token)).toBe("its algorithm (`alg`) is not allowed.");
      }
    }
  });

  test("a shared secret that the issuer publishes by mistake signs nothing", async () => {
    const secret = new TextEncoder().encode("x".repeat(32));
    issuer.published.push({ kty: "oct", k: base64url("x".repeat(32)), kid: "oct" });
    const token = await new SignJWT(issuer.claims()).setProtectedHeader({ alg: "HS256", kid: "oct" }).sign(secret);
    await refused(token);
  });

  test.each([
    "../../../../etc/passwd",
    "/dev/null",
    "k1' OR '1'='1",
    "https://evil.test/keys",
    "k1\0",
    "__proto__",
    "K1",
    "",
  ])("the key id %p is a name and nothing else", async (kid) => {
    await refused(await issuer.sign({}, { header: { kid } }));
    expect(issuer.asked.every((url) => url.startsWith(`${issuer.url}/`))).toBe(true);
  });

  test("a key or an address of keys in the header is ignored", async () => {
    const evil = await TokenIssuer.start(clock.wallMs, "https://evil.test", "k1");
    const own = { key: evil.key };
    const headers: Record<string, unknown>[] = [
      { jwk: evil.key.jwk },
      { jku: "https://evil.test/keys" },
      { x5u: "https://evil.test/keys" },
      { x5c: ["MIIB"] },
      { jku: "https://evil.test/keys", jwk: evil.key.jwk, kid: "k1" },
    ];
    for (const header of headers) {
      const token = await evil.sign({ iss: issuer.url }, { ...own, header });
      expect(await refused(token)).toBe("its signature is wrong.");
    }
    expect(evil.asked).toEqual([]);
    expect(issuer.asked.every((url) => url.startsWith(`${issuer.url}/`))).toBe(true);
  });

  test("the same key id at two issuers names two keys", async () => {
    const other = await TokenIssuer.start(clock.wallMs, "https://other.test", "k1");
    const verifier = verifierOf(
      [settings(), settings({ issuer: other.url, project: "blue" })],
      fetchFrom(issuer, other),
    );
    expect((await verifier.verify(await issuer.sign())).project).toBe("red");
    expect((await verifier.verify(await other.sign())).project).toBe("blue");
    const crossed = [issuer.sign({ iss: other.url }), other.sign({ iss: issuer.url })];
    for (const token of await Promise.all(crossed))
      expect((await refusal(verifier.verify(token), token))[1]).toContain("its signature is wrong");
  });

  test("an extension that must be understood is refused", async () => {
    for (const header of [
      { crit: ["exp"], exp: 1 },
      { crit: ["b64"], b64: false },
      { crit: [] },
      { crit: ["urn:unknown"], "urn:unknown": 1 },
    ]) {
      const [head, payload, signature] = (await issuer.sign()).split(".");
      const changed = { ...JSON.parse(Buffer.from(head ?? "", "base64url").toString()), ...header };
      await refused(`${base64url(changed)}.${payload}.${signature}`);
    }
    const key = issuer.key;
    const known = await new SignJWT(issuer.claims())
      .setProtectedHeader({ alg: key.alg, kid: key.kid, crit: ["urn:unknown"], "urn:unknown": 1 })
      .sign(key.privateKey, { crit: { "urn:unknown": true } });
    expect(await refused(known)).toBe("it uses something that is not supported.");
  });

  test("a changed claim breaks the signature", async () => {
    const [head, , signature] = (await issuer.sign()).split(".");
    const token = `${head}.${base64url(issuer.claims({ sub: "root" }))}.${signature}`;
    expect(await refused(token)).toBe("its signature is wrong.");
  });

  test("a token that was made for something else is refused", async () => {
    for (const typ of ["logout+jwt", "secevent+jwt", "dpop+jwt", "jwt "])
      expect(await refused(await issuer.sign({}, { header: { typ } }))).toContain("its type (`typ`)");
    for (const typ of ["JWT", "at+jwt"]) await verify(await issuer.sign({}, { header: { typ } }));
    expect(await refused(await issuer.sign({ cnf: { jkt: "x" } }))).toContain("bound to a key");
  });

  test("invalid times are refused", async () => {
    for (const exp of ["9999999999", null, true, [9_999_999_999], {}] as unknown[])
      await refused(await signRaw({ exp }));
    for (const exp of ["1e400", "1e300"]) expect(await refused(await signText("exp", exp))).toContain("`exp`");
    await refused(await signText("iat", "1e400"));
    await refused(await signRaw({ nbf: "0" }));
  });

  test("a subject is a text, compared character by character", async () => {
    for (const sub of ["", 7, null, ["alice"], "x".repeat(1_025), "\ud800", "a\0b"] as unknown[])
      await refused(await signRaw({ sub }));
    const subjects = ["alice", "Alice", "alice ", "ａｌｉｃｅ", "e\u0301", "\u00e9", "\u202ealice", "🦊"];
    const seen = await Promise.all(subjects.map(async (sub) => (await verify(await signRaw({ sub }))).subject));
    expect(seen).toEqual(subjects);
    const { name } = await verify(await signRaw({ sub: "\u202ealice\nadmin" }));
    expect(name).toBe("%E2%80%AEalice%0Aadmin");
  });

  test("broken tokens are refused", async () => {
    const token = await issuer.sign();
    const [head = "", payload = "", signature = ""] = token.split(".");
    const broken = [
      "",
      ".",
      "..",
      "a.b.c",
      `${head}.${payload}`,
      `${token}.`,
      `${token}.${signature}`,
      `${head}.${payload}.${signature}!`,
      `${head}..${signature}`,
      `${base64url("[]")}.${payload}.${signature}`,
      `${head}.${base64url("[]")}.${signature}`,
      `${head}.${base64url("null")}.${signature}`,
      `${head}.${base64url("{".repeat(5_000))}.${signature}`,
      `${head}.${base64url("[".repeat(12_000))}.${signature}`,
    ];
    for (const one of broken) await refused(one);
  });

  test("a weak key that the issuer publishes signs nothing", async () => {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(
      { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
      true,
      ["sign", "verify"],
    );
    const jwk = await crypto.subtle.exportKey("jwk", publicKey);
    issuer.published = [{ kty: "RSA", n: String(jwk.n), e: String(jwk.e), kid: "weak", alg: "RS256" }];
    const unsigned = `${base64url({ alg: "RS256", kid: "weak" })}.${base64url(issuer.claims())}`;
    const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", privateKey, Buffer.from(unsigned));
    await refused(`${unsigned}.${Buffer.from(signature).toString("base64url")}`);
  });
});

describe("H29: the keys of an issuer", () => {
  test("are read once for any number of tokens", async () => {
    const verifier = verifierOf([settings()]);
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => issuer.sign({ jti: String(index) })));
    await Promise.all(tokens.map((token) => verifier.verify(token)));
    expect(issuer.asked).toEqual([`${issuer.url}/.well-known/openid-configuration`, `${issuer.url}/keys`]);
  });

  test("are read again for a token with a new key id, and not more than once in five seconds", async () => {
    const verifier = verifierOf([settings()]);
    await verifier.verify(await issuer.sign());
    await clock.pass(10_000);
    await issuer.rotate("k2");
    expect((await verifier.verify(await issuer.sign())).subject).toBe("alice");
    const keys = () => issuer.asked.filter((url) => url.endsWith("/keys")).length;
    expect(keys()).toBe(2);
    const stranger = await TokenIssuer.start(clock.wallMs, issuer.url, "random");
    for (let index = 0; index < 50; index++) {
      const token = await stranger.sign({}, { header: { kid: `random-${index}` } });
      expect((await refusal(verifier.verify(token), token))[1]).toContain("has no key for it");
    }
    expect(keys()).toBe(2);
    await clock.pass(5_000);
    await refusal(verifier.verify(await stranger.sign()));
    expect(keys()).toBe(3);
  });

  test("that were withdrawn are refused after ten minutes", async () => {
    const verifier = verifierOf([settings()]);
    const token = await issuer.sign();
    await verifier.verify(token);
    await issuer.rotate("k2");
    await clock.pass(10 * 60_000 + 1);
    // The first one still uses the copy, while it is renewed.
    await verifier.verify(token);
    await clock.pass(1);
    await settled();
    expect((await refusal(verifier.verify(token)))[1]).toContain("has no key for it");
  });

  test("are used for at most a day while the issuer is unavailable", async () => {
    const verifier = verifierOf([settings()]);
    const token = () => issuer.sign();
    await verifier.verify(await token());
    issuer.answer = () => Promise.reject(new Error("connection refused"));
    await clock.pass(23 * 3_600_000);
    await verifier.verify(await token());
    await settled();
    await clock.pass(3_600_001);
    const [kind, message] = await refusal(verifier.verify(await token()));
    expect([kind, message]).toEqual(["overloaded", expect.stringContaining("cannot be checked")]);
    expect(troubles.at(-1)).toContain("cannot be reached");
    issuer.answer = () => undefined;
    await clock.pass(5_000);
    await verifier.verify(await token());
  });

  test("of a frozen issuer are waited for five seconds, once for all tokens", async () => {
    issuer.answer = () => new Promise(() => {});
    const verifier = verifierOf([settings()]);
    const tokens = await Promise.all(Array.from({ length: 30 }, (_, index) => issuer.sign({ jti: String(index) })));
    const waiting = tokens.map((token) => refusal(verifier.verify(token)));
    await settled();
    await clock.pass(5_000);
    const kinds = (await Promise.all(waiting)).map(([kind]) => kind);
    expect(new Set(kinds)).toEqual(new Set(["overloaded"]));
    expect(issuer.asked.length).toBe(1);
    expect((await refusal(verifier.verify(await issuer.sign())))[0]).toBe("overloaded");
    expect(issuer.asked.length).toBe(1);
  });

  const lies: Record<string, (url: string) => Response | undefined> = {
    "another issuer in the document": (url) =>
      url.endsWith("/keys")
        ? undefined
        : Response.json({ issuer: "https://evil.test", jwks_uri: `${issuer.url}/keys` }),
    "keys at a plain http address": (url) =>
      url.endsWith("/keys") ? undefined : Response.json({ issuer: issuer.url, jwks_uri: "http://10.0.0.1/keys" }),
    "keys on this machine": (url) =>
      url.endsWith("/keys") ? undefined : Response.json({ issuer: issuer.url, jwks_uri: "http://127.0.0.1:8788/keys" }),
    "keys in a file": (url) =>
      url.endsWith("/keys") ? undefined : Response.json({ issuer: issuer.url, jwks_uri: "file:///etc/passwd" }),
    "no address of keys": (url) => (url.endsWith("/keys") ? undefined : Response.json({ issuer: issuer.url })),
    "a redirect": (url) =>
      url.endsWith("/keys")
        ? new Response(null, { status: 302, headers: { location: "https://evil.test" } })
        : undefined,
    "an error": () => new Response("down", { status: 503 }),
    "no JSON": () => new Response("<html>", { headers: { "content-type": "application/json" } }),
    "no list": (url) => (url.endsWith("/keys") ? Response.json({ keys: { k1: {} } }) : undefined),
    "things that are no keys": (url) => (url.endsWith("/keys") ? Response.json({ keys: [1, "two", null] }) : undefined),
    "a hundred thousand keys": (url) =>
      url.endsWith("/keys")
        ? Response.json({ keys: Array.from({ length: 100_000 }, () => issuer.key.jwk) })
        : undefined,
  };
  test.each(Object.keys(lies))("are not replaced by %s", async (lie) => {
    const answer = lies[lie] ?? (() => undefined);
    issuer.answer = answer;
    const fresh = verifierOf([settings()]);
    expect((await refusal(fresh.verify(await issuer.sign())))[0]).toBe("overloaded");
    issuer.answer = () => undefined;
    const verifier = verifierOf([settings()]);
    await verifier.verify(await issuer.sign());
    issuer.answer = answer;
    await clock.pass(10 * 60_000 + 1);
    for (let round = 0; round < 2; round++) {
      expect((await verifier.verify(await issuer.sign())).subject).toBe("alice");
      await settled();
      await clock.pass(6_000);
    }
  });

  test("without ids are tried one by one, up to ten", async () => {
    const stranger = await TokenIssuer.start(clock.wallMs, issuer.url);
    const nameless = ({ kid: _kid, ...jwk }: Record<string, unknown>) => jwk;
    issuer.published = [stranger.key.jwk, issuer.key.jwk].map((jwk) => nameless({ ...jwk })) as typeof issuer.published;
    expect((await verify(await issuer.sign({}, { header: { kid: undefined } }))).subject).toBe("alice");
    expect(await refused(await issuer.sign({ aud: "another" }, { header: { kid: undefined } }))).toContain("audience");
    const others = await Promise.all(Array.from({ length: 10 }, () => TokenIssuer.start(clock.wallMs, issuer.url)));
    issuer.published = [...others, issuer].map(({ key }) => nameless({ ...key.jwk })) as typeof issuer.published;
    await refused(await issuer.sign({}, { header: { kid: undefined } }));
  });

  test("are kept over a reload of the configuration that keeps the issuer", async () => {
    const verifier = verifierOf([settings()]);
    await verifier.verify(await issuer.sign());
    verifier.reconfigure([settings({ project: "blue" })]);
    expect((await verifier.verify(await issuer.sign())).project).toBe("blue");
    expect(issuer.asked.length).toBe(2);
    verifier.reconfigure([]);
    expect(verifier.isConfigured).toBe(false);
    expect((await refusal(verifier.verify(await issuer.sign())))[0]).toBe("unauthenticated");
  });
});

/** Signs claims that the library would not write. */
async function signRaw(changes: Record<string, unknown>): Promise<string> {
  return signPayload(JSON.stringify({ ...issuer.claims(), ...changes }));
}

const signText = (claim: string, text: string) =>
  signPayload(JSON.stringify({ ...issuer.claims(), [claim]: "@" }).replace('"@"', text));

async function signPayload(payload: string): Promise<string> {
  const { alg, kid, privateKey } = issuer.key;
  const unsigned = `${base64url({ alg, kid })}.${base64url(payload)}`;
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, Buffer.from(unsigned));
  return `${unsigned}.${Buffer.from(signature).toString("base64url")}`;
}

/** Lets background work finish, some of which is not on the clock. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  await generateKeyPair("ES256");
};
