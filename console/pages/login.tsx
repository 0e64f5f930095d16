import { useState } from "preact/hooks";
import { logIn } from "../api/client.ts";
import { Mark } from "../parts/shell.tsx";

export function Login() {
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
    <main class="login">
      <form onSubmit={submit}>
        <h1>
          <Mark /> Trivium
        </h1>
        <label for="secret">Admin or operator secret</label>
        <input
          id="secret"
          name="secret"
          type="password"
          autocomplete="current-password"
          required
          maxLength={500}
          aria-describedby="secret-hint"
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
        <p id="secret-hint" class="hint">
          The gateway prints the admin secret when it first starts. When started in a terminal, it also prints a
          one-time login link. To add operators, run <code>trivium operators create</code>.
        </p>
      </form>
    </main>
  );
}
