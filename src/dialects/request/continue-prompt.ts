/** Sent as the user to a model that cannot continue its response in another way. */
export const CONTINUE_PROMPT = "Go on exactly where your last message breaks off, and repeat nothing of it.";
