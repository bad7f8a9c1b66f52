/** Requests and responses of `node:http` without a socket. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

/** What a fake request consists of. Headers are names and values in turn. */
export interface IncomingParts {
  readonly method?: string;
  readonly url?: string;
  readonly rawHeaders?: readonly string[];
  /** The chunks of the body. A function makes the stream itself. */
  readonly body?: readonly Uint8Array[] | (() => Readable);
}

/** Makes an incoming request whose body is read like that of a socket. */
export function incomingOf({
  method = 'POST',
  url = '/path?query=1',
  rawHeaders = [],
  body = [],
}: IncomingParts = {}): IncomingMessage {
  const stream =
    typeof body === 'function' ? body() : Readable.from([...body], { objectMode: false });
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers[(rawHeaders[at] as string).toLowerCase()] = rawHeaders[at + 1] as string;
  return Object.assign(stream, { method, url, rawHeaders, headers }) as unknown as IncomingMessage;
}

/** A response that records what is written to it. */
export class FakeOutgoing extends EventEmitter {
  readonly written: string[] = [];
  ended = false;
  destroyed = false;
  writableFinished = false;
  /** Whether the connection has room for another chunk. */
  hasRoom = true;

  write(chunk: Uint8Array): boolean {
    this.written.push(Buffer.from(chunk).toString());
    return this.hasRoom;
  }

  end(): void {
    this.ended = true;
    this.writableFinished = true;
    this.emit('close');
  }

  /** The client goes away. */
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** The response as the type that the sources take. */
export function responseOf(outgoing: FakeOutgoing): ServerResponse {
  return outgoing as unknown as ServerResponse;
}

export const bytesOf = (text: string): Uint8Array => Buffer.from(text);
