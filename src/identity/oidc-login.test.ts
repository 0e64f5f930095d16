import { beforeEach, describe, expect, test } from "bun:test";
import { TokenIssuer } from "../../testing/token-issuer.ts";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import { asGatewayError } from "../canon/error.ts";
import { createLog } from "../observe/log.ts";
import type { IssuerFetch } from "./issuer.ts";
import { OidcLogin, type OidcSettings } from "./oidc-login.ts";

const CLIENT = "trivium";
const SECRET = "a-client-secret";

let issuer: TokenIssuer;
/** What the issuer's endpoints answer to the code, and to the access token. */
let tokenAnswer: (nonce: string) => Promise<Response> | Response;
let userinfo: object | undefined;
/** Requests to the token endpoint. */
let exchanged: { body: URLSearchParams; authorization: string | undefined }[];
let log: string[];
let nonce = "";
/** The last ID token. */
let signed = "";
let metadata: object;

const fetchIssuer: IssuerFetch = async (url, request) => {
  if (url === `${issuer.url}/.well-known/openid-configuration`) {
    const endpoints = { authorization_endpoint: `${issuer.url}/auth`, token_endpoint: `${issuer.url}/token` };
    return Response.json({
      issuer: issuer.url,
      jwks_uri: `${issuer.url}/keys`,
      ...endpoints,
      ...(userinfo && { userinfo_endpoint: `${issuer.url}/me` }),
      id_token_signing_alg_values_supported: ["ES256"],
      ...metadata,
    });
  }
  if (url === `${issuer.url}/token`) {
    const headers = new Headers(request.headers);
    const body = new URLSearchParams(String(request.body));
    exchanged.push({ body, authorization: headers.get("authorization") ?? undefined });
    return tokenAnswer(nonce);
  }
  if (url === `${issuer.url}/me`) return Response.json(userinfo);
  return issuer.fetch(url, request);
};

const settings = (changes: Partial<OidcSettings> = {}): OidcSettings => ({
  issuer: issuer.url,
  clientId: CLIENT,
  clientSecret: new Secret(SECRET),
  groupsClaim: "groups",
  scopes: ["openid"],
  roles: [{ group: "platform", role: "admin" }],
  ...changes,
});

const writer = createLog({
  clock: system.clock,
  level: "debug",
  format: "json",
  write: async (text) => void log.push(text),
});

const loginWith = (changes: Partial<OidcSettings> = {}): OidcLogin =>
  new OidcLogin({
    ...system,
    fetch: fetchIssuer,
    log: writer,
    publicUrl: "https://admin.example",
    settings: settings(changes),
  });

const tokens = async (claims: Record<string, unknown>, by = issuer) => {
  signed = await by.sign({ aud: CLIENT, groups: ["platform"], ...claims });
  return Response.json({ access_token: "access", token_type: "Bearer", id_token: signed });
};

/** A whole login. */
async function logIn(login = loginWith(), changes: Record<string, string> = {}) {
  const { url, cookie } = await login.begin();
  const { searchParams } = new URL(url);
  nonce = searchParams.get("nonce") ?? "";
  const begun = login.inProgress(cookie);
  const returned = { code: "the-code", state: searchParams.get("state") ?? "", ...changes };
  const person = await login.finish(begun, await login.check(begun, new URLSearchParams(returned)));
  return { person, challenge: searchParams.get("code_challenge") };
}

async function refusal(work: Promise<unknown>): Promise<[kind: string, message: string]> {
  const thrown = await work.then(() => undefined, asGatewayError);
  return [thrown?.kind ?? "accepted", thrown?.message ?? ""];
}

beforeEach(async () => {
  issuer = await TokenIssuer.start(system.clock.wallMs);
  tokenAnswer = (expected) => tokens({ nonce: expected });
  userinfo = undefined;
  exchanged = [];
  log = [];
  metadata = {};
});

describe("decision 0120: a login", () => {
  test("sends the code once, with the verifier of the challenge and the client's secret", async () => {
    const { person, challenge } = await logIn();
    expect(person).toEqual({ issuer: issuer.url, subject: "alice", name: "alice", groups: ["platform"] });
    const [sent, ...more] = exchanged;
    expect(more).toEqual([]);
    expect(sent?.authorization).toBe(`Basic ${btoa(`${CLIENT}:${encodeURIComponent(SECRET).replaceAll("-", "%2D")}`)}`);
    expect(Object.fromEntries(sent?.body ?? [])).toMatchObject({
      code: "the-code",
      redirect_uri: "https://admin.example/api/session/oidc/callback",
    });
    expect(Bun.SHA256.hash(sent?.body.get("code_verifier") ?? "", "base64url")).toBe(challenge ?? "");
  });

  test("sends the secret in the body where the issuer only takes it there", async () => {
    metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    await logIn();
    expect([exchanged[0]?.authorization, exchanged[0]?.body.get("client_secret")]).toEqual([undefined, SECRET]);
  });

  test("takes groups from the userinfo endpoint if the ID token has none", async () => {
    userinfo = { sub: "alice", groups: "platform", preferred_username: "Alice" };
    tokenAnswer = (expected) => tokens({ nonce: expected, groups: undefined });
    expect((await logIn()).person).toMatchObject({ name: "Alice", groups: ["platform"] });
    userinfo = { sub: "mallory", groups: ["platform"] };
    expect((await refusal(logIn()))[0]).toBe("unauthenticated");
  });

  test("reads nested groups, and ignores values that are not groups", async () => {
    const groups = async (claims: Record<string, unknown>, groupsClaim = "groups") => {
      tokenAnswer = (expected) => tokens({ nonce: expected, ...claims });
      return (await logIn(loginWith({ groupsClaim }))).person.groups;
    };
    expect(await groups({ realm_access: { roles: ["a", "b"] } }, "/realm_access/roles")).toEqual(["a", "b"]);
    expect(await groups({ groups: ["a", 7, null, { a: 1 }, ["b"], "c\nd", "x".repeat(501)] })).toEqual(["a"]);
    expect(await groups({ groups: { platform: true } })).toEqual([]);
    expect((await groups({ groups: Array.from({ length: 5_000 }, (_, index) => `g${index}`) })).length).toBe(1_000);
  });

  test("does not show an address that the issuer has not verified", async () => {
    tokenAnswer = (expected) => tokens({ nonce: expected, email: "boss@example.com", email_verified: false });
    expect((await logIn()).person.name).toBe("alice");
    tokenAnswer = (expected) =>
      tokens({ nonce: expected, preferred_username: "\u202eadmin\n", email: "a@example.com" });
    expect((await logIn()).person.name).toBe("a@example.com");
  });

  const now = () => Math.floor(Date.now() / 1000);
  const lies: Record<string, (expected: string) => Promise<Response> | Response> = {
    "another nonce": () => tokens({ nonce: "another" }),
    "no nonce": () => tokens({}),
    "another audience": (expected) => tokens({ nonce: expected, aud: "another" }),
    "several audiences without a party": (expected) => tokens({ nonce: expected, aud: [CLIENT, "another"] }),
    "another issuer": (expected) => tokens({ nonce: expected, iss: "https://evil.test" }),
    "an expired token": (expected) => tokens({ nonce: expected, exp: now() - 60 }),
    "no subject": (expected) => tokens({ nonce: expected, sub: undefined }),
    "a subject of two lines": (expected) => tokens({ nonce: expected, sub: "a\nb" }),
    "a token of another signer": async (expected) =>
      tokens({ nonce: expected }, await TokenIssuer.start(system.clock.wallMs, issuer.url)),
    "no ID token": () => Response.json({ access_token: "access", token_type: "Bearer" }),
    "an unsigned token": (expected) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const claims = issuer.claims({ aud: CLIENT, nonce: expected, groups: ["platform"] });
      return Response.json({
        access_token: "access",
        token_type: "Bearer",
        id_token: `${part({ alg: "none" })}.${part(claims)}.`,
      });
    },
    "no JSON": () => new Response("<html>", { headers: { "content-type": "application/json" } }),
    "a redirect": () => new Response(null, { status: 302, headers: { location: "https://evil.test" } }),
  };
  test.each(Object.keys(lies))("is refused for %s", async (lie) => {
    tokenAnswer = lies[lie] ?? tokenAnswer;
    const [kind, message] = await refusal(logIn());
    expect([lie, kind]).toEqual([lie, "unauthenticated"]);
    expect(message).toMatch(/The gateway's log has details\.|no usable subject/);
    await writer.flush();
    const written = log.join("");
    for (const secret of [SECRET, signed.split(".")[2] || "no signature", '"access"'])
      expect(written).not.toContain(secret);
  });

  test("reports the issuer's error if it rejects the code, and logs the details", async () => {
    tokenAnswer = () => Response.json({ error: "invalid_client", error_description: "<b>no</b>" }, { status: 401 });
    const [kind, message] = await refusal(logIn());
    expect([kind, message]).toEqual(["upstream_failed", expect.stringContaining("invalid_client")]);
    expect(message).not.toContain("<b>");
    await writer.flush();
    expect(log.join("")).toContain("a login at the issuer failed");
  });

  test("is for the state of this browser, and for this issuer", async () => {
    for (const changes of [{ state: "another" }, { state: "" }, { iss: "https://evil.test" }] as Record<
      string,
      string
    >[])
      expect((await refusal(logIn(loginWith(), changes)))[0]).toBe("unauthenticated");
    expect(exchanged).toEqual([]);
  });

  test("does not lead to an address that a browser must not open", async () => {
    for (const address of ["http://evil.test/auth", "javascript:alert(1)", "http://127.0.0.1/auth", ""]) {
      metadata = { authorization_endpoint: address };
      expect([address, (await refusal(loginWith().begin()))[0]]).toEqual([address, "overloaded"]);
      expect(await loginWith().condition()).toMatchObject({
        available: false,
        reason: expect.stringContaining("https"),
      });
    }
  });

  test("does not send the secret to an address that is not https", async () => {
    metadata = { token_endpoint: "http://evil.test/token" };
    expect((await refusal(logIn()))[0]).not.toBe("accepted");
    expect(exchanged).toEqual([]);
  });

  test("rejects the cookie of another client of the same issuer", async () => {
    const { cookie } = await loginWith({ clientSecret: new Secret("another-secret") }).begin();
    expect(() => loginWith().inProgress(cookie)).toThrow("was not begun in this browser");
    expect(() => loginWith().inProgress(undefined)).toThrow("was not begun in this browser");
  });
});
