/**
 * The port through which nodes wake each other. A message only says that the store has something
 * new, so messages may get lost.
 */

/** Carries messages between the nodes of one relay, including the sending node. */
export interface RelayBus {
  /**
   * Sends to everyone who listens now. Channels and messages are short strings. A listener that
   * subscribes while a message is on its way may get it too.
   */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Listens from when the promise resolves. The listener gets the messages of a node in the order in
   * which it sent them. It gets `undefined` when messages may have been lost, such as after a
   * reconnection, and must then look at the store. A listener that throws affects no other. @returns
   * stops listening; idempotent
   */
  subscribe(channel: string, listener: (message: string | undefined) => void): Promise<() => void>;
  /** Frees what the bus itself holds, but never a connection that the host made. Idempotent. */
  close?(): Promise<void>;
}
