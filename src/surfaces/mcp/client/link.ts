/** One open connection to a server, and what is needed to open it. */
import type { JsonObject } from '../../../core.ts';
import type { TokenSource } from './bearer.ts';
import type { DirectCalls } from './direct-calls.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** An open connection. */
export interface Link {
  readonly client: ConnectedMcpClient;
  /** Makes calls without the client; undefined where only the client can make them. */
  readonly direct?: DirectCalls | undefined;
  /** True once the connection is gone. It never becomes false again. */
  readonly lost: boolean;
  /**
   * The bound that was exceeded by the last message that ended a stream or the connection;
   * undefined if none was.
   */
  readonly excess?: string | undefined;
  /** Called once when the connection is lost, but not when it is closed from here. */
  onlost: (() => void) | undefined;
  /** Gives the connection up: requests in flight fail, and the next call opens another one. */
  drop(): void;
  /**
   * Ends the connection and everything it started. A child process gets the end of its input, then
   * SIGTERM, then SIGKILL. Never rejects.
   */
  close(): Promise<void>;
}

/** Answers what a server asks while it works. */
export interface ServerQuestions {
  readonly elicitation: boolean;
  readonly sampling: boolean;
  /** @throws (rejects with) Error whose message the server gets */
  answer(method: string, params: unknown): Promise<JsonObject>;
}

/** What the caller provides to open a link. */
export interface OpenOptions {
  /** Milliseconds that the handshake may take. */
  readonly handshakeMs: number;
  /** Ends the handshake. */
  readonly signal: AbortSignal;
  /** Called when the server says that its tools changed. */
  toolsChanged(): void;
  /** Gives the token for requests over HTTP. @default no token */
  readonly auth?: TokenSource | undefined;
  /** Called with each token that an import gets itself, before it is used. @default not called */
  readonly told?: ((secret: string) => void) | undefined;
  /** Whether the server is told that apps are shown. @default false */
  readonly apps?: boolean | undefined;
  /** Answers what the server asks. @default it cannot ask anything */
  readonly questions?: ServerQuestions | undefined;
  /** Called when the server says that other lists changed. @default not listened to */
  readonly othersChanged?: ((kind: 'prompts' | 'resources') => void) | undefined;
}

/**
 * Marks an error that stands in for an answer that can no longer arrive. It is compared by
 * identity, so a server cannot send it.
 */
export const answerLost: object = Object.freeze({ lost: true });

/** Closing the link only removes its listeners; the client stays open. */
export function adoptClient(client: ConnectedMcpClient, { toolsChanged }: OpenOptions): Link {
  const before = client.onclose;
  let lost = client.transport === undefined;
  let released = false;
  const link: Link = {
    client,
    onlost: undefined,
    get lost() {
      return lost;
    },
    // Only the host may close its client. The next call tries it again.
    drop() {},
    close: async () => {
      if (released) return;
      released = true;
      // The host may have set another listener since.
      if (client.onclose === onClose) client.onclose = before;
      client.removeNotificationHandler('notifications/tools/list_changed');
    },
  };
  const onClose = (): void => {
    lost = true;
    link.onlost?.();
    // Last, because it is the host's and may throw.
    before?.();
  };
  client.onclose = onClose;
  client.setNotificationHandler('notifications/tools/list_changed', () => toolsChanged());
  return link;
}
