/**
 * The messages that a sandbox has to send. The host confirms what it has read, and the sandbox
 * holds messages back while too many are unconfirmed. So a handler that sends too much fills the
 * memory of its sandbox and not that of the host.
 */
import { maxUnconfirmed, maxUnconfirmedSize, type SandboxMessage } from '../messages.ts';
import type { Channel } from './channel.ts';

export interface Outbox {
  send(message: SandboxMessage): void;
  /** Sends a text that was made with `JSON.stringify`. */
  sendText(text: string): void;
  /** Sends a message at once, before those that are held back. Used when the sandbox is ending. */
  sendNow(message: SandboxMessage): void;
  /** The host has read this many more messages, whose sizes add up to `size`. */
  confirmed(count: number, size: number): void;
}

export function createOutbox(channel: Channel): Outbox {
  let unconfirmed = 0;
  let unconfirmedSize = 0;
  let waiting: string[] = [];
  const mayGo = (text: string): boolean =>
    unconfirmed === 0 ||
    (unconfirmed < maxUnconfirmed && unconfirmedSize + text.length <= maxUnconfirmedSize);
  const go = (text: string): void => {
    unconfirmed++;
    unconfirmedSize += text.length;
    channel.send(text);
  };
  const sendText = (text: string): void => {
    if (waiting.length === 0 && mayGo(text)) go(text);
    else waiting.push(text);
  };
  return {
    sendText,
    send: (message) => sendText(JSON.stringify(message)),
    sendNow: (message) => channel.send(JSON.stringify(message)),
    confirmed: (count, size) => {
      // The host also counts messages that the handler's code has sent without this outbox, so the
      // numbers may be higher than expected.
      unconfirmed = Math.max(0, unconfirmed - count);
      unconfirmedSize = Math.max(0, unconfirmedSize - size);
      let sent = 0;
      for (let text = waiting[sent]; text !== undefined && mayGo(text); text = waiting[sent]) {
        go(text);
        sent++;
      }
      if (sent > 0) waiting = waiting.slice(sent);
    },
  };
}
