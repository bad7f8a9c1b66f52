/**
 * Answers whose text is known. `serveRelay` writes them directly; for other servers they become a
 * Response.
 */

/** Status, headers and text. */
export interface Reply {
  readonly status: number;
  /** Header values by name, spelled as they are sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for an answer without a body, such as one to HEAD. */
  readonly text: string | undefined;
}

/** What a handler returns: a reply, or a response whose body may arrive over time. */
export type Answered = Response | Reply;

/**
 * True for a reply. It does not test with `instanceof`, since some servers replace the global
 * Response and there may be several such classes.
 */
export function isReply(answered: Answered): answered is Reply {
  return typeof answered.text !== 'function';
}

/** Converts an answer to a Response. */
export function toResponse(answered: Answered): Response {
  if (!isReply(answered)) return answered;
  const { status, headers, text = null } = answered;
  return new Response(text, { status, headers });
}
