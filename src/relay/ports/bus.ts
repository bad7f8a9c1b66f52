/**
 * The port by which nodes wake each other. Nothing depends on a message arriving: it says that the
 * store has something new, and no more.
 */

/** Messages between the nodes of one relay, the own node among them. */
export interface RelayBus {
  /**
   * Sends to whoever listens now. Channels and messages are short strings. Where servers pass it
   * on, whoever begins to listen while it is on its way may hear it too.
   */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Listens from when it resolves. The listener gets each message in the order in which one node
   * sent them, and `undefined` whenever messages may have been lost, such as after a reconnection:
   * it must then look at the store. One that throws affects nobody. @returns stops listening;
   * idempotent
   */
  subscribe(channel: string, listener: (message: string | undefined) => void): Promise<() => void>;
  /** Frees what the bus itself holds; never a connection that the host made. Idempotent. */
  close?(): Promise<void>;
}
