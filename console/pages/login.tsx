import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { findNewSession, leave, logIn, loginWays } from "../api/client.ts";
import type { LoginWays } from "../api/types.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Mark } from "../parts/shell.tsx";

interface InPlace {
  /** The page below stays open, so that the issuer opens in another tab. */
  inPlace?: boolean;
}

/** The issuer, if one is configured, and why it cannot be used if that is so. The secret always works. */
function AtIssuer({ ways, inPlace = false }: InPlace & { ways: LoginWays | undefined }) {
  const oidc = ways?.oidc;
  if (oidc == null) return null;
  if (!oidc.available) {
    return (
      <p class="problem" role="status">
        Logging in with {hostOf(oidc.issuer)} is not possible at this moment: {oidc.reason} Log in with a secret, or
        reload this page to try again.
      </p>
    );
  }
  return (
    <a class="button main" href="/api/session/oidc" target={inPlace ? "_blank" : undefined} rel="noreferrer">
      Log in with {hostOf(oidc.issuer)}
      {inPlace && ", in another tab"}
    </a>
  );
}

const hostOf = (url: string): string => new URL(url).host;

/** The ways to log in. */
function LoginForm({ inPlace = false, children }: InPlace & { children: ComponentChildren }) {
  const [ways, setWays] = useState<LoginWays | undefined>(undefined);
  useEffect(() => {
    loginWays().then(setWays, () => undefined);
  }, []);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const secret = new FormData(event.currentTarget as HTMLFormElement).get("secret");
    setBusy(true);
    setError("");
    try {
      await logIn({ secret: String(secret ?? "").trim() });
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      {children}
      <AtIssuer ways={ways} inPlace={inPlace} />
      <label for="secret">Admin or operator secret</label>
      <input
        id="secret"
        name="secret"
        type="password"
        autocomplete="current-password"
        required
        maxLength={500}
        aria-describedby={inPlace ? undefined : "secret-hint"}
        aria-invalid={error !== ""}
      />
      {error !== "" && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      <button type="submit" class="main" disabled={busy}>
        {busy ? "Logging in…" : "Log in"}
      </button>
      {!inPlace && (
        <p id="secret-hint" class="hint">
          The gateway prints the admin secret when it first starts. When started in a terminal, it also prints a
          one-time login link. To add operators, run <code>trivium operators create</code>.
        </p>
      )}
    </form>
  );
}

export const Login = () => (
  <main class="login">
    <LoginForm>
      <h1>
        <Mark /> Trivium
      </h1>
    </LoginForm>
  </main>
);

/** Over the page, which stays as it is. Nothing of it can be read or done until the operator has logged in again. */
export function SessionEnded() {
  useEffect(() => {
    const look = () => {
      if (!document.hidden) void findNewSession();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return (
    <Dialog title="Log in again" onClose={() => undefined} mustAnswer kind="covering">
      <LoginForm inPlace>
        <p>Your session has ended. What you entered is kept; send it again after you have logged in.</p>
      </LoginForm>
      <footer>
        <button type="button" onClick={leave}>
          Leave this page
        </button>
      </footer>
    </Dialog>
  );
}
