/** The part of an ioredis client that is used. `Redis` and `Cluster` both have it. */

/** The events of a connection. */
export interface RedisEvents {
  /** Adds a listener for an event: `ready`, `close`, `end`, `error` or `message`. */
  on(event: string, listener: (...values: string[]) => void): unknown;
}

/** A connection that listens to channels. */
export interface RedisSubscriber extends RedisEvents {
  /** As in {@link RedisClient}. */
  readonly status: string;
  /** SUBSCRIBE. Resolves when Redis has confirmed it. */
  subscribe(...channels: string[]): Promise<unknown>;
  /** UNSUBSCRIBE. */
  unsubscribe(...channels: string[]): Promise<unknown>;
  /** Ends the connection for good. */
  disconnect(): void;
}

/** A server that a client knows. */
export interface RedisNode {
  /**
   * Makes a connection to it, which connects at once. Settings that are not given stay the same.
   */
  duplicate(settings: {
    readonly autoResubscribe: false;
    readonly lazyConnect: false;
  }): RedisSubscriber;
}

/** The host's client: an ioredis 6 `Redis` (one server or sentinels) or `Cluster`. */
export interface RedisClient {
  /**
   * In the states `wait`, `connecting`, `connect` and `ready`, commands are sent. In any other
   * state, such as `reconnecting` or `end`, they fail at once.
   */
  readonly status: string;
  /** As in {@link RedisNode}. Not used on a cluster, which returns its servers. */
  duplicate(settings?: never): RedisSubscriber;
  /** The servers of a cluster; a `Redis` has no such method. */
  nodes?(role: 'master'): readonly RedisNode[];
  /** EVAL. */
  eval(script: string, keyCount: number, ...keysAndValues: (string | number)[]): Promise<unknown>;
  /** EVALSHA. */
  evalsha(sha1: string, keyCount: number, ...keysAndValues: (string | number)[]): Promise<unknown>;
  /** HMGET. */
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  /** ZREM. */
  zrem(key: string, ...members: string[]): Promise<unknown>;
  /** PING. */
  ping(): Promise<unknown>;
}
