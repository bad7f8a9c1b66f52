/** Ways around the bodies of requests and responses where their bytes are at hand: making and reading a stream is most of what a small request costs. */

/** Reads a body once, whole. @returns undefined when it is larger than `mostBytes`. Rejects when the client goes away on the way. */
export type ReadDirectly = (mostBytes: number) => Promise<Uint8Array | undefined>;

const read: unique symbol = Symbol('read directly');
const text: unique symbol = Symbol('text');
type Marked = { [read]?: ReadDirectly; [text]?: string };

/** Marks a request whose server has its body. */
export function markDirect(request: Request, reads: ReadDirectly): void {
  (request as Marked)[read] = reads;
}

/** Undefined for any other request: its `body` is to be read. */
export function directBody(request: Request): ReadDirectly | undefined {
  return (request as Marked)[read];
}

/** A response of this text, which its server need not read from its body. */
export function textResponse(body: string, init: ResponseInit): Response {
  return Object.assign(new Response(body, init), { [text]: body });
}

/** Undefined for any other response, and for one that was copied or wrapped. */
export function directText(response: Response): string | undefined {
  return (response as Marked)[text];
}
