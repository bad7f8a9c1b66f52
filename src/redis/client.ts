/** What is used of an ioredis client, as a shape: `Redis` and `Cluster` both have it. */

/** Where a connection tells of itself. */
export interface RedisEvents {
  /** Listens to an event: `ready`, `close`, `end`, `error`, `message`. */
  on(event: string, listener: (...values: string[]) => void): unknown;
}

/** A connection that listens to channels. */
export interface RedisSubscriber extends RedisEvents {
  /** As that of {@link RedisClient}. */
  readonly status: string;
  /** SUBSCRIBE. Resolves when Redis has confirmed. */
  subscribe(...channels: string[]): Promise<unknown>;
  /** UNSUBSCRIBE. */
  unsubscribe(...channels: string[]): Promise<unknown>;
  /** Ends the connection for good. */
  disconnect(): void;
}

/** A server as a client knows it. */
export interface RedisNode {
  /** Makes a connection to it with the same settings but these, which connects at once. */
  duplicate(settings: {
    readonly autoResubscribe: false;
    readonly lazyConnect: false;
  }): RedisSubscriber;
}

/** The host's client: an ioredis 6 `Redis`, for one server or through sentinels, or a `Cluster`. */
export interface RedisClient {
  /**
   * `wait`, `connecting`, `connect` or `ready`: commands are sent. Anything else, such as
   * `reconnecting` or `end`: they fail at once.
   */
  readonly status: string;
  /** As that of {@link RedisNode}; a cluster is asked for its servers instead. */
  duplicate(settings?: never): RedisSubscriber;
  /** The servers of a cluster; a `Redis` has no such method. */
  nodes?(role: 'master'): readonly RedisNode[];
  /** EVAL. */
  eval(script: string, keyCount: number, ...keysAndValues: (string | number)[]): Promise<unknown>;
  /** EVALSHA. */
  evalsha(sha1: string, keyCount: number, ...keysAndValues: (string | number)[]): Promise<unknown>;
  /** GET. */
  get(key: string): Promise<string | null>;
  /** GETDEL. */
  getdel(key: string): Promise<string | null>;
  /** SET with PXAT. */
  set(key: string, value: string, expiry: 'PXAT', milliseconds: number): Promise<unknown>;
  /** HMGET. */
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  /** ZREM. */
  zrem(key: string, ...members: string[]): Promise<unknown>;
  /** PING. */
  ping(): Promise<unknown>;
}
