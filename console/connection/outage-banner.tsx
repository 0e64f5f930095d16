import { session } from "../api/client.ts";
import { clockTime } from "../format/time.ts";
import { outage, probe } from "./connection.ts";

/** Says that the gateway does not answer, and since when. It goes by itself. */
export function OutageBanner() {
  const away = outage.value;
  return (
    <div role="status" class="outage-place">
      {away !== undefined && (
        <p class="outage">
          <span class="state bad">no answer</span>
          <span>
            The gateway has not answered since {clockTime(away.sinceMs)}. {away.why} This page tries again by itself.
            {session.value && " You stay logged in, and what you entered is kept."}
          </span>
          <button type="button" onClick={() => void probe()}>
            Try now
          </button>
        </p>
      )}
    </div>
  );
}
