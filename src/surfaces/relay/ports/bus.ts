/**
 * The port through which nodes wake each other. A message says that the store has something new,
 * and may carry a copy of it. Messages may get lost.
 */

/** Carries messages between the nodes of one relay, including the sending node. */
export interface RelayBus {
  /**
   * The most characters in a message. A call or an answer that fits is sent with the message, so
   * that the node that gets the message need not read the store. @default 1_000
   */
  readonly maxMessageChars?: number | undefined;
  /** See `RelayStore.carrier`. @default none */
  readonly carrier?: object | undefined;
  /**
   * Sends a message to all current listeners. Channels are short strings. A listener that
   * subscribes while a message is on its way may get it too.
   */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Listens from the moment when the promise resolves. The listener gets the messages of a node in
   * the order in which it sent them. It gets `undefined` when messages may have been lost, such as
   * after a reconnection, and must then read the store. A listener that throws does not affect
   * others. The promise must settle within a few seconds: the relay sets no time limit of its own,
   * and streams and calls wait for it.
   * @returns a function that stops listening; idempotent
   */
  subscribe(channel: string, listener: (message: string | undefined) => void): Promise<() => void>;
  /** Frees what the bus itself holds, but never a connection that the host made. Idempotent. */
  close?(): Promise<void>;
}
