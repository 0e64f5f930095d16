import type { CallRouting } from "../../routing/call-routing.ts";

/** The routing of a call whose only response is there already. */
export const onceRouting = (routing: CallRouting): CallRouting => ({
  ...routing,
  maxAttempts: 1,
  hedge: false,
  deadlineMs: undefined,
});
