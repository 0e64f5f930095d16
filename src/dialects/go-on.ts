/** What a user says to a model that cannot be made to go on in another way. */
export const GO_ON = "Go on exactly where your last message breaks off, and repeat nothing of it.";
