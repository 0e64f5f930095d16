import { signal } from "@preact/signals";
import { probe, reach, recoveries } from "../connection/connection.ts";
import { ApiError } from "./api-error.ts";
import type { LoginWays, Session } from "./types.ts";

/** The current session: `null` when logged out, `undefined` until that is known. */
export const session = signal<Session | null | undefined>(undefined);

/** The session has ended while its pages are open. They stay, with what was entered, until the operator has logged in again. */
export const hasEnded = signal(false);

function accept(next: Session): void {
  // Nobody sees what another operator has read or typed.
  if (hasEnded.value && !isSame(session.value, next)) {
    location.reload();
    return;
  }
  session.value = next;
  if (!hasEnded.value) return;
  hasEnded.value = false;
  recoveries.value += 1;
}

const isSame = (last: Session | null | undefined, next: Session): boolean =>
  last?.operator === next.operator && last.role === next.role && last.project === next.project;

/** There is no session: of an open page it has ended, otherwise the page for logging in is shown. */
function withoutSession(): void {
  if (session.value) hasEnded.value = true;
  else session.value = null;
}

/** Leaves the pages of a session that has ended. */
export function leave(): void {
  localStorage.removeItem(MARK);
  hasEnded.value = false;
  session.value = null;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Sends a GET to the Admin API. Without a session one has to log in; an unreachable gateway ends none. */
export async function ask<Answer>(path: string, query?: Query, abort?: AbortSignal): Promise<Answer> {
  const response = await reach(withQuery(path, query), { signal: abort ?? null });
  return read<Answer>(response);
}

export async function change<Answer>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await reach(path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(session.value?.csrf ? { "x-trivium-csrf": session.value.csrf } : {}),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return read<Answer>(response);
}

async function read<Answer>(response: Response): Promise<Answer> {
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Answer;
  const failure = await failureOf(response);
  if (response.status === 401) withoutSession();
  throw failure;
}

export async function failureOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string; code?: string } };
    return new ApiError(response.status, error?.message ?? response.statusText, String(error?.code ?? ""));
  } catch {
    return new ApiError(response.status, text.slice(0, 300) || response.statusText, "");
  }
}

const MARK = "trivium.session";
const SESSION = "/api/session";

/** The login link that was in the address, until it has been redeemed. */
let link: string | undefined;

/** Finds the current session. A login link in the address is redeemed first. While the gateway is unreachable, the session is unknown. */
export async function findSession(): Promise<void> {
  const given = /^#link=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    // A used link must not stay in the address bar or the history.
    history.replaceState(null, "", location.pathname);
    link = given;
  }
  try {
    if (link !== undefined && (await isRedeemed(link))) return;
    // The issuer has sent the browser back, with the cookie of a session.
    if (location.hash === "#signed-in") {
      history.replaceState(null, "", location.pathname);
      localStorage.setItem(MARK, "1");
    }
    // Scripts cannot read the cookie. Without this mark there was no login, so no request is needed.
    if (localStorage.getItem(MARK) === null) session.value = null;
    else accept((await ask<{ data: Session }>(SESSION)).data);
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 401) return;
    // Whether there is a session is not known yet. It is asked again when a probe succeeds.
    void probe();
  }
}

/** Another tab may have logged in. */
export const findNewSession = (): Promise<void> =>
  ask<{ data: Session }>(SESSION).then(
    ({ data }) => accept(data),
    () => undefined,
  );

const isAway = (thrown: unknown): boolean => thrown instanceof ApiError && thrown.code === "no_answer";

async function isRedeemed(by: string): Promise<boolean> {
  try {
    await logIn({ link: by });
  } catch (thrown) {
    if (isAway(thrown)) throw thrown;
  }
  link = undefined;
  return Boolean(session.value);
}

export async function logIn(by: { secret: string } | { link: string }): Promise<void> {
  accept((await change<{ data: Session }>("POST", SESSION, by)).data);
  localStorage.setItem(MARK, "1");
}

/** How one can log in; nothing if that cannot be read. */
export async function loginWays(): Promise<LoginWays | undefined> {
  const response = await reach("/api/session/ways", {});
  return response.ok ? ((await response.json()) as { data: LoginWays }).data : undefined;
}

/** Does nothing while the gateway is unreachable: the session would stay open there. */
export async function logOut(): Promise<void> {
  try {
    await change("DELETE", SESSION);
  } catch (thrown) {
    if (isAway(thrown)) return;
  }
  leave();
}
