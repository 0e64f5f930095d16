import { useEffect } from "preact/hooks";
import { findNewSession, leave } from "../api/client.ts";
import { LoginForm } from "../pages/login.tsx";
import { Dialog } from "../parts/dialog.tsx";

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
