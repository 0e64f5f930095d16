import { everyRecording, type Recording } from "../../../testing/recordings.ts";

/** Answers to calls of the endpoint itself: those of background calls begin or end before their last event. */
export const recordedAnswers: readonly Recording[] = everyRecording.filter(
  ({ dialect, status, http, features }) =>
    dialect === "openai-responses" &&
    status === 200 &&
    !features.includes("background") &&
    (http === "" || /^POST \S*\/responses$/.test(http)),
);
