/** Limits of an application's answer. The relay checks them, and so does the client beforehand. */

/** Deepest nesting of a body. */
export const maxBodyDepth = 100;
/** Most values of an application's answer: its result and the id of the call. */
export const maxAnswerValues = 125_000;
