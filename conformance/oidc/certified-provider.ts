import { createServer, type Server } from "node:http";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import Provider from "oidc-provider";
import { freePort } from "../../testing/free-port.ts";

export const CLIENT_ID = "trivium-console";
export const CLIENT_SECRET = "a-client-secret-of-the-console-0123456789";

/** The people it knows, by their login, and their groups. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  ada: ["staff", "platform"],
  vera: ["staff", "readers"],
  shop: ["shop-team"],
  ghost: ["ghost-team"],
  nobody: ["staff"],
};

/** An OpenID provider that is certified, on loopback, as the issuer of people and of clients' tokens. */
export class CertifiedProvider {
  readonly url: string;
  readonly #port: number;
  readonly #redirectUris: readonly string[];
  #keys: JWK[] = [];
  #server: Server | undefined;
  /** Requests that it has received, by path. */
  readonly asked: string[] = [];

  private constructor(port: number, redirectUris: readonly string[]) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#redirectUris = redirectUris;
  }

  static async start(redirectUris: readonly string[]): Promise<CertifiedProvider> {
    const provider = new CertifiedProvider(freePort(), redirectUris);
    await provider.rotate();
    return provider;
  }

  /** Begins again with another signing key, and forgets the sessions of its people. */
  async rotate(): Promise<void> {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    this.#keys = [{ ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: crypto.randomUUID() }];
    await this.stop();
    await this.resume();
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** With the same keys as before. */
  async resume(): Promise<void> {
    const provider = new Provider(this.url, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [...this.#redirectUris],
          response_types: ["code"],
          grant_types: ["authorization_code"],
        },
        {
          client_id: "a-service",
          client_secret: CLIENT_SECRET,
          redirect_uris: [],
          response_types: [],
          grant_types: ["client_credentials"],
        },
      ],
      jwks: { keys: this.#keys },
      cookies: { keys: ["a-key-for-cookies-of-the-tests"] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["preferred_username", "groups"] },
      pkce: { required: () => true },
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => undefined,
          getResourceServerInfo: () => ({
            scope: "call",
            audience: "trivium",
            accessTokenFormat: "jwt",
            accessTokenTTL: 600,
            jwt: { sign: { alg: "RS256" } },
          }),
        },
      },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({
          sub: id,
          preferred_username: id,
          email: `${id}@example.com`,
          email_verified: true,
          groups: [...(GROUPS[id] ?? [])],
        }),
      }),
      extraTokenClaims: () => ({ team: "default" }),
      ttl: { AccessToken: 600, IdToken: 600, Interaction: 600, Session: 3600, Grant: 3600, ClientCredentials: 600 },
    });
    const handle = provider.callback();
    const server = createServer((request, response) => {
      this.asked.push((request.url ?? "").split("?")[0] ?? "");
      void handle(request, response);
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
  }

  /** An access token of a service, as a JWT. */
  async serviceToken(): Promise<string> {
    const response = await fetch(`${this.url}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`a-service:${CLIENT_SECRET}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", scope: "call", resource: "urn:trivium" }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return (JSON.parse(text) as { access_token: string }).access_token;
  }
}
