import { everyRecording, type Recording } from "../../../testing/recordings.ts";

/** Foreground responses of the endpoint itself. Recordings of background calls are incomplete. */
export const recordedAnswers: readonly Recording[] = everyRecording.filter(
  ({ dialect, status, http, features }) =>
    dialect === "openai-responses" &&
    status === 200 &&
    !features.includes("background") &&
    (http === "" || /^POST \S*\/responses$/.test(http)),
);
