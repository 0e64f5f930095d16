const ID = /^video_([\w-]{1,128})$/;

/** The id of an operation in the videos API. */
export const videoId = (operationId: string): string => `video_${operationId}`;

/** Undefined for strings that cannot be the id of a video of this gateway. */
export const operationIdIn = (id: string): string | undefined => ID.exec(id)?.[1];
