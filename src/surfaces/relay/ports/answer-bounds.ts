/**
 * Limits of an application's answer. The client checks them before it sends an answer, and the
 * relay checks them again.
 */

/** The deepest nesting that a body may have. */
export const maxBodyDepth = 100;
/** The most JSON values in an application's answer, which has a result and the id of the call. */
export const maxAnswerValues = 125_000;
