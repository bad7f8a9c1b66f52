/**
 * An answer whose text is at hand. A server of our own writes it as it is; everybody else gets a
 * Response.
 */

/** Status, headers and text. */
export interface Reply {
  readonly status: number;
  /** By name, as they are written. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none, as for HEAD. */
  readonly text: string | undefined;
}

/** What a handler gives: a reply, or a response whose body comes by and by. */
export type Answered = Response | Reply;

/**
 * True for a reply. Not by the class: there may be several called Response, since some servers
 * replace the global one.
 */
export function isReply(answered: Answered): answered is Reply {
  return typeof answered.text !== 'function';
}

/** The same as a Response. */
export function toResponse(answered: Answered): Response {
  if (!isReply(answered)) return answered;
  const { status, headers, text = null } = answered;
  return new Response(text, { status, headers });
}
