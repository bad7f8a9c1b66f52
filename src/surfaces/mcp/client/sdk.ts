/**
 * The optional package that implements the protocol: its types, and how it is loaded on first use.
 */
import type * as Sdk from '@modelcontextprotocol/client';
import type * as SdkStdio from '@modelcontextprotocol/client/stdio';
import type { MisuseError } from '../../../core.ts';
import { packageFault } from '../../../values/packages/missing-package.ts';

/**
 * The part of a connected client of `@modelcontextprotocol/client` 2 that is used here. Declared so
 * that this package's types do not depend on that package.
 */
export interface ConnectedMcpClient {
  /** Sends a request and checks its result with a schema. */
  request(
    request: { method: string; params?: Record<string, unknown> },
    schema: AnyResultSchema,
    options?: McpRequestOptions,
  ): Promise<unknown>;
  /** The server's capabilities; undefined before the client is connected. */
  getServerCapabilities():
    | { readonly tools?: unknown; readonly prompts?: unknown; readonly resources?: unknown }
    | undefined;
  /** The server's own name; undefined before the client is connected. */
  getServerVersion(): { readonly name: string } | undefined;
  /** The protocol era that was agreed on. */
  getProtocolEra(): 'legacy' | 'modern' | undefined;
  /** Sets the listener for changes to the server's tools. */
  setNotificationHandler(method: 'notifications/tools/list_changed', handler: () => void): void;
  /** Removes that listener. */
  removeNotificationHandler(method: string): void;
  /** Ends the connection. */
  close(): Promise<void>;
  /** Called when the connection has ended. */
  onclose?: (() => void) | undefined;
  /** Undefined while it is not connected. */
  readonly transport?: { readonly sessionId?: string | undefined } | undefined;
}

/** Progress of a request. */
export interface McpProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** Options of one request. */
export interface McpRequestOptions {
  /** Cancels the request, on the server too. */
  signal?: AbortSignal;
  /** Milliseconds until the request fails. */
  timeout?: number;
  /** Called with the progress of the request. */
  onprogress?: (progress: McpProgress) => void;
  /** Headers for the request, used over HTTP only. */
  headers?: Record<string, string>;
}

/** A Standard Schema that accepts any value. */
export interface AnyResultSchema {
  /** The members that Standard Schema requires. */
  readonly '~standard': {
    readonly version: 1;
    /** Names this package. */
    readonly vendor: string;
    /** Returns the value unchanged. */
    readonly validate: (value: unknown) => { value: unknown };
  };
}

/**
 * Accepts whatever a server sends. This package checks it within bounds, while the SDK's own
 * schemas would describe every part that is wrong, at any length.
 */
export const anyResult: AnyResultSchema = {
  '~standard': { version: 1, vendor: 'host-tools', validate: (value: unknown) => ({ value }) },
};

/**
 * Loads the SDK. @throws MisuseError `missing_dependency`.
 * @param load imports the optional package
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
  return packageFault('@modelcontextprotocol/client', 'connects to MCP servers', cause);
}

/**
 * What to do about it, as a sentence; `""` if the text is about something else.
 * @param stderr what a server wrote before it ended, which may be anything
 */
export function halfPackageHint(stderr: string): string {
  const isMissing = /\bCannot find (?:module|package)\b/.test(stderr);
  const [, folder] = /[\\/]_npx[\\/]([\da-f]{8,64})[\\/]/.exec(stderr) ?? [];
  if (!isMissing || folder === undefined) return '';
  return (
    ` npm has only a part of this package in its cache. Delete the folder \`_npx/${folder}\` of ` +
    '`npm config get cache`, and it is loaded again.'
  );
}
