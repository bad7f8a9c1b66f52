/**
 * The optional package that speaks the protocol: its types, and loading it when it is first needed.
 */
import type * as Sdk from '@modelcontextprotocol/client';
import type * as SdkStdio from '@modelcontextprotocol/client/stdio';
import type { MisuseError } from '../../index.ts';
import { packageFault } from '../../surface-port.ts';

/**
 * A connected client of `@modelcontextprotocol/client` 2, as far as it is used here: so that this
 * package's types need no other.
 */
export interface ConnectedMcpClient {
  /** Sends a request whose result is read by a schema. */
  request(
    request: { method: string; params?: Record<string, unknown> },
    schema: AnyResultSchema,
    options?: McpRequestOptions,
  ): Promise<unknown>;
  /** What the server can do; undefined before it is connected. */
  getServerCapabilities(): { readonly tools?: unknown } | undefined;
  /** What the server calls itself. */
  getServerVersion(): { readonly name: string } | undefined;
  /** The era of the protocol that was agreed on. */
  getProtocolEra(): 'legacy' | 'modern' | undefined;
  /** Hears of changes to the server's tools. */
  setNotificationHandler(method: 'notifications/tools/list_changed', handler: () => void): void;
  /** Hears of them no more. */
  removeNotificationHandler(method: string): void;
  /** Ends the connection. */
  close(): Promise<void>;
  /** Called when the connection has ended. */
  onclose?: (() => void) | undefined;
  /** Undefined while it is not connected. */
  readonly transport?: { readonly sessionId?: string | undefined } | undefined;
}

/** What one request may be told. */
export interface McpRequestOptions {
  /** Cancels it, on the server too. */
  signal?: AbortSignal;
  /** Milliseconds. */
  timeout?: number;
  /** Hears of its progress. */
  onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  /** Sent with it over HTTP. */
  headers?: Record<string, string>;
}

/** A Standard Schema that takes whatever comes. */
export interface AnyResultSchema {
  /** By the rules of Standard Schema. */
  readonly '~standard': {
    readonly version: 1;
    /** Names this package. */
    readonly vendor: string;
    /** Answers the value as it came. */
    readonly validate: (value: unknown) => { value: unknown };
  };
}

/**
 * Takes whatever a server says: what it is made of is looked at here, within bounds. The SDK's own
 * schemas tell of each part that is wrong, at any length.
 */
export const anyResult: AnyResultSchema = {
  '~standard': { version: 1, vendor: 'host-tools', validate: (value: unknown) => ({ value }) },
};

/**
 * Loads the SDK. @throws MisuseError `missing_dependency`. @param load how the optional package is
 * had.
 */
export async function loadSdk(
  load: () => Promise<typeof Sdk> = () => import('@modelcontextprotocol/client'),
): Promise<typeof Sdk> {
  return load().catch((error: unknown) => {
    throw missing(error);
  });
}

/** Loads the SDK's transport for child processes. @throws MisuseError `missing_dependency`. */
export async function loadSdkStdio(
  load: () => Promise<typeof SdkStdio> = () => import('@modelcontextprotocol/client/stdio'),
): Promise<typeof SdkStdio> {
  return load().catch((error: unknown) => {
    throw missing(error);
  });
}

function missing(cause: unknown): MisuseError {
  return packageFault('@modelcontextprotocol/client', 'speaks to MCP servers', cause);
}
