/**
 * How much an application's answer may hold: the relay looks at it, and the client before it sends.
 */

/** Deepest nesting in a body of the relay. */
export const maxBodyDepth = 100;
/** Most values of an application's answer, which is its result and the id of the call. */
export const maxAnswerValues = 125_000;
